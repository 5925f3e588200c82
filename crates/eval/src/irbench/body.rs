//! How does a context stand on the wire? Request bodies of two formats, written part by part.
//!
//! Writes bytes that providers accept and decides nothing about what stands in them.

use liveset_engine::transcript::WireFormat;
use serde_json::{Value, json};

use super::{
    tool::Tool,
    trajectory::{Call, Unit},
};

/// The system prompt, the same in all conditions.
pub const SYSTEM_PROMPT: &str = include_str!("prompts/system.txt");
/// The task statement: the first user message.
pub const TASK_STATEMENT: &str = include_str!("prompts/task.txt");
/// The model that bodies name where no model is asked.
pub const REFERENCE_MODEL: &str = "reference-agent";
/// What closes every body: the messages stand last.
const END: &[u8] = b"]}";

/// The parts of a context, in the order in which they are sent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Context<'u> {
    /// A message in the place of units that were cut.
    pub digest: Option<String>,
    /// Units, oldest first.
    pub units: Vec<&'u Unit>,
    /// A message behind all units.
    pub trailing: Option<String>,
}

/// What a body holds beside its messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Frame {
    /// Its wire format.
    pub format: WireFormat,
    /// The model it names.
    pub model: String,
    /// The tools it offers.
    pub tools: Vec<Tool>,
}

impl Frame {
    /// Offers the tools of the world, and those beside them.
    #[must_use]
    pub fn new(format: WireFormat, more: &[Tool]) -> Self {
        let tools = Tool::OF_WORLD.into_iter().chain(more.iter().copied()).collect();
        Self { format, model: REFERENCE_MODEL.to_owned(), tools }
    }

    /// Writes a body without a turn message.
    #[must_use]
    pub fn body(&self, context: &Context<'_>) -> Vec<u8> {
        let mut messages = vec![message("user", TASK_STATEMENT)];
        messages.extend(context.digest.as_deref().map(|digest| message("user", digest)));
        messages.extend(context.units.iter().map(|unit| unit.wire.clone()));
        messages.extend(context.trailing.as_deref().map(|trailing| message("user", trailing)));
        let (model, tools) = (literal(&self.model), self.tools());
        let system = literal(SYSTEM_PROMPT.trim_end());
        let body = match self.format {
            WireFormat::Anthropic => format!(
                "{{\"model\":{model},\"max_tokens\":1024,\"system\":{system},\"tools\":{tools},\"messages\":[{}]}}",
                messages.join(",")
            ),
            WireFormat::OpenaiChat | WireFormat::OpenaiResponses => {
                messages.insert(0, format!("{{\"role\":\"system\",\"content\":{system}}}"));
                format!("{{\"model\":{model},\"tools\":{tools},\"messages\":[{}]}}", messages.join(","))
            }
        };
        body.into_bytes()
    }

    fn tools(&self) -> Value {
        let tool = |tool: &Tool| match self.format {
            WireFormat::Anthropic => {
                json!({"name": tool.name(), "description": tool.description(), "input_schema": tool.schema()})
            }
            WireFormat::OpenaiChat | WireFormat::OpenaiResponses => json!({"type": "function", "function": {
                "name": tool.name(), "description": tool.description(), "parameters": tool.schema(),
            }}),
        };
        self.tools.iter().map(tool).collect()
    }
}

/// Adds the turn message, which no operator sees.
#[must_use]
pub fn with_turn(mut body: Vec<u8>, turn: u64, turns: u64) -> Vec<u8> {
    let said = message("user", &turn_message(turn, turns));
    if body.ends_with(END) {
        body.truncate(body.len() - END.len());
        body.push(b',');
        body.extend(said.as_bytes());
        body.extend(END);
        return body;
    }
    // A command from outside may write its fields in any order.
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return body };
    if let (Some(messages), Ok(said)) =
        (value.get_mut("messages").and_then(Value::as_array_mut), serde_json::from_str(&said))
    {
        messages.push(said);
    }
    value.to_string().into_bytes()
}

/// Words of the turn message.
#[must_use]
pub fn turn_message(turn: u64, turns: u64) -> String {
    format!("turn {turn} of {turns}")
}

/// Writes the messages of a unit, parted by commas.
#[must_use]
pub(super) fn unit(format: WireFormat, turn: u64, prose: &str, calls: &[Call]) -> String {
    match format {
        WireFormat::Anthropic => anthropic_unit(turn, prose, calls),
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => chat_unit(turn, prose, calls),
    }
}

fn chat_unit(turn: u64, prose: &str, calls: &[Call]) -> String {
    let said = if prose.is_empty() { "null".to_owned() } else { literal(prose) };
    let mut assistant = format!("{{\"role\":\"assistant\",\"content\":{said}");
    let mut results = String::new();
    let mut requests = Vec::with_capacity(calls.len());
    for (at, call) in calls.iter().enumerate() {
        let (id, name, arguments) = (call_id(turn, at), literal(&call.name), literal(&call.arguments));
        requests.push(format!(
            "{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":{name},\"arguments\":{arguments}}}}}"
        ));
        results.push_str(&format!(
            ",{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":{}}}",
            literal(&call.answer)
        ));
    }
    if !requests.is_empty() {
        assistant.push_str(&format!(",\"tool_calls\":[{}]", requests.join(",")));
    }
    assistant + "}" + &results
}

fn anthropic_unit(turn: u64, prose: &str, calls: &[Call]) -> String {
    let mut blocks = Vec::with_capacity(calls.len() + 1);
    if !prose.is_empty() {
        blocks.push(format!("{{\"type\":\"text\",\"text\":{}}}", literal(prose)));
    }
    let mut results = Vec::with_capacity(calls.len());
    for (at, call) in calls.iter().enumerate() {
        let (id, name) = (call_id(turn, at), literal(&call.name));
        // What is no object would be refused.
        let is_object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|arguments| arguments.is_object());
        let input = if is_object { call.arguments.as_str() } else { "{}" };
        blocks.push(format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":{name},\"input\":{input}}}"));
        results.push(format!(
            "{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":{}}}",
            literal(&call.answer)
        ));
    }
    let assistant = format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(","));
    if results.is_empty() {
        return assistant;
    }
    format!("{assistant},{{\"role\":\"user\",\"content\":[{}]}}", results.join(","))
}

fn call_id(turn: u64, at: usize) -> String {
    format!("call_{turn}_{}", at + 1)
}

pub(super) fn message(role: &str, text: &str) -> String {
    format!("{{\"role\":\"{role}\",\"content\":{}}}", literal(text.trim_end()))
}

fn literal(text: &str) -> String {
    Value::from(text).to_string()
}
