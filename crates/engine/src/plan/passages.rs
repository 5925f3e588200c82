//! Where are the borders at which a result may be cut? About 120 words, whole lines.
//!
//! Never looks at meaning: the same text has the same borders whatever stands around it.

use crate::shingles::words::{Sink, Words, walk};

/// Words after which a passage is closed. In the retention study smaller passages tore the old text of edits apart, larger ones kept too much of no use.
pub const PASSAGE_WORDS: u32 = 120;

/// Some whole lines of a result, the unit that a sweep keeps or drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Byte offset in the text of its first line.
    pub start: u32,
    /// Byte offset in the text after its last line, the `\n` included.
    pub end: u32,
    /// Number of its first line in the text, counted from 0.
    pub first_line: u32,
    /// How many lines it has.
    pub lines: u32,
    /// How many words it has, prefixes of lines left out.
    pub words: u32,
}

/// Splits a text into passages: each is closed after the line that brings it to [`PASSAGE_WORDS`] or more.
///
/// They cover the text without holes; what is left at the end is a passage of its own. An empty text has none.
///
/// ```
/// use liveset_engine::plan::passages::passages;
/// let text = "one two three four\n".repeat(31);
/// let all = passages(&text);
/// assert_eq!(all.iter().map(|passage| passage.words).collect::<Vec<_>>(), [120, 4]);
/// assert_eq!(all[1].first_line, 30);
/// ```
#[must_use]
pub fn passages(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    walk(text, &mut cutter);
    if cutter.open.lines > 0 {
        cutter.closed.push(cutter.open);
    }
    cutter.closed
}

/// The passages closed so far and the one still open.
#[derive(Default)]
struct Cutter {
    closed: Vec<Passage>,
    open: Passage,
}

impl Sink for Cutter {
    #[inline]
    fn words(&mut self, _: &[u8], words: Words) {
        self.open.words += words.count_words();
    }

    #[inline]
    fn line(&mut self, end: usize) {
        self.open.lines += 1;
        // The walk reads no more than 32-bit offsets can name.
        self.open.end = end as u32;
        if self.open.words >= PASSAGE_WORDS {
            let next = Passage {
                start: self.open.end,
                end: self.open.end,
                first_line: self.open.first_line + self.open.lines,
                ..Passage::default()
            };
            self.closed.push(std::mem::replace(&mut self.open, next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_has_no_passage_and_a_blank_one_has_one() {
        assert_eq!(passages(""), []);
        assert_eq!(passages("\n\n"), [Passage { start: 0, end: 2, first_line: 0, lines: 2, words: 0 }]);
    }

    #[test]
    fn a_passage_closes_after_the_line_that_fills_it() {
        let text = format!("{}\nx\n", "a ".repeat(200));
        let all = passages(&text);
        assert_eq!(all.iter().map(|passage| (passage.words, passage.lines)).collect::<Vec<_>>(), [(200, 1), (1, 1)]);
    }

    #[test]
    fn prefixes_of_lines_are_no_words() {
        let text = (1..=40).map(|n| format!("{n:>6}\ta b c\n")).collect::<String>();
        assert_eq!(passages(&text).len(), 1);
        assert_eq!(passages(&text)[0].words, 120);
    }
}
