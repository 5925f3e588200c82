//! Where may the reading of a text go on that begins as an earlier one did?
//!
//! Looks at places alone: behind the last value that both texts hold whole, among those of the request or of its lists.

use super::node::{Node, NodeKind};

/// A place behind a value, and what was read up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resume {
    /// Offset behind the value.
    pub(super) at: usize,
    /// Nodes up to there.
    pub(super) nodes: usize,
    /// The list of the request that the value stands in; `None` for a field of the request itself.
    pub(super) list: Option<usize>,
}

impl Resume {
    /// Finds the last such place in the first `common` bytes of a request.
    pub(super) fn find(nodes: &[Node], common: usize) -> Option<Resume> {
        let root = nodes.first().filter(|root| root.kind == NodeKind::Object)?;
        let (mut found, mut open) = (None, None);
        for (place, node) in children(nodes, 0, root) {
            if node.span.start() >= common {
                break;
            }
            (found, open) = match Self::behind(place, node, common, None) {
                Some(resume) => (Some(resume), None),
                None => (found, Some((place, node))),
            };
        }
        if let Some((list, node)) = open.filter(|(_, node)| node.kind == NodeKind::Array && node.is_entered) {
            let done = children(nodes, list, node).map_while(|(at, child)| Self::behind(at, child, common, Some(list)));
            found = done.last().or(found);
        }
        found
    }

    /// A number may go on where a text does, so the byte behind a value must be known, too.
    fn behind(place: usize, node: &Node, common: usize, list: Option<usize>) -> Option<Resume> {
        (node.span.end() < common).then(|| Resume { at: node.span.end(), nodes: after(place, node), list })
    }
}

/// Gives the values directly inside a container, with their places in the list of all.
fn children<'n>(nodes: &'n [Node], place: usize, node: &Node) -> impl Iterator<Item = (usize, &'n Node)> {
    let (mut at, end) = (place + 1, node.next as usize);
    std::iter::from_fn(move || {
        let child = nodes.get(at).filter(|_| at < end)?;
        let found = (at, child);
        at = after(at, child);
        Some(found)
    })
}

/// A node never ends before itself.
fn after(place: usize, node: &Node) -> usize {
    (node.next as usize).max(place + 1)
}
