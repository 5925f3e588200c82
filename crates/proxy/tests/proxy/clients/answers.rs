//! What a vendor would answer, by the scenario that the first user text names.

use serde_json::{Value, json};

use crate::{
    upstream::{Step, chunk, json as whole, stream_end, stream_head},
    wire::Message,
};

/// Answers a request of any vendor.
pub(crate) fn to(request: &Message) -> Vec<Step> {
    let path = request.first.split([' ', '?']).nth(1).unwrap();
    let text = String::from_utf8_lossy(&request.body);
    let scenario = text.split("scenario ").nth(1).unwrap().split(';').next().unwrap();
    match (path, scenario) {
        ("/v1/messages/count_tokens", _) => vec![whole(200, r#"{"input_tokens": 77}"#)],
        ("/v1/messages", "bad") => vec![whole(400, &claude_error("invalid_request_error").to_string())],
        ("/v1/messages", "busy") => vec![whole(529, &claude_error("overloaded_error").to_string())],
        (_, "bad") => {
            vec![whole(400, r#"{"error":{"message":"no","type":"invalid_request_error","param":"x","code":null}}"#)]
        }
        (_, "busy") => {
            vec![whole(529, r#"{"error":{"message":"busy","type":"server_error","param":null,"code":null}}"#)]
        }
        ("/v1/messages", scenario) => claude(scenario),
        ("/v1/chat/completions", scenario) => chat(scenario),
        (_, scenario) => responses(scenario),
    }
}

fn claude_error(kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": "not now"}, "request_id": "req_1"})
}

fn claude_message(content: &Value, stop: Option<&str>) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 3}})
}

fn claude(scenario: &str) -> Vec<Step> {
    let calls = [("toolu_a", "ls"), ("toolu_b", "pwd → ü")];
    let tool_use = |(id, command): (&str, &str)| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    match scenario {
        "plain" => vec![whole(
            200,
            &claude_message(&json!([{"type": "text", "text": "fine → ü"}]), Some("end_turn")).to_string(),
        )],
        "tools" => {
            let content = json!(calls.map(tool_use));
            vec![whole(200, &claude_message(&content, Some("tool_use")).to_string())]
        }
        "stream" => claude_stream(
            &[(
                "text",
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": "fine →"}), json!({"type": "text_delta", "text": " ü"})],
            )],
            "end_turn",
        ),
        "stream_tools" => {
            let block = |(id, command): (&str, &str)| {
                let start = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
                let arguments = json!({"command": command}).to_string();
                // Cut where the arguments hold no whole value.
                let pieces = [&arguments[..5], &arguments[5..]];
                let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                ("tool", start, deltas.to_vec())
            };
            claude_stream(&calls.map(block), "tool_use")
        }
        "stream_thinking" => claude_stream(
            &[
                (
                    "thinking",
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    vec![
                        json!({"type": "thinking_delta", "thinking": "hm"}),
                        json!({"type": "signature_delta", "signature": "c2ln"}),
                    ],
                ),
                ("text", json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": "so"})]),
            ],
            "end_turn",
        ),
        other => panic!("no scenario `{other}`"),
    }
}

fn claude_stream(blocks: &[(&str, Value, Vec<Value>)], stop: &str) -> Vec<Step> {
    let mut events =
        vec![json!({"type": "message_start", "message": claude_message(&json!([]), None)}), json!({"type": "ping"})];
    for (at, (_, start, deltas)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": at, "content_block": start}));
        events.extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": at, "delta": delta})));
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 9}}));
    events.push(json!({"type": "message_stop"}));
    let named = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    stream(&events.iter().map(named).collect::<String>())
}

fn chat(scenario: &str) -> Vec<Step> {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 4}});
    let completion = |message: Value, finish: &str| {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [choice], "usage": usage})
    };
    let call = |(id, command): (&str, &str)| json!({"id": id, "type": "function", "function": {"name": "shell", "arguments": json!({"command": command}).to_string()}});
    let piece = |delta: Value, finish: Option<&str>| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    match scenario {
        "plain" => {
            vec![whole(200, &completion(json!({"role": "assistant", "content": "fine → ü"}), "stop").to_string())]
        }
        "tools" => {
            let calls = [("call_a", "ls"), ("call_b", "pwd")].map(call);
            vec![whole(
                200,
                &completion(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
                    .to_string(),
            )]
        }
        "stream" => {
            let chunks = [
                piece(json!({"role": "assistant", "content": "fine"}), None),
                piece(json!({"content": " → ü"}), None),
                piece(json!({}), Some("stop")),
            ];
            let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
            stream(&(text + "data: [DONE]\n\n"))
        }
        "endless" => {
            let first = format!("data: {}\n\n", piece(json!({"role": "assistant", "content": "on and on"}), None));
            vec![stream_head(), chunk(first.as_bytes()), Step::Wait]
        }
        other => panic!("no scenario `{other}`"),
    }
}

fn responses(scenario: &str) -> Vec<Step> {
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "fine → ü", "annotations": []}]});
    let response = |status: &str, output: Value| json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "gpt-4.1", "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []});
    match scenario {
        "plain" => vec![whole(200, &response("completed", json!([message])).to_string())],
        _ => {
            let events = [
                json!({"type": "response.created", "sequence_number": 0, "response": response("in_progress", json!([]))}),
                json!({"type": "response.output_text.delta", "sequence_number": 1, "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "fine → ü", "logprobs": []}),
                json!({"type": "response.unheard_of", "sequence_number": 2, "x": 1}),
                json!({"type": "response.completed", "sequence_number": 3, "response": response("completed", json!([message]))}),
            ];
            let named = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
            stream(&events.iter().map(named).collect::<String>())
        }
    }
}

/// A stream whose pieces end in the middle of events and characters.
fn stream(text: &str) -> Vec<Step> {
    let pieces = text.as_bytes().chunks(37).map(chunk);
    std::iter::once(stream_head()).chain(pieces).chain([stream_end()]).collect()
}
