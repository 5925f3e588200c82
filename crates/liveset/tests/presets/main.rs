//! What do the presets do, step by step? Small bodies in all three formats, each under every law
//! that holds for a single body.

#![expect(clippy::expect_used, clippy::panic, reason = "tests stop where something is wrong")]

#[path = "../laws/bench.rs"]
mod bench;
#[path = "../laws/scribe.rs"]
mod scribe;
mod script;

mod balanced_arguments;
mod balanced_fold;
mod digests;
mod dispatch;
mod liveness;
mod pins;
mod reasoning;
mod routes;
mod recalls;
mod rules;
mod summaries;
