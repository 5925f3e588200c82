//! What a counter is, and how far it may be trusted.

use crate::{marks::LineMarks, tokens::Tokens};

/// Whether a counter knows the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// It counts as the vendor does.
    Exact,
    /// It gives the upper edge of its band.
    Estimated {
        /// How far that edge lies over the central estimate, in percent.
        upper_percent: u32,
    },
}

/// Counts tokens of text.
///
/// Implementations are pure, take any text without failing, and run in near-linear time on it.
///
/// ```
/// use liveset_tokens::{TokenCounter, o200k};
/// let counter: &dyn TokenCounter = o200k();
/// assert!(counter.count("<|endoftext|>").0 > 1, "text that looks like a control token is text");
/// ```
pub trait TokenCounter: Send + Sync {
    /// Counts a text; an estimator gives the upper edge of its band.
    fn count(&self, text: &str) -> Tokens;

    /// Counts a text and notes how many tokens stand before its lines, where they add up exactly; an estimate does not,
    /// and notes nothing.
    fn count_marked(&self, text: &str, marks: &mut LineMarks) -> Tokens {
        let _ = marks;
        self.count(text)
    }

    /// Gives the name that reports use. Counters that count differently have different names: what was counted is
    /// remembered under them.
    fn name(&self) -> &str;

    /// Says how far the count may be trusted.
    fn exactness(&self) -> Exactness;
}
