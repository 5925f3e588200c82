//! Which lines of which results are still there? What a sweep left, and what it is charged.

use std::ops::Range;

use super::occurrences::Copy;
use super::text::Text;
use super::trajectory::Trajectory;

/// Words that a gap inside a result is charged.
const GAP_WORDS: u64 = 8;

/// The lines of results that are in view, result by result.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::{Trajectory, View};
/// let body = br#"{"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"two words"}]}"#;
/// let trajectory = Trajectory::read(WireFormat::OpenaiChat, body)?;
/// let mut view = View::default();
/// view.deliver(&trajectory, 1);
/// assert_eq!(view.words(&trajectory), 2);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    lines: Vec<Vec<bool>>,
}

/// What is in view of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept<'v> {
    All,
    None,
    /// Some of its lines.
    Some(&'v [bool]),
}

impl View {
    /// Lets whole results come in, up to the first `results` of the trajectory.
    pub fn deliver(&mut self, trajectory: &Trajectory, results: usize) {
        let new = trajectory.results.get(self.lines.len()..results).unwrap_or_default();
        self.lines.extend(new.iter().map(|result| vec![true; result.text.line_words.len()]));
    }

    /// Gives a view of as many results in which nothing is left.
    pub(crate) fn emptied(&self) -> Self {
        Self { lines: self.lines.iter().map(|lines| vec![false; lines.len()]).collect() }
    }

    /// Counts the results that came in.
    #[must_use]
    pub fn delivered(&self) -> usize {
        self.lines.len()
    }

    /// Counts the words in view.
    #[must_use]
    pub fn words(&self, trajectory: &Trajectory) -> u64 {
        (0..self.lines.len()).map(|result| self.words_of(trajectory, result)).sum()
    }

    /// Counts the words of a result that are in view.
    pub(crate) fn words_of(&self, trajectory: &Trajectory, result: usize) -> u64 {
        let lines = self.lines.get(result).into_iter().flatten();
        let words = trajectory.results.get(result).into_iter().flat_map(|result| &result.text.line_words);
        lines.zip(words).filter(|(kept, _)| **kept).map(|(_, words)| u64::from(*words)).sum()
    }

    /// Counts what a result is charged: its words in view, and its gaps.
    pub(crate) fn charge(&self, text: &Text, result: usize) -> u64 {
        self.lines.get(result).map_or(0, |lines| charge(text, lines))
    }

    /// Says whether any line with words of a range is in view.
    pub(crate) fn shows_any(&self, text: &Text, result: usize, range: &Range<usize>) -> bool {
        let lines = self.lines.get(result).and_then(|lines| lines.get(range.clone())).unwrap_or_default();
        let words = text.line_words.get(range.clone()).unwrap_or_default();
        lines.iter().zip(words).any(|(kept, words)| *kept && *words > 0)
    }

    /// Says whether a copy is whole: lines without words are free.
    pub(crate) fn holds(&self, trajectory: &Trajectory, copy: &Copy) -> bool {
        let range = copy.place.first_line as usize..copy.place.last_line as usize + 1;
        let lines = self.lines.get(copy.result as usize).and_then(|lines| lines.get(range.clone()));
        let words = trajectory.results.get(copy.result as usize).and_then(|result| result.text.line_words.get(range));
        lines.zip(words).is_some_and(|(lines, words)| lines.iter().zip(words).all(|(kept, words)| *kept || *words == 0))
    }

    /// Takes the lines of a range that another view has.
    pub(crate) fn take(&mut self, from: &View, result: usize, range: &Range<usize>) {
        let source = from.lines.get(result).and_then(|lines| lines.get(range.clone())).unwrap_or_default();
        let target = self.lines.get_mut(result).and_then(|lines| lines.get_mut(range.clone())).unwrap_or_default();
        target.iter_mut().zip(source).for_each(|(target, source)| *target |= *source);
    }

    /// Takes the lines of a range out of view.
    pub(crate) fn drop(&mut self, result: usize, range: &Range<usize>) {
        let lines = self.lines.get_mut(result).and_then(|lines| lines.get_mut(range.clone())).unwrap_or_default();
        lines.fill(false);
    }

    /// Says what is in view of a result.
    pub(crate) fn kept_lines(&self, trajectory: &Trajectory, result: usize) -> Kept<'_> {
        let lines = self.lines.get(result).map_or(&[][..], Vec::as_slice);
        let words = trajectory.results.get(result).map_or(&[][..], |result| result.text.line_words.as_slice());
        let mut spoken = lines.iter().zip(words).filter(|(_, words)| **words > 0).map(|(kept, _)| *kept).peekable();
        if spoken.peek().is_none() || spoken.clone().all(|kept| kept) {
            Kept::All
        } else if spoken.all(|kept| !kept) {
            Kept::None
        } else {
            Kept::Some(lines)
        }
    }

    /// Finds the first result of which less is in view than in another view.
    pub(crate) fn first_less(&self, before: &View) -> Option<usize> {
        self.lines.iter().zip(&before.lines).position(|(now, before)| now != before)
    }
}

fn charge(text: &Text, lines: &[bool]) -> u64 {
    let (mut words, mut gaps, mut in_gap) = (0, 0, false);
    for (kept, of_line) in lines.iter().zip(&text.line_words).filter(|(_, words)| **words > 0) {
        gaps += u64::from(!kept && !in_gap);
        in_gap = !kept;
        words += if *kept { u64::from(*of_line) } else { 0 };
    }
    if words == 0 { 0 } else { words + GAP_WORDS * gaps }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_costs_eight_words_and_what_left_whole_costs_nothing() {
        let text = Text { line_words: vec![5, 0, 5, 5], ..Text::default() };
        let views = [[true; 4], [true, false, true, true], [true, true, false, true], [false; 4]];
        assert_eq!(views.map(|lines| charge(&text, &lines)), [15, 15, 18, 0]);
    }
}
