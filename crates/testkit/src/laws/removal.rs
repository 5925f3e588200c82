//! May whole elements be gone? Matches a shorter list with the longer one it came from.

use super::changes::{Change, Walk};
use crate::oracle::raw::Node;
use crate::oracle::view::ItemKind;

/// Compares a list with one that has fewer elements: each that is gone must be one that may go.
///
/// Of all ways to match them, the one in which the fewest elements changed counts, and of those the one in which the
/// oldest are gone: clients that use ids again send elements that are alike.
pub(crate) fn compare(walk: &mut Walk<'_, '_>, before: &Node, after: &Node) -> Result<(), String> {
    let at = before.span.start;
    if !walk.allowed.units && !walk.allowed.reasoning {
        return Err(format!("list at byte {at} changed its length, and the report names no removal"));
    }
    let (old, new) = (before.elements(), after.elements());
    let Some(gone) = old.len().checked_sub(new.len()) else {
        return Err(format!("list at byte {at} has more elements than before"));
    };
    let old_names: Vec<_> = old.iter().map(|element| names(walk.input.body, element)).collect();
    let new_names: Vec<_> = new.iter().map(|element| names(walk.output.body, element)).collect();
    // `costs[j][d]`: least cost of matching the elements from `j` on with the old ones from `j + d` on.
    let mut costs = vec![vec![None::<usize>; gone + 1]; new.len() + 1];
    costs[new.len()] = vec![Some(0); gone + 1];
    for j in (0..new.len()).rev() {
        for d in (0..=gone).rev() {
            let is_likely = old_names[j + d] == new_names[j];
            let keep = is_likely
                .then(|| match_cost(walk, &old[j + d], &new[j]))
                .flatten()
                .zip(costs[j + 1][d])
                .map(|(one, rest)| one + rest);
            let skip = if d < gone { costs[j][d + 1] } else { None };
            costs[j][d] = keep.into_iter().chain(skip).min();
        }
    }
    if costs[0][0].is_none() {
        return Err(format!("list at byte {at} is not the one before with elements left out"));
    }
    let (mut j, mut d) = (0, 0);
    while j + d < old.len() {
        let element = &old[j + d];
        let may_skip = d < gone && (j == new.len() || costs[j][d + 1] == costs[j][d]);
        if may_skip {
            may_go(walk, element)?;
            walk.changes.push(Change::Removed { before: element.span.clone() });
            d += 1;
        } else {
            walk.compare(element, &new[j])?;
            j += 1;
        }
    }
    Ok(())
}

/// What no edit changes of an element: its role and type, and the ids in it. Tells most elements apart at a glance.
fn names(body: &[u8], element: &Node) -> Vec<Vec<u8>> {
    let own = ["role", "type"].iter().filter_map(|name| element.member_text(body, name));
    let mut names: Vec<Vec<u8>> = own.collect();
    let lists = ["content", "tool_calls"].iter().filter_map(|name| element.member(body, name));
    let parts: Vec<&Node> = lists.flat_map(Node::elements).collect();
    for node in [element].into_iter().chain(parts) {
        let ids = ["id", "call_id", "tool_call_id", "tool_use_id"].iter();
        names.extend(ids.filter_map(|name| node.member_text(body, name)));
    }
    names
}

/// How many changes there are between two elements; nothing if they cannot be the same one.
fn match_cost(walk: &mut Walk<'_, '_>, old: &Node, new: &Node) -> Option<usize> {
    let known = walk.changes.len();
    let is_match = walk.compare(old, new).is_ok();
    let cost = walk.changes.len() - known;
    walk.changes.truncate(known);
    is_match.then_some(cost)
}

fn may_go(walk: &Walk<'_, '_>, element: &Node) -> Result<(), String> {
    let at = element.span.start;
    let inside = |item: &&crate::oracle::view::Item| {
        element.span.start <= item.node.span.start && item.node.span.end <= element.span.end
    };
    let items: Vec<_> = walk.input.items.iter().filter(inside).collect();
    let is_reasoning = !items.is_empty() && items.iter().all(|item| item.kind == ItemKind::Reasoning);
    let is_protected =
        items.iter().any(|item| matches!(item.kind, ItemKind::System | ItemKind::User | ItemKind::Unknown));
    let is_allowed =
        (walk.allowed.reasoning && is_reasoning) || (walk.allowed.units && !is_protected && !items.is_empty());
    if is_allowed { Ok(()) } else { Err(format!("element at byte {at} is changed or gone and may not be")) }
}
