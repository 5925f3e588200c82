//! Which part of an original is asked for? Cuts whole lines and counts them; never changes one.

use std::fmt::Write as _;

use regex::RegexBuilder;

use super::outline;

/// Bytes that a compiled pattern may take: enough for any that a person writes, and no burden on an agent's machine.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Lines around a match that are shown where nothing is asked.
pub const DEFAULT_CONTEXT: usize = 2;

/// Reads the range of [`View::Lines`] as people and models write it: `12-40`, `12-` to the end, or `12` alone.
///
/// ```
/// use liveset::recall::line_range;
/// assert_eq!(line_range("12 - 40"), Some((12, 40)));
/// assert_eq!(line_range("12-"), Some((12, usize::MAX)));
/// assert_eq!(line_range("12"), Some((12, 12)));
/// assert_eq!((line_range("0"), line_range("9-3"), line_range("a-b")), (None, None, None));
/// ```
#[must_use]
pub fn line_range(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number > 0);
    match text.split_once('-') {
        None => number(text).map(|line| (line, line)),
        Some((first, last)) if last.trim().is_empty() => number(first).map(|first| (first, usize::MAX)),
        Some((first, last)) => number(first).zip(number(last)).filter(|(first, last)| first <= last),
    }
}

/// A part of an original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// All of it, byte for byte.
    Whole,
    /// What it holds, coarse first: headings, signatures, keys and lengths, verdicts, levels and counts, columns.
    Outline,
    /// These lines, from 1.
    Lines {
        /// The first.
        first: usize,
        /// The last; past the end means to the end.
        last: usize,
    },
    /// The first lines.
    Head(usize),
    /// The last lines.
    Tail(usize),
    /// Lines in which a pattern is found.
    Grep {
        /// A regular expression; what is none is looked for as it stands.
        pattern: String,
        /// Lines shown before and after each.
        context: usize,
    },
}

/// What is shown, and which part of the original it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The text shown. The whole original and ranges of lines are its own bytes.
    pub bytes: Vec<u8>,
    /// Which part of how many lines it is, in words.
    pub told: String,
    /// Lines of the whole original.
    pub lines: usize,
}

impl View {
    /// Cuts the part out of an original.
    ///
    /// ```
    /// use liveset::recall::View;
    /// let part = View::Grep { pattern: "t(w|h)".into(), context: 0 }.of(b"one\ntwo\nthree\n".to_vec());
    /// assert_eq!(String::from_utf8_lossy(&part.bytes), "2:two\n3:three\n");
    /// assert_eq!(part.told, "2 of 3 lines match");
    /// ```
    #[must_use]
    pub fn of(&self, original: Vec<u8>) -> Part {
        let lines = lines(&original);
        let count = lines.len();
        match self {
            Self::Whole => Part { told: format!("all {}", counted(count)), bytes: original, lines: count },
            Self::Outline => outlined(&original, count),
            Self::Lines { first, last } => range(&lines, first.saturating_sub(1), *last),
            Self::Head(wanted) => range(&lines, 0, *wanted),
            Self::Tail(wanted) => range(&lines, count.saturating_sub(*wanted), count),
            Self::Grep { pattern, context } => grep(&lines, pattern, *context),
        }
    }
}

/// Lines with their ends.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn counted(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

fn range(lines: &[&[u8]], from: usize, to: usize) -> Part {
    let to = to.min(lines.len());
    let shown = lines.get(from..to).unwrap_or_default();
    let told = match shown.len() {
        0 => format!("none of {}", counted(lines.len())),
        1 => format!("line {to} of {}", lines.len()),
        _ => format!("lines {}-{to} of {}", from + 1, lines.len()),
    };
    Part { bytes: shown.concat(), told, lines: lines.len() }
}

fn outlined(original: &[u8], lines: usize) -> Part {
    let outline = outline::of(&String::from_utf8_lossy(original));
    Part {
        bytes: outline.text.into_bytes(),
        told: format!("outline of {}, as {}", counted(lines), outline.kind),
        lines,
    }
}

fn grep(lines: &[&[u8]], pattern: &str, context: usize) -> Part {
    let compiled = |pattern: &str| RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().ok();
    let plain = compiled(pattern).is_none();
    let matcher = compiled(pattern).or_else(|| compiled(&regex::escape(pattern)));
    let text: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
    let trimmed = |at: usize| text.get(at).map_or("", |line| line.trim_end_matches(['\n', '\r']));
    let hits: Vec<usize> =
        (0..lines.len()).filter(|&at| matcher.as_ref().is_some_and(|matcher| matcher.is_match(trimmed(at)))).collect();
    let mut out = String::new();
    let mut shown_to = 0;
    for (nth, &hit) in hits.iter().enumerate() {
        let from = hit.saturating_sub(context).max(shown_to);
        // The context of the next hit begins where this one's ends.
        let next = hits.get(nth + 1).copied().unwrap_or(lines.len());
        let to = (hit.saturating_add(context).saturating_add(1)).min(next).min(lines.len());
        if nth > 0 && context > 0 && from > shown_to {
            out.push_str("--\n");
        }
        for at in from..to.max(hit + 1) {
            let mark = if at == hit { ':' } else { '-' };
            let _ = writeln!(out, "{}{mark}{}", at + 1, trimmed(at));
        }
        shown_to = to.max(hit + 1);
    }
    let (verb, note) =
        (if hits.len() == 1 { "matches" } else { "match" }, if plain { ", pattern taken literally" } else { "" });
    let told = format!("{} of {} {verb}{note}", hits.len(), counted(lines.len()));
    Part { bytes: out.into_bytes(), told, lines: lines.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(view: &View, text: &str) -> (String, String) {
        let part = view.of(text.as_bytes().to_vec());
        (String::from_utf8(part.bytes).unwrap(), part.told)
    }

    fn check(view: View, text: &str, bytes: &str, told: &str) {
        assert_eq!(part(&view, text), (bytes.to_owned(), told.to_owned()), "{view:?}");
    }

    const TEXT: &str = "one\r\ntwo\nthree\nfour";

    #[test]
    fn ranges_are_the_originals_own_lines() {
        check(View::Whole, TEXT, TEXT, "all 4 lines");
        check(View::Lines { first: 1, last: 2 }, TEXT, "one\r\ntwo\n", "lines 1-2 of 4");
        check(View::Lines { first: 4, last: 99 }, TEXT, "four", "line 4 of 4");
        check(View::Lines { first: 5, last: 9 }, TEXT, "", "none of 4 lines");
        check(View::Lines { first: 0, last: 0 }, TEXT, "", "none of 4 lines");
        check(View::Lines { first: 3, last: 2 }, TEXT, "", "none of 4 lines");
        check(View::Head(1), TEXT, "one\r\n", "line 1 of 4");
        check(View::Tail(2), TEXT, "three\nfour", "lines 3-4 of 4");
        check(View::Tail(usize::MAX), TEXT, TEXT, "lines 1-4 of 4");
        check(View::Whole, "", "", "all 0 lines");
        check(View::Head(3), "", "", "none of 0 lines");
    }

    #[test]
    fn matches_have_numbers_and_context_that_overlaps_is_shown_once() {
        let grep = |pattern: &str, context| View::Grep { pattern: pattern.to_owned(), context };
        check(grep("o", 0), TEXT, "1:one\n2:two\n4:four\n", "3 of 4 lines match");
        check(grep("^three$", 1), TEXT, "2-two\n3:three\n4-four\n", "1 of 4 lines matches");
        check(grep("one|four", 1), TEXT, "1:one\n2-two\n3-three\n4:four\n", "2 of 4 lines match");
        check(grep("a|e", 1), "a\nb\nc\nd\ne\n", "1:a\n2-b\n--\n4-d\n5:e\n", "2 of 5 lines match");
        check(grep("f(", 0), "f(x)\ny", "1:f(x)\n", "1 of 2 lines matches, pattern taken literally");
        check(grep("none", 3), TEXT, "", "0 of 4 lines match");
        check(grep("", usize::MAX), "a", "1:a\n", "1 of 1 line matches");
    }

    #[test]
    fn bytes_that_are_no_text_come_back_as_they_are() {
        let bytes = b"ab\xed\xa0\x80\ncd".to_vec();
        assert_eq!(View::Whole.of(bytes.clone()).bytes, bytes);
        assert_eq!(View::Head(1).of(bytes).bytes, b"ab\xed\xa0\x80\n");
    }
}
