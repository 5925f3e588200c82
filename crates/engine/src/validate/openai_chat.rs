//! Would OpenAI Chat Completions take this body? `wire-formats.md`, section 2.
//!
//! Checks what OpenAI enforces; dialects of other vendors (`reasoning_content`, nine-character ids, the place of the
//! system message, which is only "usually first") belong to a profile per upstream and are not checked.

use super::code::Code;
use super::declared::Declared;
use super::defect::Findings;
use super::pairs::{Need, Pairs};
use super::reading::Reading;
use crate::json::{NodeIdx, NodeKind};
use crate::transcript::WireFormat;

/// "call id length limit 40 characters" (unproven).
const MAX_ID_CHARS: usize = 40;

/// Fields that may stand for content; `function_call` is the older form of a call.
const FOR_CONTENT: [&str; 3] = ["refusal", "audio", "function_call"];

pub(super) fn check(reading: Reading<'_, '_>, found: &mut Findings) {
    let messages = reading.list("messages").filter(|&list| reading.elements(list).next().is_some());
    let Some(messages) = messages else {
        let root = reading.outline.root();
        reading.report(found, Code::WrongShape, root, "there is no list of messages, or it is empty");
        return;
    };
    let declared = Declared::of(reading, WireFormat::OpenaiChat);
    let mut checker = Checker { reading, found, pairs: Pairs::new(), declared };
    for message in reading.elements(messages) {
        checker.message(message);
    }
    checker.pairs.finish(checker.found);
}

struct Checker<'c, 'o, 'a> {
    reading: Reading<'o, 'a>,
    found: &'c mut Findings,
    pairs: Pairs<'a>,
    declared: Declared<'a>,
}

impl Checker<'_, '_, '_> {
    fn report(&mut self, code: Code, idx: NodeIdx, message: &'static str) {
        self.reading.report(self.found, code, idx, message);
    }

    fn message(&mut self, message: NodeIdx) {
        let Some(role) = self.reading.string(message, "role") else {
            self.report(Code::WrongShape, message, "a message without a role");
            return;
        };
        if role == "tool" {
            self.result(message);
            return;
        }
        // "followed at once by one `tool` message per id, before any other role".
        self.pairs.close_window();
        self.name(message, is_name_of_participant);
        match role.as_ref() {
            "system" | "developer" | "user" => {
                if self.reading.field(message, "content").is_none() {
                    self.report(Code::WrongShape, message, "a message without content");
                }
            }
            "assistant" => self.assistant(message),
            // Results before there were tools; nothing pairs them.
            "function" => {}
            _ => self.report(Code::RoleOrder, message, "a role that this format does not have"),
        }
    }

    /// "`name` charset limits" (unproven).
    fn name(&mut self, object: NodeIdx, is_good: impl Fn(char) -> bool) {
        let Some(name) = self.reading.field(object, "name") else { return };
        let text = self.reading.outline.string(name).unwrap_or_default();
        if text.is_empty() || !text.chars().all(is_good) {
            self.report(Code::BadName, name, "a name with characters that are refused");
        }
    }

    fn assistant(&mut self, message: NodeIdx) {
        let reading = self.reading;
        let calls = reading.field(message, "tool_calls");
        match calls {
            Some(calls) => self.calls(calls),
            // "content may be null only with tool calls/refusal/audio".
            None if !has_content(reading, message) => {
                self.report(Code::EmptyText, message, "a reply without content or calls");
            }
            None => {}
        }
    }

    fn calls(&mut self, calls: NodeIdx) {
        self.pairs.begin_batch();
        self.pairs.open_window();
        let mut count = 0;
        for call in self.reading.elements(calls) {
            count += 1;
            self.call(call);
        }
        if self.reading.kind(calls) != NodeKind::Array {
            self.report(Code::WrongShape, calls, "`tool_calls` is no list");
        } else if count == 0 {
            // "`tool_calls` not an empty array".
            self.report(Code::EmptyToolCalls, calls, "a list of calls without calls");
        }
    }

    fn call(&mut self, call: NodeIdx) {
        let reading = self.reading;
        let Some(id) = reading.string(call, "id") else {
            self.report(Code::WrongShape, call, "a call without an id");
            return;
        };
        if id.chars().count() > MAX_ID_CHARS {
            self.report(Code::IdTooLong, call, "a call id over 40 characters");
        }
        let offset = reading.offset(call);
        self.pairs.call(id, offset, Need::Answer);
        let function = reading.field(call, "function");
        let Some(inner) = function.or_else(|| reading.field(call, "custom")) else {
            self.report(Code::WrongShape, call, "a call of neither a function nor a custom tool");
            return;
        };
        match reading.string(inner, "name") {
            Some(name) => self.declared.check(name, offset, self.found),
            None => self.report(Code::WrongShape, call, "a call without a name"),
        }
        self.name(inner, is_name_of_tool);
        let arguments = if function.is_some() { "arguments" } else { "input" };
        match reading.outline.get(inner, arguments) {
            None => self.report(Code::WrongShape, call, "a call without arguments"),
            Some(arguments) if function.is_some() => reading.arguments(self.found, arguments),
            Some(_) => {}
        }
    }

    fn result(&mut self, message: NodeIdx) {
        let reading = self.reading;
        match reading.string(message, "tool_call_id") {
            Some(id) => self.pairs.result(&id, reading.offset(message), self.found),
            None => self.report(Code::WrongShape, message, "a result without `tool_call_id`"),
        }
        // "tool content: string or text parts; no images".
        match reading.field(message, "content").map(|content| (content, reading.kind(content))) {
            Some((_, NodeKind::String)) => {}
            Some((content, NodeKind::Array)) => {
                for part in reading.elements(content) {
                    if reading.word(part, "type") != "text" {
                        self.report(Code::ResultPartNotAllowed, part, "a result holds text alone");
                    }
                }
            }
            _ => self.report(Code::WrongShape, message, "a result without a string or list as content"),
        }
    }
}

/// Says whether a reply without calls holds anything; a blank text is enough.
fn has_content(reading: Reading<'_, '_>, message: NodeIdx) -> bool {
    let content = reading.field(message, "content");
    let is_empty_list =
        |content| reading.kind(content) == NodeKind::Array && reading.elements(content).next().is_none();
    content.is_some_and(|content| !is_empty_list(content))
        || FOR_CONTENT.iter().any(|key| reading.field(message, key).is_some())
}

fn is_name_of_participant(char: char) -> bool {
    !char.is_whitespace() && !matches!(char, '<' | '|' | '\\' | '/' | '>')
}

fn is_name_of_tool(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}
