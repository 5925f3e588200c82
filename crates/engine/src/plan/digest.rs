//! What does the carrier of a folded run hold? The run's line, and below it what its calls showed.
//!
//! Knows nothing of results: entries come in, and leave in a fixed order when room is short.

use liveset_tokens::Tokens;

use crate::tombstone::{self, FoldFacts, Route};

/// What one call showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) text: String,
    /// Its size alone.
    pub(crate) tokens: Tokens,
    pub(crate) worth: Worth,
}

/// What is lost with an entry, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// A fact that the call would give again.
    Fact,
    /// What was done: no call tells it again.
    History,
}

impl Worth {
    /// In the order in which entries go.
    pub(crate) const ALL: [Self; 2] = [Self::Fact, Self::History];
}

/// The line of a run, and its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    facts: FoldFacts,
    entries: Vec<Entry>,
    text: String,
}

impl Digest {
    pub(crate) fn new(facts: FoldFacts, entries: Vec<Entry>, route: &Route) -> Self {
        let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        let text = tombstone::fold_text(&facts, route, texts.into_iter());
        Self { facts, entries, text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Gives about what the entries take.
    pub(crate) fn size(&self) -> u64 {
        self.entries.iter().map(|entry| entry.tokens.0 + 1).sum()
    }

    /// Leaves out the oldest entries of a worth until about `need` tokens are freed, one at least.
    ///
    /// `None` where there is none of them.
    pub(crate) fn without(&self, worth: Worth, need: u64, route: &Route) -> Option<Self> {
        let mut freed = 0;
        let goes = |entry: &&Entry| {
            let goes = entry.worth == worth && freed < need;
            freed += if goes { entry.tokens.0 + 1 } else { 0 };
            !goes
        };
        let entries: Vec<Entry> = self.entries.iter().filter(goes).cloned().collect();
        (entries.len() < self.entries.len()).then(|| Self::new(self.facts.clone(), entries, route))
    }
}
