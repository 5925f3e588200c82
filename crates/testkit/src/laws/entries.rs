//! Is what a folded run says of its calls true? Each entry is a result's own words on one line, or counts and lines of it.

use super::json_gaps;
use super::tombstones::{Scan, figure, find, is_label};
use crate::oracle::decode::lines;
use crate::oracle::view::{Item, View};

/// Characters of a result that an entry may show whole.
pub(crate) const MAX_SHOWN: usize = 500;
/// Lines that an entry may show of another.
pub(crate) const MAX_KEY_LINES: usize = 3;
/// What stands where a line of the source ended.
pub(crate) const BREAK: &[u8] = b" | ";
/// Where one reader or another sees a line end: `\n`, `\r`, vertical tab, form feed, U+0085, U+2028 and U+2029.
const LINE_ENDS: [&[u8]; 7] = [b"\n", b"\r", b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];
/// Bytes of an entry, and of all of them with their line ends.
const MAX_BYTES: (usize, usize) = (8_192, 262_144);

/// Checks the lines below a run's own: entries of `results`, in order, and the count of calls without one.
pub(crate) fn are_true(view: &View<'_>, results: &[&Item], below: &[u8]) -> bool {
    let mut lines: Vec<&[u8]> = below.split(|byte| *byte == b'\n').collect();
    let Some(last) = lines.pop().and_then(|last| last.strip_suffix(b" more results]")) else { return false };
    let mut scan = Scan::new(last, 0);
    let more = if last == b"no" { Some(0) } else { scan.number().filter(|more| *more > 0) };
    let mut results = results.iter();
    let total = results.len();
    let in_order = lines.iter().all(|entry| results.any(|result| is_entry(view, result, entry)));
    let in_bounds =
        lines.iter().all(|entry| entry.len() <= MAX_BYTES.0) && below.len() <= MAX_BYTES.1 + last.len() + 14;
    let on_one_line = lines.iter().all(|entry| is_one_line(entry));
    !lines.is_empty() && in_order && in_bounds && on_one_line && more.is_some_and(|more| more + lines.len() == total)
}

/// Tries each place at which the call's name may end.
pub(crate) fn is_entry(view: &View<'_>, result: &Item, entry: &[u8]) -> bool {
    let parts: Vec<Vec<u8>> = result.texts.iter().map(|span| view.text(span)).collect();
    let source = parts.join(&b'\n');
    if of_tombstone(view, result, &parts, entry) {
        return true;
    }
    (1..=entry.len()).any(|at| {
        let (label, rest) = entry.split_at(at);
        let ends = rest.is_empty() || rest.starts_with(b": ") || rest.starts_with(b", ");
        ends && is_label(view, result, label) && (is_whole(&source, rest) || is_in_part(&parts, &source, rest))
    })
}

/// `: TEXT`, every line of a short result, or a JSON value of which gaps count what is missing.
fn is_whole(source: &[u8], rest: &[u8]) -> bool {
    let Some(shown) = rest.strip_prefix(b": ") else { return false };
    let is_short = String::from_utf8_lossy(source).chars().count() <= MAX_SHOWN;
    let said = seen_lines(source.trim_ascii());
    let is_json = json_gaps::is_value(source);
    (is_short && (shown == said.join(BREAK) || (is_json && shown == said.join(&b' '))))
        || (is_json && json_gaps::gapped(source, shown).is_ok())
}

/// `, N lines, T tokens, exit code E: LINE | LINE`, each of these or not.
fn is_in_part(parts: &[Vec<u8>], source: &[u8], rest: &[u8]) -> bool {
    let total: usize = parts.iter().map(|part| lines(part).len()).sum();
    let mut scan = Scan::new(rest, 0);
    let mut facts = || {
        if scan.word(b", exit code ").is_none() && scan.word(b", ").is_some() {
            let count = scan.number()?;
            (count == total).then_some(())?;
            scan.word(if count == 1 { b" line" } else { b" lines" })?;
            if scan.word(b", exit code ").is_none() {
                if scan.word(b", ").is_some() {
                    figure(&mut scan)?;
                }
                if scan.word(b", exit code ").is_none() {
                    return Some(());
                }
            }
        } else if rest.starts_with(b": ") || rest.is_empty() {
            return Some(());
        }
        let code = scan.until(b":,\n");
        find(source, code).filter(|_| !code.is_empty()).map(|_| ())
    };
    facts().is_some() && are_key_lines(source, scan.until(b""))
}

/// Lines of the source, in order.
fn are_key_lines(source: &[u8], rest: &[u8]) -> bool {
    if rest.is_empty() {
        return true;
    }
    let Some(shown) = rest.strip_prefix(b": ") else { return false };
    let lines: Vec<&[u8]> =
        lines(source).into_iter().map(|line| line.trim_ascii()).filter(|line| is_one_line(line)).collect();
    follow(&lines, shown, MAX_KEY_LINES)
}

/// Says whether `shown` is some of `lines` with breaks between them; a line may hold a break itself.
pub(crate) fn follow(lines: &[&[u8]], shown: &[u8], most: usize) -> bool {
    most > 0
        && lines.iter().enumerate().filter(|(_, line)| !line.is_empty()).any(|(at, line)| {
            let Some(rest) = shown.strip_prefix(*line) else { return false };
            let behind = lines.get(at + 1..).unwrap_or_default();
            rest.is_empty() || rest.strip_prefix(BREAK).is_some_and(|rest| follow(behind, rest, most - 1))
        })
}

/// What arrived as the tombstone of its own call is named by what that states, and lines of it.
fn of_tombstone(view: &View<'_>, result: &Item, parts: &[Vec<u8>], entry: &[u8]) -> bool {
    parts.iter().filter_map(|part| Some((part, part.strip_prefix(b"[pruned from context: ")?))).any(|(part, stated)| {
        (1..=entry.len()).any(|at| {
            let (facts, rest) = entry.split_at(at);
            let is_stated = stated.starts_with(facts) && stated.get(at..at + 2) == Some(b"; ");
            is_stated
                && are_key_lines(part, rest)
                && (0..at).any(|label| {
                    let (label, counts) = facts.split_at(label);
                    are_counts(counts) && is_label(view, result, label)
                })
        })
    })
}

/// `, N lines, T tokens`, and `, exit code E` or not.
fn are_counts(text: &[u8]) -> bool {
    let mut scan = Scan::new(text, 0);
    let mut read = || {
        scan.word(b", ")?;
        let count = scan.number()?;
        scan.word(if count == 1 { b" line" } else { b" lines" })?;
        scan.word(b", ")?;
        figure(&mut scan)?;
        if scan.word(b", exit code ").is_some() {
            scan.word(b"-");
            scan.number()?;
        }
        Some(())
    };
    read().is_some() && scan.until(b"").is_empty()
}

/// The lines that any reader sees, without what stands around them.
pub(crate) fn seen_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut seen = Vec::new();
    let mut rest = text;
    while let Some((at, end)) = first_line_end(rest) {
        seen.push(rest.get(..at).unwrap_or_default().trim_ascii());
        rest = rest.get(at + end..).unwrap_or_default();
    }
    seen.push(rest.trim_ascii());
    seen.retain(|line| !line.is_empty());
    seen
}

/// Gives the place of the first line end, and its bytes.
fn first_line_end(text: &[u8]) -> Option<(usize, usize)> {
    let ends = LINE_ENDS.iter().filter_map(|end| Some((find(text, end)?, end.len())));
    ends.min()
}

fn is_one_line(text: &[u8]) -> bool {
    first_line_end(text).is_none()
}
