//! Is the line of a summary true, and what stands below it? Counts of what went before its carrier, and either words that
//! a model gave or the source's own.

use std::collections::BTreeSet;

use super::changes::Change;
use super::entries::{BREAK, MAX_KEY_LINES, MAX_SHOWN, follow, is_entry, seen_lines};
use super::folds::{Listed, is_counted, tools};
use super::outcome::{Outcome, ReportedEdit};
use super::routes::is_fold_route;
use super::tombstones::{Scan, figure};
use crate::oracle::decode::{self, lines};
use crate::oracle::view::{Item, ItemKind, View};

/// First words of the line.
const START: &[u8] = b"[summarised from context: ";

/// Checks `[summarised from context: N calls (TOOL n, …), M texts, T tokens; ROUTE` in the result `carrier`, and what
/// follows: `]`, a model's words, or entries and how many calls and texts have none.
pub(crate) fn is_true(view: &View<'_>, outcome: &Outcome, changes: &[Change], carrier: &Item, text: &[u8]) -> bool {
    let group = Group::of(view, outcome, changes, carrier);
    let (line, below) = match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => (text.get(..end).unwrap_or_default(), text.get(end + 1..)),
        None => (text, None),
    };
    let ends = |end: &[u8]| line.strip_suffix(end).is_some_and(|line| group.is_line(line));
    match below {
        None => ends(b"]"),
        Some(below) if line.ends_with(b"; a model's summary:") => {
            let words = below.strip_suffix(b"\nend of summary]");
            let is_said = |words: &[u8]| outcome.words.iter().any(|said| said.trim().as_bytes() == words);
            ends(b"; a model's summary:") && words.is_some_and(is_said)
        }
        Some(below) => ends(b"; what they showed:") && group.says(view, below),
    }
}

/// What a line stands for.
struct Group<'v> {
    /// Calls that went, and the one that the carrier answers.
    calls: Vec<&'v Item>,
    /// Texts that went and the results of all calls, in order.
    told: Vec<&'v Item>,
    texts: usize,
}

impl<'v> Group<'v> {
    fn of(view: &'v View<'_>, outcome: &Outcome, changes: &[Change], carrier: &'v Item) -> Self {
        let own = view.call_of(carrier);
        let numbers = numbers(view, outcome, changes, carrier, "summary");
        let of_group = |kind: ItemKind| {
            view.items.iter().filter(|item| item.kind == kind && numbers.contains(&item.number)).collect::<Vec<_>>()
        };
        let calls: Vec<&Item> = of_group(ItemKind::Call).into_iter().chain(own).collect();
        let is_blank = |item: &&Item| decode::is_blank(&view.whole_text(item));
        let texts: Vec<&Item> = of_group(ItemKind::Assistant).into_iter().filter(|item| !is_blank(item)).collect();
        let answers = |result: &&Item| {
            let call = view.call_of(result);
            call.is_some_and(|call| numbers.contains(&call.number)) || std::ptr::eq(*result, carrier)
        };
        let mut told: Vec<&Item> = view.results().filter(answers).chain(texts.iter().copied()).collect();
        told.sort_by_key(|item| item.node.span.start);
        Self { calls, texts: texts.len(), told }
    }

    fn is_line(&self, line: &[u8]) -> bool {
        let Some((calls, listed, texts)) = read(line) else { return false };
        texts == self.texts && calls == self.calls.len() && is_counted(&self.calls, &listed)
    }

    /// Entries of what went, in order, and the count of what has none.
    fn says(&self, view: &View<'_>, below: &[u8]) -> bool {
        let mut lines: Vec<&[u8]> = below.split(|byte| *byte == b'\n').collect();
        let Some(last) = lines.pop().and_then(|last| last.strip_suffix(b" more results]")) else { return false };
        let mut scan = Scan::new(last, 0);
        let more = if last == b"no" { Some(0) } else { scan.number().filter(|more| *more > 0) };
        let mut told = self.told.iter();
        let is_said = |item: &Item, entry: &[u8]| match item.kind {
            ItemKind::Assistant => is_text(view, item, entry),
            _ => is_entry(view, item, entry),
        };
        let in_order = lines.iter().all(|entry| told.any(|item| is_said(item, entry)));
        let total = self.calls.len() + self.texts;
        !lines.is_empty() && in_order && more.is_some_and(|more| more + lines.len() == total)
    }
}

/// Numbers of the messages that went for the line in a result: those whose edits name it as their carrier.
pub(crate) fn numbers(
    view: &View<'_>,
    outcome: &Outcome,
    changes: &[Change],
    carrier: &Item,
    kind: &str,
) -> BTreeSet<usize> {
    let edits = outcome.edits();
    let id = carrier.id.as_deref().and_then(|id| std::str::from_utf8(id).ok());
    let own = edits.iter().find(|edit| edit.kind == kind && edit.tokens_after > 0 && edit.call_id.as_deref() == id);
    let place = own.and_then(|edit| edit.item);
    let is_own = |edit: &&ReportedEdit| edit.kind == kind && edit.carrier.is_some() && edit.carrier == place;
    let named: BTreeSet<&[u8]> =
        edits.iter().filter(is_own).filter_map(|edit| edit.call_id.as_deref()).map(str::as_bytes).collect();
    let is_gone = |call: &Item| {
        changes.iter().any(|change| match change {
            Change::Removed { before } => before.start <= call.node.span.start && call.node.span.end <= before.end,
            Change::Text { .. } | Change::Media { .. } | Change::Argument { .. } => false,
        })
    };
    let calls = view.items.iter().filter(|item| item.kind == ItemKind::Call && is_gone(item));
    calls.filter(|call| named.contains(call.id.as_deref().unwrap_or_default())).map(|call| call.number).collect()
}

/// Reads a line: calls, tools, texts.
fn read(text: &[u8]) -> Option<(usize, Listed, usize)> {
    let mut scan = Scan::new(text, 0);
    scan.word(START)?;
    let calls = scan.number()?;
    scan.word(b" calls (")?;
    let listed = tools(&mut scan)?;
    scan.word(b"), ")?;
    let behind = text.len() - scan.until(b"").len();
    let mut ahead = Scan::new(text, behind);
    let texts = ahead.number().filter(|texts| *texts > 0);
    let texts = texts.filter(|texts| ahead.word(if *texts == 1 { b" text, " } else { b" texts, " }).is_some());
    let mut rest = match texts {
        Some(_) => ahead,
        None => Scan::new(text, behind),
    };
    figure(&mut rest)?;
    rest.word(b"; ")?;
    let route = rest.until(b"");
    is_fold_route(route).then_some((calls, listed, texts.unwrap_or(0)))
}

/// `said: TEXT`, or `said, N lines: FIRST | LAST` of a longer one.
fn is_text(view: &View<'_>, item: &Item, entry: &[u8]) -> bool {
    let source = view.whole_text(item);
    let said: Vec<&[u8]> =
        lines(&source).into_iter().map(|line| line.trim_ascii()).filter(|line| !line.is_empty()).collect();
    if let Some(shown) = entry.strip_prefix(b"said: ") {
        let is_short = String::from_utf8_lossy(&source).chars().count() <= MAX_SHOWN;
        let seen = seen_lines(source.trim_ascii());
        return is_short && (shown == seen.join(BREAK) || shown == seen.join(&b' '));
    }
    let mut scan = Scan::new(entry, 0);
    let counted = scan.word(b"said, ").and_then(|()| scan.number());
    let counted = counted.filter(|count| scan.word(if *count == 1 { b" line: " } else { b" lines: " }).is_some());
    counted.is_some_and(|count| count == lines(&source).len()) && follow(&said, scan.until(b""), MAX_KEY_LINES)
}
