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

/// Says the last words at once, and ends the answer only when the test lets it.
pub(super) fn held(request: &Message) -> Vec<Step> {
    let mut steps = to(request);
    if is_of_the_task(request) {
        steps = messages(None);
        // The words are out, the last chunks and the end are not.
        let end = steps.len().saturating_sub(4);
        steps.insert(end, Step::Wait);
    }
    steps
}

/// Answers a request of any agent.
pub(super) fn to(request: &Message) -> Vec<Step> {
    let path = request.first.split([' ', '?']).nth(1).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let call = is_of_the_task(request).then(|| next_call(&body)).filter(|call| *call < CALLS);
    match path {
        "/v1/messages" => messages(call),
        "/v1/chat/completions" => chat(call),
        "/v1/responses" => responses(call),
        _ => vec![whole(404, r#"{"error":{"type":"not_found_error","message":"not here"}}"#)],
    }
}

/// Whether a request goes on with the task: an agent asks for a title, too, without any tools.
pub(super) fn is_of_the_task(request: &Message) -> bool {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// Whether a request begins with all items of the one before it, cache marks aside.
pub(super) fn goes_on(before: &Message, after: &Message) -> bool {
    items(after).starts_with(&items(before))
}

/// What the agent and the model said, without cache marks.
fn items(request: &Message) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let items = ["messages", "input"].iter().find_map(|key| body[*key].as_array()).unwrap();
    items.iter().cloned().map(without_marks).collect()
}

fn without_marks(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(name, _)| name != "cache_control");
            members.map(|(name, value)| (name, without_marks(value))).collect()
        }
        Value::Array(values) => values.into_iter().map(without_marks).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The call after the one whose result is the newest. That one is in every body, whatever was cut before it: a count of
/// results would stand still where calls are folded, and the same call would be made for ever.
fn next_call(body: &Value) -> usize {
    let items = ["messages", "input"].iter().filter_map(|key| body[*key].as_array()).flatten();
    let blocks = items.flat_map(|item| std::iter::once(item).chain(item["content"].as_array().into_iter().flatten()));
    let mut answered = blocks.filter_map(|value| {
        let id = ["tool_use_id", "call_id", "tool_call_id"].iter().find_map(|key| value[*key].as_str())?;
        id.rsplit('_').next()?.parse::<usize>().ok()
    });
    answered.next_back().map_or(0, |newest| newest + 1)
}

/// Another for each answer: agents take answers of one id for parts of one message.
fn id(kind: &str, call: Option<usize>) -> String {
    call.map_or_else(|| format!("{kind}_last"), |call| format!("{kind}_{call}"))
}

/// Prints some thousand numbers that no other call prints.
fn command(call: usize) -> String {
    format!("seq {} {}", call * 10_000, call * 10_000 + 4_000)
}

fn messages(call: Option<usize>) -> Vec<Step> {
    let (block, delta, stop_reason) = match call {
        Some(call) => (
            json!({"type": "tool_use", "id": format!("toolu_{call}"), "name": "Bash", "input": {}}),
            json!({"type": "input_json_delta",
                "partial_json": json!({"command": command(call), "description": "Counts"}).to_string()}),
            "tool_use",
        ),
        None => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": LAST_WORDS}), "end_turn"),
    };
    let message = json!({"id": id("msg", call), "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}});
    named_events(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ])
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

fn chat(call: Option<usize>) -> Vec<Step> {
    let (delta, finish_reason) = match call {
        Some(call) => {
            let function = json!({"name": "bash",
                "arguments": json!({"command": command(call), "description": "Counts"}).to_string()});
            let calls = json!([{"index": 0, "id": format!("call_{call}"), "type": "function", "function": function}]);
            (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": LAST_WORDS}), "stop"),
    };
    let event = |delta: Value, finish_reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        let event = json!({"id": id("chatcmpl", call), "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]});
        format!("data: {event}\n\n")
    };
    stream(&[event(delta, Value::Null), event(json!({}), json!(finish_reason)), "data: [DONE]\n\n".to_owned()].concat())
}

fn named_events(events: &[Value]) -> Vec<Step> {
    let named = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    stream(&events.iter().map(named).collect::<String>())
}

fn stream(text: &str) -> Vec<Step> {
    let pieces = text.as_bytes().chunks(97).map(chunk);
    std::iter::once(stream_head()).chain(pieces).chain([stream_end()]).collect()
}
