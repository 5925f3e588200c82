//! Which records does a file hold? One JSON object per line, or one JSON value that is the file.

use crate::error::Error;
use crate::json::{self, Object};
use crate::source::{Source, Tail};
use crate::warning::Warning;

/// One line of a file.
pub(crate) struct Record<'a> {
    /// Line number from 1.
    pub(crate) line: usize,
    pub(crate) raw: &'a str,
    pub(crate) object: Object<'a>,
}

/// Reads a file of one object per line. A last line that is cut off is a warning, any other an error.
pub(crate) fn lines(source: &Source) -> Result<(Vec<Record<'_>>, Vec<Warning>), Error> {
    let mut records = Vec::new();
    let mut warnings = Vec::new();
    for line in source.lines() {
        match json::value(line.text).and_then(|raw| Some((raw, Object::read(raw)?))) {
            Some((raw, object)) => records.push(Record { line: line.number, raw, object }),
            // A session that is still written to ends in the middle of a line.
            None if line.unfinished => warnings.push(Warning::CutOffLine { line: line.number }),
            None => return Err(Error::Malformed { line: line.number, byte: line.byte, expected: "a JSON object" }),
        }
    }
    if let Tail::Cut(line) = source.tail() {
        warnings.push(Warning::CutOffLine { line });
    }
    Ok((records, warnings))
}

/// Reads a file that is one object.
pub(crate) fn whole<'a>(source: &'a Source, expected: &'static str) -> Result<Object<'a>, Error> {
    match serde_json::from_str::<&serde_json::value::RawValue>(source.text()) {
        Ok(value) => Object::read(value.get()).ok_or(Error::Malformed { line: 1, byte: 0, expected }),
        Err(error) => Err(Error::Malformed { line: error.line(), byte: source.line_start(error.line()), expected }),
    }
}

/// Where the lines of a source begin, to say of a record in which line it stands.
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(crate) fn of(source: &Source) -> Self {
        let breaks = source.text().bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }

    /// Gives the number, from 1, of the line in which a slice of the source begins.
    pub(crate) fn line_of(&self, source: &Source, part: &str) -> usize {
        let start = source.range_of(part).start;
        self.0.partition_point(|line| *line <= start)
    }

    /// Says that a record is not what its format calls for.
    pub(crate) fn malformed(&self, source: &Source, part: &str, expected: &'static str) -> Error {
        let line = self.line_of(source, part);
        Error::Malformed { line, byte: source.line_start(line), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_knows_its_line_and_a_broken_file_says_where() {
        let source = Source::read(b"{\n\"a\":[\n {\"b\":1},\n {\"c\":2}]}").unwrap();
        let object = whole(&source, "an object").unwrap();
        let starts = LineStarts::of(&source);
        let lines: Vec<usize> =
            object.list("a").unwrap().into_iter().map(|part| starts.line_of(&source, part)).collect();
        assert_eq!(lines, [3, 4]);
        let broken = Source::read(b"{\n\"a\":[\n {\"b\" 1}]}").unwrap();
        let error = whole(&broken, "an object").map(|_| ()).unwrap_err();
        assert_eq!(error, Error::Malformed { line: 3, byte: 8, expected: "an object" });
        assert!(matches!(whole(&Source::read(b"[]").unwrap(), "x"), Err(Error::Malformed { line: 1, .. })));
    }
}
