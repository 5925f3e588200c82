//! Does a result say that its call failed? What failed was not done, so its arguments are the only place that holds it.
//!
//! Where it is not clear, the answer is yes: then the arguments stay, which costs room and loses nothing.

use crate::{
    error::Result,
    json::{NodeIdx, NodeKind, Outline},
    plan::{desk::Desk, state::State, texts::PartText},
    tools,
    transcript::ErrorFlag,
};

/// First words of answers that tell of a failure without an error's usual marks; matched without regard to case.
const FAILURE_OPENINGS: [&str; 14] = [
    "error",
    "<tool_use_error>",
    "<error>",
    "failed",
    "failure",
    "fail:",
    "cannot ",
    "can't ",
    "could not ",
    "couldn't ",
    "unable to ",
    "permission denied",
    "access denied",
    "invalid ",
];
/// Words in the first line of an answer that leave it open whether the work was done: then it counts as not done.
const DOUBTS: [&str; 36] = [
    "abort",
    "aborted",
    "approval",
    "approve",
    "blocked",
    "canceled",
    "cancelled",
    "cannot",
    "can't",
    "couldn't",
    "declined",
    "denied",
    "didn't",
    "disallowed",
    "doesn't",
    "dry",
    "error",
    "failed",
    "failure",
    "forbidden",
    "interrupted",
    "invalid",
    "never",
    "no",
    "not",
    "nothing",
    "pending",
    "permission",
    "read-only",
    "refused",
    "rejected",
    "skipped",
    "unable",
    "unknown",
    "wasn't",
    "won't",
];
/// Members of a JSON answer that tell of a failure unless they are empty.
const ERROR_MEMBERS: [&str; 4] = ["error", "errors", "is_error", "isError"];
/// Members that tell of one where they are `false`.
const SUCCESS_MEMBERS: [&str; 2] = ["success", "ok"];
/// Bytes of an answer that is looked at as JSON: what a write answers is short.
const MAX_ANSWER_BYTES: usize = 1 << 16;

/// Says whether a result tells of a failure, by the wire's flag or in its own words.
pub(super) fn is_failure(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<bool> {
    let Some(result) = state.results.get(ordinal) else { return Ok(true) };
    if desk.item(result.item)?.answer().is_none_or(|answer| answer.error == ErrorFlag::Set) {
        return Ok(true);
    }
    let texts = desk.texts(ordinal)?;
    // Each part by itself: a notice that stands for a picture must not hide what comes after it.
    let tells = |part: &PartText<'_>| opens_as_failure(&part.text) || is_error_object(&part.text);
    Ok(texts.tells_failure || texts.is_blank || texts.parts.iter().any(tells))
}

fn opens_as_failure(text: &str) -> bool {
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()).map(str::trim_start) else { return false };
    let opens = |words: &str| first.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words));
    // A JSON answer speaks by its members.
    let doubts = !first.starts_with('{') && words(first).any(|word| DOUBTS.contains(&word.as_str()));
    FAILURE_OPENINGS.iter().any(|words| opens(words)) || tools::is_error_line(first) || doubts
}

/// The words of a line in small letters, paths and names with dots left out.
fn words(line: &str) -> impl Iterator<Item = String> + '_ {
    let bare = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_word = word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
        is_word.then(|| word.to_lowercase().replace('’', "'"))
    };
    line.split_whitespace().filter_map(bare)
}

fn is_error_object(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with('{') || text.len() > MAX_ANSWER_BYTES {
        return false;
    }
    let Ok(outline) = Outline::read_all(text.as_bytes()) else { return false };
    let member = |key: &&str| outline.get(outline.root(), key);
    let is_set = |idx: NodeIdx| match outline.node(idx).kind {
        NodeKind::Null | NodeKind::False => false,
        NodeKind::String => outline.node(idx).span.len() > 2,
        NodeKind::Object | NodeKind::Array => outline.children(idx).next().is_some(),
        NodeKind::Number => outline.bytes(idx) != b"0",
        NodeKind::True => true,
    };
    let is_false = |idx: NodeIdx| outline.node(idx).kind == NodeKind::False;
    ERROR_MEMBERS.iter().filter_map(member).any(is_set) || SUCCESS_MEMBERS.iter().filter_map(member).any(is_false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_opens_as_a_failure_by_its_first_line() {
        for failed in [
            "Error: disk full",
            "\n \n  permission denied: a.txt",
            "FAILED",
            "The tool use was rejected (eg. if it was a file edit, the new text was NOT written to the file).",
            "[Request interrupted by user for tool use]",
            "Tool call cancelled by user",
            "Permission to use Write has been denied.",
            "The file could not be written",
            "No space left on device",
            "write_file: cannot create a: Is a directory",
            "Tool 'write_file' not found",
            "Skipped: dry run",
            "WARNING: nothing was written",
            "It wasn’t saved.",
        ] {
            assert!(opens_as_failure(failed), "{failed}");
        }
        for done in [
            "File created.",
            "",
            "Wrote 3 lines\nError handling was added",
            "File created successfully at: src/error.rs",
            "Wrote 12 bytes to not/found/error.txt",
            "The file `no.txt` has been updated.",
            r#"{"message":"not there before, written"}"#,
        ] {
            assert!(!opens_as_failure(done), "{done}");
        }
    }

    #[test]
    fn a_json_answer_tells_of_a_failure_by_its_members() {
        for failed in [r#"{"error":"disk full"}"#, r#"{"ok":false}"#, r#" {"isError":true}"#, r#"{"errors":[1]}"#] {
            assert!(is_error_object(failed), "{failed}");
        }
        for done in [r#"{"error":null}"#, r#"{"success":true,"errors":[]}"#, "{}", "{error", "[1]", r#"{"error":""}"#] {
            assert!(!is_error_object(done), "{done}");
        }
    }
}
