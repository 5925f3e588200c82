//! Which trajectories does a set of traces hold? One per history: a client's own compaction begins another.

use liveset_engine::Error;
use liveset_engine::transcript::WireFormat;
use liveset_traces::Conversation;

use super::evidence::Evidence;
use super::trajectory::Trajectory;

/// Where a trajectory comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the trace.
    pub trace: String,
    /// Number of its session: what intervals are drawn by.
    pub session: usize,
}

/// Trajectories to score policies on.
///
/// ```
/// use liveset_eval::retention::Corpus;
/// use liveset_traces::{Trace, TraceFormat};
/// let file = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
/// let trace = Trace::read(TraceFormat::OpenaiChat, file)?;
/// let mut corpus = Corpus::default();
/// corpus.add("a.json", &trace.conversations()[0])?;
/// assert_eq!(corpus.trajectories().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    trajectories: Vec<(Source, Evidence)>,
    sessions: usize,
}

impl Corpus {
    /// Adds the histories of a conversation, as trajectories of one session.
    ///
    /// # Errors
    /// A history that its format does not allow.
    pub fn add(&mut self, trace: &str, conversation: &Conversation) -> Result<(), Error> {
        let mut formats = WireFormat::ALL.into_iter();
        let Some(format) = formats.find(|format| format.name() == conversation.wire_format()) else { return Ok(()) };
        let session = self.sessions;
        self.sessions += 1;
        for history in 0..conversation.histories() {
            let Ok(body) = conversation.history(history) else { continue };
            let source = Source { trace: trace.to_owned(), session };
            self.trajectories.push((source, Evidence::of(Trajectory::read(format, &body)?)));
        }
        Ok(())
    }

    /// Lists the trajectories with their sources.
    #[must_use]
    pub fn trajectories(&self) -> &[(Source, Evidence)] {
        &self.trajectories
    }
}
