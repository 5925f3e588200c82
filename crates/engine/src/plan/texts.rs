//! What do results say, where may they be cut, and what in them is evidence?
//!
//! Decodes a result once, when a sweep or an edit first asks for it; never decides.

use std::borrow::Cow;

use super::passages::{Passage, passages};
use crate::{
    error::Result,
    json,
    span::Span,
    tombstone,
    tools::{self, CallName},
    transcript::{Item, ItemIdx, Transcript},
};

/// The words by which any result pins itself.
pub const PIN_MARKER: &str = "[liveset:pin]";

/// One text part of a result.
#[derive(Debug)]
pub(crate) struct PartText<'a> {
    /// The string literal, quotes included.
    pub(crate) literal: Span,
    /// What it says; a lone surrogate is U+FFFD.
    pub(crate) text: Cow<'a, str>,
    /// Where it may be cut.
    pub(crate) passages: Vec<Passage>,
    /// Lines of this part.
    pub(crate) lines: u32,
}

/// One line of evidence in an execution result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorLine {
    pub(crate) part: usize,
    /// Bytes of the part's text, without the line's ending.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Line of the part, from 0.
    pub(crate) line: u32,
}

/// A result, decoded.
#[derive(Debug)]
pub(crate) struct ResultTexts<'a> {
    pub(crate) parts: Vec<PartText<'a>>,
    /// Lines of all parts.
    pub(crate) lines: u32,
    pub(crate) name: CallName,
    /// Exit status, where it states one.
    pub(crate) exit: Option<i64>,
    /// Evidence, in order; empty unless the tool is of class execution.
    pub(crate) errors: Vec<ErrorLine>,
    /// Whether nothing but white space stands there.
    pub(crate) is_blank: bool,
    /// Whether the client sent it with a tombstone or gap of ours in it.
    pub(crate) arrives_cut: bool,
    /// Whether it holds the words that pin it.
    pub(crate) has_marker: bool,
    /// Whether it tells of a failure itself.
    pub(crate) tells_failure: bool,
    /// The line that stands for it instead of a tombstone, where the preset has a rule for its tool.
    pub(crate) rule_line: Option<String>,
}

impl<'a> ResultTexts<'a> {
    /// Decodes the result `item`.
    pub(crate) fn of(transcript: &Transcript<'a>, item: &Item) -> Result<Self> {
        let call = item.answer().and_then(|answer| answer.call);
        let call = call.and_then(|idx: ItemIdx| transcript.items.get(idx.at())).and_then(Item::call);
        let name = CallName::of(transcript, call);
        let mut parts = Vec::with_capacity(item.texts.len());
        let mut lines = 0;
        for &literal in &item.texts {
            let text = json::decode(literal.of(transcript.body))?.into_text();
            let part = PartText { literal, lines: line_count(&text), passages: passages(&text), text };
            lines += part.lines;
            parts.push(part);
        }
        let exit = parts.iter().find_map(|part| exit_status(&part.text));
        let errors = match name.class {
            tools::ToolClass::Execution => {
                parts.iter().enumerate().flat_map(|(at, part)| error_lines(at, part)).collect()
            }
            tools::ToolClass::Retrieval | tools::ToolClass::Volatile => Vec::new(),
        };
        let any = |claim: &dyn Fn(&str) -> bool| parts.iter().any(|part| claim(&part.text));
        Ok(Self {
            is_blank: parts.iter().all(|part| part.text.trim().is_empty()),
            arrives_cut: any(&|text| tombstone::is_tombstone(text) || tombstone::holds_gap(text)),
            has_marker: any(&|text| memchr::memmem::find(text.as_bytes(), PIN_MARKER.as_bytes()).is_some()),
            rule_line: None,
            tells_failure: exit.is_some_and(|exit| exit != 0) || any(&has_failing_verdict),
            parts,
            lines,
            name,
            exit,
            errors,
        })
    }
}

/// Counts lines as `\n` ends them; a last line without an ending counts.
pub(crate) fn line_count(text: &str) -> u32 {
    let ends = text.bytes().filter(|&byte| byte == b'\n').count();
    let open = usize::from(!text.is_empty() && !text.ends_with('\n'));
    u32::try_from(ends + open).unwrap_or(u32::MAX)
}

fn error_lines(part: usize, text: &PartText<'_>) -> Vec<ErrorLine> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, line) in text.text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\n', '\r']);
        if tools::is_error_line(content) && !tombstone::frames_evidence(content) {
            let (from, to) = (start, start + content.len());
            found.push(ErrorLine {
                part,
                start: u32::try_from(from).unwrap_or(u32::MAX),
                end: u32::try_from(to).unwrap_or(u32::MAX),
                line: u32::try_from(at).unwrap_or(u32::MAX),
            });
        }
        start += line.len();
    }
    found
}

/// Lines at either end in which a frame states the exit status.
const FRAME_LINES: usize = 4;
/// How the frames of common agents say it; matched without regard to case.
const EXIT_FRAMES: [&str; 7] = [
    "exit code: ",
    "exit code ",
    "exited with code ",
    "exit status: ",
    "exit status ",
    "\"exit_code\":",
    "returncode: ",
];

fn exit_status(text: &str) -> Option<i64> {
    let (head, end) = tombstone::around_marks(text);
    let first = head.lines().take(FRAME_LINES);
    let last = end.lines().rev().take(FRAME_LINES);
    first.chain(last).find_map(|line| {
        // A frame is a short line of its own, or the metadata that closes a JSON envelope.
        let line = if line.len() > 400 { tail(line, 200) } else { line };
        let lower = line.to_ascii_lowercase();
        EXIT_FRAMES.iter().find_map(|frame| number_after(&lower, frame))
    })
}

fn tail(text: &str, bytes: usize) -> &str {
    let mut at = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    text.get(at..).unwrap_or_default()
}

fn number_after(line: &str, frame: &str) -> Option<i64> {
    let rest = line.get(line.find(frame)? + frame.len()..)?.trim_start();
    let end = rest.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
    rest.get(..end.map_or(rest.len(), |(at, _)| at))?.parse().ok()
}

/// Closing lines by which test runners and compilers say that they failed.
const FAILING_VERDICTS: [&str; 9] = [
    "test result: FAILED",
    "FAILED (failures=",
    "FAILED (errors=",
    "error: could not compile",
    "error: test failed",
    "npm ERR!",
    "BUILD FAILED",
    "Interrupted: ",
    "Traceback (most recent call last):",
];
/// Bytes at the end of a result in which a verdict stands.
const VERDICT_BYTES: usize = 2_000;

fn has_failing_verdict(text: &str) -> bool {
    let (_, end) = tombstone::around_marks(text);
    let end = tail(end, VERDICT_BYTES);
    FAILING_VERDICTS.iter().any(|verdict| end.contains(verdict))
        || end.lines().rev().take(FRAME_LINES).any(is_pytest_failure)
}

/// `=== 2 failed, 3 passed in 0.12s ===`
fn is_pytest_failure(line: &str) -> bool {
    line.starts_with("==") && (line.contains(" failed") || line.contains(" error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_exit_status_of_known_frames() {
        assert_eq!(exit_status("Exit code 101\nerror: no"), Some(101));
        assert_eq!(exit_status("fine\n[exit code 2]"), Some(2));
        assert_eq!(exit_status("{\"output\":\"x\",\"metadata\":{\"exit_code\":0,\"duration\":1}}"), Some(0));
        assert_eq!(exit_status("no frame here"), None);
    }

    #[test]
    fn knows_a_failing_verdict_from_a_passing_one() {
        assert!(has_failing_verdict("running 2 tests\ntest result: FAILED. 1 passed; 1 failed"));
        assert!(has_failing_verdict("===== 1 failed, 2 passed in 0.1s ====="));
        assert!(!has_failing_verdict("===== 3 passed in 0.1s ====="));
    }

    #[test]
    fn a_line_that_would_end_a_mark_is_no_error_line() {
        let text = "[lines 2-9 of 9 left out; error lines:\nerror: one\n3 more error lines]\nno more error lines]\n";
        let part =
            PartText { literal: Span::new(0, 0), text: text.into(), passages: Vec::new(), lines: line_count(text) };
        let lines: Vec<u32> = error_lines(0, &part).iter().map(|line| line.line).collect();
        assert_eq!(lines, [1]);
    }

    #[test]
    fn counts_a_last_line_without_an_ending() {
        assert_eq!((line_count(""), line_count("a"), line_count("a\n"), line_count("a\nb")), (0, 1, 1, 2));
    }
}
