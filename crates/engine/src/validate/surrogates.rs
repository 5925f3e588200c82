//! Does a body hold half a surrogate pair? `wire-formats.md`, section 0, rule 1: strict readers refuse it.
//!
//! Goes over the escapes of a valid JSON text once; decodes no string. Of each value one is taken, so that a text full of
//! them, which another may follow, does not use up the places of the report.

use super::code::Code;
use super::defect::Findings;
use crate::json::{NodeIdx, Outline};

const MESSAGE: &str = "half of a surrogate pair";

/// Takes a defect for each value, and for the keys of each object, that hold a lone surrogate.
pub(super) fn check(outline: &Outline<'_>, found: &mut Findings) {
    visit(outline, outline.root(), found);
}

/// Depth of the recursion is bounded by [`MAX_DEPTH`](crate::json::MAX_DEPTH).
fn visit(outline: &Outline<'_>, idx: NodeIdx, found: &mut Findings) {
    if !outline.is_entered(idx) {
        if let Some(at) = first(outline.bytes(idx)) {
            found.add(Code::LoneSurrogate, outline.node(idx).span.start() + at, MESSAGE);
        }
        return;
    }
    let mut key_at = None;
    for child in outline.children(idx) {
        let key = outline.node(child).key.filter(|_| key_at.is_none());
        key_at = key_at.or(key.and_then(|key| Some(key.start() + first(key.of(outline.body()))?)));
        visit(outline, child, found);
    }
    if let Some(at) = key_at {
        found.add(Code::LoneSurrogate, at, MESSAGE);
    }
}

/// Finds the first lone surrogate in a piece of valid JSON.
fn first(json: &[u8]) -> Option<usize> {
    let mut at = 0;
    // In valid JSON a backslash stands only in strings, and the character after it belongs to it.
    while let Some(ahead) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + ahead;
        at = start + 2;
        match unit(json, start) {
            Some(0xd800..=0xdbff) if matches!(unit(json, start + 6), Some(0xdc00..=0xdfff)) => at = start + 12,
            Some(0xd800..=0xdfff) => return Some(start),
            Some(_) | None => {}
        }
    }
    None
}

/// Reads the four digits of a `\u` escape at `at`.
fn unit(body: &[u8], at: usize) -> Option<u16> {
    let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
