//! Events as an OpenAI Responses body: items instead of messages.

use crate::events::{AssistantMessage, Call, Conversation, Event, Part, Shape, System, ToolResult};
use crate::json_writer::{Json, Style};
use crate::render::{arguments_text, data_url, plain_text, request, schema, unknown};

/// The tool whose calls carry free text instead of JSON.
const CUSTOM_TOOL: &str = "apply_patch";

/// Builds the request body.
pub(crate) fn body(conversation: &Conversation) -> Json {
    let mut front = Vec::new();
    let mut input = Vec::new();
    match &conversation.system {
        System::Absent => {}
        System::Text(text) => front.push(("instructions".to_owned(), Json::text(text))),
        System::Blocks(texts) => input.extend(texts.iter().map(|text| said("developer", Json::text(text)))),
    }
    for (place, event) in conversation.events.iter().enumerate() {
        match event {
            Event::User(user) => input.push(said("user", content(&user.parts, user.shape))),
            Event::Assistant(assistant) => input.extend(assistant_items(assistant, place, &conversation.style)),
            Event::Results(batch) => {
                input.extend(batch.results.iter().map(output));
                input.extend(batch.text_after.as_ref().map(|text| said("user", Json::text(text))));
            }
        }
    }
    if !conversation.tools.is_empty() {
        front.push(("tools".to_owned(), Json::Array(conversation.tools.iter().map(|name| tool(name)).collect())));
    }
    front.push(("store".to_owned(), Json::raw("false")));
    request(conversation, front, "input", input)
}

fn said(role: &str, content: Json) -> Json {
    Json::object([("role", Json::text(role)), ("content", content)])
}

fn content(parts: &[Part], shape: Shape) -> Json {
    match shape {
        Shape::Plain => Json::text(plain_text(parts)),
        Shape::Blocks => Json::Array(parts.iter().map(part).collect()),
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => Json::object([("type", Json::text("input_text")), ("text", Json::text(text))]),
        Part::Media(media) => {
            Json::object([("type", Json::text("input_image")), ("image_url", Json::text(data_url(*media)))])
        }
        Part::Unknown(kind) => unknown(*kind),
    }
}

fn assistant_items(assistant: &AssistantMessage, place: usize, style: &Style) -> Vec<Json> {
    let mut items = Vec::new();
    if let Some(reasoning) = &assistant.reasoning {
        let summary = Json::object([("type", Json::text("summary_text")), ("text", Json::text(&reasoning.text))]);
        let mut item = Json::object([("type", Json::text("reasoning")), ("id", Json::text(format!("rs_{place}")))]);
        item.push("summary", Json::Array(vec![summary]));
        if let Some(seal) = &reasoning.seal {
            item.push("encrypted_content", Json::text(seal));
        }
        items.push(item);
    }
    if let Some(text) = &assistant.text {
        let part = Json::object([
            ("type", Json::text("output_text")),
            ("text", Json::text(text)),
            ("annotations", Json::raw("[ ]")),
        ]);
        items.push(Json::object([
            ("type", Json::text("message")),
            ("id", Json::text(format!("msg_{place}"))),
            ("role", Json::text("assistant")),
            ("content", Json::Array(vec![part])),
        ]));
    }
    items.extend(assistant.unknown.map(unknown));
    items.extend(assistant.calls.iter().map(|call| call_item(call, style)));
    items
}

fn call_item(call: &Call, style: &Style) -> Json {
    let (kind, field, value) = if call.tool == CUSTOM_TOOL {
        ("custom_tool_call", "input", Json::text(style.write(&call.arguments)))
    } else {
        ("function_call", "arguments", arguments_text(&call.arguments, style))
    };
    let (id, name) = (Json::text(&call.id), Json::text(call.tool));
    Json::object([("type", Json::text(kind)), ("call_id", id), ("name", name), (field, value)])
}

fn output(result: &ToolResult) -> Json {
    let kind = if result.tool == CUSTOM_TOOL { "custom_tool_call_output" } else { "function_call_output" };
    Json::object([
        ("type", Json::text(kind)),
        ("call_id", Json::text(&result.call_id)),
        ("output", content(&result.parts, result.shape)),
    ])
}

fn tool(name: &str) -> Json {
    Json::object([
        ("type", Json::text("function")),
        ("name", Json::text(name)),
        ("description", Json::text("Does it")),
        ("parameters", schema()),
    ])
}
