//! What is one Responses item of a rollout? Who speaks, what it calls, what it answers.

use crate::history::Side;
use crate::json::{self, Object};

/// What an item is, as far as bodies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message(Side),
    /// What the model made beside its text and calls.
    Reply,
    Call,
    Answer,
    /// Something that is put in front of the model by others.
    Given,
    /// Kept in the file only.
    NeverSent,
    Unknown,
}

/// Texts by which Codex opens user messages that no person wrote.
const CONTEXT_OPENINGS: [&str; 7] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
];

impl Kind {
    pub(super) fn of(object: &Object<'_>) -> Self {
        match object.text("type") {
            Some("message") => match object.text("role") {
                Some("assistant") => Self::Message(Side::Assistant),
                Some("system" | "developer") => Self::Message(Side::System),
                Some(_) => Self::Message(Side::Other),
                None => Self::Unknown,
            },
            Some("reasoning" | "compaction" | "compaction_summary" | "context_compaction") => Self::Reply,
            Some("web_search_call" | "image_generation_call") => Self::Reply,
            Some("function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call") => Self::Call,
            Some("function_call_output" | "custom_tool_call_output" | "tool_search_output") => Self::Answer,
            Some("agent_message") => Self::Given,
            Some("ghost_snapshot" | "other") => Self::NeverSent,
            _ => Self::Unknown,
        }
    }

    pub(super) fn side(self) -> Side {
        match self {
            Self::Message(side) => side,
            Self::Reply | Self::Call => Side::Assistant,
            Self::Answer | Self::Given | Self::NeverSent | Self::Unknown => Side::Other,
        }
    }
}

/// Says whether an item is a message that a person wrote: a rollback counts those.
pub(super) fn is_from_a_person(object: &Object<'_>) -> bool {
    if Kind::of(object) != Kind::Message(Side::Other) {
        return false;
    }
    let parts = object.list("content").unwrap_or_default();
    let first = parts.first().and_then(|part| Object::read(part)).and_then(|part| part.get("text"));
    let opening = first.and_then(json::inside).unwrap_or("");
    !CONTEXT_OPENINGS.iter().any(|known| opening.starts_with(known))
}
