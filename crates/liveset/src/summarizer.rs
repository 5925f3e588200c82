//! What must a writer of summaries do? The trait, and why there may be no summary.
//!
//! Writes none itself: that is for whoever hands one in.

/// A writer of summaries: a model, as far as Liveset is concerned.
///
/// ```
/// use liveset::{Summarizer, SummaryError};
/// struct First;
/// impl Summarizer for First {
///     fn summarize(&self, input: &str, _max_tokens: u64) -> Result<String, SummaryError> {
///         input.lines().next().map(str::to_owned).ok_or(SummaryError::Unusable { why: "no input".into() })
///     }
/// }
/// assert_eq!(First.summarize("one\ntwo", 100)?, "one");
/// # Ok::<(), SummaryError>(())
/// ```
pub trait Summarizer: Send + Sync {
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
