//! Which lines lead to the newest one? A session is a tree; what was left for another branch is left out.

use std::collections::BTreeMap;

use super::entry::Entry;
use crate::warning::Warning;

/// Gives the lines of the newest branch in file order. Lines without an id stand in no tree and stay.
pub(super) fn newest<'l, 'a>(entries: &'l [Entry<'a>], warnings: &mut Vec<Warning>) -> Vec<&'l Entry<'a>> {
    let places: BTreeMap<&str, usize> =
        entries.iter().enumerate().filter_map(|(at, entry)| Some((entry.id?, at))).collect();
    let mut on_branch: Vec<bool> = entries.iter().map(|entry| entry.id.is_none()).collect();
    let mut at = entries.iter().rposition(|entry| entry.id.is_some());
    while let Some(place) = at {
        let (Some(entry), Some(mark)) = (entries.get(place), on_branch.get_mut(place)) else { break };
        // A circle of parents ends where it was before.
        if std::mem::replace(mark, true) {
            break;
        }
        let Some(parent) = entry.parent else { break };
        at = places.get(parent).copied();
        if at.is_none() {
            warnings.push(Warning::MissingParent { line: entry.line });
            // Nothing tells branches apart before this line: file order holds.
            on_branch.iter_mut().take(place).for_each(|mark| *mark = true);
        }
    }
    let (kept, left): (Vec<_>, Vec<_>) = entries.iter().zip(on_branch).partition(|(_, on)| *on);
    let abandoned = left.iter().filter(|(entry, _)| entry.is_message()).count();
    if abandoned > 0 {
        warnings.push(Warning::AbandonedBranch { lines: abandoned });
    }
    kept.into_iter().map(|(entry, _)| entry).collect()
}
