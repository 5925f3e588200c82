//! May whole elements be gone? Matches a shorter list with the longer one it came from.

use super::changes::{Change, Walk};
use crate::oracle::raw::Node;
use crate::oracle::view::{ItemKind, View};

/// Compares a list with one that has fewer elements: each that is gone must be one that may go.
///
/// In a history an assistant's message and the results behind it stay or go together. Of all ways to match these groups,
/// the one in which the fewest elements changed counts, and of those the one in which the oldest are gone: clients that
/// use ids again send groups that are alike.
pub(crate) fn compare(walk: &mut Walk<'_, '_>, before: &Node, after: &Node) -> Result<(), String> {
    let at = before.span.start;
    if !walk.allowed.units && !walk.allowed.reasoning {
        return Err(format!("list at byte {at} changed its length, and the report names no removal"));
    }
    let (old, new) = (groups(walk.input, before), groups(walk.output, after));
    let Some(gone) = old.len().checked_sub(new.len()) else {
        return Err(format!("list at byte {at} has more elements than before"));
    };
    // `costs[j][d]`: least cost of matching the groups from `j` on with the old ones from `j + d` on.
    let mut costs = vec![vec![None::<usize>; gone + 1]; new.len() + 1];
    costs[new.len()] = vec![Some(0); gone + 1];
    for j in (0..new.len()).rev() {
        for d in (0..=gone).rev() {
            let keep = match_cost(walk, &old[j + d], &new[j]).zip(costs[j + 1][d]).map(|(one, rest)| one + rest);
            let skip = if d < gone { costs[j][d + 1] } else { None };
            costs[j][d] = keep.into_iter().chain(skip).min();
        }
    }
    if costs[0][0].is_none() {
        return Err(format!("list at byte {at} is not the one before with elements left out"));
    }
    let (mut j, mut d) = (0, 0);
    while j + d < old.len() {
        let group = &old[j + d];
        let may_skip = d < gone && (j == new.len() || costs[j][d + 1] == costs[j][d]);
        if may_skip {
            for element in &group.elements {
                may_go(walk, element)?;
                walk.changes.push(Change::Removed { before: element.span.clone() });
            }
            d += 1;
        } else {
            group.elements.iter().zip(&new[j].elements).try_for_each(|(old, new)| walk.compare(old, new))?;
            j += 1;
        }
    }
    Ok(())
}

/// Elements that stay or go together, and what no edit changes of them.
struct Group {
    elements: Vec<Node>,
    names: Vec<Vec<u8>>,
}

fn groups(view: &View<'_>, list: &Node) -> Vec<Group> {
    let elements = list.elements();
    let is_history = view.messages.len() == elements.len()
        && view.messages.iter().zip(elements).all(|(message, element)| message.node.span == element.span);
    let mut groups: Vec<Group> = Vec::new();
    let mut before = Side::Other;
    for (place, element) in elements.iter().enumerate() {
        let side = if is_history { side(view, place) } else { Side::Other };
        let goes_on = match (before, side) {
            (Side::Assistant, Side::Assistant | Side::Result) => true,
            (Side::Result, Side::Result) => true,
            (_, Side::Other) | (Side::Other, _) | (Side::Result, Side::Assistant) => false,
        };
        let names = names(view.body, element);
        match groups.last_mut().filter(|_| goes_on) {
            Some(group) => {
                group.elements.push(element.clone());
                group.names.extend(names);
            }
            None => groups.push(Group { elements: vec![element.clone()], names }),
        }
        before = side;
    }
    groups
}

#[derive(Clone, Copy)]
enum Side {
    Assistant,
    Result,
    Other,
}

fn side(view: &View<'_>, place: usize) -> Side {
    let items = view.messages.get(place).and_then(|message| view.items.get(message.items.clone())).unwrap_or_default();
    let is_said = |kind: ItemKind| matches!(kind, ItemKind::Assistant | ItemKind::Reasoning | ItemKind::Call);
    if items.iter().any(|item| is_said(item.kind)) {
        return Side::Assistant;
    }
    let is_result = !items.is_empty() && items.iter().all(|item| item.kind == ItemKind::Result);
    if is_result { Side::Result } else { Side::Other }
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

/// How many changes there are between two groups; nothing if they cannot be the same one.
fn match_cost(walk: &mut Walk<'_, '_>, old: &Group, new: &Group) -> Option<usize> {
    if old.names != new.names || old.elements.len() != new.elements.len() {
        return None;
    }
    let known = walk.changes.len();
    let is_match = old.elements.iter().zip(&new.elements).all(|(old, new)| walk.compare(old, new).is_ok());
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
