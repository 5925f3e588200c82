//! What does an OpenAI Chat Completions body say? Rules: `wire-formats.md`, section 2.
//!
//! Fields that other vendors add to messages stay where they are; their readable reasoning is an item.

use super::{
    builder::{Builder, Draft, Fields, arguments, literal, mark, value, word},
    dialect::Dialect,
};
use crate::{
    json::{NodeIdx, NodeKind, Outline},
    span::Span,
    transcript::{ArgumentsForm, Binding, ErrorFlag, ItemKind, Side, Weight, WireFormat},
};

pub(super) fn dialect() -> Dialect {
    Dialect {
        format: WireFormat::OpenaiChat,
        list: "messages",
        opening: |_, _| (),
        message: read_message,
        whole: |_, _| false,
        fields: Fields::of,
    }
}

fn read_message(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, message: NodeIdx) {
    match word(outline, message, "role").as_ref() {
        "system" | "developer" => read_content(builder, outline, message, ItemKind::System),
        "user" => read_content(builder, outline, message, ItemKind::User),
        "assistant" => read_assistant(builder, outline, message),
        "tool" => read_result(builder, outline, message),
        _ => {
            builder.push(Draft::opaque(Side::Other, outline.node(message).span));
        }
    }
}

fn read_assistant(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, message: NodeIdx) {
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = literal(outline, message, key) {
            builder.push(Draft::reasoning(Binding::Free, text, vec![text], None));
        }
    }
    read_content(builder, outline, message, ItemKind::Assistant);
    for key in ["function_call", "audio"] {
        let extra = outline.get(message, key).map(|idx| outline.node(idx));
        if let Some(node) = extra.filter(|node| node.kind != NodeKind::Null) {
            builder.push(Draft::opaque(Side::Assistant, node.span));
        }
    }
    let Some(calls) = outline.get(message, "tool_calls") else { return };
    for call in outline.children(calls) {
        builder.push(read_call(outline, call));
    }
}

fn read_call(outline: &Outline<'_>, call: NodeIdx) -> Draft {
    let span = outline.node(call).span;
    let id = literal(outline, call, "id");
    let named = |holder: NodeIdx, key: &str, form: ArgumentsForm| {
        Draft::call(span, id, literal(outline, holder, "name"), arguments(outline, holder, key), form)
    };
    let (function, custom) = (outline.get(call, "function"), outline.get(call, "custom"));
    match (word(outline, call, "type").as_ref(), function, custom) {
        // Some clients leave the type out.
        ("" | "function", Some(function), _) => named(function, "arguments", ArgumentsForm::JsonString),
        ("" | "custom", _, Some(custom)) => named(custom, "input", ArgumentsForm::Text),
        // Whatever it asks for, a result answers it, and no step may tear the two apart.
        _ if id.is_some() => Draft::call(span, id, None, None, ArgumentsForm::Text).unknown(span),
        _ => Draft::opaque(Side::Assistant, span),
    }
}

fn read_content(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, message: NodeIdx, kind: ItemKind) {
    let side = if kind == ItemKind::Assistant { Side::Assistant } else { Side::Other };
    if let Some(text) = literal(outline, message, "refusal") {
        builder.push(Draft::text(kind, side, text, text));
    }
    let Some(content) = outline.get(message, "content") else { return };
    let node = outline.node(content);
    match node.kind {
        NodeKind::String => {
            builder.push(Draft::text(kind, side, node.span, node.span));
        }
        NodeKind::Array => {
            for part in outline.children(content) {
                builder.push(read_part(outline, part, kind, side).marked(mark(outline, part)));
            }
        }
        NodeKind::Null => {}
        NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False => {
            builder.push(Draft::opaque(side, node.span));
        }
    }
}

fn read_part(outline: &Outline<'_>, part: NodeIdx, kind: ItemKind, side: Side) -> Draft {
    let span = outline.node(part).span;
    let field = match word(outline, part, "type").as_ref() {
        "text" => "text",
        "refusal" => "refusal",
        "image_url" => return media(outline, part, "image_url", side),
        "file" => return media(outline, part, "file", side),
        "input_audio" => return media(outline, part, "input_audio", side),
        _ => return Draft::opaque(side, span),
    };
    literal(outline, part, field).map_or_else(|| Draft::opaque(side, span), |text| Draft::text(kind, side, span, text))
}

fn media(outline: &Outline<'_>, part: NodeIdx, key: &str, side: Side) -> Draft {
    let span = outline.node(part).span;
    value(outline, part, key).map_or_else(|| Draft::opaque(side, span), |data: Span| Draft::media(side, span, data))
}

fn read_result(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, message: NodeIdx) {
    let span = outline.node(message).span;
    let id = literal(outline, message, "tool_call_id");
    let answer = |texts| Draft::answer(span, id, ErrorFlag::Unset, texts);
    let Some(content) = outline.get(message, "content") else {
        builder.push(answer(Vec::new()));
        return;
    };
    let node = outline.node(content);
    match node.kind {
        NodeKind::String => {
            builder.push(answer(vec![node.span]).marked(mark(outline, message)));
        }
        NodeKind::Array => read_result_parts(builder, outline, content, answer),
        NodeKind::Null => {
            builder.push(answer(Vec::new()));
        }
        NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False => {
            builder.push(answer(Vec::new()).weighing(Weight::Raw(node.span)).fixed());
        }
    }
}

fn read_result_parts(
    builder: &mut Builder<'_, '_>,
    outline: &Outline<'_>,
    content: NodeIdx,
    answer: impl Fn(Vec<Span>) -> Draft,
) {
    let text_of =
        |part: NodeIdx| (word(outline, part, "type") == "text").then(|| literal(outline, part, "text")).flatten();
    let result = builder.push(answer(outline.children(content).filter_map(text_of).collect()));
    for part in outline.children(content) {
        if text_of(part).is_some() {
            continue;
        }
        let draft = read_part(outline, part, ItemKind::Opaque, Side::Other);
        builder.push(draft.within(result).marked(mark(outline, part)));
    }
}
