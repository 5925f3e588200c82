//! Which shingles and values does a text hold, and in which lines? Words become numbers; the text itself is not kept.

use std::collections::HashMap;
use std::ops::Range;

use crate::words;

/// Consecutive words of a shingle.
pub(crate) const SHINGLE_WORDS: usize = 8;
/// Words of a shingle that must start with a letter, a digit or `_`.
const SPEAKING_WORDS: usize = 4;

/// Number of a shingle or a value among those of one trajectory.
pub(crate) type Id = u32;

/// Where something stands in a text: the line of its first word and that of its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
}

/// One text, read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// Words of each line.
    pub(crate) line_words: Vec<u32>,
    /// Shingles in order of their first words.
    pub(crate) shingles: Vec<(Id, Place)>,
    /// Values in order.
    pub(crate) values: Vec<(Id, Place)>,
}

impl Text {
    /// Counts the words of all lines.
    pub(crate) fn words(&self) -> u64 {
        self.line_words.iter().map(|words| u64::from(*words)).sum()
    }

    /// Counts the words of some lines.
    pub(crate) fn words_in(&self, lines: &Range<usize>) -> u64 {
        self.line_words.get(lines.clone()).unwrap_or_default().iter().map(|words| u64::from(*words)).sum()
    }
}

/// Gives numbers to words, shingles and values: the same number to the same text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    words: HashMap<Box<str>, u32>,
    shingles: HashMap<[u32; SHINGLE_WORDS], Id>,
    values: HashMap<Box<str>, Id>,
}

impl Reader {
    /// Reads a text.
    pub(crate) fn read(&mut self, text: &str) -> Text {
        let mut read = Text::default();
        // Number, line, and whether it starts with a letter.
        let mut all: Vec<(u32, u32, bool)> = Vec::new();
        for (at, line) in text.split('\n').enumerate() {
            let line = words::without_prefix(line);
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let before = all.len();
            for word in words::words(line) {
                all.push((number(&mut self.words, word), at, words::is_speaking(word)));
            }
            read.line_words.push(u32::try_from(all.len() - before).unwrap_or(u32::MAX));
            for value in words::values(line) {
                let place = Place { first_line: at, last_line: at };
                read.values.push((number(&mut self.values, value), place));
            }
        }
        for window in all.windows(SHINGLE_WORDS) {
            let (Some(first), Some(last)) = (window.first(), window.last()) else { continue };
            if window.iter().filter(|word| word.2).count() < SPEAKING_WORDS {
                continue;
            }
            let mut key = [0; SHINGLE_WORDS];
            key.iter_mut().zip(window).for_each(|(number, word)| *number = word.0);
            let next = Id::try_from(self.shingles.len()).unwrap_or(Id::MAX);
            let id = *self.shingles.entry(key).or_insert(next);
            read.shingles.push((id, Place { first_line: first.1, last_line: last.1 }));
        }
        read
    }

    /// Finds the shingles and values of a text that were read before; learns nothing.
    pub(crate) fn find(&self, text: &str) -> (Vec<Id>, Vec<Id>) {
        let mut all: Vec<Option<u32>> = Vec::new();
        let mut values = Vec::new();
        for line in text.split('\n').map(words::without_prefix) {
            all.extend(words::words(line).map(|word| self.words.get(word).copied()));
            values.extend(words::values(line).filter_map(|value| self.values.get(value).copied()));
        }
        let shingles = all.windows(SHINGLE_WORDS).filter_map(|window| {
            let mut key = [0; SHINGLE_WORDS];
            for (number, word) in key.iter_mut().zip(window) {
                *number = (*word)?;
            }
            self.shingles.get(&key).copied()
        });
        (shingles.collect(), values)
    }

    /// Counts the shingles seen so far.
    pub(crate) fn shingles(&self) -> usize {
        self.shingles.len()
    }

    /// Counts the values seen so far.
    pub(crate) fn values(&self) -> usize {
        self.values.len()
    }
}

fn number(numbers: &mut HashMap<Box<str>, u32>, text: &str) -> u32 {
    if let Some(found) = numbers.get(text) {
        return *found;
    }
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(text.into(), next);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_run_over_lines_and_need_four_words_with_letters() {
        let mut reader = Reader::default();
        let read = reader.read("a b c d\n( ( ( (\n) e");
        assert_eq!(read.line_words, [4, 4, 2]);
        let places: Vec<(u32, u32)> =
            read.shingles.iter().map(|(_, place)| (place.first_line, place.last_line)).collect();
        assert_eq!(places, [(0, 1)]);
        assert_eq!(reader.read("x a b c d ( ( ( (").shingles.last().map(|found| found.0), Some(0));
    }
}
