//! May whole elements be gone? Matches a shorter list with the longer one it came from.

use super::changes::{Change, Walk};
use crate::oracle::raw::Node;
use crate::oracle::view::ItemKind;

/// Compares a list with one that has fewer elements: each that is gone must be one that may go.
pub(crate) fn compare(walk: &mut Walk<'_, '_>, before: &Node, after: &Node) -> Result<(), String> {
    let at = before.span.start;
    if !walk.allowed.units && !walk.allowed.reasoning {
        return Err(format!("list at byte {at} changed its length, and the report names no removal"));
    }
    let mut left = after.elements().iter().peekable();
    for element in before.elements() {
        let known = walk.changes.len();
        let is_match = match left.peek() {
            Some(next) => walk.compare(element, next).is_ok(),
            None => false,
        };
        if is_match {
            left.next();
            continue;
        }
        walk.changes.truncate(known);
        may_go(walk, element)?;
        walk.changes.push(Change::Removed { before: element.span.clone() });
    }
    match left.next() {
        None => Ok(()),
        Some(extra) => {
            Err(format!("element at byte {} of the output is no element of the list at byte {at}", extra.span.start))
        }
    }
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
