//! Does a body hold half a surrogate pair? `wire-formats.md`, section 0, rule 1: strict readers refuse it.
//!
//! Goes over the escapes of a valid JSON text once; decodes no string.

use super::code::Code;
use super::defect::Findings;

/// Takes a defect for each lone surrogate, up to the limit.
pub(super) fn check(body: &[u8], found: &mut Findings) {
    let mut at = 0;
    // In valid JSON a backslash stands only in strings, and the character after it belongs to it.
    while let Some(ahead) = body.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + ahead;
        at = start + 2;
        match unit(body, start) {
            Some(0xd800..=0xdbff) if matches!(unit(body, start + 6), Some(0xdc00..=0xdfff)) => at = start + 12,
            Some(0xd800..=0xdfff) => found.add(Code::LoneSurrogate, start, "half of a surrogate pair"),
            Some(_) | None => {}
        }
    }
}

/// Reads the four digits of a `\u` escape at `at`.
fn unit(body: &[u8], at: usize) -> Option<u16> {
    let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
