//! The laws of the product, over generated conversations, damaged bodies, the fault cases and the real traces.
//!
//! `LIVESET_CASES` sets how many conversations are generated per format (default: 2,000 bodies in all).

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::panic,
    reason = "tests stop where something is wrong, and say what they skip"
)]

mod bench;
mod changed;
mod events;
mod fitted;
mod fixtures;
mod generated;
mod growing;
mod reading_on;
mod rounds;
mod scribe;
mod settings;
mod shaped_texts;
mod shaping;
mod stubs;
mod traces;
