//! What went, why, and what is left? A report for people, drawn.
//!
//! Everything it says stands in the report; it decides and counts nothing of its own.

use std::{collections::BTreeMap, fmt::Write as _};

use liveset::{EditKind, OutcomeKind, Report, Sizes};
use liveset_engine::report::{EditReport, SweepReport, grouped};

use crate::picture::{Paint, bar_line, bars, by_kind, by_tool, short};

/// Rows of the table of what went; the rest is summed.
const MAX_ROWS: usize = 12;

/// Draws a whole report: where the tokens were, what went and why, before and after.
pub(crate) fn draw(report: &Report, sizes: &Sizes, paint: Paint) -> String {
    let total = report.tokens.before;
    let mut out = bars("where the tokens were", &by_kind(&sizes.into()), total, paint);
    let tools = by_tool(&sizes.into());
    if !tools.is_empty() {
        let _ = write!(out, "\n{}", bars("tool results by tool", &tools, total, paint));
    }
    write_edits(&mut out, &report.edits, paint);
    write_sizes(&mut out, report, paint);
    write_sweeps(&mut out, &report.sweeps);
    if let Some(rebase) = &report.rebase {
        let _ = writeln!(out, "rebase: {} changed, earlier decisions were made anew", rebase.cause);
    }
    if let Some(rewrote) = &report.client_rewrote {
        let _ = writeln!(out, "client rewrote item {}, first changed item {}", rewrote.item, rewrote.first_changed);
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "{} {} ({})", paint.warning("warning:"), warning.text, warning.code);
    }
    out
}

/// What went as one row of the table.
#[derive(Clone, Copy, Default)]
struct Group {
    items: u64,
    before: u64,
    after: u64,
}

impl Group {
    fn saved(self) -> u64 {
        self.before.saturating_sub(self.after)
    }

    fn add(&mut self, other: Self) {
        self.items += other.items;
        self.before += other.before;
        self.after += other.after;
    }
}

fn write_edits(out: &mut String, edits: &[EditReport], paint: Paint) {
    let mut groups: BTreeMap<(&str, EditKind, String), Group> = BTreeMap::new();
    for edit in edits {
        let name = (edit.tool.as_deref().unwrap_or("-"), edit.kind, why(&edit.reason));
        groups.entry(name).or_default().add(Group { items: 1, before: edit.tokens_before, after: edit.tokens_after });
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    if rows.is_empty() {
        return;
    }
    // Stable: what saves the same stays in the order of names.
    rows.sort_by_key(|(_, group)| std::cmp::Reverse(group.saved()));
    let rest = rows.split_off(rows.len().min(MAX_ROWS));
    let _ = writeln!(out, "\n{}", paint.bold("what went, and why"));
    let head = format!("  {:<22}  {:<9} {:>5} {:>9} {:>8}  why", "tool", "as", "items", "before", "after");
    let _ = writeln!(out, "{}", paint.dim(&head));
    for ((tool, kind, why), group) in &rows {
        let _ = writeln!(out, "  {:<22}  {:<9} {}  {why}", short(tool), kind.name(), figures(*group));
    }
    if !rest.is_empty() {
        let mut sum = Group::default();
        rest.iter().for_each(|(_, group)| sum.add(*group));
        let _ = writeln!(out, "  {:<22}  {:<9} {}", format!("{} more rows", rest.len()), "", figures(sum));
    }
}

fn figures(group: Group) -> String {
    format!("{:>5} {:>9} {:>8}", group.items, grouped(group.before), grouped(group.after))
}

/// Shortens a reason to what many items share: figures of single items are for `explain`.
fn why(reason: &str) -> String {
    let Some((_, grounds)) = reason.split_once(" passages, ") else { return reason.to_owned() };
    let named: Vec<&str> =
        ["said by the agent", "repeated later"].into_iter().filter(|ground| grounds.contains(ground)).collect();
    match named.is_empty() {
        true => "old, least needed".to_owned(),
        false => named.join(", "),
    }
}

fn write_sizes(out: &mut String, report: &Report, paint: Paint) {
    let tokens = &report.tokens;
    let verdict = match report.outcome {
        OutcomeKind::Unchanged => "unchanged",
        OutcomeKind::Compacted => "compacted",
        OutcomeKind::CannotFit => "cannot fit",
    };
    let _ = writeln!(out, "\n{} {}", paint.bold(&format!("{verdict}:")), report.reason);
    let longest = tokens.before.max(tokens.window);
    let saved =
        tokens.before.saturating_sub(tokens.after).saturating_mul(1_000).checked_div(tokens.before).unwrap_or(0);
    let change = format!("  -{}.{} %", saved / 10, saved % 10);
    let limits = format!("  trigger {}, target {}", grouped(tokens.trigger), grouped(tokens.target));
    let rows = [
        ("before", tokens.before, String::new()),
        ("after", tokens.after, if saved > 0 { change } else { String::new() }),
        ("window", tokens.window, limits),
    ];
    for (name, size, more) in rows {
        let _ = writeln!(out, "{}{}", bar_line(name, size, longest, paint), paint.dim(&more));
    }
    let trust = if tokens.exact { "exact" } else { "an estimate: figures are its upper edge" };
    let _ = writeln!(out, "{}", paint.dim(&format!("  tokens counted by {} ({trust})", tokens.counter)));
}

fn write_sweeps(out: &mut String, sweeps: &[SweepReport]) {
    let one = |sweep: &SweepReport| {
        let sizes = format!("{} -> {}", grouped(sweep.tokens_before), grouped(sweep.tokens_after));
        let pays = sweep.break_even_requests.map_or(String::new(), |n| format!(", pays from request {n} on"));
        format!("after item {}: {sizes}{pays}", sweep.request_point)
    };
    match sweeps {
        [] => {}
        [only] => {
            let _ = writeln!(out, "  sweep {}", one(only));
        }
        [first, .., last] => {
            let _ = writeln!(out, "  first sweep {}\n  last sweep {}", one(first), one(last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_many_items_become_one_row() {
        assert_eq!(why("3 of 3 passages, age 4"), why("16 of 20 passages, age 19"));
        assert_eq!(
            why("3 of 9 passages, 1 said by the agent, 2 repeated later, age 4"),
            "said by the agent, repeated later"
        );
        assert_eq!(why("newest result, body over the window"), "newest result, body over the window");
    }
}
