//! What does a body say, and what was decided for it? What the stages of one call hand on.
//!
//! Reads and decides nothing itself.

use liveset_engine::{
    budget::Budget,
    counts::Counts,
    plan::State,
    transcript::{ItemKind, Transcript},
};

/// What a body says, before anything is decided.
pub(crate) struct Reading<'r, 'b> {
    pub(crate) transcript: &'r Transcript<'b>,
    pub(crate) counts: &'r Counts,
    pub(crate) budget: &'r Budget,
    pub(crate) model: Option<&'r str>,
}

/// What was decided for a body, for its next turn.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) state: State,
    pub(crate) fixed: FixedPart,
    /// The sizes of its items, and what identifies them.
    pub(crate) counts: Counts,
    /// Whether the archive had lost what an earlier turn stored, so that everything was decided anew.
    pub(crate) is_anew: bool,
}

/// What all decisions of a session rest on besides its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FixedPart {
    pub(crate) tools: Vec<u8>,
    /// Digests of the system items that open the conversation.
    pub(crate) system: Vec<u128>,
    pub(crate) model: String,
    pub(crate) budget: Budget,
}

impl Reading<'_, '_> {
    pub(crate) fn fixed(&self) -> FixedPart {
        FixedPart {
            tools: self.transcript.tools.map(|span| span.of(self.transcript.body).to_vec()).unwrap_or_default(),
            system: self.counts.digests().take(self.system_items()).collect(),
            model: self.model.unwrap_or_default().to_owned(),
            budget: *self.budget,
        }
    }

    fn system_items(&self) -> usize {
        self.transcript.items.iter().take_while(|item| item.kind == ItemKind::System).count()
    }
}
