//! A conversation written down once and sent in any format, and what is left of it when it comes out.

use liveset::{Policy, Preset, Strategy};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::{Value, json};

use crate::bench::{Bench, size};

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User(String),
    Say(String),
    /// One assistant message with these calls: id, tool, arguments.
    Call(Vec<(&'static str, &'static str, Value)>),
    /// Results that answer them: id, text.
    Result(Vec<(&'static str, String)>),
    /// A result that the wire calls an error, where the format can.
    Failed(&'static str, String),
}

pub(crate) fn user(text: impl Into<String>) -> Step {
    Step::User(text.into())
}

pub(crate) fn call(id: &'static str, tool: &'static str, arguments: Value) -> Step {
    Step::Call(vec![(id, tool, arguments)])
}

pub(crate) fn result(id: &'static str, text: impl Into<String>) -> Step {
    Step::Result(vec![(id, text.into())])
}

/// Prose of so many lines that no other `seed` has.
pub(crate) fn prose(seed: &str, lines: usize) -> String {
    let line = |at: usize| format!("The {seed} report says at entry {at} that everything is as it was before.\n");
    (0..lines).map(line).collect()
}

/// Writes the conversation as a request body.
pub(crate) fn body(format: Format, steps: &[Step]) -> Vec<u8> {
    let history: Vec<Value> = steps.iter().flat_map(|step| messages(format, step)).collect();
    let mut body = json!({ "model": "gpt-4.1" });
    body[format.history_field()] = Value::Array(history);
    body.to_string().into_bytes()
}

fn messages(format: Format, step: &Step) -> Vec<Value> {
    match (format, step) {
        (_, Step::User(text)) => vec![json!({ "role": "user", "content": text })],
        (Format::Anthropic, Step::Say(text)) => {
            vec![json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] })]
        }
        (_, Step::Say(text)) => vec![json!({ "role": "assistant", "content": text })],
        (Format::Anthropic, Step::Call(calls)) => {
            let blocks = calls.iter().map(
                |(id, tool, input)| json!({ "type": "tool_use", "id": id, "name": tool, "input": input }),
            );
            vec![json!({ "role": "assistant", "content": blocks.collect::<Vec<_>>() })]
        }
        (Format::OpenaiChat, Step::Call(calls)) => {
            let calls = calls.iter().map(|(id, tool, arguments)| {
                json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": arguments.to_string() } })
            });
            vec![json!({ "role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>() })]
        }
        (Format::OpenaiResponses, Step::Call(calls)) => calls
            .iter()
            .map(|(id, tool, arguments)| {
                json!({ "type": "function_call", "call_id": id, "name": tool, "arguments": arguments.to_string() })
            })
            .collect(),
        (Format::Anthropic, Step::Failed(id, text)) => {
            let block = json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": text });
            vec![json!({ "role": "user", "content": [block] })]
        }
        (_, Step::Failed(id, text)) => messages(format, &Step::Result(vec![(*id, text.clone())])),
        (Format::Anthropic, Step::Result(results)) => {
            let block = |(id, text): &(&str, String)| json!({ "type": "tool_result", "tool_use_id": id, "content": text });
            vec![json!({ "role": "user", "content": results.iter().map(block).collect::<Vec<_>>() })]
        }
        (Format::OpenaiChat, Step::Result(results)) => {
            results.iter().map(|(id, text)| json!({ "role": "tool", "tool_call_id": id, "content": text })).collect()
        }
        (Format::OpenaiResponses, Step::Result(results)) => results
            .iter()
            .map(|(id, text)| json!({ "type": "function_call_output", "call_id": id, "output": text }))
            .collect(),
    }
}

/// Runs a conversation under a preset in a window of this share of its size, and checks every law.
pub(crate) fn run(format: Format, steps: &[Step], preset: Preset, window_permille: u64) -> Outcome {
    run_with(format, steps, window_permille, |policy| policy.preset = preset)
}

/// The same under any settings.
pub(crate) fn run_with(format: Format, steps: &[Step], window_permille: u64, set: impl FnOnce(&mut Policy)) -> Outcome {
    let body = body(format, steps);
    let mut policy = Policy::default();
    policy.window = Some(size(format, &body) * window_permille / 1_000);
    policy.reserve = Some(0);
    set(&mut policy);
    Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{format:?}: {error}"))
}

/// Sets a preset whose sweeps alone decide, over the whole view: no result is shaped when it is first seen.
pub(crate) fn by_sweeps(policy: &mut Policy, preset: Preset) {
    policy.preset = preset;
    policy.intake.strategy = Some(Strategy::Keep);
    policy.dispatch.share = 100;
}

/// Finds the arguments and the results of a body by call id, whatever its format.
pub(crate) fn seen(body: &[u8]) -> Seen {
    let mut seen = Seen::default();
    let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("no JSON: {error}"));
    look(&body, &mut seen);
    seen
}

/// What the model reads of calls and results, in order.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) results: Vec<(String, String)>,
}

impl Seen {
    pub(crate) fn arguments(&self, id: &str) -> &Value {
        let found = self.calls.iter().find(|(call, _)| call == id);
        found.map_or(&Value::Null, |(_, arguments)| arguments)
    }

    pub(crate) fn result(&self, id: &str) -> &str {
        let found = self.results.iter().find(|(call, _)| call == id);
        found.map_or("", |(_, text)| text)
    }

    /// Ids of the results that are tombstones.
    pub(crate) fn tombstones(&self) -> Vec<&str> {
        let gone = self.results.iter().filter(|(_, text)| text.starts_with("[pruned from context: "));
        gone.map(|(id, _)| id.as_str()).collect()
    }

    /// Ids of all calls.
    pub(crate) fn ids(&self) -> Vec<&str> {
        self.calls.iter().map(|(id, _)| id.as_str()).collect()
    }
}

fn look(value: &Value, seen: &mut Seen) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parsed = |value: &Value| match value {
        Value::String(inner) => serde_json::from_str(inner).unwrap_or_else(|error| panic!("no arguments: {error}")),
        other => other.clone(),
    };
    if value["type"] == "tool_use" {
        seen.calls.push((text(&value["id"]), value["input"].clone()));
    } else if value["type"] == "function" {
        seen.calls.push((text(&value["id"]), parsed(&value["function"]["arguments"])));
    } else if value["type"] == "function_call" {
        seen.calls.push((text(&value["call_id"]), parsed(&value["arguments"])));
    } else if value["type"] == "tool_result" {
        seen.results.push((text(&value["tool_use_id"]), text(&value["content"])));
    } else if value["role"] == "tool" {
        seen.results.push((text(&value["tool_call_id"]), text(&value["content"])));
    } else if value["type"] == "function_call_output" {
        seen.results.push((text(&value["call_id"]), text(&value["output"])));
    } else {
        match value {
            Value::Array(values) => values.iter().for_each(|value| look(value, seen)),
            Value::Object(members) => members.values().for_each(|value| look(value, seen)),
            _ => {}
        }
    }
}
