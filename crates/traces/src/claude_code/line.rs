//! What does one line of a session say? Its place in the tree and its message, as slices of the file.

use crate::json::{self, Object};

/// What a line is, as far as bodies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    /// The client compacted its history here.
    Boundary,
    /// The client cleared old results here.
    Microcompact,
    /// An attachment: it reached the model in a form that the file does not hold.
    Attachment,
    /// Never sent: progress, snapshots, failed requests. It still links the lines around it.
    Other,
}

/// What a compaction by the client left as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Preserved<'a> {
    Nothing,
    /// The lines with these ids.
    Named(Vec<&'a str>),
    /// All lines from the first to the last.
    Between(&'a str, &'a str),
}

/// The model of replies that the client made up.
const MADE_UP: &str = "\"<synthetic>\"";

/// One line of a session.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// Line number from 1.
    pub(super) number: usize,
    pub(super) kind: Kind,
    pub(super) uuid: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) is_side: bool,
    pub(super) agent: Option<&'a str>,
    /// Whether it is the client's summary of what went before.
    pub(super) is_summary: bool,
    /// Id of the API reply that an assistant line is a part of.
    pub(super) message_id: Option<&'a str>,
    /// JSON literal of the model.
    pub(super) model: Option<&'a str>,
    pub(super) content: Option<&'a str>,
    pub(super) preserved: Preserved<'a>,
}

impl<'a> Line<'a> {
    pub(super) fn of(number: usize, object: &Object<'a>) -> Self {
        let message = object.object("message");
        let field = |key: &str| message.as_ref().and_then(|message| message.get(key));
        let model = field("model").filter(|model| json::inside(model).is_some() && *model != MADE_UP);
        Self {
            number,
            kind: kind_of(object),
            uuid: object.text("uuid"),
            // A boundary has no parent, but says which line it follows.
            parent: object.text("parentUuid").or_else(|| object.text("logicalParentUuid")),
            is_side: object.is_true("isSidechain"),
            agent: object.text("agentId"),
            is_summary: object.is_true("isCompactSummary"),
            message_id: field("id").and_then(json::inside),
            model,
            content: field("content"),
            preserved: preserved_by(object),
        }
    }

    /// Gives the line of a side chain that a progress line of the main chain carries along.
    pub(super) fn relayed(number: usize, object: &Object<'a>) -> Option<Self> {
        let data = object.object("data").filter(|_| object.text("type") == Some("progress"))?;
        let agent = data.text("agentId").filter(|_| data.text("type") == Some("agent_progress"))?;
        let line = Self::of(number, &data.object("message")?);
        Some(Self { is_side: true, agent: Some(agent), ..line })
    }

    /// Says whether it holds a message that was sent or received.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// Gives the ids of the calls or of the answered calls in its content.
    pub(super) fn ids(&self, block: &str, key: &str) -> Vec<&'a str> {
        let Some(blocks) = self.content.and_then(json::list) else { return Vec::new() };
        let of_block = |raw: &'a str| {
            let object = Object::read(raw)?;
            (object.text("type") == Some(block)).then(|| object.text(key)).flatten()
        };
        blocks.into_iter().filter_map(of_block).collect()
    }
}

fn kind_of(object: &Object<'_>) -> Kind {
    let only_shown = object.is_true("isVisibleInTranscriptOnly") && !object.is_true("isCompactSummary");
    match object.text("type") {
        Some("user" | "assistant") if only_shown || object.get("message").is_none() => Kind::Other,
        // Also lines with `isMeta`: hidden from the person, sent to the model like any other (skills, caveats, tasks).
        Some("user") => Kind::User,
        // The text of a failed request stands in for a reply and is never sent back.
        Some("assistant") if object.is_true("isApiErrorMessage") => Kind::Other,
        Some("assistant") => Kind::Assistant,
        Some("attachment") => Kind::Attachment,
        Some("system") => match object.text("subtype") {
            Some("compact_boundary") => Kind::Boundary,
            Some("microcompact_boundary") => Kind::Microcompact,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// Reads what a compaction kept. Newer clients name every line; older ones the first and the last.
fn preserved_by<'a>(object: &Object<'a>) -> Preserved<'a> {
    let Some(data) = object.object("compactMetadata") else { return Preserved::Nothing };
    let named = data.object("preservedMessages").and_then(|kept| kept.get("uuids")).and_then(json::list);
    if let Some(uuids) = named {
        return Preserved::Named(uuids.into_iter().filter_map(json::inside).collect());
    }
    let segment = data.object("preservedSegment");
    match segment.and_then(|kept| Some((kept.text("headUuid")?, kept.text("tailUuid")?))) {
        Some((head, tail)) => Preserved::Between(head, tail),
        None => Preserved::Nothing,
    }
}
