//! What Anthropic Messages refuses.

use super::validity::{Defects, add, add_general};
use crate::oracle::decode;
use crate::oracle::raw::{Kind, Node};
use crate::oracle::view::{Item, ItemKind, View};

/// Cache marks that one request may carry.
const MAX_MARKS: usize = 4;

/// Finds defects of roles, pairs, places and marks.
pub(crate) fn find(view: &View<'_>, defects: &mut Defects) {
    let roles: Vec<&[u8]> = view.messages.iter().map(|message| message.role.as_slice()).collect();
    if roles.first().is_some_and(|role| *role != b"user") {
        add_general(defects, "first_role");
    }
    // Neighbours of one role are merged by the provider, but a body that alternates should go on doing so.
    if roles.windows(2).any(|pair| pair.first() == pair.last()) {
        add_general(defects, "role_order");
    }
    for (place, message) in view.messages.iter().enumerate() {
        let items = view.items.get(message.items.clone()).unwrap_or_default();
        if items.is_empty() {
            add_general(defects, "empty_content");
        }
        calls(view, place, items, defects);
        results(view, place, items, defects);
    }
    let mut marks = 0;
    count_marks(view.body, &view.root, &mut marks, defects);
    if marks > MAX_MARKS {
        add_general(defects, "too_many_marks");
    }
}

fn items_of<'v>(view: &'v View<'_>, place: Option<usize>) -> &'v [Item] {
    let message = place.and_then(|place| view.messages.get(place));
    message.and_then(|message| view.items.get(message.items.clone())).unwrap_or_default()
}

fn count(items: &[Item], kind: ItemKind, id: Option<&[u8]>) -> usize {
    items.iter().filter(|item| item.kind == kind && item.id.as_deref() == id).count()
}

fn calls(view: &View<'_>, place: usize, items: &[Item], defects: &mut Defects) {
    let next = items_of(view, place.checked_add(1));
    for call in items.iter().filter(|item| item.kind == ItemKind::Call) {
        let id = call.id.as_deref();
        if count(next, ItemKind::Result, id) < count(items, ItemKind::Call, id) {
            add(defects, "unpaired_call", call);
        }
        if count(&view.items, ItemKind::Call, id) > 1 {
            add(defects, "duplicate_id", call);
        }
    }
}

fn results(view: &View<'_>, place: usize, items: &[Item], defects: &mut Defects) {
    let before = items_of(view, place.checked_sub(1));
    let mut is_first = true;
    for item in items {
        if item.kind != ItemKind::Result {
            is_first = false;
            continue;
        }
        let id = item.id.as_deref();
        let calls = count(before, ItemKind::Call, id);
        if calls == 0 {
            let code = if count(&view.items, ItemKind::Call, id) > 0 { "result_not_adjacent" } else { "orphan_result" };
            add(defects, code, item);
        } else if count(items, ItemKind::Result, id) > calls {
            add(defects, "duplicate_result", item);
        }
        if !is_first {
            add(defects, "results_not_first", item);
        }
        if item.is_error && !item.media.is_empty() {
            add(defects, "media_inside_is_error", item);
        }
    }
}

fn count_marks(body: &[u8], node: &Node, marks: &mut usize, defects: &mut Defects) {
    match &node.kind {
        Kind::Scalar | Kind::String => {}
        Kind::Array(elements) => elements.iter().for_each(|element| count_marks(body, element, marks, defects)),
        Kind::Object(members) => {
            for (key, value) in members {
                if decode::text(key.raw(body)) == b"cache_control" {
                    *marks += 1;
                    if is_bad_place(body, node) {
                        add_general(defects, "mark_on_bad_block");
                    }
                }
                count_marks(body, value, marks, defects);
            }
        }
    }
}

fn is_bad_place(body: &[u8], block: &Node) -> bool {
    let kind = block.member_text(body, "type").unwrap_or_default();
    let is_thinking = matches!(kind.as_slice(), b"thinking" | b"redacted_thinking");
    is_thinking || (kind == b"text" && block.member_text(body, "text").is_none_or(|text| decode::is_blank(&text)))
}
