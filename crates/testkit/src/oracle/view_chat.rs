//! Items of a Chat Completions message.

use super::raw::Node;
use super::view::{ItemKind, View, result_content};

/// Reads one message.
pub(crate) fn read(view: &mut View<'_>, place: usize, message: &Node) {
    let body = view.body;
    let content = message.member(body, "content");
    match message.member_text(body, "role").unwrap_or_default().as_slice() {
        b"system" | b"developer" => {
            view.push(ItemKind::System, message, Some(place));
        }
        b"tool" => {
            let id = message.member_text(body, "tool_call_id");
            let item = view.push(ItemKind::Result, message, Some(place));
            item.id = id;
            result_content(body, content, item);
        }
        b"assistant" => {
            if let Some(reasoning) = message.member(body, "reasoning_content") {
                view.push(ItemKind::Reasoning, reasoning, Some(place));
            }
            if let Some(content) = content {
                let item = view.push(ItemKind::Assistant, content, Some(place));
                result_content(body, Some(content), item);
            }
            for call in message.member(body, "tool_calls").map(Node::elements).unwrap_or_default() {
                self::call(view, place, call);
            }
        }
        _ => {
            let item = view.push(ItemKind::User, message, Some(place));
            result_content(body, content, item);
        }
    }
}

fn call(view: &mut View<'_>, place: usize, call: &Node) {
    let body = view.body;
    let function = call.member(body, "function");
    let id = call.member_text(body, "id");
    let name = function.and_then(|function| function.member_text(body, "name"));
    let arguments = function.and_then(|function| function.member(body, "arguments")).cloned();
    let item = view.push(ItemKind::Call, call, Some(place));
    item.id = id;
    item.name = name;
    item.arguments = arguments;
}
