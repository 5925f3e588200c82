//! What did one run decide that the other did not? Two reports, edit by edit.

use liveset::Report;
use liveset_engine::report::{EditReport, grouped};

/// What two reports say otherwise.
pub(crate) struct ReportDifference<'r> {
    /// The first item that left otherwise.
    pub(crate) first: Option<EditPair<'r>>,
    /// How many items left otherwise.
    pub(crate) items: usize,
    /// What the runs were given and came to, where that differs; causes first.
    pub(crate) figures: Vec<Figure>,
}

/// What became of one item in each run; `None` where it left as it came.
pub(crate) struct EditPair<'r> {
    pub(crate) a: Option<&'r EditReport>,
    pub(crate) b: Option<&'r EditReport>,
}

/// A figure that differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) a: String,
    pub(crate) b: String,
}

/// What a figure is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It was set.
    Setting,
    /// It came in.
    Input,
    /// It came out.
    Outcome,
}

impl EditPair<'_> {
    /// The edit of the first run that made one.
    pub(crate) fn either(&self) -> Option<&EditReport> {
        self.a.or(self.b)
    }

    /// Says whether the item leaves otherwise, as opposed to the same for other reasons.
    pub(crate) fn is_effect(&self) -> bool {
        let effect = |edit: Option<&EditReport>| {
            edit.map(|edit| (edit.kind, edit.tokens_before, edit.tokens_after, edit.archive_id.clone()))
        };
        effect(self.a) != effect(self.b)
    }
}

/// Compares two reports; `None` where they say the same.
pub(crate) fn of<'r>(a: &'r Report, b: &'r Report) -> Option<ReportDifference<'r>> {
    if a == b {
        return None;
    }
    let pairs = differing(&a.edits, &b.edits);
    // An edit that does the same for other reasons is news only where no edit does anything else.
    let (effects, reasons): (Vec<EditPair<'_>>, Vec<EditPair<'_>>) = pairs.into_iter().partition(EditPair::is_effect);
    let pairs = if effects.is_empty() { reasons } else { effects };
    let items = pairs.len();
    let mut figures: Vec<Figure> = figures(a)
        .into_iter()
        .zip(figures(b))
        .filter(|(a, b)| a.2 != b.2)
        .map(|((name, role, a), (_, _, b))| Figure { name: name.to_owned(), role, a, b })
        .collect();
    figures.extend(sweep(a, b));
    Some(ReportDifference { first: pairs.into_iter().next(), items, figures })
}

/// Pairs edits by their item, in the order of items, and leaves out equal ones.
fn differing<'r>(a: &'r [EditReport], b: &'r [EditReport]) -> Vec<EditPair<'r>> {
    let (mut a, mut b) = (sorted(a).into_iter().peekable(), sorted(b).into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let pair = match (a.peek(), b.peek()) {
            (None, None) => return pairs,
            (Some(left), Some(right)) if left.item == right.item => EditPair { a: a.next(), b: b.next() },
            (Some(left), Some(right)) if left.item > right.item => EditPair { a: None, b: b.next() },
            (Some(_), _) => EditPair { a: a.next(), b: None },
            (None, Some(_)) => EditPair { a: None, b: b.next() },
        };
        if pair.a != pair.b {
            pairs.push(pair);
        }
    }
}

fn sorted(edits: &[EditReport]) -> Vec<&EditReport> {
    let mut edits: Vec<&EditReport> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.item);
    edits
}

fn figures(report: &Report) -> Vec<(&'static str, Role, String)> {
    use Role::{Input, Outcome, Setting};
    let tokens = &report.tokens;
    let exact = if tokens.exact { "exact" } else { "estimate" };
    let warnings: Vec<&str> = report.warnings.iter().map(|warning| warning.code.as_str()).collect();
    let rebase = report.rebase.as_ref().map_or("none", |rebase| rebase.cause.as_str());
    let rewrote =
        report.client_rewrote.as_ref().map_or("nothing".to_owned(), |rewrote| format!("item {}", rewrote.item));
    vec![
        ("contract", Setting, report.contract.to_string()),
        ("counter", Setting, format!("{} ({exact})", tokens.counter)),
        ("window", Setting, grouped(tokens.window)),
        ("trigger", Setting, grouped(tokens.trigger)),
        ("target", Setting, grouped(tokens.target)),
        ("format", Input, report.format.name().to_owned()),
        ("fidelity", Input, word(&report.fidelity)),
        ("tokens before", Input, grouped(tokens.before)),
        ("client rewrote", Input, rewrote),
        ("rebase", Outcome, rebase.to_owned()),
        ("sweeps", Outcome, report.sweeps.len().to_string()),
        ("outcome", Outcome, word(&report.outcome)),
        ("reason", Outcome, report.reason.clone()),
        ("tokens after", Outcome, grouped(tokens.after)),
        ("warnings", Outcome, if warnings.is_empty() { "none".to_owned() } else { warnings.join(", ") }),
    ]
}

/// The first sweep that is not the same.
fn sweep(a: &Report, b: &Report) -> Option<Figure> {
    let at = (0..a.sweeps.len().max(b.sweeps.len())).find(|at| a.sweeps.get(*at) != b.sweeps.get(*at))?;
    let said = |report: &Report| {
        report.sweeps.get(at).map_or("none".to_owned(), |sweep| {
            let (before, after) = (grouped(sweep.tokens_before), grouped(sweep.tokens_after));
            format!("after item {}, {before} -> {after}", sweep.request_point)
        })
    };
    Some(Figure { name: format!("sweep {}", at + 1), role: Role::Outcome, a: said(a), b: said(b) })
}

/// The word that reports use.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Says in which sweep an edit was made, as far as the report tells.
pub(crate) fn sweep_of(report: &Report, edit: &EditReport) -> String {
    let count = report.sweeps.len();
    let Some(step) = edit.step else { return "at intake".to_owned() };
    // A sweep takes only items before the place where it runs.
    let first = report.sweeps.iter().position(|sweep| sweep.request_point >= edit.item);
    match first.map(|first| first + 1) {
        Some(first) if first == count => format!("in sweep {first} of {count}, step {step}"),
        Some(first) => format!("in one of the sweeps {first} to {count}, step {step}"),
        None => format!("in step {step}"),
    }
}

#[cfg(test)]
mod tests {
    use liveset::{EditKind, WireFormat};
    use liveset_engine::report::{SweepReport, TokenReport};

    use super::*;

    fn edit(item: u32) -> EditReport {
        EditReport {
            item,
            unit: None,
            kind: EditKind::Tombstone,
            tool: None,
            call_id: None,
            reason: String::new(),
            step: Some(1),
            tokens_before: 9,
            tokens_after: 1,
            carrier: None,
            archive_id: String::new(),
        }
    }

    fn pairs(a: &[u32], b: &[u32]) -> Vec<(Option<u32>, Option<u32>)> {
        let edits = |items: &[u32]| items.iter().map(|item| edit(*item)).collect::<Vec<_>>();
        let (a, b) = (edits(a), edits(b));
        let item = |edit: Option<&EditReport>| edit.map(|edit| edit.item);
        differing(&a, &b).iter().map(|pair| (item(pair.a), item(pair.b))).collect()
    }

    #[test]
    fn edits_are_paired_by_item_whatever_their_order() {
        assert_eq!(pairs(&[3, 5], &[5, 3]), []);
        assert_eq!(pairs(&[3, 5, 9], &[4, 5]), [(Some(3), None), (None, Some(4)), (Some(9), None)]);
        assert_eq!(pairs(&[], &[2]), [(None, Some(2))]);
    }

    #[test]
    fn a_sweep_is_named_only_where_one_alone_can_have_made_the_edit() {
        let mut report = Report::unchanged(WireFormat::Anthropic, "", TokenReport::default());
        let sweep =
            |request_point| SweepReport { request_point, tokens_before: 9, tokens_after: 5, break_even_requests: None };
        report.sweeps = vec![sweep(10), sweep(20)];
        assert_eq!(sweep_of(&report, &edit(15)), "in sweep 2 of 2, step 1");
        assert_eq!(sweep_of(&report, &edit(7)), "in one of the sweeps 1 to 2, step 1");
    }
}
