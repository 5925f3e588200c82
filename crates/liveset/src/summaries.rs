//! Who writes a summary, and what holds where nobody does? Answers to what a plan needs, from the archive or a model.
//!
//! Asks a model at the newest request point only, and whatever comes of it is stored: the same body gives the same bytes
//! from then on, whether or not the model would answer the same.

use liveset_archive::output_hash;
use liveset_engine::{
    plan::{self, Inputs, Plan, State},
    policy::SummaryKind,
    summary::{NeedsSummary, SummaryAnswer, SummaryAnswers},
};

use crate::{compact::Liveset, error::Result};

/// Rounds of planning at most: each finds one answer, and what a body with more of them asks beyond gets extracts.
const MAX_ROUNDS: usize = 256;

/// A writer of summaries: a model, as far as Liveset is concerned.
///
/// ```
/// use liveset::{Summarizer, SummaryError};
/// struct First;
/// impl Summarizer for First {
///     fn name(&self) -> &str {
///         "the first line"
///     }
///     fn summarize(&self, input: &str, _max_tokens: u64) -> Result<String, SummaryError> {
///         input.lines().next().map(str::to_owned).ok_or(SummaryError::Unusable { why: "no input".into() })
///     }
/// }
/// assert_eq!(First.summarize("one\ntwo", 100)?, "one");
/// # Ok::<(), SummaryError>(())
/// ```
pub trait Summarizer: Send + Sync {
    /// Names what decides an answer besides its input: the model, the prompt and its settings. Answers are stored under
    /// this name and the input.
    fn name(&self) -> &str;

    /// Sums up units of a conversation in at most `max_tokens` tokens (o200k).
    ///
    /// # Errors
    ///
    /// No answer came, or none that says something: an extract stands for the units then, for good.
    fn summarize(&self, input: &str, max_tokens: u64) -> std::result::Result<String, SummaryError>;
}

/// Why there is no summary. One line each, without any content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The endpoint could not be reached, or broke off.
    #[error("no answer: {why}")]
    Unreachable {
        /// What went wrong.
        why: String,
    },
    /// No answer in time.
    #[error("no answer within {seconds} s")]
    TooSlow {
        /// The limit.
        seconds: u64,
    },
    /// The endpoint or the model said no.
    #[error("refused: {why}")]
    Refused {
        /// Status or finish reason.
        why: String,
    },
    /// An answer that cannot stand in a body.
    #[error("not usable: {why}")]
    Unusable {
        /// What is wrong with it.
        why: String,
    },
}

/// What opens a stored reason why there is no summary: none begins like that.
const NONE_STORED: char = '\n';

impl Liveset {
    /// Plans with every summary that is to be had.
    pub(crate) fn planned(&self, inputs: &Inputs<'_, '_>, state: State) -> Result<Plan> {
        if self.policy.summary.kind != SummaryKind::Model {
            return Ok(plan::resume(inputs, state)?);
        }
        let mut answers = SummaryAnswers::default();
        for _ in 0..MAX_ROUNDS {
            let plan = plan::resume(&Inputs { answers: &answers, ..*inputs }, state.clone())?;
            let Some(need) = &plan.needs else { return Ok(plan) };
            answers.insert(need.id, self.answer(need)?);
        }
        Ok(plan::resume(&Inputs { answers: &answers, ..*inputs }, state)?)
    }

    fn answer(&self, need: &NeedsSummary) -> Result<SummaryAnswer> {
        let Some(archive) = &self.archive else { return Ok(extract("without an archive no answer could be kept")) };
        let Some(summarizer) = &self.summarizer else { return Ok(extract("no model was named")) };
        let key = key(summarizer.name(), need);
        if let Some(stored) = archive.summary(&key)? {
            return Ok(taken(need, &stored));
        }
        let words = match need.is_last {
            true => summarizer.summarize(&need.input, need.max_tokens).map_err(|error| error.to_string()),
            false => Err("an earlier request was made without one".to_owned()),
        };
        let usable = words.and_then(|words| need.answer(&words).map(|_| words).map_err(str::to_owned));
        let stored = match usable {
            Ok(words) => words.trim().to_owned(),
            Err(why) => format!("{NONE_STORED}{why}"),
        };
        // Of two that ask at once the first answer holds for both.
        Ok(taken(need, &archive.put_summary(&key, &stored)?))
    }
}

fn extract(why: &str) -> SummaryAnswer {
    SummaryAnswer::Extract { why: why.into() }
}

fn taken(need: &NeedsSummary, stored: &str) -> SummaryAnswer {
    match stored.strip_prefix(NONE_STORED) {
        Some(why) => extract(why),
        None => need.answer(stored).unwrap_or_else(extract),
    }
}

/// Names an input together with all that decides its answer. Lengths stand before texts, so that no two share a name.
fn key(summarizer: &str, need: &NeedsSummary) -> String {
    let mut bytes = format!("summary 1\n{} {}\n{summarizer}\n", need.max_tokens, summarizer.len()).into_bytes();
    bytes.extend_from_slice(need.input.as_bytes());
    output_hash(&bytes)
}
