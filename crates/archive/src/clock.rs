//! What time is it? The only look at a clock in this crate; times decide what is evicted first, never a byte of a body.

use std::time::{SystemTime, UNIX_EPOCH};

/// Gives milliseconds since 1970. A function, so that tests can hand in their own.
pub type Clock = fn() -> i64;

/// The system's clock; a time before 1970 reads as 1970.
pub(crate) fn system() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
