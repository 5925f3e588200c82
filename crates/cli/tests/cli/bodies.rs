//! Request bodies to run on, made from scratch.

use serde_json::{Value, json};

/// Lines of made-up output, each another; about 11 tokens a line.
pub(crate) fn lines(topic: &str, count: usize) -> String {
    (0..count).map(|at| format!("{topic} line {at}: value {} of part {}\n", at * 37 % 101, at * 53 % 89)).collect()
}

/// A conversation in Chat Completions form: a task, then a call and its result for each of `results`, then a question.
pub(crate) fn chat(results: &[String]) -> Vec<u8> {
    let mut messages = vec![
        json!({"role": "system", "content": "You keep the station's log in order."}),
        json!({"role": "user", "content": "Find out why the pump stops at night."}),
    ];
    for (at, result) in results.iter().enumerate() {
        messages.extend(exchange(at, result));
    }
    messages.push(json!({"role": "user", "content": "Which part would you change first?"}));
    body(&messages)
}

/// The same conversation further on: after its question, a call and its result for each of `results`.
pub(crate) fn go_on(earlier: &[u8], results: &[String]) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(earlier).unwrap();
    let messages = body["messages"].as_array_mut().unwrap();
    let answered = messages.iter().filter(|message| message["role"] == "tool").count();
    for (at, result) in results.iter().enumerate() {
        messages.extend(exchange(answered + at, result));
    }
    serde_json::to_vec(&body).unwrap()
}

/// A call of `read_log` and its result.
fn exchange(at: usize, result: &str) -> [Value; 2] {
    let arguments = format!("{{\"path\":\"logs/pump-{at}.txt\"}}");
    let call = json!({"id": format!("call_{at}"), "type": "function", "function": {"name": "read_log", "arguments": arguments}});
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": format!("call_{at}"), "content": result}),
    ]
}

/// A body that holds these messages, for a model whose tokens are counted exactly.
pub(crate) fn body(messages: &[Value]) -> Vec<u8> {
    serde_json::to_vec(&json!({"model": "gpt-4.1", "messages": messages})).unwrap()
}

/// A body of about 13,000 tokens, nearly all of them in results; two of those are the same.
pub(crate) fn long() -> Vec<u8> {
    let mut results: Vec<String> = (0..8).map(|at| lines(&format!("night {at}"), 100)).collect();
    results[5] = results[2].clone();
    chat(&results)
}

/// Fits [`long`] after a sweep.
pub(crate) const SMALL: &str = "--window 8000 --reserve 1000";

/// A body that no rule can make smaller: its tokens are the user's own.
pub(crate) fn incompressible() -> Vec<u8> {
    body(&[
        json!({"role": "system", "content": "You read."}),
        json!({"role": "user", "content": lines("letter", 300)}),
        json!({"role": "assistant", "content": "I have read it."}),
        json!({"role": "user", "content": "What does it say?"}),
    ])
}
