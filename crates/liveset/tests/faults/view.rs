//! What does a body say? Calls, results and user text, read with plain `serde_json`.

use liveset_testkit::Format;
use serde_json::Value;

/// A result as the wire holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    /// Its texts; a picture is none.
    pub(crate) texts: Vec<String>,
    /// Place of its message or item.
    pub(crate) message: usize,
    /// Place in its message.
    pub(crate) block: usize,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        self.texts.join("\n")
    }
}

/// A call: its id, its tool, its arguments as they are spelled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) message: usize,
}

pub(crate) fn parse(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("no JSON: {error}"))
}

/// The messages, or the items of `input`.
pub(crate) fn history(format: Format, body: &Value) -> Vec<Value> {
    body[format.history_field()].as_array().cloned().unwrap_or_default()
}

fn word(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

fn blocks(message: &Value) -> Vec<Value> {
    message["content"].as_array().cloned().unwrap_or_default()
}

/// Every result in order.
pub(crate) fn answers(format: Format, body: &Value) -> Vec<Answer> {
    let mut found = Vec::new();
    for (at, message) in history(format, body).iter().enumerate() {
        let answer = |id: &str, value: &Value, content: &str, block| Answer {
            id: word(value, id),
            texts: texts(&value[content]),
            message: at,
            block,
        };
        match format {
            Format::Anthropic => {
                let all = blocks(message).into_iter().enumerate();
                let results = all.filter(|(_, block)| block["type"] == "tool_result");
                found.extend(results.map(|(place, block)| answer("tool_use_id", &block, "content", place)));
            }
            Format::OpenaiChat if message["role"] == "tool" => {
                found.push(answer("tool_call_id", message, "content", 0))
            }
            Format::OpenaiResponses if message["type"] == "function_call_output" => {
                found.push(answer("call_id", message, "output", 0));
            }
            Format::OpenaiChat | Format::OpenaiResponses => {}
        }
    }
    found
}

/// Every call in order.
pub(crate) fn calls(format: Format, body: &Value) -> Vec<Asked> {
    let mut found = Vec::new();
    for (at, message) in history(format, body).iter().enumerate() {
        let asked = |id: &str, value: &Value, function: &Value, arguments: &str| Asked {
            id: word(value, id),
            tool: word(function, "name"),
            arguments: function[arguments].clone(),
            message: at,
        };
        match format {
            Format::Anthropic => {
                let all = blocks(message);
                let calls = all.iter().filter(|block| block["type"] == "tool_use");
                found.extend(calls.map(|block| asked("id", block, block, "input")));
            }
            Format::OpenaiChat => {
                let all = message["tool_calls"].as_array().into_iter().flatten();
                found.extend(all.map(|call| asked("id", call, &call["function"], "arguments")));
            }
            Format::OpenaiResponses if message["type"] == "function_call" => {
                found.push(asked("call_id", message, message, "arguments"));
            }
            Format::OpenaiResponses => {}
        }
    }
    found
}

/// Every text of the user, in order.
pub(crate) fn user_texts(format: Format, body: &Value) -> Vec<String> {
    let of_user = |message: &Value| -> Vec<String> {
        match &message["content"] {
            Value::Array(parts) => {
                let own = parts.iter().filter(|part| part["type"] == "text" || part["type"] == "input_text");
                own.map(|part| word(part, "text")).collect()
            }
            content => texts(content),
        }
    };
    history(format, body).iter().filter(|message| message["role"] == "user").flat_map(of_user).collect()
}

/// A shortened text: lines of the source, and how many were left out at which places.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shortened {
    pub(crate) kept: Vec<String>,
    pub(crate) left_out: usize,
    pub(crate) gaps: usize,
}

/// Reads gaps (`[lines a-b of N left out…]`); the error lines inside one are neither kept nor left out twice.
pub(crate) fn shortened(text: &str) -> Shortened {
    let mut found = Shortened { kept: Vec::new(), left_out: 0, gaps: 0 };
    let mut is_evidence = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        if is_evidence {
            is_evidence = !bare.ends_with("more error lines]");
            continue;
        }
        let counts = bare.strip_prefix("[lines ").and_then(|rest| rest.split_once(" of "));
        let Some((range, _)) = counts.filter(|_| bare.contains(" left out")) else {
            found.kept.push(line.to_owned());
            continue;
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|_| panic!("no count: {bare}"));
        found.left_out += number(last) + 1 - number(first);
        found.gaps += 1;
        is_evidence = bare.ends_with("error lines:");
    }
    found
}
