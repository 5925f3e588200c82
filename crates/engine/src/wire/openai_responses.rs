//! What does an OpenAI Responses body say? Rules: `wire-formats.md`, section 3.
//!
//! Items, not messages. Where the history lives on the server, the transcript says so and nothing is edited.

use super::{
    builder::{Builder, Draft, Fields, arguments, literal, word},
    dialect::Dialect,
};
use crate::{
    json::{NodeIdx, NodeKind, Outline},
    span::Span,
    transcript::{ArgumentsForm, Binding, ErrorFlag, ItemKind, Side, Weight, WireFormat},
};

/// Items that answer a call in a way this version knows.
const OUTPUTS: [&str; 6] = [
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "computer_call_output",
];

pub(super) fn dialect() -> Dialect {
    Dialect {
        format: WireFormat::OpenaiResponses,
        list: "input",
        opening: read_instructions,
        message: read_item,
        whole: read_text,
        fields: |outline| Fields { server_state: server_state(outline), ..Fields::of(outline) },
    }
}

fn read_instructions(builder: &mut Builder<'_, '_>, outline: &Outline<'_>) {
    if let Some(text) = literal(outline, outline.root(), "instructions") {
        builder.push(Draft::text(ItemKind::System, Side::Other, text, text));
    }
}

/// Reads an `input` that is just a text.
fn read_text(builder: &mut Builder<'_, '_>, outline: &Outline<'_>) -> bool {
    let Some(text) = literal(outline, outline.root(), "input") else { return false };
    builder.open_message(text);
    builder.push(Draft::text(ItemKind::User, Side::Other, text, text));
    true
}

fn server_state(outline: &Outline<'_>) -> Option<&'static str> {
    ["previous_response_id", "conversation"]
        .into_iter()
        .find(|key| outline.get(outline.root(), key).is_some_and(|idx| outline.node(idx).kind != NodeKind::Null))
}

fn read_item(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, item: NodeIdx) {
    let span = outline.node(item).span;
    let call_id = literal(outline, item, "call_id");
    let kind = word(outline, item, "type");
    let draft = match kind.as_ref() {
        "" | "message" => {
            read_message(builder, outline, item);
            return;
        }
        "reasoning" => read_reasoning(outline, item),
        "function_call" => {
            let arguments = arguments(outline, item, "arguments");
            Draft::call(span, call_id, literal(outline, item, "name"), arguments, ArgumentsForm::JsonString)
        }
        "custom_tool_call" => {
            let input = arguments(outline, item, "input");
            Draft::call(span, call_id, literal(outline, item, "name"), input, ArgumentsForm::Text)
        }
        "local_shell_call" | "shell_call" | "computer_call" | "apply_patch_call" if call_id.is_some() => {
            let action = arguments(outline, item, "action").or_else(|| arguments(outline, item, "operation"));
            Draft::call(span, call_id, literal(outline, item, "type"), action, ArgumentsForm::Object)
        }
        output if OUTPUTS.contains(&output) && call_id.is_some() => {
            read_result(builder, outline, item, call_id);
            return;
        }
        // Whatever it holds, it answers a call, and no step may tear the two apart.
        output if output.ends_with("_output") && call_id.is_some() => {
            Draft::answer(span, call_id, ErrorFlag::Unset, Vec::new()).unknown(span)
        }
        unknown => {
            if unknown == "item_reference" {
                builder.note_server_state("item_reference");
            }
            Draft::opaque(opaque_side(unknown), span)
        }
    };
    builder.push(draft);
}

/// Unknown items are mostly the model's own (searches, code runs, compactions); answers come from the client.
fn opaque_side(kind: &str) -> Side {
    let from_client = kind.ends_with("_output") || kind.ends_with("_response") || kind == "item_reference";
    if from_client { Side::Other } else { Side::Assistant }
}

fn read_reasoning(outline: &Outline<'_>, item: NodeIdx) -> Draft {
    let encrypted = literal(outline, item, "encrypted_content");
    let texts = ["content", "summary"]
        .into_iter()
        .filter_map(|key| outline.get(item, key))
        .flat_map(|list| outline.children(list).filter_map(|part| literal(outline, part, "text")).collect::<Vec<_>>())
        .collect();
    // A summary is not what is billed: where the encrypted form is there, it says the size.
    let draft = Draft::reasoning(Binding::Signed, outline.node(item).span, texts, encrypted);
    match encrypted {
        Some(data) => draft.weighing(Weight::Encrypted(data)),
        None => draft,
    }
}

fn read_message(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, item: NodeIdx) {
    let span = outline.node(item).span;
    let (kind, side) = match word(outline, item, "role").as_ref() {
        "system" | "developer" => (ItemKind::System, Side::Other),
        "user" => (ItemKind::User, Side::Other),
        "assistant" => (ItemKind::Assistant, Side::Assistant),
        _ => {
            builder.push(Draft::opaque(Side::Other, span));
            return;
        }
    };
    let Some(content) = outline.get(item, "content") else { return };
    let node = outline.node(content);
    match node.kind {
        NodeKind::String => {
            builder.push(Draft::text(kind, side, node.span, node.span));
        }
        NodeKind::Array => {
            for part in outline.children(content) {
                builder.push(read_part(outline, part, kind, side));
            }
        }
        NodeKind::Null => {}
        NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False => {
            builder.push(Draft::opaque(side, node.span));
        }
    }
}

fn text_of(outline: &Outline<'_>, part: NodeIdx) -> Option<Span> {
    match word(outline, part, "type").as_ref() {
        "input_text" | "output_text" | "text" => literal(outline, part, "text"),
        "refusal" => literal(outline, part, "refusal"),
        _ => None,
    }
}

fn read_part(outline: &Outline<'_>, part: NodeIdx, kind: ItemKind, side: Side) -> Draft {
    let span = outline.node(part).span;
    if let Some(text) = text_of(outline, part) {
        return Draft::text(kind, side, span, text);
    }
    match word(outline, part, "type").as_ref() {
        "input_image" | "input_file" | "input_audio" => Draft::media(side, span, span),
        _ => Draft::opaque(side, span),
    }
}

fn read_result(builder: &mut Builder<'_, '_>, outline: &Outline<'_>, item: NodeIdx, call_id: Option<Span>) {
    let span = outline.node(item).span;
    let answer = |texts| Draft::answer(span, call_id, ErrorFlag::Unset, texts);
    let Some(output) = outline.get(item, "output") else {
        builder.push(answer(Vec::new()).fixed());
        return;
    };
    let node = outline.node(output);
    match node.kind {
        NodeKind::String => {
            builder.push(answer(vec![node.span]));
        }
        NodeKind::Array => {
            let texts = outline.children(output).filter_map(|part| text_of(outline, part)).collect();
            let result = builder.push(answer(texts));
            for part in outline.children(output) {
                if text_of(outline, part).is_none() {
                    builder.push(read_part(outline, part, ItemKind::Opaque, Side::Other).within(result));
                }
            }
        }
        NodeKind::Object if word(outline, item, "type") == "computer_call_output" => {
            let result = builder.push(answer(Vec::new()).fixed());
            builder.push(Draft::media(Side::Other, node.span, node.span).within(result));
        }
        NodeKind::Object | NodeKind::Null | NodeKind::Number | NodeKind::True | NodeKind::False => {
            builder.push(answer(Vec::new()).weighing(Weight::Raw(node.span)).fixed());
        }
    }
}
