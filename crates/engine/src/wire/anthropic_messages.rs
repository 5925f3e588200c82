//! What does an Anthropic Messages body say? Rules: `wire-formats.md`, section 1.
//!
//! Server tools, citations and anything unknown become opaque items: passed through, counted, never touched.

use super::{
    builder::{Builder, Draft, Fields, arguments, literal, mark, value, word},
    dialect::Dialect,
};
use crate::{
    json::{NodeIdx, NodeKind, Outline},
    transcript::{ArgumentsForm, Binding, ErrorFlag, ItemKind, Side, Weight, WireFormat},
};

pub(super) fn dialect() -> Dialect {
    Dialect {
        format: WireFormat::Anthropic,
        list: "messages",
        opening: read_system,
        message: read_message,
        whole: |_, _| false,
        fields: Fields::of,
    }
}

fn read_system(builder: &mut Builder<'_, '_>, outline: &Outline<'_>) {
    if let Some(system) = outline.get(outline.root(), "system") {
        read_content(builder, outline, system, ItemKind::System);
    }
}

fn read_message(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, message: NodeIdx) {
    let kind = match word(outline, message, "role").as_ref() {
        "user" => ItemKind::User,
        "assistant" => ItemKind::Assistant,
        "system" => ItemKind::System,
        _ => {
            builder.push(Draft::opaque(Side::Other, outline.node(message).span));
            return;
        }
    };
    if let Some(content) = outline.get(message, "content") {
        read_content(builder, outline, content, kind);
    }
}

fn side_of(kind: ItemKind) -> Side {
    if kind == ItemKind::Assistant { Side::Assistant } else { Side::Other }
}

fn read_content(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, content: NodeIdx, kind: ItemKind) {
    let node = outline.node(content);
    match node.kind {
        NodeKind::String => {
            builder.push(Draft::text(kind, side_of(kind), node.span, node.span));
        }
        NodeKind::Array => {
            for block in outline.children(content) {
                read_block(builder, outline, block, kind);
            }
        }
        NodeKind::Null => {}
        NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False => {
            builder.push(Draft::opaque(side_of(kind), node.span));
        }
    }
}

fn read_block(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, block: NodeIdx, kind: ItemKind) {
    let span = outline.node(block).span;
    let side = side_of(kind);
    let cache_mark = mark(outline, block);
    let opaque = || Draft::opaque(side, span);
    let draft = match (word(outline, block, "type").as_ref(), kind) {
        ("text", _) => literal(outline, block, "text").map_or_else(opaque, |text| Draft::text(kind, side, span, text)),
        ("thinking", ItemKind::Assistant) => {
            let text = literal(outline, block, "thinking");
            // An empty signature binds nothing.
            let signature = literal(outline, block, "signature").filter(|signature| signature.len() > 2);
            let binding = signature.map_or(Binding::Free, |_| Binding::Signed);
            Draft::reasoning(binding, span, text.into_iter().collect(), signature)
        }
        ("redacted_thinking", ItemKind::Assistant) => {
            Draft::reasoning(Binding::Signed, span, Vec::new(), literal(outline, block, "data"))
        }
        ("tool_use", ItemKind::Assistant) => Draft::call(
            span,
            literal(outline, block, "id"),
            literal(outline, block, "name"),
            arguments(outline, block, "input"),
            ArgumentsForm::Object,
        ),
        ("tool_result", ItemKind::User) => {
            read_result(builder, outline, block);
            return;
        }
        ("image" | "document", _) => {
            value(outline, block, "source").map_or_else(opaque, |source| Draft::media(side, span, source))
        }
        _ => opaque(),
    };
    builder.push(draft.marked(cache_mark));
}

fn read_result(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, block: NodeIdx) {
    let span = outline.node(block).span;
    let error = match outline.get(block, "is_error").map(|idx| outline.node(idx).kind) {
        Some(NodeKind::True) => ErrorFlag::Set,
        Some(_) | None => ErrorFlag::Unset,
    };
    let content = outline.get(block, "content");
    let parts: Vec<NodeIdx> = match content.map(|idx| outline.node(idx).kind) {
        Some(NodeKind::Array) => content.map(|idx| outline.children(idx).collect()).unwrap_or_default(),
        _ => Vec::new(),
    };
    let type_of = |part: &NodeIdx| word(outline, *part, "type");
    let mut texts: Vec<_> = parts
        .iter()
        .filter(|part| type_of(part) == "text")
        .filter_map(|&part| literal(outline, part, "text"))
        .collect();
    let mut draft = Draft::answer(span, literal(outline, block, "tool_use_id"), error, Vec::new());
    match content.map(|idx| outline.node(idx)) {
        Some(node) if node.kind == NodeKind::String => texts.push(node.span),
        Some(node) if !matches!(node.kind, NodeKind::Array | NodeKind::Null) => {
            draft = draft.weighing(Weight::Raw(node.span)).fixed();
        }
        Some(_) | None => {}
    }
    // A reference loads a deferred tool: clearing it would unload the tool.
    if parts.iter().any(|part| type_of(part) == "tool_reference") {
        draft = draft.fixed();
    }
    let result = builder.push(draft.with_texts(texts).marked(mark(outline, block)));
    for part in parts {
        let span = outline.node(part).span;
        let draft = match type_of(&part).as_ref() {
            "text" if literal(outline, part, "text").is_some() => continue,
            "image" | "document" => value(outline, part, "source")
                .map_or_else(|| Draft::opaque(Side::Other, span), |source| Draft::media(Side::Other, span, source)),
            _ => Draft::opaque(Side::Other, span),
        };
        builder.push(draft.within(result).marked(mark(outline, part)));
    }
}
