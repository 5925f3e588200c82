//! Which dialect is a message written in, and who speaks? Told by its keys and types, never by its text.

use crate::history::Side;
use crate::json::{self, Object};
use crate::sample::Fit;
use crate::wire::Wire;

/// Most messages looked at in one list; what marks a dialect shows early.
const SAMPLE_MESSAGES: usize = 200;

/// Block types that only Anthropic has.
const ANTHROPIC_BLOCKS: [&str; 7] =
    ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use"];

/// Part types that only Chat has.
const CHAT_PARTS: [&str; 4] = ["image_url", "input_audio", "refusal", "file"];

/// Part types that only Responses has.
const RESPONSES_PARTS: [&str; 5] = ["input_text", "output_text", "input_image", "input_file", "summary_text"];

/// Roles that only Chat lists have (Responses items may have them, but then with parts of their own).
const CHAT_ROLES: [&str; 4] = ["tool", "function", "system", "developer"];

/// What was seen of each dialect.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    anthropic: Option<&'static str>,
    chat: Option<&'static str>,
    responses: Option<&'static str>,
    plain: bool,
}

/// Says whether an object is a message or an item of some dialect.
pub(crate) fn is_message(object: &Object<'_>) -> bool {
    let has_item_type = object.text("type").is_some_and(|kind| item_side(kind).is_some());
    object.text("role").is_some() && LOGGED.iter().all(|key| object.get(key).is_none()) || has_item_type
}

/// Keys of an object that holds messages and so is none.
const LOGGED: [&str; 2] = ["messages", "traj"];

impl Evidence {
    /// Looks at the messages of one list.
    pub(crate) fn add(&mut self, messages: &[&str]) {
        for raw in messages.iter().take(SAMPLE_MESSAGES) {
            let Some(object) = Object::read(raw) else { continue };
            if !is_message(&object) {
                continue;
            }
            self.plain = true;
            if object.text("type").is_some_and(|kind| kind != "message" && item_side(kind).is_some()) {
                self.responses.get_or_insert("items with a `type`");
            }
            if object.get("tool_calls").is_some() {
                self.chat.get_or_insert("`tool_calls`");
            }
            if object.text("role").is_some_and(|role| CHAT_ROLES.contains(&role)) && object.get("type").is_none() {
                self.chat.get_or_insert("role `tool` or `system`");
            }
            for part in object.get("content").and_then(json::list).unwrap_or_default() {
                let Some(part) = Object::read(part) else { continue };
                let kind = part.text("type").unwrap_or("");
                if RESPONSES_PARTS.contains(&kind) {
                    self.responses.get_or_insert("`input_text` or `output_text` parts");
                } else if CHAT_PARTS.contains(&kind) && part.get(kind).is_some() {
                    self.chat.get_or_insert("`image_url` or like parts");
                } else if ANTHROPIC_BLOCKS.contains(&kind) {
                    self.anthropic.get_or_insert("`tool_use` or like blocks");
                }
            }
        }
    }

    /// Weighs what was seen for one dialect. Messages of nothing but text fit Anthropic and Chat alike.
    pub(crate) fn fit(self, wire: Wire) -> Fit {
        let (own, text_only) = match wire {
            Wire::Anthropic => (self.anthropic, self.plain),
            Wire::OpenaiChat => (self.chat, self.plain),
            Wire::OpenaiResponses => (self.responses, false),
        };
        match own {
            Some(seen) => Fit::Strong(seen),
            None if text_only => Fit::Weak("messages of plain text"),
            None => Fit::No,
        }
    }
}

/// Says who speaks in a message or item.
pub(crate) fn side_of(object: &Object<'_>, wire: Wire) -> Side {
    let by_role = match object.text("role") {
        Some("assistant") => Some(Side::Assistant),
        Some("system" | "developer") => Some(Side::System),
        Some(_) => Some(Side::Other),
        None => None,
    };
    let by_type = || object.text("type").filter(|_| wire == Wire::OpenaiResponses).and_then(item_side);
    by_role.or_else(by_type).unwrap_or(Side::Other)
}

/// Says who speaks in a Responses item of this type; `None` for a type that is not known to be one.
fn item_side(kind: &str) -> Option<Side> {
    match kind {
        "reasoning" | "compaction" | "program" => Some(Side::Assistant),
        "message" | "mcp_approval_response" | "item_reference" => Some(Side::Other),
        "mcp_approval_request" | "mcp_list_tools" => Some(Side::Assistant),
        _ if kind.ends_with("_call") => Some(Side::Assistant),
        _ if kind.ends_with("_call_output") || kind == "program_output" => Some(Side::Other),
        _ => None,
    }
}
