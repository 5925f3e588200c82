//! What does the file hold, line by line? The text that all spans of a trace point into, with its limits.

use std::ops::Range;

use crate::error::Error;

/// Largest file read. Sessions with many pictures reach some hundred megabytes; the text and its index must fit in memory.
const MAX_FILE_BYTES: usize = 1 << 30;

/// Most lines read. Long sessions have some ten thousand; each costs about 100 bytes of index.
const MAX_LINES: usize = 4_000_000;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What became of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// It is whole, or ends with a line break as every line before it.
    Whole,
    /// It has no line break and stops inside a character; the number of the line. Its text is not in the source.
    Cut(usize),
}

/// One line with something on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceLine<'a> {
    /// Line number from 1.
    pub(crate) number: usize,
    /// Offset of the line in the file.
    pub(crate) byte: usize,
    /// The line without its break.
    pub(crate) text: &'a str,
    /// Whether the file ends right after it, without a line break.
    pub(crate) unfinished: bool,
}

/// The text of a trace file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    text: String,
    /// Bytes of the file before the text (a byte order mark).
    skipped: usize,
    tail: Tail,
}

impl Source {
    /// Takes the text of a file, up to a character that the end of the file cuts in two.
    pub(crate) fn read(file: &[u8]) -> Result<Self, Error> {
        if file.len() > MAX_FILE_BYTES {
            return Err(Error::TooLarge { found: file.len(), limit: MAX_FILE_BYTES });
        }
        let bytes = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
        let skipped = file.len() - bytes.len();
        let (text, tail) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, Tail::Whole),
            Err(error) => {
                let valid = error.valid_up_to();
                let text = bytes.get(..valid).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("");
                let line = line_number(text, valid);
                if error.error_len().is_some() {
                    return Err(Error::NotUtf8 { line, byte: skipped + valid });
                }
                let whole_lines = text.rfind('\n').map_or(0, |at| at + 1);
                (text.get(..whole_lines).unwrap_or(""), Tail::Cut(line))
            }
        };
        if text.bytes().filter(|byte| *byte == b'\n').nth(MAX_LINES).is_some() {
            return Err(Error::TooManyLines { limit: MAX_LINES });
        }
        Ok(Self { text: text.to_owned(), skipped, tail })
    }

    /// Gives the whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Says what became of the last line.
    pub(crate) fn tail(&self) -> Tail {
        self.tail
    }

    /// Gives a stretch of the text; nothing for a range that is not one.
    pub(crate) fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or("")
    }

    /// Finds where a slice of this text stands in it. A foreign slice gives an empty range: a constant is a fixed piece.
    pub(crate) fn range_of(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match start.checked_add(part.len()) {
            Some(end) if end <= self.text.len() => start..end,
            _ => 0..0,
        }
    }

    /// Gives the offset in the file at which a line, counted from 1, begins.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let start = line.checked_sub(2).and_then(|before| breaks.map(|(at, _)| at + 1).nth(before));
        self.skipped + start.unwrap_or(0)
    }

    /// Walks the lines that hold anything but white space.
    pub(crate) fn lines(&self) -> impl Iterator<Item = SourceLine<'_>> {
        let mut at = 0;
        self.text.split_inclusive('\n').enumerate().filter_map(move |(index, line)| {
            let byte = self.skipped + at;
            at += line.len();
            let unfinished = !line.ends_with('\n');
            let line = SourceLine { number: index + 1, byte, text: line.trim_end_matches(['\n', '\r']), unfinished };
            (!line.text.trim().is_empty()).then_some(line)
        })
    }
}

fn line_number(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_cut_by_the_end_costs_its_line_only() {
        let source = Source::read("{}\n\"é".as_bytes().split_last().unwrap().1).unwrap();
        assert_eq!((source.text(), source.tail()), ("{}\n", Tail::Cut(2)));
    }

    #[test]
    fn a_bad_byte_before_the_end_is_an_error_with_its_place() {
        let error = Source::read(b"\xef\xbb\xbf{}\n\"\xff\"\n{}").unwrap_err();
        assert_eq!(error, Error::NotUtf8 { line: 2, byte: 7 });
    }

    #[test]
    fn lines_know_number_offset_and_end() {
        let source = Source::read(b"\xef\xbb\xbfa\r\n\n \nb").unwrap();
        let lines: Vec<_> = source.lines().map(|line| (line.number, line.byte, line.text, line.unfinished)).collect();
        assert_eq!(lines, [(1, 3, "a", false), (4, 9, "b", true)]);
        assert_eq!(source.range_of(source.lines().last().unwrap().text), 6..7);
    }
}
