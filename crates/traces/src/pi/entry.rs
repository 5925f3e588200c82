//! What does one line of a pi session say? Its place in the tree and its message, as slices of the file.

use crate::json::Object;
use crate::kinds::Unknown;
use crate::records::Record;

/// One line.
pub(super) struct Entry<'a> {
    /// Line number from 1.
    pub(super) line: usize,
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    /// JSON literal of the model that is asked from here on.
    pub(super) model: Option<&'a str>,
    pub(super) kind: Kind<'a>,
}

/// What a line is, as far as bodies go.
pub(super) enum Kind<'a> {
    Message(Message<'a>),
    /// A text that pi wraps: literal of the summary of a branch that was left.
    BranchSummary(&'a str),
    /// The client compacted here. The literal of its summary, and what it kept.
    Compaction {
        summary: Option<&'a str>,
        first_kept: FirstKept<'a>,
    },
    /// The head, or a choice of model.
    Settings {
        provider: Option<&'a str>,
    },
    Other,
}

/// A message that may reach the model.
pub(super) struct Message<'a> {
    pub(super) role: Role,
    /// The API that a reply came over.
    pub(super) api: Option<&'a str>,
    pub(super) object: Object<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// A reply that broke off or failed: kept in the file, never sent back.
    FailedAssistant,
    ToolResult,
    /// A command that the person ran.
    Bash,
}

/// Where the messages begin that a compaction kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstKept<'a> {
    Nowhere,
    Id(&'a str),
    /// Place among all lines of the file, counted from 0 (the oldest files).
    Line(usize),
}

/// Lines that never reach the model.
const NEVER_SENT: [&str; 4] = ["thinking_level_change", "custom", "label", "session_info"];

impl<'a> Entry<'a> {
    pub(super) fn of(record: &Record<'a>, unknown: &mut Unknown) -> Self {
        let object = &record.object;
        let kind = kind_of(object, unknown);
        let model = match &kind {
            Kind::Message(message) => message.object.literal("model").filter(|_| message.api.is_some()),
            Kind::Settings { .. } => object.literal("modelId"),
            Kind::BranchSummary(_) | Kind::Compaction { .. } | Kind::Other => None,
        };
        // The head stands outside the tree.
        let id = object.text("id").filter(|_| object.text("type") != Some("session"));
        Self { line: record.line, id, parent: object.text("parentId"), model, kind }
    }

    /// Says whether it holds something that was sent or received.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::Message(_) | Kind::BranchSummary(_))
    }
}

fn kind_of<'a>(object: &Object<'a>, unknown: &mut Unknown) -> Kind<'a> {
    match object.text("type") {
        Some("message") => match object.object("message") {
            Some(message) => message_of(message, unknown),
            None => {
                unknown.note(Some("message"), object.mark());
                Kind::Other
            }
        },
        // The line itself has the content.
        Some("custom_message") => match custom(object) {
            Some(message) => Kind::Message(message),
            None => Kind::Other,
        },
        Some("branch_summary") => object.literal("summary").map_or(Kind::Other, Kind::BranchSummary),
        Some("compaction") => Kind::Compaction { summary: object.literal("summary"), first_kept: first_kept(object) },
        Some("session" | "model_change") => Kind::Settings { provider: object.text("provider") },
        Some(kind) if NEVER_SENT.contains(&kind) => Kind::Other,
        other => {
            unknown.note(other, object.mark());
            Kind::Other
        }
    }
}

fn custom<'a>(object: &Object<'a>) -> Option<Message<'a>> {
    // Only `content` is read of it.
    object.get("content")?;
    Some(Message { role: Role::User, api: None, object: object.only("content") })
}

fn message_of<'a>(object: Object<'a>, unknown: &mut Unknown) -> Kind<'a> {
    let role = match object.text("role") {
        // Extensions speak in the user's name.
        Some("user" | "custom" | "hookMessage") => Role::User,
        Some("assistant") => match object.text("stopReason") {
            Some("error" | "aborted") => Role::FailedAssistant,
            _ => Role::Assistant,
        },
        Some("toolResult") => Role::ToolResult,
        Some("bashExecution") if object.is_true("excludeFromContext") => return Kind::Other,
        Some("bashExecution") => Role::Bash,
        other => {
            unknown.note(other, object.mark());
            return Kind::Other;
        }
    };
    let is_reply = matches!(role, Role::Assistant | Role::FailedAssistant);
    Kind::Message(Message { role, api: object.text("api").filter(|_| is_reply), object })
}

fn first_kept<'a>(object: &Object<'a>) -> FirstKept<'a> {
    let line = object.get("firstKeptEntryIndex").and_then(|line| line.parse().ok()).map(FirstKept::Line);
    object.text("firstKeptEntryId").map(FirstKept::Id).or(line).unwrap_or(FirstKept::Nowhere)
}
