//! Which lines lead to the newest one? A session is a tree; what was typed again or rewound is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Kind, Line};
use crate::warning::Warning;

/// Gives the lines of the newest branch in file order.
///
/// Parallel calls make side branches of their own: the other lines of a reply on the branch, and the results of calls
/// on the branch that have no other, belong to it. Lines without an id stand in no tree and stay.
pub(super) fn newest<'l, 'a>(lines: &'l [Line<'a>], warnings: &mut Vec<Warning>) -> Vec<&'l Line<'a>> {
    let places: BTreeMap<&str, usize> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((line.uuid?, at))).collect();
    let Some(last) = lines.iter().rposition(|line| line.uuid.is_some() && line.kind != Kind::Other) else {
        return lines.iter().collect();
    };
    let mut on_branch = vec![false; lines.len()];
    let mut at = Some(last);
    while let Some(place) = at {
        let (Some(line), Some(mark)) = (lines.get(place), on_branch.get_mut(place)) else { break };
        // A circle of parents ends where it was before.
        if std::mem::replace(mark, true) {
            break;
        }
        at = match line.parent {
            None if line.kind == Kind::Boundary => place.checked_sub(1),
            None => None,
            Some(parent) => match places.get(parent) {
                Some(&found) => Some(found),
                None => {
                    warnings.push(Warning::MissingParent { line: line.number });
                    // Nothing tells branches apart before this line: file order holds.
                    on_branch.iter_mut().take(place).for_each(|mark| *mark = true);
                    None
                }
            },
        };
    }
    join_batches(lines, &mut on_branch);
    let (kept, left): (Vec<_>, Vec<_>) = lines.iter().zip(on_branch).partition(|(line, on)| *on || line.uuid.is_none());
    let abandoned = left.iter().filter(|(line, _)| line.is_message()).count();
    if abandoned > 0 {
        warnings.push(Warning::AbandonedBranch { lines: abandoned });
    }
    kept.into_iter().map(|(line, _)| line).collect()
}

fn join_batches(lines: &[Line<'_>], on_branch: &mut [bool]) {
    let on = |on_branch: &[bool], at: usize| on_branch.get(at).copied().unwrap_or(false);
    let replies: BTreeSet<&str> =
        lines.iter().enumerate().filter(|(at, _)| on(on_branch, *at)).filter_map(|(_, line)| line.message_id).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.kind == Kind::Assistant && line.message_id.is_some_and(|id| replies.contains(id)) {
            on_branch.iter_mut().skip(at).take(1).for_each(|mark| *mark = true);
        }
    }
    let calls: BTreeSet<&str> = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| line.kind == Kind::Assistant && on(on_branch, *at))
        .flat_map(|(_, line)| line.ids("tool_use", "id"))
        .collect();
    let answers = |line: &Line<'_>| line.kind == Kind::User;
    let answered: BTreeSet<&str> = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| answers(line) && on(on_branch, *at))
        .flat_map(|(_, line)| line.ids("tool_result", "tool_use_id"))
        .collect();
    for (at, line) in lines.iter().enumerate() {
        if !answers(line) || on(on_branch, at) {
            continue;
        }
        let is_missing = |id: &&str| calls.contains(id) && !answered.contains(id);
        if line.ids("tool_result", "tool_use_id").iter().any(is_missing) {
            on_branch.iter_mut().skip(at).take(1).for_each(|mark| *mark = true);
        }
    }
}
