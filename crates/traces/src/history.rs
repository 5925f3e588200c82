//! What stands in the bodies of one history? Messages in parts, as spans of the file.
//!
//! Never holds text of its own but fixed JSON punctuation.

use std::ops::Range;

use crate::error::Error;
use crate::json::{self, Object};
use crate::quote::Spacing;
use crate::source::Source;

/// A stretch of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes of the trace.
    Source(Range<usize>),
    /// What the trace lacks: JSON punctuation, or words that a client puts around text in every such place.
    Fixed(&'static str),
    /// JSON of the trace inside a string literal, without its quotes.
    Quoted(Range<usize>, Spacing),
}

/// Who speaks, as far as request points go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Assistant,
    System,
    Other,
}

/// One item of a message: a content block, or the whole of it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// What stands between the part before and this one.
    pub(crate) separator: Piece,
    pub(crate) text: Vec<Piece>,
}

/// One message of a body, or one item of a Responses input.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) side: Side,
    /// JSON literal of the model that wrote it.
    pub(crate) model: Option<Range<usize>>,
    pub(crate) open: Piece,
    pub(crate) parts: Vec<Part>,
    pub(crate) close: Piece,
}

/// Messages from the beginning, or from a compaction by the client, up to the next one or the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) messages: Vec<Message>,
    /// Parts at the beginning that the client's compaction put there at once: no request lies between them.
    pub(crate) carried_parts: usize,
}

/// Most items that all compactions and rollbacks of a trace carry on together. Each carried item costs as much as one of
/// the file, and a small file can ask for it again and again; the longest real sessions carry some ten thousand.
#[cfg(not(test))]
const MAX_CARRIED: usize = 1_000_000;
/// Tests reach the limit sooner.
#[cfg(test)]
const MAX_CARRIED: usize = 10_000;

/// What the compactions and rollbacks of a trace have carried on so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried(usize);

impl Carried {
    /// Counts further items, up to the limit.
    pub(crate) fn add(&mut self, items: usize) -> Result<(), Error> {
        self.0 = self.0.saturating_add(items);
        match self.0 > MAX_CARRIED {
            true => Err(Error::TooMuchCarried { limit: MAX_CARRIED }),
            false => Ok(()),
        }
    }
}

impl Message {
    /// Takes a message of the trace as it stands; user content that is a list may be cut between its elements.
    pub(crate) fn verbatim(source: &Source, raw: &str, side: Side) -> Self {
        let whole = source.range_of(raw);
        // A `tool` message is one result, however many parts its content has.
        let object = Object::read(raw).filter(|object| side == Side::Other && object.text("role") == Some("user"));
        let cuts = object.and_then(|object| object.get("content")).and_then(|content| parts_of(source, content));
        match cuts {
            Some((inner, parts)) => Self {
                side,
                model: None,
                open: Piece::Source(whole.start..inner.start),
                parts,
                close: Piece::Source(inner.end..whole.end),
            },
            None => Self::whole(side, vec![Piece::Source(whole)]),
        }
    }

    /// Makes a message of one item from pieces.
    pub(crate) fn whole(side: Side, text: Vec<Piece>) -> Self {
        let empty = Piece::Fixed("");
        let part = Part { separator: empty.clone(), text };
        Self { side, model: None, open: empty.clone(), parts: vec![part], close: empty }
    }

    /// Writes a message anew around raw content, for traces that keep fields a provider refuses.
    pub(crate) fn around(source: &Source, content: &str, side: Side) -> Self {
        let cuts = parts_of(source, content).filter(|_| side == Side::Other);
        if let Some((_, parts)) = cuts {
            return Self { side, model: None, open: opening(side, Form::List), parts, close: Piece::Fixed("]}") };
        }
        let part = Part { separator: Piece::Fixed(""), text: vec![Piece::Source(source.range_of(content))] };
        Self { side, model: None, open: opening(side, Form::Value), parts: vec![part], close: Piece::Fixed("}") }
    }
}

/// How the content of a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A list of blocks, of which the parts are the elements.
    List,
    /// One value that is the whole content.
    Value,
}

/// Gives the text that opens an Anthropic message.
pub(crate) fn opening(side: Side, form: Form) -> Piece {
    Piece::Fixed(match (side, form) {
        (Side::Assistant, Form::List) => "{\"role\":\"assistant\",\"content\":[",
        (Side::Assistant, Form::Value) => "{\"role\":\"assistant\",\"content\":",
        (Side::System, Form::List) => "{\"role\":\"system\",\"content\":[",
        (Side::System, Form::Value) => "{\"role\":\"system\",\"content\":",
        (Side::Other, Form::List) => "{\"role\":\"user\",\"content\":[",
        (Side::Other, Form::Value) => "{\"role\":\"user\",\"content\":",
    })
}

/// Splits a list into parts; gives their common range too. `None` unless it is a list with elements.
fn parts_of(source: &Source, content: &str) -> Option<(Range<usize>, Vec<Part>)> {
    let elements: Vec<Range<usize>> =
        json::list(content)?.into_iter().map(|element| source.range_of(element)).collect();
    let inner = elements.first()?.start..elements.last()?.end;
    let mut before = inner.start;
    let part = |value: Range<usize>| {
        let separator = Piece::Source(before..value.start);
        before = value.end;
        Part { separator, text: vec![Piece::Source(value)] }
    };
    Some((inner, elements.into_iter().map(part).collect()))
}
