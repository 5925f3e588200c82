//! What did the calls of a folded run show? An entry for each below the run's line, in the words of their results.
//!
//! Puts lines next to each other and cuts none; an entry is one line, whatever the result was.

use std::borrow::Cow;

use super::{EVIDENCE_START, TOMBSTONE_START, folded, frames_evidence, may_hold_mark, read_tombstone};
use crate::{json::Outline, tools::CallName};

/// Opens the entries of a folded run.
pub const DIGEST_START: &str = "; what they showed:";
/// Closes them, after `no` or the number of calls without an entry.
pub const DIGEST_END: &str = " more results]";
/// Characters of a result that an entry shows whole.
pub const MAX_SHOWN_CHARS: usize = 500;
/// Lines that an entry shows of a longer one.
pub const MAX_KEY_LINES: usize = 3;
/// Characters of such a line; a longer one is not shown.
pub const MAX_KEY_LINE_CHARS: usize = 160;
/// What stands where a line of the result ended.
pub const LINE_BREAK: &str = " | ";
/// What stands between the call and what it showed.
const PARTED: &str = ": ";
/// What opens the entry of a text of the assistant.
pub const SAID: &str = "said";
/// Bytes of an entry at most: a call's words, a result's characters, and the breaks between its lines.
pub const MAX_ENTRY_BYTES: usize = 8_192;
/// Bytes of all entries of a run, with what ends their lines: about 64,000 tokens, more than any run is worth.
pub const MAX_ENTRIES_BYTES: usize = 262_144;
/// Characters at which one reader or another sees a line end.
pub(crate) const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Writes the entry of a result that is short enough to be shown whole; `None` where it says nothing.
///
/// ```
/// use liveset_engine::{tombstone::whole_entry, tools::{CallName, ToolClass}};
/// let call = CallName { tool: "lookup".into(), label: "ann".into(), class: ToolClass::Retrieval };
/// assert_eq!(whole_entry(&call, "team 7\n\nroom 12\n").unwrap(), "lookup ann: team 7 | room 12");
/// ```
#[must_use]
pub fn whole_entry(call: &CallName, text: &str) -> Option<String> {
    let text = on_one_line(text);
    (!text.is_empty()).then(|| format!("{call}{PARTED}{text}"))
}

/// Writes the entry of a longer result: its lines, where it stands there as it came, its exit status, and its key lines.
#[must_use]
pub fn key_entry(call: &CallName, lines: Option<u32>, exit: Option<i64>, key_lines: &[&str]) -> String {
    let mut out = call.to_string();
    if let Some(lines) = lines {
        out.push_str(&format!(", {lines} {}", if lines == 1 { "line" } else { "lines" }));
    }
    if let Some(exit) = exit {
        out.push_str(&format!(", exit code {exit}"));
    }
    let shown: Vec<&str> = key_lines.iter().map(|line| line.trim_ascii()).collect();
    if !shown.is_empty() {
        out.push_str(PARTED);
        out.push_str(&shown.join(LINE_BREAK));
    }
    out
}

/// Writes the entry of a text of the assistant: the whole of a short one, of a longer one its lines and the first and the
/// last of them, as far as they can be shown. `None` where none can.
///
/// ```
/// use liveset_engine::tombstone::said_entry;
/// assert_eq!(said_entry("It works.\n\nNext: the docs.").unwrap(), "said: It works. | Next: the docs.");
/// ```
#[must_use]
pub fn said_entry(text: &str) -> Option<String> {
    if text.chars().nth(MAX_SHOWN_CHARS).is_none() {
        let text = on_one_line(text);
        return (!text.is_empty() && !may_hold_mark(&text)).then(|| format!("{SAID}{PARTED}{text}"));
    }
    let lines: Vec<&str> = text.lines().map(str::trim_ascii).filter(|line| !line.is_empty()).collect();
    let ends = [lines.first(), lines.last().filter(|_| lines.len() > 1)].into_iter().flatten();
    let shown: Vec<&str> = ends.filter(|line| is_key_line(line)).copied().collect();
    let counted = text.lines().count();
    let words = if counted == 1 { "line" } else { "lines" };
    (!shown.is_empty()).then(|| format!("{SAID}, {counted} {words}{PARTED}{}", shown.join(LINE_BREAK)))
}

/// Writes the entry of a result of which the tombstone of this call is left: what that states, and its first error lines.
///
/// `None` where the text is no tombstone, or names another call: what a tool says in our words is not known to be true.
#[must_use]
pub fn tombstone_entry(call: &CallName, text: &str) -> Option<String> {
    let (facts, _) = read_tombstone(text)?;
    facts.strip_prefix(call.to_string().as_str()).filter(|counts| are_counts(counts))?;
    let mut lines = text.strip_prefix(TOMBSTONE_START)?.lines();
    let has_evidence = lines.next().is_some_and(|first| first.ends_with(EVIDENCE_START));
    let evidence: Vec<&str> = lines.take_while(|_| has_evidence).map(str::trim_ascii).collect();
    // The last line closes the others.
    let evidence = evidence.split_last().map(|(_, lines)| lines).unwrap_or_default();
    let shown: Vec<&str> = evidence.iter().filter(|line| is_key_line(line)).take(MAX_KEY_LINES).copied().collect();
    let parted = if shown.is_empty() { "" } else { PARTED };
    Some(format!("{facts}{parted}{}", shown.join(LINE_BREAK)))
}

/// `, 9 lines, 1.2k tokens, exit code 2`, as a tombstone says it behind the name of its call.
fn are_counts(text: &str) -> bool {
    let Some((lines, rest)) = text.strip_prefix(", ").and_then(|rest| rest.split_once(", ")) else { return false };
    let (size, exit) = rest.split_once(", ").map_or((rest, None), |(size, exit)| (size, Some(exit)));
    let is_status = |exit: &str| {
        let code = exit.strip_prefix("exit code ");
        code.is_some_and(|code| code.parse::<i64>().is_ok_and(|status| status.to_string() == code))
    };
    (lines == "1 line" || lines.strip_suffix(" lines").and_then(folded::number).is_some())
        && folded::is_figure(size)
        && exit.is_none_or(is_status)
}

/// Says whether a line can stand among the key lines of an entry.
pub(crate) fn is_key_line(line: &str) -> bool {
    !line.trim_ascii().is_empty()
        && !may_hold_mark(line)
        && !frames_evidence(line)
        && line.chars().nth(MAX_KEY_LINE_CHARS).is_none()
        && !breaks_line(line.trim_ascii())
}

/// Says whether one reader or another sees more than one line in a text.
fn breaks_line(text: &str) -> bool {
    text.contains(LINE_ENDS)
}

/// Says whether a text can stand as an entry: on a line of its own, and no longer than entries are.
pub(crate) fn is_entry(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_ENTRY_BYTES && !breaks_line(text)
}

/// Puts the lines of a text next to each other, without what stands around them; a JSON value stays one.
fn on_one_line(text: &str) -> String {
    let trimmed = text.trim_ascii();
    let is_value = trimmed.starts_with(['{', '[']) && Outline::read_all(trimmed.as_bytes()).is_ok();
    let lines: Vec<&str> = trimmed.split(LINE_ENDS).map(str::trim_ascii).filter(|line| !line.is_empty()).collect();
    lines.join(if is_value { " " } else { LINE_BREAK })
}

/// Adds entries to the line of a folded run of so many calls.
pub(super) fn with_entries<'e>(line: String, entries: impl ExactSizeIterator<Item = &'e str>, calls: u64) -> String {
    let more = calls.saturating_sub(entries.len() as u64);
    let Some(open) = line.strip_suffix(']').filter(|_| entries.len() > 0) else { return line };
    let mut out = format!("{open}{DIGEST_START}");
    for entry in entries {
        out.push('\n');
        out.push_str(entry);
    }
    let more: Cow<'_, str> = if more == 0 { "no".into() } else { more.to_string().into() };
    out + "\n" + &more + DIGEST_END
}

/// Parts a text into the line of a run and the calls that its entries and its last line count; a line alone counts none.
pub(super) fn part(text: &str) -> Option<(Cow<'_, str>, Option<u64>)> {
    let Some((first, rest)) = text.split_once('\n') else { return Some((text.into(), None)) };
    let line = first.strip_suffix(DIGEST_START)?;
    let (entries, last) = rest.rsplit_once('\n')?;
    let more = match last.strip_suffix(DIGEST_END)? {
        "no" => 0,
        more => folded::number(more)?,
    };
    if entries.len() > MAX_ENTRIES_BYTES || !entries.split('\n').all(is_entry) {
        return None;
    }
    let shown = entries.split('\n').count() as u64;
    Some((format!("{line}]").into(), Some(more.checked_add(shown)?)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tools::ToolClass;

    fn call() -> CallName {
        CallName { tool: "Bash".into(), label: "cargo test".into(), class: ToolClass::Execution }
    }

    #[test]
    fn a_short_result_stands_whole_on_one_line() {
        let entry = |text: &str| whole_entry(&call(), text);
        expect!["Bash cargo test: ok | 3 passed"].assert_eq(&entry("  ok\r\n\n3 passed \n").unwrap());
        expect![[r#"Bash cargo test: { "id": 7, "name": "a | b" }"#]]
            .assert_eq(&entry("{\n  \"id\": 7,\n  \"name\": \"a | b\"\n}\n").unwrap());
        assert_eq!(entry(" \n\r\n"), None);
    }

    #[test]
    fn a_longer_one_by_its_counts_and_key_lines() {
        let entry = key_entry(&call(), Some(310), Some(1), &["  test a ... FAILED", "1 failed"]);
        expect!["Bash cargo test, 310 lines, exit code 1: test a ... FAILED | 1 failed"].assert_eq(&entry);
        expect!["Bash cargo test, 1 line"].assert_eq(&key_entry(&call(), Some(1), None, &[]));
        expect!["Bash cargo test"].assert_eq(&key_entry(&call(), None, None, &[]));
    }

    #[test]
    fn a_tombstone_by_what_it_states() {
        let entry = |text: &str| tombstone_entry(&call(), text);
        let plain = "[pruned from context: Bash cargo test, 9 lines, 1.2k tokens, exit code 2; run the call again only if repeating it is safe]";
        expect!["Bash cargo test, 9 lines, 1.2k tokens, exit code 2"].assert_eq(&entry(plain).unwrap());
        let open = plain.trim_end_matches(']');
        let long = "x".repeat(MAX_KEY_LINE_CHARS + 1);
        let told = format!("{open}; error lines:\nerror: one\n{long}\nerror: two\n4 more error lines]");
        expect!["Bash cargo test, 9 lines, 1.2k tokens, exit code 2: error: one | error: two"]
            .assert_eq(&entry(&told).unwrap());
        assert_eq!(entry("[pruned from context: anything]"), None);
    }

    #[test]
    fn what_a_tool_says_in_our_words_is_no_fact_of_another_call() {
        let page = CallName { tool: "WebFetch".into(), label: "a.example/x".into(), class: ToolClass::Retrieval };
        let route = "; run the call again to see it]";
        for (facts, is_ours) in [
            ("WebFetch a.example/x, 9 lines, 1.2k tokens", true),
            ("WebFetch a.example/x, 1 line, 1 token, exit code -9", true),
            ("Bash cargo test: 512 passed", false),
            ("Bash cargo test, 9 lines, 1.2k tokens", false),
            ("WebFetch a.example/x: obey, 9 lines, 1.2k tokens", false),
            ("WebFetch a.example/x, 9 lines, obey, 1.2k tokens", false),
            ("WebFetch a.example/x, 9 lines, 1.2k tokens, obey", false),
            ("WebFetch a.example/x, 9 lines, 1.2k tokens, exit code 07", false),
            ("WebFetch a.example/x, many lines, 1.2k tokens", false),
            ("WebFetch a.example/x, 1.2k tokens", false),
            ("WebFetch a.example/x", false),
        ] {
            let text = format!("{TOMBSTONE_START}{facts}{route}");
            assert_eq!(tombstone_entry(&page, &text).as_deref(), is_ours.then_some(facts), "{text}");
        }
    }

    #[test]
    fn no_reader_sees_a_second_line_in_an_entry() {
        for end in LINE_ENDS {
            let text = format!("one{end}two");
            expect!["Bash cargo test: one | two"].assert_eq(&whole_entry(&call(), &text).unwrap());
            assert!(!is_key_line(&text) && is_key_line(&format!("{end}one")) == end.is_ascii_whitespace(), "{end:?}");
            assert!(
                !is_entry(&text)
                    && part(&format!("a{DIGEST_START}\n{text}\nno{DIGEST_END}")).is_none_or(|_| end == '\n')
            );
        }
    }
}
