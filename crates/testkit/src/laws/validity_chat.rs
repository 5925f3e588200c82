//! What OpenAI Chat Completions refuses.

use super::validity::{Defects, add, add_general};
use crate::oracle::view::{Item, ItemKind, View};

/// Finds defects of pairs and places.
pub(crate) fn find(view: &View<'_>, defects: &mut Defects) {
    // Calls of the newest assistant message that are still to be answered, while only tool messages have come.
    let mut open: Vec<&Item> = Vec::new();
    let mut is_adjacent = false;
    for message in &view.messages {
        let items = view.items.get(message.items.clone()).unwrap_or_default();
        if message.role == b"tool" {
            items.iter().for_each(|result| answer(view, result, &mut open, is_adjacent, defects));
            continue;
        }
        open.drain(..).for_each(|call| add(defects, "unpaired_call", call));
        is_adjacent = message.role == b"assistant";
        open.extend(items.iter().filter(|item| item.kind == ItemKind::Call));
        let calls = message.node.member(view.body, "tool_calls");
        if calls.is_some_and(|calls| calls.elements().is_empty()) {
            add_general(defects, "empty_tool_calls");
        }
        if items.is_empty() && message.role != b"system" {
            add_general(defects, "empty_content");
        }
    }
    open.drain(..).for_each(|call| add(defects, "unpaired_call", call));
}

fn answer(view: &View<'_>, result: &Item, open: &mut Vec<&Item>, is_adjacent: bool, defects: &mut Defects) {
    if let Some(place) = open.iter().position(|call| call.id == result.id) {
        open.remove(place);
        return;
    }
    let is_known = view.items.iter().any(|item| item.kind == ItemKind::Call && item.id == result.id);
    let code = match (is_known, is_adjacent) {
        (false, _) => "orphan_result",
        (true, false) => "result_not_adjacent",
        (true, true) => "duplicate_result",
    };
    add(defects, code, result);
}
