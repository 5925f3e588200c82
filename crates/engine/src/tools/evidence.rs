//! Is a line evidence of a failure? Marks as whole words, since prose and passing verdicts use the same ones.
//!
//! Looks at one line at a time and never decides what becomes of it. Where all lines of a text are asked about, one pass
//! over the text finds those that are worth a look.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Input};
use serde::Deserialize;

/// The marks as the table writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EvidenceRows {
    /// Whole words; a `*` at either end lifts the bound there.
    words: Vec<String>,
    /// Words that count only behind a number that is not zero.
    counted: Vec<String>,
    /// First words of a line, white space and colour set aside.
    starts: Vec<String>,
    /// Words after which a mark says the opposite.
    never_after: Vec<String>,
}

/// The marks, ready to be looked for.
#[derive(Default)]
pub(super) struct Evidence {
    /// Finds any mark in one pass; `None` only if the table is broken.
    finder: Option<AhoCorasick>,
    /// What each mark asks of its surroundings.
    marks: Vec<Mark>,
    starts: Vec<Start>,
    never_after: Vec<String>,
}

/// First words of a line, also where nothing follows them.
struct Start {
    mark: String,
    alone: String,
}

#[derive(Clone, Copy)]
struct Mark {
    opens_word: bool,
    closes_word: bool,
    is_counted: bool,
}

impl From<EvidenceRows> for Evidence {
    fn from(rows: EvidenceRows) -> Self {
        let words = rows.words.iter().map(|word| (word, false));
        let counted = rows.counted.iter().map(|word| (word, true));
        let (mut texts, mut marks) = (Vec::new(), Vec::new());
        for (word, is_counted) in words.chain(counted) {
            let text = word.trim_matches('*');
            texts.push(text.to_owned());
            marks.push(Mark {
                opens_word: !word.starts_with('*') && text.starts_with(is_word),
                closes_word: !word.ends_with('*') && text.ends_with(is_word),
                is_counted,
            });
        }
        let starts = rows.starts.into_iter().map(|mark| Start { alone: mark.trim_end().to_owned(), mark });
        Self { finder: AhoCorasick::new(texts).ok(), marks, starts: starts.collect(), never_after: rows.never_after }
    }
}

impl Evidence {
    /// Says whether a line is evidence of a failure.
    pub(super) fn is_in(&self, line: &str) -> bool {
        if self.opens(without_colour_before(line)) {
            return true;
        }
        let Some(finder) = &self.finder else { return false };
        finder.find_overlapping_iter(line).any(|found| {
            let (before, after) = (line.get(..found.start()), line.get(found.end()..));
            let (Some(before), Some(after)) = (before, after) else { return false };
            self.marks.get(found.pattern().as_usize()).is_some_and(|mark| self.holds(*mark, before, after))
        })
    }

    fn opens(&self, line: &str) -> bool {
        let first = line.as_bytes().first();
        let may_open = |start: &&Start| start.mark.as_bytes().first() == first;
        self.starts.iter().filter(may_open).any(|start| line.starts_with(start.mark.as_str()) || line == start.alone)
    }

    fn holds(&self, mark: Mark, before: &str, after: &str) -> bool {
        let before = without_colour_after(before);
        if (mark.opens_word && before.ends_with(is_word)) || (mark.closes_word && after.starts_with(is_word)) {
            return false;
        }
        let (rest, word) = last_word(before);
        match mark.is_counted {
            true => is_count(word) && !rest.ends_with([':', '.', '/', '-']),
            false => !self.never_after.iter().any(|never| never == word) && !counts_none(after),
        }
    }
}

/// The lines of one text that may be evidence, asked about in their order: every line that is none of them is none.
pub(crate) struct Suspects<'t> {
    text: &'t str,
    evidence: &'static Evidence,
    /// Where the next mark begins.
    next: Option<usize>,
}

impl<'t> Suspects<'t> {
    pub(in crate::tools) fn new(evidence: &'static Evidence, text: &'t str) -> Self {
        let mut suspects = Self { text, evidence, next: None };
        suspects.find(0);
        suspects
    }

    /// Says whether the line at these bytes may be evidence, with its colours or without.
    pub(crate) fn may_be(&mut self, line: Range<usize>) -> bool {
        if self.next.is_some_and(|next| next < line.start) {
            self.find(line.start);
        }
        if self.next.is_some_and(|next| next < line.end) {
            // One is enough, however many there are.
            self.find(line.end);
            return true;
        }
        let line = self.text.get(line).unwrap_or_default();
        let first = line.trim_start();
        // A mark may come to be where a colour goes.
        self.evidence.starts.iter().any(|start| first.starts_with(start.alone.as_str()))
            || memchr::memchr(b'\x1b', line.as_bytes()).is_some()
    }

    fn find(&mut self, from: usize) {
        let input = Input::new(self.text).range(from.min(self.text.len())..);
        self.next = self.evidence.finder.as_ref().and_then(|finder| finder.find(input)).map(|found| found.start());
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word that ends one space before the end, and what stands before it; empty if something else stands there.
fn last_word(text: &str) -> (&str, &str) {
    let Some(text) = text.strip_suffix(' ') else { return ("", "") };
    let start = text.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map_or(text.len(), |(at, _)| at);
    text.split_at_checked(start).unwrap_or_default()
}

/// A number over zero. (A clock's minutes are none: the caller looks at what stands before.)
fn is_count(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte != b'0')
}

/// `: 0` and `=0`, as summaries write it when nothing failed.
fn counts_none(after: &str) -> bool {
    let count = after.strip_prefix([':', '=']).unwrap_or_default();
    let count = count.trim_start();
    count.starts_with('0') && !count.get(1..).unwrap_or_default().starts_with(is_word)
}

/// Terminal colours would otherwise stand as letters before a word: `\x1b[1m\x1b[31merror`.
fn without_colour_after(text: &str) -> &str {
    let mut text = text;
    while let Some(at) = text.strip_suffix('m').and_then(|body| body.rfind('\x1b')) {
        let code = text.get(at + 1..text.len() - 1).and_then(|code| code.strip_prefix('['));
        if !code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')) {
            break;
        }
        text = text.get(..at).unwrap_or_default();
    }
    text
}

/// Leaves out white space and colour before the first word.
pub(super) fn without_colour_before(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some(code) = rest.strip_prefix("\x1b[") {
        let Some((digits, after)) = code.split_once('m') else { break };
        if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
            break;
        }
        rest = after.trim_start();
    }
    rest
}
