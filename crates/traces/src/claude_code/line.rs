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
    /// Never sent: progress, snapshots, meta lines, replies made up by the client.
    Other,
}

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
    /// First and last line of the stretch that a compaction left as it was.
    pub(super) preserved: Option<(&'a str, &'a str)>,
}

impl<'a> Line<'a> {
    pub(super) fn of(number: usize, object: &Object<'a>) -> Self {
        let message = object.object("message");
        let field = |key: &str| message.as_ref().and_then(|message| message.get(key));
        let model = field("model");
        let kind = kind_of(object, model);
        let preserved = object.object("compactMetadata").and_then(|data| data.object("preservedSegment"));
        Self {
            number,
            kind,
            uuid: object.text("uuid"),
            // A boundary has no parent, but says which line it follows.
            parent: object.text("parentUuid").or_else(|| object.text("logicalParentUuid")),
            is_side: object.is_true("isSidechain"),
            agent: object.text("agentId"),
            is_summary: object.is_true("isCompactSummary"),
            message_id: field("id").and_then(json::inside),
            model: model.filter(|model| json::inside(model).is_some()),
            content: field("content"),
            preserved: preserved.and_then(|range| Some((range.text("headUuid")?, range.text("tailUuid")?))),
        }
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

fn kind_of(object: &Object<'_>, model: Option<&str>) -> Kind {
    let made_up = object.is_true("isApiErrorMessage") || model == Some("\"<synthetic>\"");
    match object.text("type") {
        Some("user") if object.is_true("isMeta") => Kind::Other,
        Some("user") if object.get("message").is_some() => Kind::User,
        Some("assistant") if !made_up && object.get("message").is_some() => Kind::Assistant,
        Some("attachment") => Kind::Attachment,
        Some("system") => match object.text("subtype") {
            Some("compact_boundary") => Kind::Boundary,
            Some("microcompact_boundary") => Kind::Microcompact,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}
