//! What was the model asked, request by request? Bodies cut at any request point.
//!
//! Never parses and never changes a byte of the trace: a body is fixed text around slices of the file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{History, Message, Piece, Side};
use crate::quote;
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;

/// The `max_tokens` of an Anthropic body, which requires the field and whose trace rarely holds it.
///
/// Every current model accepts it; nothing in the product reads it.
const MAX_TOKENS: &str = "8192";

/// One conversation of a trace: the requests of one agent, main or side chain.
///
/// A *request point* lies after every item that is not assistant-side: every user text, every picture and every
/// result, also inside a parallel batch, whether or not a model was called there. System text opens none. Points
/// count from 0 in the order in which items stand in the bodies, and go on over the client's own compactions.
#[derive(Clone, Debug)]
pub struct Conversation {
    source: Arc<Source>,
    agent: String,
    id: Option<String>,
    wire: Wire,
    fidelity: Fidelity,
    frame: Frame,
    model: Option<String>,
    histories: Vec<History>,
    points: Vec<Point>,
    warnings: Vec<Warning>,
}

/// Request fields that stand for the whole conversation, where the trace holds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// JSON literal of the model.
    pub(crate) model: Option<String>,
    pub(crate) system: Option<Range<usize>>,
    pub(crate) tools: Option<Range<usize>>,
}

/// What an importer knows about a conversation.
pub(crate) struct Draft {
    pub(crate) agent: String,
    /// The name that the trace itself has for it, where `agent` is only its place in the file.
    pub(crate) id: Option<String>,
    pub(crate) wire: Wire,
    pub(crate) fidelity: Fidelity,
    pub(crate) frame: Frame,
    pub(crate) histories: Vec<History>,
    pub(crate) warnings: Vec<Warning>,
}

/// A place where a body may end: after part `part` of message `message` of history `history`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    history: usize,
    message: usize,
    part: usize,
    answered: Answered,
}

/// Whether an assistant message follows a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    Yes,
    No,
}

impl Conversation {
    pub(crate) fn new(source: Arc<Source>, draft: Draft) -> Self {
        let histories: Vec<History> =
            draft.histories.into_iter().filter(|history| !history.messages.is_empty()).collect();
        // What one history says of its lines the next may say again of what it carries on.
        let mut said = BTreeSet::new();
        let warnings = draft.warnings.into_iter().filter(|warning| said.insert(warning.clone())).collect();
        let points = histories.iter().enumerate().flat_map(|(index, history)| points_of(index, history)).collect();
        let newest = histories.iter().rev().flat_map(|history| history.messages.iter().rev());
        let newest = newest.filter_map(|message| message.model.as_ref()).next().map(|range| source.slice(range));
        let model = newest.or(draft.frame.model.as_deref()).and_then(|literal| serde_json::from_str(literal).ok());
        Self {
            source,
            agent: draft.agent,
            id: draft.id,
            wire: draft.wire,
            fidelity: draft.fidelity,
            frame: draft.frame,
            model,
            histories,
            points,
            warnings,
        }
    }

    /// Names the agent: `main`, the id of a side chain, or the place in a list of conversations, counted from 1.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Gives the id that the trace has for this one of its many conversations.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Names the wire format of the bodies: `anthropic`, `openai-chat` or `openai-responses`.
    #[must_use]
    pub fn wire_format(&self) -> &'static str {
        self.wire.name()
    }

    /// Names the newest model that the trace mentions.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Says how close the bodies are to what was sent.
    #[must_use]
    pub fn fidelity(&self) -> Fidelity {
        self.fidelity
    }

    /// Lists what was left out, moved, or could not be made valid.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Counts the request points.
    #[must_use]
    pub fn request_points(&self) -> usize {
        self.points.len()
    }

    /// Lists the request points at which a model was called (an assistant message follows), and the last one.
    #[must_use]
    pub fn requests(&self) -> Vec<usize> {
        let last = self.points.len().checked_sub(1);
        let points = self.points.iter().enumerate();
        points.filter(|(at, point)| point.answered == Answered::Yes || Some(*at) == last).map(|(at, _)| at).collect()
    }

    /// Lists the first request point after each compaction by the client itself.
    #[must_use]
    pub fn boundaries(&self) -> Vec<usize> {
        let mut seen = self.points.first().map_or(0, |point| point.history);
        let mut found = Vec::new();
        for (at, point) in self.points.iter().enumerate() {
            if point.history > seen {
                seen = point.history;
                found.push(at);
            }
        }
        found
    }

    /// Counts the histories: one, and one more for each compaction by the client itself.
    #[must_use]
    pub fn histories(&self) -> usize {
        self.histories.len()
    }

    /// Writes the request body at a request point, counted from 0.
    ///
    /// Each body extends the one before it item by item, byte for byte, except after a [boundary](Self::boundaries).
    ///
    /// ```
    /// use liveset_traces::{Trace, TraceFormat};
    ///
    /// let file = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}]"#;
    /// let trace = Trace::read(TraceFormat::OpenaiChat, file)?;
    /// let conversation = &trace.conversations()[0];
    /// assert_eq!(conversation.request_points(), 2);
    /// assert_eq!(conversation.body_at(0)?, br#"{"messages":[{"role":"user","content":"hi"}]}"#);
    /// # Ok::<(), liveset_traces::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchPoint`] if there are not that many.
    pub fn body_at(&self, point: usize) -> Result<Vec<u8>, Error> {
        let no_such_point = Error::NoSuchPoint { point, points: self.points.len() };
        let Some(place) = self.points.get(point) else { return Err(no_such_point) };
        let Some(history) = self.histories.get(place.history) else { return Err(no_such_point) };
        Ok(self.write(history, place.message, place.part))
    }

    /// Writes the request body at the last request point.
    ///
    /// # Errors
    /// [`Error::NoSuchPoint`] if nothing was ever asked.
    pub fn body(&self) -> Result<Vec<u8>, Error> {
        self.body_at(self.points.len().saturating_sub(1))
    }

    /// Writes a whole history, counted from 0, with the replies that no later request sent back.
    ///
    /// The last history ends where the trace ends. For measuring and inspecting: it may be no body that a provider takes.
    ///
    /// # Errors
    /// [`Error::NoSuchHistory`] if there are not that many.
    pub fn history(&self, history: usize) -> Result<Vec<u8>, Error> {
        let found = self.histories.get(history);
        let found = found.ok_or(Error::NoSuchHistory { history, histories: self.histories.len() })?;
        let message = found.messages.len().saturating_sub(1);
        let part = found.messages.last().map_or(0, |message| message.parts.len().saturating_sub(1));
        Ok(self.write(found, message, part))
    }

    fn write(&self, history: &History, message: usize, part: usize) -> Vec<u8> {
        let mut body = String::from("{");
        if let Some(model) = self.model_at(history, message) {
            self.field(&mut body, "model", model);
        }
        if self.wire == Wire::Anthropic {
            self.field(&mut body, "max_tokens", MAX_TOKENS);
        }
        if let (Some(key), Some(range)) = (self.wire.system_key(), &self.frame.system) {
            self.field(&mut body, key, self.source.slice(range));
        }
        if let Some(range) = &self.frame.tools {
            self.field(&mut body, "tools", self.source.slice(range));
        }
        for text in ["\"", self.wire.messages_key(), "\":["] {
            body.push_str(text);
        }
        for (at, written) in history.messages.iter().take(message + 1).enumerate() {
            if at > 0 {
                body.push(',');
            }
            let parts = if at < message { written.parts.len() } else { part + 1 };
            self.write_message(&mut body, written, parts);
        }
        body.push_str("]}");
        body.into_bytes()
    }

    fn field(&self, body: &mut String, key: &str, value: &str) {
        for text in ["\"", key, "\":", value, ","] {
            body.push_str(text);
        }
    }

    fn write_message(&self, body: &mut String, message: &Message, parts: usize) {
        self.write_piece(body, &message.open);
        for (at, part) in message.parts.iter().take(parts).enumerate() {
            if at > 0 {
                self.write_piece(body, &part.separator);
            }
            part.text.iter().for_each(|piece| self.write_piece(body, piece));
        }
        self.write_piece(body, &message.close);
    }

    fn write_piece(&self, body: &mut String, piece: &Piece) {
        match piece {
            Piece::Source(range) => body.push_str(self.source.slice(range)),
            Piece::Fixed(text) => body.push_str(text),
            Piece::Quoted(range, spacing) => quote::push(body, self.source.slice(range), *spacing),
        }
    }

    /// Finds the model of the newest assistant message; before the first, the one that answered first.
    fn model_at(&self, history: &History, message: usize) -> Option<&str> {
        let (before, after) = history.messages.split_at((message + 1).min(history.messages.len()));
        let mut models = before.iter().rev().chain(after).filter_map(|message| message.model.as_ref());
        models.next().map(|range| self.source.slice(range)).or(self.frame.model.as_deref())
    }
}

fn points_of(index: usize, history: &History) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut seen_parts = 0;
    for (at, message) in history.messages.iter().enumerate() {
        match message.side {
            Side::Assistant => {
                let previous = points.last_mut();
                if let Some(point) = previous.filter(|_| seen_parts >= history.carried_parts) {
                    point.answered = Answered::Yes;
                }
            }
            Side::System => {}
            Side::Other => {
                for part in 0..message.parts.len() {
                    if seen_parts + part + 1 >= history.carried_parts {
                        points.push(Point { history: index, message: at, part, answered: Answered::No });
                    }
                }
            }
        }
        seen_parts += message.parts.len();
    }
    points
}
