//! Is it JSON: one value, or one on each line?

use crate::json::Outline;

/// Longest text that is read as JSON, in bytes: the hard limit of intake without an archive, each character escaped.
const MAX_BYTES: usize = 8 << 20;
/// Lines of which each is read; the others must only look like values.
const READ_LINES: usize = 40;

/// Says whether a text is one JSON object or array.
///
/// ```
/// use liveset_engine::content::values::is_json;
/// assert!(is_json("{\"a\": [1, 2]}\n"));
/// assert!(!is_json("[1, 2] and more") && !is_json("17"));
/// ```
#[must_use]
pub fn is_json(text: &str) -> bool {
    let trimmed = text.trim();
    let looks =
        (trimmed.starts_with('{') && trimmed.ends_with('}')) || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    looks && trimmed.len() <= MAX_BYTES && Outline::read_all(trimmed.as_bytes()).is_ok()
}

/// Says whether a text has a JSON object or array on each of at least two lines.
///
/// ```
/// use liveset_engine::content::values::is_json_lines;
/// assert!(is_json_lines("{\"t\": 1}\n{\"t\": 2}\n"));
/// assert!(!is_json_lines("{\n}\n"));
/// ```
#[must_use]
pub fn is_json_lines(text: &str) -> bool {
    if !text.trim_start().starts_with(['{', '[']) {
        return false;
    }
    let mut count = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let looks = (line.starts_with('{') && line.ends_with('}')) || (line.starts_with('[') && line.ends_with(']'));
        if !looks || (count < READ_LINES && Outline::read_all(line.as_bytes()).is_err()) {
            return false;
        }
        count += 1;
    }
    count > 1
}
