//! Items of a Responses input list.

use super::raw::Node;
use super::view::{ItemKind, View, result_content};

/// Reads one input item.
pub(crate) fn read(view: &mut View<'_>, place: usize, item: &Node) {
    let body = view.body;
    let kind = item.member_text(body, "type").unwrap_or_else(|| b"message".to_vec());
    let id = item.member_text(body, "call_id");
    match kind.as_slice() {
        b"message" => message(view, place, item),
        b"reasoning" => {
            view.push(ItemKind::Reasoning, item, Some(place));
        }
        b"function_call" | b"custom_tool_call" => {
            let name = item.member_text(body, "name");
            let field = if kind == b"function_call" { "arguments" } else { "input" };
            let call = view.push(ItemKind::Call, item, Some(place));
            call.id = id;
            call.name = name;
            call.arguments = item.member(body, field).cloned();
        }
        b"function_call_output" | b"custom_tool_call_output" => {
            let result = view.push(ItemKind::Result, item, Some(place));
            result.id = id;
            result_content(body, item.member(body, "output"), result);
        }
        _ => {
            view.push(ItemKind::Unknown, item, Some(place));
        }
    }
}

fn message(view: &mut View<'_>, place: usize, message: &Node) {
    let body = view.body;
    let kind = match message.member_text(body, "role").unwrap_or_default().as_slice() {
        b"assistant" => ItemKind::Assistant,
        b"system" | b"developer" => ItemKind::System,
        _ => ItemKind::User,
    };
    let item = view.push(kind, message, Some(place));
    result_content(body, message.member(body, "content"), item);
}
