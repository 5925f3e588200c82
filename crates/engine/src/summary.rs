//! What does a plan ask of a model, and what came back? Questions and answers, as data.
//!
//! Asks nobody: whoever plans finds the answers and plans again with them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    content_id::ContentId,
    tombstone::{self, Route, SummaryFacts},
};

/// A summary that a plan lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsSummary {
    /// Name of the input; answers are handed in by it.
    pub id: ContentId,
    /// Units as they stand in view, oldest first, each text behind a line that says whose it is. Signed and encrypted
    /// reasoning is left out.
    pub input: Arc<str>,
    /// Tokens that an answer may have at most (o200k).
    pub max_tokens: u64,
    /// Whether the sweep runs where the body waits for an answer: at earlier points no model is asked, since an earlier
    /// request did without one.
    pub is_last: bool,
}

impl NeedsSummary {
    /// Makes an answer of a model's words, if a body could hold them.
    ///
    /// # Errors
    ///
    /// Says what is wrong with them: blank, longer than [`NeedsSummary::max_tokens`], or with what could be read as a mark
    /// of ours.
    pub fn answer(&self, words: &str) -> Result<SummaryAnswer, &'static str> {
        let words = words.trim();
        if words.is_empty() {
            return Err("the answer is blank");
        }
        if liveset_tokens::o200k().count(words).0 > self.max_tokens {
            return Err("the answer is longer than was asked for");
        }
        match tombstone::summary_text(&SummaryFacts::default(), &Route::Rerun, words) {
            Some(_) => Ok(SummaryAnswer::Words(words.into())),
            None => Err("the answer holds what could be read as a line of ours"),
        }
    }
}

/// What stands for the units of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryAnswer {
    /// A model's words.
    Words(Arc<str>),
    /// An extract: there are none, and there will be none.
    Extract {
        /// Why, in one phrase for the report.
        why: Arc<str>,
    },
}

/// Answers by the name of their input.
///
/// ```
/// use liveset_engine::{ContentId, summary::{SummaryAnswer, SummaryAnswers}};
/// let mut answers = SummaryAnswers::default();
/// let id = ContentId::of(b"input");
/// answers.insert(id, SummaryAnswer::Words("all green".into()));
/// assert!(answers.get(&id).is_some());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryAnswers {
    answers: BTreeMap<ContentId, SummaryAnswer>,
}

impl SummaryAnswers {
    /// Hands in the answer to an input.
    pub fn insert(&mut self, id: ContentId, answer: SummaryAnswer) {
        self.answers.insert(id, answer);
    }

    /// Gives the answer to an input, if there is one.
    #[must_use]
    pub fn get(&self, id: &ContentId) -> Option<&SummaryAnswer> {
        self.answers.get(id)
    }
}
