//! Items of an Anthropic message.

use super::raw::Node;
use super::view::{ItemKind, View, is_media, result_content};

/// Reads one message.
pub(crate) fn read(view: &mut View<'_>, place: usize, message: &Node) {
    let body = view.body;
    let role = message.member_text(body, "role").unwrap_or_default();
    let kind = match role.as_slice() {
        b"assistant" => ItemKind::Assistant,
        b"system" => ItemKind::System,
        _ => ItemKind::User,
    };
    let Some(content) = message.member(body, "content") else { return };
    if content.is_string() {
        view.push(kind, content, Some(place)).texts.push(content.span.clone());
    }
    for block in content.elements() {
        block_item(view, place, block, kind);
    }
}

fn block_item(view: &mut View<'_>, place: usize, block: &Node, said: ItemKind) {
    let body = view.body;
    let kind = block.member_text(body, "type").unwrap_or_default();
    match kind.as_slice() {
        b"text" => {
            let text = block.member(body, "text").map(|text| text.span.clone());
            view.push(said, block, Some(place)).texts.extend(text);
        }
        b"thinking" | b"redacted_thinking" => {
            view.push(ItemKind::Reasoning, block, Some(place));
        }
        b"tool_use" => {
            let (id, name) = (block.member_text(body, "id"), block.member_text(body, "name"));
            let item = view.push(ItemKind::Call, block, Some(place));
            item.id = id;
            item.name = name;
            item.arguments = block.member(body, "input").cloned();
        }
        b"tool_result" => {
            let id = block.member_text(body, "tool_use_id");
            let is_error = block.member(body, "is_error").is_some_and(|flag| flag.raw(body) == b"true");
            let item = view.push(ItemKind::Result, block, Some(place));
            item.id = id;
            item.is_error = is_error;
            result_content(body, block.member(body, "content"), item);
        }
        _ if is_media(body, block) => {
            view.push(ItemKind::Media, block, Some(place));
        }
        _ => {
            view.push(ItemKind::Unknown, block, Some(place));
        }
    }
}
