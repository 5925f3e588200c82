//! What does a body hold, item by item? A reader of its own, so that a mistake of the importers cannot hide in it.

use serde_json::Value;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    System,
    User,
    Assistant,
    Reasoning,
    Call,
    Result,
    Media,
}

/// One item with the text that the shared manifest counts: of a call the name and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: Kind,
    pub text: String,
    /// Id of the call, or of the call that is answered.
    pub id: String,
}

/// Reads the items of a body of any wire format.
pub fn items(body: &[u8]) -> Vec<Item> {
    let body: Value = serde_json::from_slice(body).expect("a body is JSON");
    let mut found = Vec::new();
    for key in ["system", "instructions"] {
        found.extend(body.get(key).map(|text| item(Kind::System, text_of(text))));
    }
    if let Some(input) = body.get("input").and_then(Value::as_array) {
        input.iter().for_each(|value| responses(value, &mut found));
    }
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        message_items(message, &mut found);
    }
    found
}

fn item(kind: Kind, text: String) -> Item {
    Item { kind, text, id: String::new() }
}

fn responses(value: &Value, found: &mut Vec<Item>) {
    let id = string(value, "call_id");
    let kind = string(value, "type");
    match kind.as_str() {
        "message" => {
            let kind = match string(value, "role").as_str() {
                "assistant" => Kind::Assistant,
                "user" => Kind::User,
                _ => Kind::System,
            };
            parts(&value["content"], kind, found);
        }
        "reasoning" => found.push(item(Kind::Reasoning, text_of(&value["summary"]) + &text_of(&value["content"]))),
        _ if kind.ends_with("_output") => {
            found.push(Item { kind: Kind::Result, text: inner(text_of(&value["output"])), id });
        }
        _ if kind.ends_with("_call") => {
            let arguments = string(value, "arguments") + &string(value, "input");
            found.push(Item { kind: Kind::Call, text: arguments, id });
        }
        _ => found.push(item(Kind::Reasoning, String::new())),
    }
}

fn message_items(message: &Value, found: &mut Vec<Item>) {
    let kind = match string(message, "role").as_str() {
        "assistant" => Kind::Assistant,
        "user" => Kind::User,
        "tool" => {
            let text = text_of(&message["content"]);
            found.push(Item { kind: Kind::Result, text, id: string(message, "tool_call_id") });
            return;
        }
        _ => Kind::System,
    };
    found.extend(message.get("reasoning_content").map(|text| item(Kind::Reasoning, text_of(text))));
    parts(&message["content"], kind, found);
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = &call["function"];
        let text = string(function, "arguments");
        found.push(Item { kind: Kind::Call, text, id: string(call, "id") });
    }
}

fn parts(content: &Value, kind: Kind, found: &mut Vec<Item>) {
    if let Some(text) = content.as_str() {
        found.extend((!text.trim().is_empty()).then(|| item(kind, text.to_owned())));
    }
    for part in content.as_array().into_iter().flatten() {
        match string(part, "type").as_str() {
            "tool_use" => {
                let text = spaced(&part["input"].to_string());
                found.push(Item { kind: Kind::Call, text, id: string(part, "id") });
            }
            "tool_result" => {
                let text = text_of(&part["content"]);
                found.push(Item { kind: Kind::Result, text, id: string(part, "tool_use_id") });
            }
            "thinking" => found.push(item(Kind::Reasoning, string(part, "thinking"))),
            "image" | "image_url" | "input_image" => found.push(item(Kind::Media, String::new())),
            _ => found.push(item(kind, text_of(part))),
        }
    }
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or("").to_owned()
}

/// Joins every text in a content.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => match part.get("text").or(part.get("content")) {
            Some(text) => text_of(text),
            // Clients put results of their own shape into a result; an image holds no text.
            None if part.get("type").is_none() => spaced(&value.to_string()),
            None => String::new(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn inner(text: String) -> String {
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.get("output").is_some_and(Value::is_string) => string(&value, "output"),
        _ => text,
    }
}

/// Spaces JSON as Python does, which is how the manifest's tokens were counted.
fn spaced(json: &str) -> String {
    let (mut out, mut in_string, mut is_escaped) = (String::new(), false, false);
    for character in json.chars() {
        out.push(character);
        match character {
            '"' if !is_escaped => in_string = !in_string,
            ',' | ':' if !in_string => out.push(' '),
            _ => {}
        }
        is_escaped = in_string && character == '\\' && !is_escaped;
    }
    out
}
