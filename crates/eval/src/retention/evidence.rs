//! What do policies and scores ask of one trajectory? Computed once: uses, blocks, and who said what when.

use std::ops::Range;

use super::text::{Id, Text};
use super::trajectory::{Role, Speaker, Trajectory};
use super::uses::Uses;

/// Words that close a block.
const BLOCK_WORDS: u32 = 120;

/// One trajectory with all that is asked of it again and again.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::{Evidence, Trajectory};
/// let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
/// let evidence = Evidence::of(Trajectory::read(WireFormat::OpenaiChat, body)?);
/// assert_eq!(evidence.trajectory().messages(), 1);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evidence {
    trajectory: Trajectory,
    uses: Uses,
    /// Lines of each block of each result.
    blocks: Vec<Vec<Range<usize>>>,
    mentions: Mentions,
    /// Words of the chain by number of the message, and of how many results stand before each text.
    chain_words: Vec<(usize, u32, u64)>,
}

impl Evidence {
    /// Gathers what a trajectory shows.
    #[must_use]
    pub fn of(trajectory: Trajectory) -> Self {
        let uses = Uses::of(&trajectory);
        let blocks = trajectory.results.iter().map(|result| blocks(&result.text)).collect();
        let mentions = Mentions::of(&trajectory);
        let chain = trajectory.chain.iter().filter(|text| text.role != Role::OldOnly);
        let chain_words = chain.map(|text| (text.results_before, text.number, text.text.words())).collect();
        Self { trajectory, uses, blocks, mentions, chain_words }
    }

    /// Gives the trajectory.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// Gives its uses.
    #[must_use]
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    pub(crate) fn blocks(&self, result: usize) -> &[Range<usize>] {
        self.blocks.get(result).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn mentions(&self) -> &Mentions {
        &self.mentions
    }

    /// Says whether a result of an earlier message than that of `result` holds a shingle.
    pub(crate) fn is_earlier(&self, id: Id, result: usize) -> bool {
        let number = self.trajectory.results.get(result).map_or(0, |result| result.number);
        // Results of one message came at once: none repeats another.
        let from = self.trajectory.delivered(number.saturating_sub(1));
        self.uses.shingle_copies.copies(id).first().is_some_and(|copy| (copy.result as usize) < from)
    }

    /// Counts the words of the chain behind a result, up to the message of a number.
    pub(crate) fn chain_behind(&self, result: usize, number: u32) -> u64 {
        let behind = self.chain_words.iter().filter(|(before, at, _)| *before > result && *at <= number);
        behind.map(|(_, _, words)| words).sum()
    }
}

/// Closes a block after the line that brings it to its words.
fn blocks(text: &Text) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut words) = (0, 0);
    for (line, of_line) in text.line_words.iter().enumerate() {
        words += of_line;
        if words >= BLOCK_WORDS {
            found.push(start..line + 1);
            (start, words) = (line + 1, 0);
        }
    }
    if words > 0 || found.is_empty() {
        found.push(start..text.line_words.len());
    }
    found
}

/// The messages whose chain text holds each shingle, in order; system text is not asked.
#[derive(Clone, Debug)]
pub(crate) struct Mentions(Vec<Vec<u32>>);

impl Mentions {
    fn of(trajectory: &Trajectory) -> Self {
        let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); trajectory.shingles];
        let said = |role: Role| role != Role::OldOnly;
        for text in trajectory.chain.iter().filter(|text| text.speaker != Speaker::System && said(text.role)) {
            for (id, _) in &text.text.shingles {
                if let Some(list) = numbers.get_mut(*id as usize) {
                    list.push(text.number);
                }
            }
        }
        for list in &mut numbers {
            list.sort_unstable();
            list.dedup();
        }
        Self(numbers)
    }

    /// Says whether a text up to message `now` holds a shingle.
    pub(crate) fn is_said(&self, id: Id, now: u32) -> bool {
        self.0.get(id as usize).and_then(|numbers| numbers.first()).is_some_and(|first| *first <= now)
    }

    /// Finds the newest message up to `now` that holds a shingle.
    pub(crate) fn newest(&self, id: Id, now: u32) -> Option<u32> {
        let numbers = self.0.get(id as usize)?;
        let end = numbers.partition_point(|number| *number <= now);
        end.checked_sub(1).and_then(|at| numbers.get(at)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_closed_after_the_line_that_fills_it() {
        let text = Text { line_words: vec![100, 19, 1, 200, 0, 3, 0], ..Text::default() };
        assert_eq!(blocks(&text), [0..3, 3..4, 4..7]);
        let short = Text { line_words: vec![1], ..Text::default() };
        assert_eq!(blocks(&short), vec![0..1]);
    }
}
