//! What a model says that does the task: a call for each request until there were enough, then its last words.

use serde_json::{Value, json};

use crate::{
    upstream::{Step, chunk, json as whole, stream_end, stream_head},
    wire::Message,
};

/// Calls of the task.
pub(crate) const CALLS: usize = 8;
/// What the model says once there were enough.
pub(crate) const LAST_WORDS: &str = "All is counted.";

/// Answers a request of any agent.
pub(super) fn to(request: &Message) -> Vec<Step> {
    let path = request.first.split([' ', '?']).nth(1).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let call = is_of_the_task(request).then(|| results(&body)).filter(|results| *results < CALLS);
    match path {
        "/v1/responses" => responses(call),
        _ => vec![whole(404, r#"{"error":{"type":"not_found_error","message":"not here"}}"#)],
    }
}

/// Whether a request goes on with the task: an agent asks for a title, too, without any tools.
pub(super) fn is_of_the_task(request: &Message) -> bool {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// How many calls were answered.
fn results(body: &Value) -> usize {
    let items = ["messages", "input"].iter().filter_map(|key| body[*key].as_array()).flatten();
    let is_result = |value: &Value| {
        value["type"] == "tool_result" || value["type"] == "function_call_output" || value["role"] == "tool"
    };
    let in_content =
        |item: &Value| item["content"].as_array().map_or(0, |blocks| blocks.iter().filter(|&b| is_result(b)).count());
    items.map(|item| usize::from(is_result(item)) + in_content(item)).sum()
}

/// Another for each answer: agents take answers of one id for parts of one message.
fn id(kind: &str, call: Option<usize>) -> String {
    call.map_or_else(|| format!("{kind}_last"), |call| format!("{kind}_{call}"))
}

/// Prints some thousand numbers that no other call prints.
fn command(call: usize) -> String {
    format!("seq {} {}", call * 10_000, call * 10_000 + 4_000)
}

fn responses(call: Option<usize>) -> Vec<Step> {
    let item = match call {
        Some(call) => json!({"type": "function_call", "id": format!("fc_{call}"), "call_id": format!("call_{call}"),
            "name": "exec_command", "arguments": json!({"cmd": command(call)}).to_string(), "status": "completed"}),
        None => json!({"type": "message", "id": id("msg", call), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": LAST_WORDS, "annotations": []}]}),
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 3, "total_tokens": 13,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}});
    let response = |status: &str, output: Value| {
        json!({"id": id("resp", call), "object": "response", "created_at": 1,
        "status": status, "model": "m", "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": usage})
    };
    named_events(&[
        json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
        json!({"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": 3, "response": response("completed", json!([item]))}),
    ])
}

fn named_events(events: &[Value]) -> Vec<Step> {
    let named = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    stream(&events.iter().map(named).collect::<String>())
}

fn stream(text: &str) -> Vec<Step> {
    let pieces = text.as_bytes().chunks(97).map(chunk);
    std::iter::once(stream_head()).chain(pieces).chain([stream_end()]).collect()
}
