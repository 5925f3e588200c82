//! Would Anthropic Messages take this body? `wire-formats.md`, section 1.
//!
//! Same-role neighbours are one message ("officially merged"). Whether a model takes a reply to go on with (prefill)
//! depends on the model and is not checked; nor are `fallback` and `mcp_tool_listing`, whose borders a body does not show.

use super::code::Code;
use super::declared::Declared;
use super::defect::Findings;
use super::marks::Marks;
use super::pairs::{Need, Pairs};
use super::reading::{Reading, is_blank};
use super::sources::Sources;
use crate::json::{NodeIdx, NodeKind};
use crate::transcript::WireFormat;

/// "≤100 000 messages".
const MAX_MESSAGES: usize = 100_000;

/// "request size limit 32 MB", read as the larger of the two units.
const MAX_REQUEST_BYTES: usize = 32 * 1024 * 1024;

/// Parts that results may hold (unproven).
const RESULT_PARTS: [&str; 6] = ["text", "image", "document", "search_result", "tool_reference", "browser_state"];

pub(super) fn check(reading: Reading<'_, '_>, found: &mut Findings) {
    let root = reading.outline.root();
    let messages = reading.list("messages").filter(|&list| reading.elements(list).next().is_some());
    let Some(messages) = messages else {
        reading.report(found, Code::WrongShape, root, "there is no list of messages, or it is empty");
        return;
    };
    if reading.outline.body().len() > MAX_REQUEST_BYTES {
        reading.report(found, Code::TooLarge, root, "the request is over 32 MB");
    }
    let mut checker = Checker::new(reading, found);
    checker.before_messages();
    let count = reading.elements(messages).count();
    for (place, message) in reading.elements(messages).enumerate() {
        if place == MAX_MESSAGES {
            checker.report(Code::TooLarge, message, "a message past the first 100,000");
        }
        let standing = if place + 1 == count { Standing::Last } else { Standing::Within };
        checker.message(message, standing);
    }
    checker.marks.request(reading, checker.found);
    checker.pairs.finish(checker.found);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    System,
}

/// Whether a message is the newest: that one may be a reply to go on with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Within,
    Last,
}

/// What stands in the user message at hand so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UserPart {
    ResultsOnly,
    Other,
    Reported,
}

struct Checker<'c, 'o, 'a> {
    reading: Reading<'o, 'a>,
    found: &'c mut Findings,
    pairs: Pairs<'a>,
    declared: Declared<'a>,
    marks: Marks,
    sources: Sources<'a>,
    /// Role of the message at hand; `None` before the first.
    role: Option<Role>,
    user_part: UserPart,
}

impl<'c, 'o, 'a> Checker<'c, 'o, 'a> {
    fn new(reading: Reading<'o, 'a>, found: &'c mut Findings) -> Self {
        Self {
            reading,
            found,
            pairs: Pairs::new(),
            declared: Declared::of(reading, WireFormat::Anthropic),
            marks: Marks::default(),
            sources: Sources::default(),
            role: None,
            user_part: UserPart::ResultsOnly,
        }
    }

    fn report(&mut self, code: Code, idx: NodeIdx, message: &'static str) {
        self.reading.report(self.found, code, idx, message);
    }

    /// Marks count in render order: tools, system, messages.
    fn before_messages(&mut self) {
        if !self.reading.is_request() {
            return;
        }
        self.marks.tools(self.reading, self.found);
        let Some(system) = self.reading.field(self.reading.outline.root(), "system") else { return };
        for block in self.reading.elements(system) {
            self.marks.block(self.reading, block, self.found);
            self.text_is_there(block);
        }
    }

    fn message(&mut self, message: NodeIdx, standing: Standing) {
        let role = match self.reading.string(message, "role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some(_) => {
                self.report(Code::RoleOrder, message, "a role that this format does not have");
                return;
            }
            None => {
                self.report(Code::WrongShape, message, "a message without a role");
                return;
            }
        };
        let content = self.reading.field(message, "content");
        if self.role != Some(role) {
            self.begin(role, message, content);
        }
        match content.map(|content| (content, self.reading.kind(content))) {
            Some((content, NodeKind::String)) => self.plain(content, role, standing),
            Some((content, NodeKind::Array)) => self.blocks(content, role, standing),
            _ => self.report(Code::WrongShape, message, "a message without a string or list as content"),
        }
    }

    /// "user/assistant (+ mid-conversation `system`, never first, after a user turn, followed by assistant or last)".
    fn begin(&mut self, role: Role, message: NodeIdx, content: Option<NodeIdx>) {
        let opens_compacted = || {
            let first = content.and_then(|content| self.reading.elements(content).next());
            first.is_some_and(|block| self.reading.word(block, "type") == "compaction")
        };
        match (self.role, role) {
            (None, Role::Assistant) if opens_compacted() => {}
            (None, Role::Assistant | Role::System) => {
                self.report(Code::FirstRole, message, "the first message is no user message");
            }
            (Some(Role::Assistant), Role::System) => {
                self.report(Code::RoleOrder, message, "a system message after a reply");
            }
            (Some(Role::System), Role::User) => {
                self.report(Code::RoleOrder, message, "a user message after a system message");
            }
            (_, Role::User | Role::Assistant | Role::System) => {}
        }
        match (self.role, role) {
            (_, Role::Assistant) => {
                self.pairs.begin_batch();
                self.sources.begin_message();
            }
            // "answered in the very next user message".
            (Some(Role::Assistant), Role::User) => self.pairs.open_window(),
            (_, Role::User | Role::System) => self.pairs.close_window(),
        }
        self.role = Some(role);
        self.user_part = UserPart::ResultsOnly;
    }

    fn plain(&mut self, content: NodeIdx, role: Role, standing: Standing) {
        let text = self.reading.outline.string(content).unwrap_or_default();
        // "message content non-empty except a final assistant turn".
        let is_exempt = role == Role::Assistant && standing == Standing::Last;
        if is_blank(&text) && !is_exempt {
            self.report(Code::EmptyText, content, "a message of blank text");
        }
        if is_exempt {
            self.reply_end(content);
        }
        if role == Role::User {
            self.other_than_result();
        }
    }

    fn blocks(&mut self, content: NodeIdx, role: Role, standing: Standing) {
        let mut last = None;
        for (place, block) in self.reading.elements(content).enumerate() {
            self.block(block, role, place);
            last = Some(block);
        }
        match (last, role, standing) {
            (None, Role::Assistant, Standing::Last) => {}
            (None, _, _) => self.report(Code::EmptyText, content, "a message without content"),
            (Some(block), Role::Assistant, Standing::Last) => {
                if let Some(text) = self.reading.field(block, "text") {
                    self.reply_end(text);
                }
            }
            (Some(_), _, _) => {}
        }
    }

    /// "last assistant text has no trailing whitespace".
    fn reply_end(&mut self, text: NodeIdx) {
        let said = self.reading.outline.string(text).unwrap_or_default();
        if !is_blank(&said) && said.trim_end().len() < said.len() {
            self.report(Code::TrailingWhitespace, text, "the reply to go on with ends in white space");
        }
    }

    fn other_than_result(&mut self) {
        if self.user_part == UserPart::ResultsOnly {
            self.user_part = UserPart::Other;
        }
    }

    fn block(&mut self, block: NodeIdx, role: Role, place: usize) {
        let reading = self.reading;
        let Some(kind) = reading.string(block, "type") else {
            self.report(Code::WrongShape, block, "a block without a type");
            return;
        };
        self.marks.block(reading, block, self.found);
        if role == Role::User && kind != "tool_result" {
            self.other_than_result();
        }
        match (kind.as_ref(), role) {
            ("text", _) => {
                self.text_is_there(block);
                self.sources.citations(reading, block, self.found);
            }
            ("thinking" | "redacted_thinking" | "tool_use" | "server_tool_use", Role::User | Role::System) => {
                self.report(Code::RoleOrder, block, "a block of the model in a message of another role");
            }
            ("tool_result", Role::Assistant | Role::System) => {
                self.report(Code::RoleOrder, block, "a result in a message of another role");
            }
            ("thinking", Role::Assistant) if reading.string(block, "signature").is_none() => {
                self.report(Code::WrongShape, block, "thinking without a signature");
            }
            ("tool_use", Role::Assistant) => self.call(block),
            ("tool_result", Role::User) => self.result(block),
            ("server_tool_use" | "mcp_tool_use", _) => self.sources.server_call(reading, block),
            ("compaction", _) => {
                if place > 0 {
                    self.report(Code::CompactionBlockNotFirst, block, "a block stands before it in its message");
                }
                self.sources.compacted();
            }
            // "`tool_addition`/`tool_removal` in system messages likewise": tools may then come from elsewhere.
            ("tool_addition", _) => self.declared.take_all(),
            (kind, _) if kind.ends_with("_tool_result") => self.sources.server_result(reading, block, self.found),
            _ => self.sources.block(reading, block),
        }
    }

    /// "text blocks non-empty and not only whitespace".
    fn text_is_there(&mut self, block: NodeIdx) {
        if self.reading.word(block, "type") != "text" {
            return;
        }
        match self.reading.string(block, "text") {
            None => self.report(Code::WrongShape, block, "a text block without text"),
            Some(text) if is_blank(&text) => self.report(Code::EmptyText, block, "a block of blank text"),
            Some(_) => {}
        }
    }

    fn call(&mut self, block: NodeIdx) {
        let reading = self.reading;
        let (Some(id), Some(name)) = (reading.string(block, "id"), reading.string(block, "name")) else {
            self.report(Code::WrongShape, block, "a call without id or name");
            return;
        };
        match reading.outline.get(block, "input") {
            None => self.report(Code::WrongShape, block, "a call without input"),
            Some(input) if reading.kind(input) != NodeKind::Object => {
                self.report(Code::ArgumentsNotAnObject, input, "the input is no object");
            }
            Some(_) => {}
        }
        // "tool ids unique in the request, simple charset".
        if self.pairs.knows(&id) {
            self.report(Code::DuplicateCallId, block, "an earlier call has the same id");
        }
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            self.report(Code::BadId, block, "an id of other characters than letters, digits, `_` and `-`");
        }
        let offset = reading.offset(block);
        // "Toolset members carry `toolset_name`": their names come from elsewhere.
        if reading.field(block, "toolset_name").is_none() {
            self.declared.check(name, offset, self.found);
        }
        self.sources.client_call(reading, block);
        self.pairs.call(id, offset, Need::Answer);
    }

    fn result(&mut self, block: NodeIdx) {
        let reading = self.reading;
        if self.user_part == UserPart::Other {
            self.user_part = UserPart::Reported;
            self.report(Code::ResultsNotFirst, block, "something stands before it in its message");
        }
        match reading.string(block, "tool_use_id") {
            Some(id) => self.pairs.result(&id, reading.offset(block), self.found),
            None => self.report(Code::WrongShape, block, "a result without `tool_use_id`"),
        }
        let Some(content) = reading.field(block, "content") else { return };
        match reading.kind(content) {
            NodeKind::String => {}
            NodeKind::Array => {
                for part in reading.elements(content) {
                    self.result_part(block, part);
                }
            }
            NodeKind::Object | NodeKind::Number | NodeKind::True | NodeKind::False | NodeKind::Null => {
                self.report(Code::WrongShape, content, "a result's content is neither a string nor a list");
            }
        }
    }

    fn result_part(&mut self, result: NodeIdx, part: NodeIdx) {
        let reading = self.reading;
        let kind = reading.word(part, "type");
        self.marks.block(reading, part, self.found);
        self.sources.block(reading, part);
        self.text_is_there(part);
        if !RESULT_PARTS.contains(&kind.as_ref()) {
            self.report(Code::ResultPartNotAllowed, part, "a result may not hold a part of this type");
        } else if kind != "text" && reading.is_true(result, "is_error") {
            self.report(Code::MediaInsideIsError, part, "an error result holds text alone");
        }
    }
}
