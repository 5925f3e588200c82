//! Which pieces does a body of each format have?
//!
//! Reads and hashes; judges nothing, and takes what it does not know as a piece of its own.

use super::digest::Digest;
use super::pieces::{Kind, Mark, Piece, Pieces, Says};
use super::reading::{Reading, is_blank};
use crate::json::{NodeIdx, NodeKind, Outline};
use crate::transcript::WireFormat;

/// Types of blocks that load a tool ("`tool_reference` blocks inside results load deferred tools").
const LOADERS: [&str; 2] = ["tool_reference", "tool_addition"];

/// Reads the pieces of a body; of a body without a list of messages only its request fields.
pub(super) fn pieces(format: WireFormat, reading: Reading<'_, '_>) -> Pieces {
    let key = match format {
        WireFormat::Anthropic | WireFormat::OpenaiChat => "messages",
        WireFormat::OpenaiResponses => "input",
    };
    let end = reading.outline.node(reading.outline.root()).span.end().saturating_sub(1);
    let mut reader = Reader { reading, format, message: None, pieces: Pieces { end, ..Pieces::default() } };
    if reading.is_request() {
        reader.request_fields();
    }
    if let Some(list) = reading.list(key) {
        reader.pieces.end = reading.outline.node(list).span.end().saturating_sub(1);
        for (place, message) in reading.elements(list).enumerate() {
            reader.message = Some(place);
            match format {
                WireFormat::Anthropic => reader.anthropic_message(message),
                WireFormat::OpenaiChat => reader.chat_message(message),
                WireFormat::OpenaiResponses => reader.response_item(message),
            }
        }
    }
    reader.pieces.without_compacted()
}

struct Reader<'o, 'a> {
    reading: Reading<'o, 'a>,
    format: WireFormat,
    message: Option<usize>,
    pieces: Pieces,
}

impl Reader<'_, '_> {
    fn push(&mut self, kind: Kind, at: NodeIdx, digest: u128, id: Option<&str>, says: Says) {
        self.pieces.list.push(Piece {
            kind,
            span: self.reading.outline.node(at).span,
            message: self.message,
            digest,
            id: id.filter(|id| !id.is_empty()).map(|id| Digest::new().part(id.as_bytes()).finish()),
            says,
            loads: Vec::new(),
        });
    }

    /// Takes a whole value. The same value in another role is another piece.
    fn push_value(&mut self, kind: Kind, at: NodeIdx, id: Option<&str>, says: Says) {
        let digest = Digest::new().part(&[kind as u8]).value(self.reading.outline.bytes(at)).finish();
        self.push(kind, at, digest, id, says);
    }

    /// Takes a plain text: the same piece as a string and as a block.
    fn push_text(&mut self, kind: Kind, at: NodeIdx, text: &str) {
        let digest = Digest::new().part(&[kind as u8]).part(text.as_bytes()).finish();
        let says = if is_blank(text) { Says::Nothing } else { Says::Something };
        self.push(kind, at, digest, None, says);
    }

    fn mark(&mut self, holder: NodeIdx) {
        if let Some(mark) = self.reading.field(holder, "cache_control") {
            self.pieces.mark(self.reading.offset(mark), self.reading.outline.bytes(mark));
        }
    }

    /// Reads what stands before the messages and counts as prefix (sections 0a and 3).
    fn request_fields(&mut self) {
        let reading = self.reading;
        let root = reading.outline.root();
        match self.format {
            // No reasoning of this format is tied to its prefix.
            WireFormat::OpenaiChat => {}
            WireFormat::Anthropic => {
                if let Some(mark) = reading.field(root, "cache_control") {
                    let value = Digest::new().value(reading.outline.bytes(mark)).finish();
                    self.pieces.marks.push(Mark { offset: reading.offset(mark), value, piece: None });
                }
                self.tools();
                if let Some(system) = reading.field(root, "system") {
                    self.content(system, Kind::Request);
                }
            }
            WireFormat::OpenaiResponses => {
                for key in ["tools", "instructions"] {
                    if let Some(field) = reading.field(root, key) {
                        self.push_value(Kind::Request, field, None, Says::Something);
                    }
                }
                self.inner_field("text", "format");
                self.inner_field("reasoning", "effort");
            }
        }
    }

    fn tools(&mut self) {
        let reading = self.reading;
        let Some(tools) = reading.field(reading.outline.root(), "tools") else { return };
        self.push_value(Kind::Request, tools, None, Says::Something);
        let start = reading.offset(tools);
        let Ok(inner) = Outline::read_all(reading.outline.bytes(tools)) else { return };
        let inner = Reading::new(&inner);
        for tool in inner.elements(inner.outline.root()) {
            if let Some(mark) = inner.field(tool, "cache_control") {
                self.pieces.mark(start + inner.offset(mark), inner.outline.bytes(mark));
            }
        }
    }

    fn inner_field(&mut self, outer: &str, inner: &str) {
        let Some(field) = self.reading.field(self.reading.outline.root(), outer) else { return };
        let Ok(outline) = Outline::read_all(self.reading.outline.bytes(field)) else { return };
        let Some(value) = Reading::new(&outline).field(outline.root(), inner) else { return };
        let digest = Digest::new().part(inner.as_bytes()).value(outline.bytes(value)).finish();
        self.push(Kind::Request, field, digest, None, Says::Something);
    }

    /// Reads a string or a list of blocks or parts.
    fn content(&mut self, content: NodeIdx, kind: Kind) {
        if let Some(text) = self.reading.outline.string(content) {
            self.push_text(kind, content, &text);
            return;
        }
        for block in self.reading.elements(content) {
            match self.format {
                WireFormat::Anthropic => self.block(block, kind),
                WireFormat::OpenaiChat | WireFormat::OpenaiResponses => self.text_or_other(block, kind),
            }
            self.mark(block);
        }
    }

    fn text_or_other(&mut self, block: NodeIdx, kind: Kind) {
        let reading = self.reading;
        if reading.word(block, "type") != "text" {
            // Instructions stay instructions; anything else beside text ends no turn.
            let kind = if matches!(kind, Kind::Request | Kind::System) { kind } else { Kind::Other };
            self.push_value(kind, block, None, Says::Something);
            return;
        }
        let is_bare = || {
            let marks = usize::from(reading.outline.get(block, "cache_control").is_some());
            reading.outline.children(block).count() == 2 + marks
        };
        match reading.string(block, "text") {
            Some(text) if is_bare() => self.push_text(kind, block, &text),
            _ => self.push_value(kind, block, None, self.says(block)),
        }
    }

    /// Says whether a text block, or content, holds more than blank text.
    fn says(&self, at: NodeIdx) -> Says {
        let reading = self.reading;
        let is_blank_part = |part: NodeIdx| match reading.outline.string(part) {
            Some(text) => is_blank(&text),
            None => reading.string(part, "text").is_some_and(|text| is_blank(&text)),
        };
        let is_silent = match reading.kind(at) {
            NodeKind::Array => reading.elements(at).all(is_blank_part),
            _ => is_blank_part(at),
        };
        if is_silent { Says::Nothing } else { Says::Something }
    }

    fn says_field(&self, object: NodeIdx, key: &str) -> Says {
        self.reading.field(object, key).map_or(Says::Nothing, |content| self.says(content))
    }

    /// Takes a result whose text stands in field `key`, with the marks of its parts.
    fn push_result(&mut self, result: NodeIdx, key: &str, id: Option<&str>) {
        let reading = self.reading;
        let says = self.says_field(result, key);
        self.push_value(Kind::Result, result, id, says);
        let content = reading.field(result, key);
        for part in content.into_iter().flat_map(|content| reading.elements(content)) {
            self.mark(part);
        }
    }

    fn anthropic_message(&mut self, message: NodeIdx) {
        let kind = match self.reading.word(message, "role").as_ref() {
            "assistant" => Kind::Reply,
            "system" => Kind::System,
            _ => Kind::User,
        };
        if let Some(content) = self.reading.field(message, "content") {
            self.content(content, kind);
        }
    }

    fn block(&mut self, block: NodeIdx, kind: Kind) {
        let reading = self.reading;
        let id = |key| reading.string(block, key);
        match reading.word(block, "type").as_ref() {
            "thinking" => self.push_value(Kind::SignedReasoning, block, id("signature").as_deref(), Says::Something),
            "redacted_thinking" => {
                self.push_value(Kind::SignedReasoning, block, id("data").as_deref(), Says::Something)
            }
            "tool_use" => self.push_value(Kind::Call, block, id("id").as_deref(), Says::Something),
            "tool_result" => {
                self.push_result(block, "content", id("tool_use_id").as_deref());
                self.loads(block);
            }
            // "null content = no-op".
            "compaction" if reading.field(block, "content").is_some() => {
                self.push_value(Kind::Compaction, block, None, Says::Something);
            }
            other if other.ends_with("_tool_result") => {
                self.push_value(Kind::ServerResult, block, id("tool_use_id").as_deref(), Says::Something);
                self.loads(block);
            }
            "tool_addition" => {
                self.push_value(kind, block, None, Says::Something);
                self.loads(block);
            }
            _ => self.text_or_other(block, kind),
        }
    }

    /// Notes the tools that the newest piece loads.
    fn loads(&mut self, block: NodeIdx) {
        let bytes = self.reading.outline.bytes(block);
        // Most results load nothing and need no second look.
        if LOADERS.iter().all(|word| memchr::memmem::find(bytes, word.as_bytes()).is_none()) {
            return;
        }
        let Ok(inner) = Outline::read_all(bytes) else { return };
        let inner = Reading::new(&inner);
        let mut waiting = vec![inner.outline.root()];
        let mut loads = Vec::new();
        while let Some(idx) = waiting.pop() {
            if LOADERS.contains(&inner.word(idx, "type").as_ref()) {
                loads.push(Digest::new().value(inner.outline.bytes(idx)).finish());
            }
            waiting.extend(inner.outline.children(idx));
        }
        if let Some(piece) = self.pieces.list.last_mut() {
            piece.loads = loads;
        }
    }

    fn chat_message(&mut self, message: NodeIdx) {
        let reading = self.reading;
        let kind = match reading.word(message, "role").as_ref() {
            "system" | "developer" => Kind::System,
            "user" => Kind::User,
            "assistant" => Kind::Reply,
            "tool" => {
                self.push_result(message, "content", reading.string(message, "tool_call_id").as_deref());
                self.mark(message);
                return;
            }
            _ => Kind::Other,
        };
        for key in ["reasoning_content", "reasoning"] {
            let says_something = reading.string(message, key).is_some_and(|text| !text.is_empty());
            let reasoning = reading.field(message, key).filter(|_| says_something && kind == Kind::Reply);
            if let Some(reasoning) = reasoning {
                self.push_value(Kind::FreeReasoning, reasoning, None, Says::Something);
            }
        }
        if let Some(content) = reading.field(message, "content") {
            self.content(content, kind);
        }
        let calls = reading.field(message, "tool_calls");
        for call in calls.into_iter().flat_map(|calls| reading.elements(calls)) {
            self.push_value(Kind::Call, call, reading.string(call, "id").as_deref(), Says::Something);
        }
    }

    fn response_item(&mut self, item: NodeIdx) {
        let reading = self.reading;
        let id = |key| reading.string(item, key);
        match reading.word(item, "type").as_ref() {
            "" | "message" => {
                let kind = match reading.word(item, "role").as_ref() {
                    "assistant" => Kind::Reply,
                    "system" | "developer" => Kind::System,
                    _ => Kind::User,
                };
                self.push_value(kind, item, None, self.says_field(item, "content"));
            }
            "reasoning" => {
                let id = id("encrypted_content").filter(|data| !data.is_empty()).or_else(|| id("id"));
                self.push_value(Kind::SignedReasoning, item, id.as_deref(), Says::Something);
            }
            "compaction" => self.push_value(Kind::Compaction, item, None, Says::Something),
            output if output.ends_with("_output") => self.push_result(item, "output", id("call_id").as_deref()),
            call if call.ends_with("_call") => {
                self.push_value(Kind::Call, item, id("call_id").as_deref(), Says::Something);
            }
            _ => self.push_value(Kind::Other, item, None, Says::Something),
        }
    }
}
