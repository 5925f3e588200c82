//! How does a test say that it could not do its work here?
//!
//! Past the harness, which shows what a test prints only where that fails.

use std::{fmt::Display, io::Write as _};

/// Says that something was not tried, and why: on a line of its own that `cargo xtask test` counts.
///
/// ```
/// liveset_testkit::skipped("a failing disk", "the system lets nobody be put in charge");
/// ```
pub fn skipped(what: impl Display, why: impl Display) {
    // Where nobody listens there is nobody to be told.
    let _ = writeln!(std::io::stdout().lock(), "\nSKIPPED: {what}: {why}");
}
