//! What does a trace file hold? The door to the importers.

use crate::conversation::Conversation;
use crate::error::Error;
use crate::format::TraceFormat;
use crate::source::Source;

/// The conversations of a trace file.
///
/// ```
/// use liveset_traces::{Trace, TraceFormat};
///
/// let session = br#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}
/// {"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","model":"opus","role":"assistant","content":[{"type":"text","text":"hello"}]}}"#;
/// let trace = Trace::read(TraceFormat::ClaudeCode, session)?;
/// let main = trace.agent("main").ok_or("no main conversation")?;
/// assert_eq!(main.body()?, br#"{"model":"opus","max_tokens":8192,"messages":[{"role":"user","content":"hi"}]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    conversations: Vec<Conversation>,
}

impl Trace {
    /// Reads a trace file.
    ///
    /// # Errors
    /// A file over a limit, not in the format, or without any conversation; see [`Error`].
    pub fn read(format: TraceFormat, bytes: &[u8]) -> Result<Trace, Error> {
        let conversations = (format.importer().read)(Source::read(bytes)?)?;
        Ok(Self { conversations })
    }

    /// Lists the conversations: the main one first, then side chains as they begin; lists in their order.
    #[must_use]
    pub fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    /// Finds the conversation of an agent: by its name, else by the id that the trace has for the conversation.
    #[must_use]
    pub fn agent(&self, agent: &str) -> Option<&Conversation> {
        let mut all = self.conversations.iter();
        let by_name = all.find(|conversation| conversation.agent() == agent);
        by_name.or_else(|| self.conversations.iter().find(|conversation| conversation.id() == Some(agent)))
    }
}
