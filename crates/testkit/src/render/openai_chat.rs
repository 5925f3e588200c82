//! Events as an OpenAI Chat Completions body.

use crate::events::{AssistantMessage, Call, Conversation, Event, Part, Shape, System, ToolResult};
use crate::json_writer::{Json, Style};
use crate::render::{arguments_text, data_url, plain_text, request, schema, unknown};

/// Builds the request body.
pub(crate) fn body(conversation: &Conversation) -> Json {
    let role = if conversation.style.seed.is_multiple_of(5) { "developer" } else { "system" };
    let mut messages: Vec<_> = match &conversation.system {
        System::Absent => Vec::new(),
        System::Text(text) => vec![said(role, Json::text(text))],
        System::Blocks(texts) => texts.iter().map(|text| said(role, Json::Array(vec![text_part(text)]))).collect(),
    };
    for event in &conversation.events {
        match event {
            Event::User(user) => messages.push(said("user", content(&user.parts, user.shape))),
            Event::Assistant(assistant) => messages.push(assistant_message(assistant, &conversation.style)),
            Event::Results(batch) => {
                messages.extend(batch.results.iter().map(tool_message));
                messages.extend(batch.text_after.as_ref().map(|text| said("user", Json::text(text))));
            }
        }
    }
    let mut front = Vec::new();
    if !conversation.tools.is_empty() {
        front.push(("tools".to_owned(), Json::Array(conversation.tools.iter().map(|name| tool(name)).collect())));
    }
    request(conversation, front, "messages", messages)
}

fn said(role: &str, content: Json) -> Json {
    Json::object([("role", Json::text(role)), ("content", content)])
}

fn text_part(text: &str) -> Json {
    Json::object([("type", Json::text("text")), ("text", Json::text(text))])
}

fn content(parts: &[Part], shape: Shape) -> Json {
    match shape {
        Shape::Plain => Json::text(plain_text(parts)),
        Shape::Blocks => Json::Array(parts.iter().map(part).collect()),
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => text_part(text),
        Part::Media(media) => {
            let url = Json::object([("url", Json::text(data_url(*media))), ("detail", Json::text("high"))]);
            Json::object([("type", Json::text("image_url")), ("image_url", url)])
        }
        Part::Unknown(kind) => unknown(*kind),
    }
}

fn assistant_message(assistant: &AssistantMessage, style: &Style) -> Json {
    let mut message = Json::object([("role", Json::text("assistant"))]);
    if let Some(reasoning) = &assistant.reasoning {
        message.push("reasoning_content", Json::text(&reasoning.text));
    }
    message.push("content", assistant.text.as_ref().map_or_else(|| Json::raw("null"), Json::text));
    if !assistant.calls.is_empty() {
        message.push("tool_calls", Json::Array(assistant.calls.iter().map(|call| tool_call(call, style)).collect()));
    }
    if let Some(kind) = assistant.unknown {
        message.push("x_future", unknown(kind));
    }
    message
}

fn tool_call(call: &Call, style: &Style) -> Json {
    let function =
        Json::object([("name", Json::text(call.tool)), ("arguments", arguments_text(&call.arguments, style))]);
    Json::object([("id", Json::text(&call.id)), ("type", Json::text("function")), ("function", function)])
}

/// Tool messages hold text only: pictures have no place here.
fn tool_message(result: &ToolResult) -> Json {
    let texts: Vec<_> = result.parts.iter().filter(|part| matches!(part, Part::Text(_))).cloned().collect();
    Json::object([
        ("role", Json::text("tool")),
        ("tool_call_id", Json::text(&result.call_id)),
        ("content", content(&texts, result.shape)),
    ])
}

fn tool(name: &str) -> Json {
    let function =
        Json::object([("name", Json::text(name)), ("description", Json::text("Does it")), ("parameters", schema())]);
    Json::object([("type", Json::text("function")), ("function", function)])
}
