//! Conversations that grow, in each wire format, as clients write them.

use liveset::WireFormat;
use serde_json::{Value, json};

/// Where a client puts its cache marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    Off,
    /// On the first user text, for good.
    Fixed,
    /// On the newest block of each request.
    Moving,
}

/// A conversation after some rounds, each a call and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversation {
    pub(crate) format: WireFormat,
    pub(crate) marks: Marks,
    pub(crate) is_streaming: bool,
    /// What tells it from others.
    pub(crate) task: &'static str,
}

impl Conversation {
    pub(crate) fn of(format: WireFormat) -> Self {
        Self { format, marks: Marks::Off, is_streaming: false, task: "fix the parser" }
    }

    pub(crate) fn path(&self) -> &'static str {
        match self.format {
            WireFormat::Anthropic => "/v1/messages",
            WireFormat::OpenaiChat => "/v1/chat/completions",
            WireFormat::OpenaiResponses => "/v1/responses",
        }
    }

    /// The body of a request after `rounds` rounds.
    pub(crate) fn body(&self, rounds: usize) -> Vec<u8> {
        let body = match self.format {
            WireFormat::Anthropic => self.anthropic(rounds),
            WireFormat::OpenaiChat => self.chat(rounds),
            WireFormat::OpenaiResponses => self.responses(rounds),
        };
        // Numbers that a careless reader would write otherwise.
        let body = body.to_string();
        let with_numbers = body.replacen('{', r#"{"temperature": 1.0,"seed":36893488147419103233, "#, 1);
        (with_numbers + "\n").into_bytes()
    }

    fn anthropic(&self, rounds: usize) -> Value {
        let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": self.task}]})];
        for round in 0..rounds {
            let id = format!("toolu_{round}");
            messages.push(json!({"role": "assistant", "content": [
                {"type": "text", "text": said(round)},
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command(round)}}]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": output(round)}]}]}));
        }
        let marked = match self.marks {
            Marks::Off => None,
            Marks::Fixed => messages.first_mut(),
            Marks::Moving => messages.last_mut(),
        };
        if let Some(marked) = marked {
            marked["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        }
        json!({
            "model": "claude-sonnet-4-5", "max_tokens": 1000, "stream": self.is_streaming,
            "system": [{"type": "text", "text": "You fix things."}],
            "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
            "messages": messages,
        })
    }

    fn chat(&self, rounds: usize) -> Value {
        let mut messages = vec![
            json!({"role": "system", "content": "You fix things."}),
            json!({"role": "user", "content": self.task}),
        ];
        for round in 0..rounds {
            let id = format!("call_{round}");
            let arguments = json!({"command": command(round)}).to_string();
            messages.push(json!({"role": "assistant", "content": said(round), "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "shell", "arguments": arguments}}]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": output(round)}));
        }
        json!({"model": "gpt-4.1", "stream": self.is_streaming, "messages": messages})
    }

    fn responses(&self, rounds: usize) -> Value {
        let mut input =
            vec![json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": self.task}]})];
        for round in 0..rounds {
            let id = format!("call_{round}");
            let arguments = json!({"command": command(round)}).to_string();
            input.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said(round)}]}));
            input.push(json!({"type": "function_call", "call_id": id, "name": "shell", "arguments": arguments}));
            input.push(json!({"type": "function_call_output", "call_id": id, "output": output(round)}));
        }
        json!({"model": "gpt-4.1", "stream": self.is_streaming, "store": false, "instructions": "You fix things.", "input": input})
    }

    /// The pieces of a body that must leave as they left before, without cache marks.
    pub(crate) fn pieces(&self, body: &[u8]) -> Vec<Value> {
        let body: Value = serde_json::from_slice(body).unwrap();
        let list = if self.format == WireFormat::OpenaiResponses { &body["input"] } else { &body["messages"] };
        let mut pieces = list.as_array().unwrap().clone();
        for block in pieces.iter_mut().filter_map(|piece| piece["content"].as_array_mut()).flatten() {
            if let Some(block) = block.as_object_mut() {
                block.remove("cache_control");
            }
        }
        pieces
    }
}

fn said(round: usize) -> String {
    format!("Step {round}: the next part is checked.")
}

fn command(round: usize) -> String {
    format!("cargo test part_{round}")
}

/// About a thousand tokens that no other round holds.
fn output(round: usize) -> String {
    let lines =
        (0..60).map(|line| format!("part {round} line {line}: value {} checked — ü\n", round * 7_919 + line * 104_729));
    lines.collect()
}
