//! What would the client have sent, request by request?

use crate::events::{Conversation, Event};
use crate::format::Format;
use crate::render;

impl Conversation {
    /// Writes the request body with everything that happened.
    #[must_use]
    pub fn body(&self, format: Format) -> Vec<u8> {
        let body = match format {
            Format::Anthropic => render::anthropic::body(self),
            Format::OpenaiChat => render::openai_chat::body(self),
            Format::OpenaiResponses => render::openai_responses::body(self),
        };
        self.style.write(&body).into_bytes()
    }

    /// Writes the bodies of all requests of this conversation, each an append of the one before.
    ///
    /// A request is made after each user text and after the last result of a message; the last body is [`body`](Self::body).
    #[must_use]
    pub fn prefix_bodies(&self, format: Format) -> Vec<Vec<u8>> {
        self.request_points().into_iter().map(|len| self.first(len).body(format)).collect()
    }

    /// Gives the numbers of events after which the client calls the model.
    #[must_use]
    pub fn request_points(&self) -> Vec<usize> {
        let is_assistant = |place: usize| matches!(self.events.get(place), Some(Event::Assistant(_)));
        let len = self.events.len();
        (1..=len).filter(|&end| end == len || (!is_assistant(end - 1) && is_assistant(end))).collect()
    }

    /// Gives the conversation as it was after its first events.
    #[must_use]
    pub fn first(&self, events: usize) -> Self {
        let events = self.events.get(..events).unwrap_or(&self.events).to_vec();
        Self { events, ..self.clone() }
    }

    /// Gives the conversation with more events at its end.
    #[must_use]
    pub fn appended(&self, extra: &[Event]) -> Self {
        let mut longer = self.clone();
        longer.events.extend_from_slice(extra);
        longer
    }
}
