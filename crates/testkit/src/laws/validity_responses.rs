//! What OpenAI Responses refuses.

use super::validity::{Defects, add, add_general};
use crate::oracle::raw::Node;
use crate::oracle::view::{ItemKind, View, canonical};

/// Finds defects of pairs.
pub(crate) fn find(view: &View<'_>, defects: &mut Defects) {
    let count = |kind: ItemKind, id: &Option<Vec<u8>>, before: usize| {
        let is_such =
            |item: &&crate::oracle::view::Item| item.kind == kind && item.id == *id && item.node.span.start < before;
        view.items.iter().filter(is_such).count()
    };
    for item in &view.items {
        match item.kind {
            ItemKind::Call => {
                let calls = count(ItemKind::Call, &item.id, usize::MAX);
                if count(ItemKind::Result, &item.id, usize::MAX) < calls {
                    add(defects, "unpaired_call", item);
                }
            }
            ItemKind::Result => {
                let start = item.node.span.start;
                let (calls, results) =
                    (count(ItemKind::Call, &item.id, start), count(ItemKind::Result, &item.id, start));
                if calls == 0 {
                    add(defects, "orphan_result", item);
                } else if results >= calls {
                    add(defects, "duplicate_result", item);
                }
            }
            ItemKind::System
            | ItemKind::User
            | ItemKind::Assistant
            | ItemKind::Reasoning
            | ItemKind::Media
            | ItemKind::Unknown => {}
        }
    }
    let is_last_reasoning = view.items.last().is_some_and(|item| item.kind == ItemKind::Reasoning);
    if is_last_reasoning {
        add_general(defects, "reasoning_without_follower");
    }
}

/// Checks that reasoning and what follows it are there together or gone together.
pub(crate) fn reasoning_pairs(before: &View<'_>, after: &View<'_>) -> Result<(), String> {
    let (old, new) = (pairs(before), pairs(after));
    let mut rest = old.iter();
    for pair in &new {
        if !rest.any(|known| known == pair) {
            return Err(
                "validity: reasoning_without_follower: a reasoning item has another follower than before".to_owned()
            );
        }
    }
    let identities: Vec<_> = after.messages.iter().map(|message| identity(after.body, &message.node)).collect();
    let times =
        |pairs: &[(Vec<u8>, Vec<u8>)], follower: &[u8]| pairs.iter().filter(|(_, known)| known == follower).count();
    for (_, follower) in &old {
        let is_there = identities.iter().filter(|identity| *identity == follower).count();
        let all = before.messages.iter().filter(|message| identity(before.body, &message.node) == *follower).count();
        let is_alone = is_there == all && times(&new, follower) < times(&old, follower);
        if is_alone {
            return Err("validity: call_without_its_reasoning: reasoning is gone, its follower is not".to_owned());
        }
    }
    Ok(())
}

/// Each reasoning item with the identity of the item behind it.
fn pairs(view: &View<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let is_reasoning = |node: &Node| node.member_text(view.body, "type").is_some_and(|kind| kind == b"reasoning");
    let follower =
        |place: usize| view.messages.get(place + 1).map(|next| identity(view.body, &next.node)).unwrap_or_default();
    let reasoning = view.messages.iter().enumerate().filter(|(_, message)| is_reasoning(&message.node));
    reasoning.map(|(place, message)| (canonical(view.body, &message.node), follower(place))).collect()
}

/// What stays the same of an item when its text is cut.
fn identity(body: &[u8], node: &Node) -> Vec<u8> {
    let names = ["type", "id", "call_id", "role"];
    names.iter().map(|name| node.member_text(body, name).unwrap_or_default()).collect::<Vec<_>>().join(&b'|')
}
