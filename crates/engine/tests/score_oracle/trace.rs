//! Conversations out of three kinds of trace files. Throw-away readers: they want text, not fidelity.

#![expect(clippy::disallowed_methods, reason = "the shared traces are files, found through the environment")]

use crate::conversation::Event;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of shared traces, or nothing if this machine has none.
pub(crate) fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var("LIVESET_TRACES").map_or_else(|_| root.join("../shared/traces"), PathBuf::from);
    if !folder.is_dir() {
        eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", folder.display());
        return None;
    }
    Some(folder)
}

/// Reads the JSON values of a file, one on each line.
fn values(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn claude_code(path: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    for line in values(path) {
        if line["isSidechain"] == true {
            continue;
        }
        let is_assistant = line["type"] == "assistant";
        match &line["message"]["content"] {
            Value::String(text) => events.push(Event::User(text.clone())),
            content => {
                content.as_array().into_iter().flatten().for_each(|block| block_of(block, is_assistant, &mut events))
            }
        }
    }
    events
}

fn block_of(block: &Value, is_assistant: bool, events: &mut Vec<Event>) {
    match block["type"].as_str() {
        Some("text") if is_assistant => events.push(Event::Assistant(string(&block["text"]))),
        Some("text") => events.push(Event::User(string(&block["text"]))),
        Some("thinking") => events.push(Event::Assistant(string(&block["thinking"]))),
        Some("tool_use") => leaves(&block["input"], events),
        Some("tool_result") => events.push(Event::Result(parts(&block["content"]))),
        _ => {}
    }
}

pub(crate) fn codex(path: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    for line in values(path).into_iter().filter(|line| line["type"] == "response_item") {
        let item = &line["payload"];
        match item["type"].as_str() {
            Some("message") if item["role"] == "assistant" => {
                events.extend(parts(&item["content"]).into_iter().map(Event::Assistant))
            }
            Some("message") => events.extend(parts(&item["content"]).into_iter().map(Event::User)),
            Some("reasoning") => events.extend(parts(&item["summary"]).into_iter().map(Event::Assistant)),
            Some("function_call") => arguments(&item["arguments"], &mut events),
            Some("function_call_output") => events.push(Event::Result(vec![string(&item["output"])])),
            _ => {}
        }
    }
    events
}

/// Each task of a tau-bench file is one conversation.
pub(crate) fn tau_bench(path: &Path) -> Vec<Vec<Event>> {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let tasks = file.as_array().unwrap();
    tasks.iter().map(|task| chat(task["traj"].as_array().unwrap())).collect()
}

fn chat(messages: &[Value]) -> Vec<Event> {
    let mut events = Vec::new();
    for message in messages {
        match message["role"].as_str() {
            Some("assistant") => {
                events.push(Event::Assistant(string(&message["content"])));
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    arguments(&call["function"]["arguments"], &mut events);
                }
            }
            Some("tool") => events.push(Event::Result(vec![string(&message["content"])])),
            Some("user") => events.push(Event::User(string(&message["content"]))),
            _ => {}
        }
    }
    events
}

fn arguments(arguments: &Value, events: &mut Vec<Event>) {
    let text = string(arguments);
    match serde_json::from_str::<Value>(&text) {
        Ok(object @ Value::Object(_)) => leaves(&object, events),
        _ => events.push(Event::Assistant(text)),
    }
}

/// Each string is its own text; an array of strings is one.
fn leaves(value: &Value, events: &mut Vec<Event>) {
    match value {
        Value::String(text) => events.push(Event::Assistant(text.clone())),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words: Vec<String> = items.iter().map(string).collect();
            events.push(Event::Assistant(words.join(" ")));
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, events)),
        Value::Object(fields) => fields.values().for_each(|item| leaves(item, events)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn parts(content: &Value) -> Vec<String> {
    match content {
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).map(str::to_owned).collect(),
        text => vec![string(text)],
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
