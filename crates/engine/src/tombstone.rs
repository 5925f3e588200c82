//! What stands where a result was? Every text of ours that reaches the model, as named constants.
//!
//! Recognises our own lines by strict grammar, which may lead to less cutting, never to trust.

mod route;
mod digest;
mod folded;
mod summarised;

pub use digest::{
    DIGEST_END, DIGEST_START, LINE_BREAK, MAX_ENTRIES_BYTES, MAX_ENTRY_BYTES, MAX_KEY_LINE_CHARS, MAX_KEY_LINES,
    MAX_SHOWN_CHARS, SAID, key_entry, said_entry, tombstone_entry, whole_entry,
};
pub(crate) use digest::{LINE_ENDS, is_entry, is_key_line};
pub use folded::{
    FOLD_OTHERS, FOLD_START, FoldFacts, MAX_FOLD_NAME_BYTES, MAX_FOLD_TOOLS, fold_line, fold_text, is_fold,
};
pub use route::{
    MAX_HELD_IDS, ROUTE_END, ROUTE_FOLD, ROUTE_FOLD_EXECUTION, ROUTE_FOLD_SHELL, ROUTE_FOLD_SPILL,
    ROUTE_FOLD_SPILL_END, ROUTE_FOLD_TOOL, ROUTE_FOLD_VOLATILE, ROUTE_HELD, ROUTE_HELD_END, ROUTE_MAY_DIFFER,
    ROUTE_RECALL, ROUTE_RERUN, ROUTE_RERUN_EXECUTION, ROUTE_RERUN_VOLATILE, ROUTE_SHELL, ROUTE_SPILL, Route, rerun,
};
pub use summarised::{
    MAX_SUMMARY_BYTES, SUMMARY_BY_MODEL, SUMMARY_END, SUMMARY_START, SummaryFacts, extract_text, summary_text,
};

use std::{collections::BTreeSet, fmt::Write as _};

use liveset_tokens::Tokens;

use crate::tools::CallName;

/// The words by which any result pins itself.
pub const PIN_MARKER: &str = "[liveset:pin]";
/// First words of a tombstone.
pub const TOMBSTONE_START: &str = "[pruned from context: ";
/// First words of a gap of whole lines.
pub const GAP_START: &str = "[lines ";
/// First words of a gap inside one giant line.
pub const INNER_GAP_START: &str = "[characters ";
/// First words of a gap among the elements of a JSON array.
pub const ELEMENTS_GAP_START: &str = "[elements ";
/// First words of a gap among the members of a JSON object.
pub const MEMBERS_GAP_START: &str = "[members ";
/// What each gap says of its lines.
pub const LEFT_OUT: &str = " left out";
/// Opens the error lines that a tombstone or gap keeps.
pub const EVIDENCE_START: &str = "; error lines:";
/// Closes them, after `no` or a count.
const EVIDENCE_END: &str = " more error lines]";
/// Rule template: what stands in a call's arguments where a file's content was.
pub const CONTENT_SAVED: &str = "[Content saved to file]";
/// Rule template: before the path, where a file's content was.
pub const FILE_CONTENT_START: &str = "File content from ";
/// Rule template: after the path.
pub const FILE_CONTENT_END: &str = ". Re-read if needed.";
/// Rule template: before the query, where search results were.
pub const SEARCH_RESULTS_START: &str = "Search results processed. Query: ";
/// Rule template: after the query.
pub const SEARCH_RESULTS_END: &str = ". Re-search if needed.";
/// Rule template: what stands for a path or query that the call does not name.
pub const UNKNOWN_ARGUMENT: &str = "unknown";
/// Error lines kept per tombstone or gap; the rest are counted.
pub const MAX_ERROR_LINES: usize = 20;

/// The counted facts of a tombstone.
pub struct TombstoneFacts<'a> {
    /// How the call is named.
    pub call: &'a CallName,
    /// Lines of the whole result.
    pub lines: u32,
    /// Its size in o200k tokens, whatever the model.
    pub tokens: Tokens,
    /// Exit status, where the result states one.
    pub exit: Option<i64>,
    /// The way back, in its own words (see [`Route::words`]).
    pub route: &'a str,
    /// Error lines, in order, already shortened.
    pub errors: Evidence,
}

/// Error lines that stay in view when their surroundings go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The first [`MAX_ERROR_LINES`].
    pub lines: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// Writes the tombstone of a result.
#[must_use]
pub fn tombstone(facts: &TombstoneFacts<'_>) -> String {
    let mut out = String::from(TOMBSTONE_START);
    let noun = if facts.lines == 1 { "line" } else { "lines" };
    let _ = write!(out, "{}, {} {noun}, {}", facts.call, facts.lines, figure(facts.tokens));
    if let Some(exit) = facts.exit {
        let _ = write!(out, ", exit code {exit}");
    }
    let _ = write!(out, "; {}", facts.route);
    close(&mut out, &facts.errors);
    out
}

/// Writes the notice that stands where a picture or document was.
#[must_use]
pub fn media_notice(what: &str, size: Option<(u32, u32)>, tokens: Tokens, route: &str) -> String {
    let size = size.map(|(width, height)| format!(" {width}x{height}")).unwrap_or_default();
    format!("{TOMBSTONE_START}{what}{size}, {}; {route}]", figure(tokens))
}

/// Writes the line that stands for the lines `first` to `last` (from 1) of `total`.
#[must_use]
pub fn gap(first: u32, last: u32, total: u32, route: Option<&str>, errors: &Evidence) -> String {
    let mut out = String::from(GAP_START);
    let _ = match first == last {
        true => write!(out, "{first} of {total}{LEFT_OUT}"),
        false => write!(out, "{first}-{last} of {total}{LEFT_OUT}"),
    };
    if let Some(route) = route {
        let _ = write!(out, "; {route}");
    }
    close(&mut out, errors);
    out
}

/// Writes what stands for the characters `first` to `last` (from 1) inside one line.
#[must_use]
pub fn inner_gap(first: usize, last: usize, line: u32, route: Option<&str>) -> String {
    let mut out = format!("{INNER_GAP_START}{first}-{last} of line {line}{LEFT_OUT}");
    if let Some(route) = route {
        let _ = write!(out, "; {route}");
    }
    out.push(']');
    out
}

/// Writes what stands for parts `first` to `last` (from 1) of `total` of a JSON value; `start` names the parts.
///
/// ```
/// use liveset_engine::tombstone::{ELEMENTS_GAP_START, value_gap};
/// assert_eq!(value_gap(ELEMENTS_GAP_START, 3, 98, 100, None), "[elements 3-98 of 100 left out]");
/// ```
#[must_use]
pub fn value_gap(start: &str, first: u32, last: u32, total: u32, route: Option<&str>) -> String {
    let mut out = format!("{start}{first}-{last} of {total}{LEFT_OUT}");
    if let Some(route) = route {
        let _ = write!(out, "; {route}");
    }
    out.push(']');
    out
}

fn close(out: &mut String, errors: &Evidence) {
    if errors.lines.is_empty() {
        out.push(']');
        return;
    }
    out.push_str(EVIDENCE_START);
    for line in &errors.lines {
        out.push('\n');
        out.push_str(line);
    }
    match errors.more {
        0 => {
            let _ = write!(out, "\nno{EVIDENCE_END}");
        }
        more => {
            let _ = write!(out, "\n{more}{EVIDENCE_END}");
        }
    }
}

/// Writes a number of tokens as people read it: `842 tokens`, `4.2k tokens`, `1.3M tokens`.
fn figure(tokens: Tokens) -> String {
    let tenths = |unit: u64| {
        let tenths = tokens.0.saturating_add(unit / 20) / (unit / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    // Units change where a figure would round to a thousand of the smaller one.
    match tokens.0 {
        1 => "1 token".to_owned(),
        0..1_000 => format!("{} tokens", tokens.0),
        1_000..999_950 => format!("{}k tokens", tenths(1_000)),
        _ => format!("{}M tokens", tenths(1_000_000)),
    }
}

/// Says whether a text is a tombstone, media notice or line of a folded run of ours, whole.
#[must_use]
pub fn is_tombstone(text: &str) -> bool {
    if is_fold(text) {
        return true;
    }
    tombstone_ids(text).is_some()
}

/// Says whether a text is a media notice of ours, whole: where a picture or document was, a result says nothing.
#[must_use]
pub fn is_media_notice(text: &str) -> bool {
    // A tombstone states lines between its call and its size.
    read_tombstone(text).is_some_and(|(facts, _)| facts.split(", ").count() == 2)
}

/// Says whether a text is a mark of ours, whole, that holds no text of a tool: nothing is gained where it goes.
///
/// The entries below a folded run's line are such text, or may be any text where somebody else wrote the line.
pub(crate) fn is_bare_mark(text: &str) -> bool {
    if is_fold(text) {
        return !text.contains('\n');
    }
    tombstone_ids(text).is_some()
}

/// Gives the ids that a tombstone or media notice names.
fn tombstone_ids(text: &str) -> Option<Vec<&str>> {
    read_tombstone(text).map(|(_, ids)| ids)
}

/// Reads a tombstone or media notice, whole: its facts before the route, and the ids that the route names.
fn read_tombstone(text: &str) -> Option<(&str, Vec<&str>)> {
    let rest = text.strip_prefix(TOMBSTONE_START).filter(|rest| rest.ends_with(']'))?;
    let first = rest.lines().next().unwrap_or_default();
    let ends = |rest: &str| rest.starts_with(']') || rest == EVIDENCE_START;
    first
        .match_indices("; ")
        .find_map(|(at, parted)| Some((first.get(..at)?, route::at_start(first.get(at + parted.len()..)?, ends)?)))
}

/// Gives the ids that a text's own marks name, each once: how a result that arrives cut says where the rest of it is.
///
/// An id is what the text says, and nobody knows if it is true.
#[must_use]
pub fn named_ids(text: &str) -> Vec<String> {
    let in_gaps = gaps(text).map(|(_, ids)| ids);
    let mut seen = BTreeSet::new();
    let all = tombstone_ids(text).into_iter().chain(in_gaps).flatten();
    all.filter(|id| seen.insert(*id)).map(str::to_owned).collect()
}

/// Says whether a line looks as if it opened or closed the error lines of a mark.
///
/// Such a line is never kept as an error line itself: it would end the mark around it for a reader.
#[must_use]
pub fn frames_evidence(line: &str) -> bool {
    line.ends_with(EVIDENCE_END) || (line.starts_with('[') && line.ends_with(EVIDENCE_START))
}

/// Says whether a text holds a gap of ours.
#[must_use]
pub fn holds_gap(text: &str) -> bool {
    gaps(text).next().is_some()
}

/// Says whether a text holds what could be read as a mark of ours, true or not: an entry of a folded run never shows it,
/// since there a reader would take it for our word.
pub(crate) fn may_hold_mark(text: &str) -> bool {
    let holds = |start: &str| memchr::memmem::find(text.as_bytes(), start.as_bytes()).is_some();
    [TOMBSTONE_START, FOLD_START, SUMMARY_START].into_iter().any(holds) || holds_gap(text)
}

/// Gives what a result says before its first mark of ours and after its last, whole lines only.
///
/// What a verdict or exit status is read from: a text of which we left a part out says no more than it did whole.
/// A text without marks is its own beginning and end.
#[must_use]
pub fn around_marks(text: &str) -> (&str, &str) {
    if is_tombstone(text) {
        return ("", "");
    }
    let mut gaps = gaps(text).map(|(at, _)| at);
    let Some(first) = gaps.next() else { return (text, text) };
    let last = gaps.last().unwrap_or(first);
    let ends = memchr::memmem::rfind(text.as_bytes(), EVIDENCE_END.as_bytes());
    let last = ends.map_or(last, |end| last.max(end));
    let head = text.get(..first).and_then(|head| head.rfind('\n')).map_or(0, |end| end + 1);
    let tail = text.get(last..).and_then(|tail| tail.find('\n')).map_or(text.len(), |end| last + end + 1);
    (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

/// Gives each gap: the place of its words [`LEFT_OUT`], and the ids that its route names.
fn gaps(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> + '_ {
    // The rare words are looked for first; the grammar is checked around them.
    memchr::memmem::find_iter(text.as_bytes(), LEFT_OUT).filter_map(|at| {
        let (before, end) = around(text, at);
        let is_gap = GAP_STARTS.iter().any(|start| {
            let counts = before.rfind(start).and_then(|start_at| before.get(start_at + start.len()..));
            counts.is_some_and(are_gap_counts)
        });
        is_gap.then(|| gap_end(end.lines().next().unwrap_or_default())).flatten().map(|ids| (at, ids))
    })
}

/// How every gap begins.
const GAP_STARTS: [&str; 4] = [GAP_START, INNER_GAP_START, ELEMENTS_GAP_START, MEMBERS_GAP_START];

/// Gives what of a text may belong to the gap whose words [`LEFT_OUT`] stand at `at`: what is before and behind them.
///
/// Bounded, since a line without an end may repeat the words as often as it likes (law 12).
fn around(text: &str, at: usize) -> (&str, &str) {
    let (before, behind) = (text.get(..at).unwrap_or_default(), text.get(at + LEFT_OUT.len()..).unwrap_or_default());
    let mut from = before.len().saturating_sub(MAX_GAP_COUNTS);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let mut to = behind.len().min(MAX_GAP_END);
    while !behind.is_char_boundary(to) {
        to -= 1;
    }
    (before.get(from..).unwrap_or_default(), behind.get(..to).unwrap_or_default())
}

/// Bytes in which a gap's first words and counts stand: three numbers of ten digits and the words between.
const MAX_GAP_COUNTS: usize = 64;
/// Bytes in which a gap's route and what follows it on the line stand: the longest, the line's own end, and a character
/// more, so that nothing that is cut off here looks as if its line ended.
const MAX_GAP_END: usize = PARTED.len() + route::MAX_BYTES + EVIDENCE_START.len() + "\r\n".len() + 4;
/// What stands before a route.
const PARTED: &str = "; ";

/// Reads what stands behind [`LEFT_OUT`] on a gap's line: `]`, a route, or error lines; gives the ids it names.
fn gap_end(end: &str) -> Option<Vec<&str>> {
    if end.starts_with(']') || end == EVIDENCE_START {
        return Some(Vec::new());
    }
    route::at_start(end.strip_prefix(PARTED)?, |rest| rest.starts_with(']') || rest == EVIDENCE_START)
}

/// `A of N` or `A-B of …`.
fn are_gap_counts(counts: &str) -> bool {
    let Some((range, total)) = counts.split_once(" of ") else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ranged = range.split('-').count() <= 2 && range.split('-').all(is_number);
    ranged && is_number(total.strip_prefix("line ").unwrap_or(total))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::{content_id::ContentId, policy::SpillFolder, tools::ToolClass};

    fn name(class: ToolClass) -> CallName {
        CallName { tool: "read_file".into(), label: "src/parser.py".into(), class }
    }

    #[test]
    fn a_tombstone_names_call_size_and_route() {
        let call = name(ToolClass::Retrieval);
        let facts = TombstoneFacts {
            call: &call,
            lines: 310,
            tokens: Tokens(4_249),
            exit: None,
            route: ROUTE_RERUN,
            errors: Evidence::default(),
        };
        let text = tombstone(&facts);
        expect!["[pruned from context: read_file src/parser.py, 310 lines, 4.2k tokens; run the call again to see it]"]
            .assert_eq(&text);
        assert!(is_tombstone(&text));
    }

    #[test]
    fn an_execution_keeps_its_status_and_error_lines() {
        let call = CallName { tool: "Bash".into(), label: "cargo test".into(), class: ToolClass::Execution };
        let errors = Evidence { lines: vec!["error: no".into()], more: 3 };
        let route = ROUTE_RERUN_EXECUTION;
        let text =
            tombstone(&TombstoneFacts { call: &call, lines: 1, tokens: Tokens(950), exit: Some(101), route, errors });
        expect![[r#"
            [pruned from context: Bash cargo test, 1 line, 950 tokens, exit code 101; run the call again only if repeating it is safe; error lines:
            error: no
            3 more error lines]"#]]
        .assert_eq(&text);
        assert!(is_tombstone(&text));
    }

    #[test]
    fn a_figure_never_reads_a_thousand_thousands() {
        assert_eq!(figure(Tokens(999_949)), "999.9k tokens");
        assert_eq!(figure(Tokens(999_950)), "1.0M tokens");
        assert_eq!(figure(Tokens(999)), "999 tokens");
    }

    #[test]
    fn gaps_are_recognised_and_lookalikes_are_not() {
        assert!(holds_gap(&format!("a\n{}\nb", gap(13, 48, 310, None, &Evidence::default()))));
        assert!(holds_gap(&gap(2, 2, 9, Some(ROUTE_RERUN), &Evidence::default())));
        assert!(holds_gap(&format!("xx{}yy", inner_gap(501, 2_000, 1, None))));
        assert!(!holds_gap("[lines of code left out]"));
        assert!(!holds_gap("[lines 3-x of 9 left out]"));
        assert!(!holds_gap("[lines 3-4 of 9 left out; ask me]"));
        assert!(!is_tombstone("[pruned from context: something else]"));
    }

    #[test]
    fn marks_of_every_route_are_recognised_with_the_ids_they_name() {
        let (id, held) = (ContentId::of(b"x"), ContentId::of(b"y").to_string());
        for route in [Route::Rerun, Route::Tool, Route::Shell, Route::Spill(SpillFolder::new("a").unwrap())] {
            for class in [ToolClass::Retrieval, ToolClass::Volatile, ToolClass::Execution] {
                let words = route.words(class, id, std::slice::from_ref(&held));
                let named: &[String] = if route == Route::Rerun { &[] } else { &[id.to_string(), held.clone()] };
                for errors in [Evidence::default(), Evidence { lines: vec!["error: no".into()], more: 1 }] {
                    let call = CallName { tool: "Bash".into(), label: "a; b".into(), class };
                    let facts = TombstoneFacts {
                        call: &call,
                        lines: 9,
                        tokens: Tokens(9),
                        exit: None,
                        route: &words,
                        errors: errors.clone(),
                    };
                    let text = tombstone(&facts);
                    assert!(is_tombstone(&text) && named_ids(&text) == named, "{text}");
                    assert!(!is_media_notice(&text), "{text}");
                    let text =
                        format!("a\n{}\nb\n{}\nc", gap(2, 3, 9, None, &errors), gap(5, 8, 9, Some(&words), &errors));
                    assert!(holds_gap(&text) && named_ids(&text) == named, "{text}");
                    assert_eq!(around_marks(&text), ("a\n", "c"));
                }
                let text = format!("a{}b", inner_gap(501, 2_000, 1, Some(&words)));
                assert!(holds_gap(&text) && named_ids(&text) == named, "{text}");
                let text = media_notice("picture", Some((1, 2)), Tokens(9), &words);
                assert!(is_media_notice(&text) && is_tombstone(&text) && named_ids(&text) == named, "{text}");
            }
        }
    }

    #[test]
    fn a_long_line_is_looked_at_only_around_the_words_of_a_gap() {
        let start = "[lines 1-2 of 3 left out[lines 1-2 of 3 left out; é";
        let text = start.repeat(2_000);
        let looked_at = memchr::memmem::find_iter(text.as_bytes(), LEFT_OUT).map(|at| {
            let (before, behind) = around(&text, at);
            assert!(text[..at].ends_with(before) && text[at + LEFT_OUT.len()..].starts_with(behind));
            before.len() + behind.len()
        });
        assert!(looked_at.max() <= Some(MAX_GAP_COUNTS + MAX_GAP_END) && !holds_gap(&text));
    }

    #[test]
    fn the_longest_route_is_read_whatever_follows_it() {
        let folder = SpillFolder::new(&"x".repeat(crate::policy::MAX_FOLDER_BYTES)).unwrap();
        let (id, held) = (ContentId::of(b"x"), ContentId::of(b"y").to_string());
        let held = vec![held; route::MAX_HELD_IDS];
        let words = Route::Spill(folder).words(ToolClass::Volatile, id, &held);
        for errors in [Evidence::default(), Evidence { lines: vec!["error: no".into()], more: 1 }] {
            let gap = gap(2, 3, 9, Some(&words), &errors);
            for text in [format!("{gap}{}", "é".repeat(200)), gap.replace('\n', "\r\n"), gap] {
                assert_eq!(named_ids(&text).len(), 2, "{text}");
            }
        }
        for more in ["x", "é", "€", "🙂", "\r"] {
            let text = format!("[lines 2-3 of 9{LEFT_OUT}; {words}{EVIDENCE_START}{more}");
            assert!(!holds_gap(&text), "its line only seems to end where the rest is out of sight: {text}");
        }
    }

    #[test]
    fn what_we_left_out_moves_no_verdict() {
        let errors = Evidence { lines: vec!["error: no".into()], more: 0 };
        let text = format!("a\nb{}c\nd\n{}\ne\n", inner_gap(2, 9, 2, None), gap(4, 9, 10, None, &errors));
        assert_eq!(around_marks(&text), ("a\n", "e\n"));
        assert_eq!(around_marks("a\nb"), ("a\nb", "a\nb"));
        assert_eq!(around_marks(&gap(1, 9, 9, None, &errors)), ("", ""));
    }
}
