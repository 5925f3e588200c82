//! Which dialect is this body in?
//!
//! Counts signs that only one format has, and never decides where there is none or where they disagree.

use super::builder::word;
use crate::{
    error::{Error, Result},
    json::{NodeIdx, NodeKind, Outline},
    transcript::WireFormat,
};

/// Finds a body's format by its shape.
///
/// ```
/// use liveset_engine::{json::Outline, transcript::WireFormat, wire};
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
/// assert_eq!(wire::detect(&Outline::read(body)?)?, WireFormat::OpenaiChat);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Format`] says what was seen when no format or more than one fits.
pub fn detect(outline: &Outline<'_>) -> Result<WireFormat> {
    let root = outline.root();
    let messages = match outline.node(root).kind {
        NodeKind::Object => match (outline.get(root, "messages"), outline.get(root, "input")) {
            (Some(messages), None) => messages,
            (None, Some(_)) => return Ok(WireFormat::OpenaiResponses),
            (Some(_), Some(_)) => return Err(unclear("it holds both `messages` and `input`")),
            (None, None) => return Err(unclear("it holds neither `messages` nor `input`")),
        },
        NodeKind::Array => root,
        NodeKind::String | NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => {
            return Err(unclear("it is neither an object nor a list of messages"));
        }
    };
    let mut signs = Signs::default();
    signs.look_at_fields(outline);
    for message in outline.children(messages) {
        signs.look_at_message(outline, message);
    }
    signs.verdict()
}

fn unclear(why: &str) -> Error {
    Error::Format { why: why.to_owned() }
}

#[derive(Default)]
struct Signs {
    anthropic: Option<&'static str>,
    chat: Option<&'static str>,
    responses: Option<&'static str>,
}

impl Signs {
    fn look_at_fields(&mut self, outline: &Outline<'_>) {
        let root = outline.root();
        for (key, sign) in [("system", "a `system` field"), ("anthropic_version", "`anthropic_version`")] {
            if outline.get(root, key).is_some() {
                self.anthropic = Some(sign);
            }
        }
        let Some(tools) = outline.get(root, "tools") else { return };
        let Ok(tools) = Outline::read_all(outline.bytes(tools)) else { return };
        for tool in tools.children(tools.root()) {
            if tools.get(tool, "input_schema").is_some() {
                self.anthropic = Some("a tool with `input_schema`");
            }
            if tools.get(tool, "function").is_some() {
                self.chat = Some("a tool with `function`");
            }
        }
    }

    fn look_at_message(&mut self, outline: &Outline<'_>, message: NodeIdx) {
        if outline.node(message).kind != NodeKind::Object {
            return;
        }
        match word(outline, message, "role").as_ref() {
            "tool" => self.chat = Some("a message with role `tool`"),
            "developer" => self.chat = Some("a message with role `developer`"),
            // Anthropic knows this role too, but never first.
            "system" if self.is_empty() => self.chat = Some("a first message with role `system`"),
            "" => match word(outline, message, "type").as_ref() {
                "" => {}
                _ => self.responses = Some("an item with `type` and no `role`"),
            },
            _ => {}
        }
        if outline.get(message, "tool_calls").is_some() {
            self.chat = Some("a message with `tool_calls`");
        }
        let Some(content) = outline.get(message, "content") else { return };
        for block in outline.children(content) {
            match word(outline, block, "type").as_ref() {
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image" | "document" => {
                    self.anthropic = Some("a content block of a kind only Anthropic has");
                }
                "image_url" => self.chat = Some("a content part `image_url`"),
                "input_text" | "output_text" | "input_image" => {
                    self.responses = Some("a content part of a kind only Responses has");
                }
                _ => {}
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.anthropic.is_none() && self.chat.is_none() && self.responses.is_none()
    }

    fn verdict(&self) -> Result<WireFormat> {
        match (self.anthropic, self.chat, self.responses) {
            (Some(_), None, None) => Ok(WireFormat::Anthropic),
            (None, Some(_), None) => Ok(WireFormat::OpenaiChat),
            (None, None, Some(_)) => Ok(WireFormat::OpenaiResponses),
            (None, None, None) => Err(unclear("plain messages fit both `anthropic` and `openai-chat`")),
            (anthropic, chat, responses) => {
                let seen: Vec<&str> = [anthropic, chat, responses].into_iter().flatten().collect();
                Err(Error::Format { why: format!("it shows {}", seen.join(" and ")) })
            }
        }
    }
}
