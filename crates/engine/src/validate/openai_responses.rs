//! Would OpenAI Responses take this body? `wire-formats.md`, section 3.
//!
//! Pairs by `call_id` wherever the two stand, since no line asks for more. Where the history lives on the server
//! (`previous_response_id`, `conversation`, `item_reference`) a result's call may be there, so that no result is an orphan.

use super::code::Code;
use super::declared::Declared;
use super::defect::Findings;
use super::pairs::{Need, Pairs};
use super::reading::{Reading, is_blank};
use crate::json::{NodeIdx, NodeKind};
use crate::transcript::WireFormat;

/// "call_id limit 64 characters" (unproven).
const MAX_ID_CHARS: usize = 64;

/// Calls that the client answers under their `call_id`.
const CALLS: [&str; 7] = [
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "program",
];

/// "Outputs may be a string or a list of text/image/file parts."
const OUTPUT_PARTS: [&str; 6] = ["input_text", "output_text", "text", "input_image", "input_file", "input_audio"];

/// Fields that may stand for input: a prompt or a conversation that the server holds.
const FOR_INPUT: [&str; 3] = ["prompt", "previous_response_id", "conversation"];

pub(super) fn check(reading: Reading<'_, '_>, found: &mut Findings) {
    let root = reading.outline.root();
    let Some(items) = reading.list("input") else {
        let is_prompt = reading.is_request() && reading.string(root, "input").is_some();
        let is_stored = reading.is_request() && FOR_INPUT.iter().any(|key| reading.field(root, key).is_some());
        if !is_prompt && !is_stored {
            reading.report(found, Code::WrongShape, root, "there is no list of items");
        }
        return;
    };
    let mut checker = Checker::new(reading, found, items);
    for item in reading.elements(items) {
        checker.item(item);
    }
    checker.finish();
}

/// Where calls may stand that a result of this body answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Body,
    Server,
}

/// What the server keeps of earlier replies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Kept,
    Nothing,
}

/// Whose an item is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Model,
    Client,
}

struct Checker<'c, 'o, 'a> {
    reading: Reading<'o, 'a>,
    found: &'c mut Findings,
    pairs: Pairs<'a>,
    approvals: Pairs<'a>,
    declared: Declared<'a>,
    home: Home,
    store: Store,
    /// A reasoning item with an id, right before the item at hand.
    reasoning: Option<NodeIdx>,
    trigger: Option<NodeIdx>,
}

impl<'c, 'o, 'a> Checker<'c, 'o, 'a> {
    fn new(reading: Reading<'o, 'a>, found: &'c mut Findings, items: NodeIdx) -> Self {
        let root = reading.outline.root();
        let in_request = |key| reading.field(root, key).filter(|_| reading.is_request());
        let has_references = || reading.elements(items).any(|item| reading.word(item, "type") == "item_reference");
        let is_served = ["previous_response_id", "conversation"].iter().any(|key| in_request(key).is_some());
        // "`store` defaults true".
        let is_stateless = in_request("store").is_some_and(|store| reading.kind(store) == NodeKind::False);
        let (mut pairs, mut approvals) = (Pairs::new(), Pairs::new());
        // One window over all items: order and ids alone count.
        pairs.open_window();
        approvals.open_window();
        Self {
            reading,
            found,
            pairs,
            approvals,
            declared: Declared::of(reading, WireFormat::OpenaiResponses),
            home: if is_served || has_references() { Home::Server } else { Home::Body },
            store: if is_stateless { Store::Nothing } else { Store::Kept },
            reasoning: None,
            trigger: None,
        }
    }

    fn report(&mut self, code: Code, idx: NodeIdx, message: &'static str) {
        self.reading.report(self.found, code, idx, message);
    }

    fn item(&mut self, item: NodeIdx) {
        let reading = self.reading;
        if reading.kind(item) != NodeKind::Object {
            self.report(Code::WrongShape, item, "an item that is no object");
            return;
        }
        // "`compaction_trigger` must be last".
        if let Some(trigger) = self.trigger.take() {
            self.report(Code::TriggerNotLast, trigger, "an item follows it");
        }
        let kind = reading.word(item, "type");
        if kind == "reasoning" {
            self.reasoning = reading.field(item, "id").map(|_| item);
            return;
        }
        let origin = self.known_item(item, kind.as_ref());
        if let Some(reasoning) = self.reasoning.take().filter(|_| origin == Origin::Client) {
            self.report(Code::ReasoningWithoutFollower, reasoning, "no item of the model follows it");
        }
    }

    /// Checks an item and says whose it is.
    fn known_item(&mut self, item: NodeIdx, kind: &str) -> Origin {
        let reading = self.reading;
        match kind {
            "" | "message" => return self.message(item),
            "mcp_approval_request" => {
                if let Some(id) = reading.string(item, "id") {
                    self.approvals.call(id, reading.offset(item), Need::Answer);
                }
            }
            "mcp_approval_response" => {
                self.approval(item);
                return Origin::Client;
            }
            // "`item_reference` only resolves stored items".
            "item_reference" if self.store == Store::Nothing => {
                self.report(Code::ItemReferenceWhileStateless, item, "nothing is stored that it could name");
            }
            "compaction_trigger" => {
                self.trigger = Some(item);
                return Origin::Client;
            }
            "tool_search_call" if reading.word(item, "execution") == "client" => self.call(item, Need::Answer),
            output if output.ends_with("_output") => {
                self.result(item, output);
                return Origin::Client;
            }
            call if CALLS.contains(&call) => self.call(item, Need::Answer),
            call if call.ends_with("_call") => self.call(item, Need::Nothing),
            _ => {}
        }
        Origin::Model
    }

    fn message(&mut self, item: NodeIdx) -> Origin {
        let reading = self.reading;
        let origin = match reading.string(item, "role").as_deref() {
            Some("assistant") => Origin::Model,
            Some("user" | "system" | "developer") => Origin::Client,
            Some(_) => {
                self.report(Code::RoleOrder, item, "a role that this format does not have");
                return Origin::Client;
            }
            None => {
                self.report(Code::WrongShape, item, "an item with neither a type nor a role");
                return Origin::Client;
            }
        };
        let is_text = |content| matches!(reading.kind(content), NodeKind::String | NodeKind::Array);
        let Some(content) = reading.field(item, "content").filter(|&content| is_text(content)) else {
            self.report(Code::WrongShape, item, "a message without a string or list as content");
            return origin;
        };
        for part in reading.elements(content) {
            let is_output = matches!(reading.word(part, "type").as_ref(), "output_text" | "refusal");
            // Breakpoints stand "on text/image/file input blocks (not on assistant output)".
            if let Some(mark) = reading.field(part, "prompt_cache_breakpoint").filter(|_| is_output) {
                self.report(Code::MarkOnBadBlock, mark, "the model's own output carries no breakpoint");
            }
        }
        // "never insert an empty message between".
        if origin == Origin::Model && self.reasoning.is_some() && says_nothing(reading, content) {
            self.report(Code::EmptyText, item, "an empty message between reasoning and what it led to");
        }
        origin
    }

    fn call(&mut self, item: NodeIdx, need: Need) {
        let reading = self.reading;
        let Some(id) = reading.string(item, "call_id") else {
            if need == Need::Answer {
                self.report(Code::WrongShape, item, "a call without `call_id`");
            }
            return;
        };
        if id.chars().count() > MAX_ID_CHARS {
            self.report(Code::IdTooLong, item, "a call id over 64 characters");
        }
        let offset = reading.offset(item);
        self.pairs.call(id, offset, need);
        let kind = reading.word(item, "type");
        let arguments = match kind.as_ref() {
            "function_call" => "arguments",
            "custom_tool_call" => "input",
            _ => return,
        };
        match reading.string(item, "name") {
            None => self.report(Code::WrongShape, item, "a call without a name"),
            // Members of a namespace are declared inside it.
            Some(name) if reading.field(item, "namespace").is_none() => self.declared.check(name, offset, self.found),
            Some(_) => {}
        }
        match reading.outline.get(item, arguments) {
            None => self.report(Code::WrongShape, item, "a call without arguments"),
            Some(arguments) if kind == "function_call" => reading.arguments(self.found, arguments),
            Some(_) => {}
        }
    }

    fn result(&mut self, item: NodeIdx, kind: &str) {
        let reading = self.reading;
        let is_plain = matches!(kind, "function_call_output" | "custom_tool_call_output");
        match reading.string(item, "call_id") {
            Some(id) if self.home == Home::Body || self.pairs.knows(&id) => {
                self.pairs.result(&id, reading.offset(item), self.found);
            }
            Some(_) => {}
            None if is_plain => self.report(Code::WrongShape, item, "a result without `call_id`"),
            // Hosted tools bring their outputs without one.
            None => {}
        }
        if !is_plain {
            return;
        }
        match reading.field(item, "output").map(|output| (output, reading.kind(output))) {
            Some((_, NodeKind::String)) => {}
            Some((output, NodeKind::Array)) => {
                for part in reading.elements(output) {
                    if !OUTPUT_PARTS.contains(&reading.word(part, "type").as_ref()) {
                        self.report(Code::ResultPartNotAllowed, part, "a result may not hold a part of this type");
                    }
                }
            }
            _ => self.report(Code::WrongShape, item, "a result without a string or list as output"),
        }
    }

    /// "mcp approval pairs".
    fn approval(&mut self, item: NodeIdx) {
        let Some(id) = self.reading.string(item, "approval_request_id") else { return };
        if self.home == Home::Body || self.approvals.knows(&id) {
            self.approvals.result(&id, self.reading.offset(item), self.found);
        }
    }

    fn finish(mut self) {
        if let Some(reasoning) = self.reasoning {
            self.report(Code::ReasoningWithoutFollower, reasoning, "nothing follows it");
        }
        self.pairs.finish(self.found);
        self.approvals.finish(self.found);
    }
}

fn says_nothing(reading: Reading<'_, '_>, content: NodeIdx) -> bool {
    match reading.outline.string(content) {
        Some(text) => is_blank(&text),
        None => reading.elements(content).all(|part| {
            let text = reading.string(part, "text");
            text.is_some_and(|text| is_blank(&text))
        }),
    }
}
