//! Which words does a text have? Identifiers whole and in their parts, so that code is found by either.

use std::{collections::BTreeSet, fmt::Write as _};

/// Bytes of one original that are indexed: a result over the hard limit of intake is rare, and its rest is found by
/// `grep` inside it.
pub(super) const MAX_INDEXED_BYTES: usize = 2 << 20;

/// Longer runs without a break are data (base64, hex, minified code): they hold no word that anybody searches for.
const MAX_WORD_BYTES: usize = 96;

/// What the full-text index is fed with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The text without long runs.
    pub(super) whole: String,
    /// Parts of identifiers that are words of their own: `parseError` gives `parse` and `Error`.
    pub(super) parts: String,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        for run in text.split(|c: char| !is_word(c)).filter(|run| !run.is_empty() && run.len() <= MAX_WORD_BYTES) {
            let _ = write!(words.whole, "{run} ");
            let mut parts = parts(run).peekable();
            if parts.peek().is_some_and(|first| first.len() < run.len()) {
                parts.for_each(|part| {
                    let _ = write!(words.parts, "{part} ");
                });
            }
        }
        words
    }

    /// Adds what is said elsewhere: no phrase reads on from one to the other.
    pub(super) fn add_apart(&mut self, other: &Self) {
        for (words, others) in [(&mut self.whole, &other.whole), (&mut self.parts, &other.parts)] {
            let _ = write!(words, "{APART} {others}");
        }
    }
}

/// Stands between what is said apart: a word to the index, and one that nobody can ask for, being none here.
const APART: char = '\u{e000}';

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Cuts an identifier at underscores, before capitals that follow small letters, and between letters and digits.
pub(super) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let mut before = None;
        let mut chars = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|(_, c)| *c);
            if c == '_' || before.is_some_and(|before| starts_part(before, c, after)) {
                end = at;
                break;
            }
            before = Some(c);
        }
        let (part, later) = rest.split_at(end);
        rest = later;
        (!part.is_empty()).then_some(part)
    })
}

pub(super) fn starts_part(before: char, c: char, after: Option<char>) -> bool {
    let lower = |c: char| c.is_alphabetic() && !c.is_uppercase();
    // `HTTPServer` is `HTTP` and `Server`.
    (lower(before) && c.is_uppercase())
        || (before.is_uppercase() && c.is_uppercase() && after.is_some_and(lower))
        || (before.is_numeric() != c.is_numeric())
}

/// The words of a text that can be found by a run inside them, each once.
pub(super) fn terms(words: &Words) -> BTreeSet<String> {
    words.whole.split(' ').filter(|word| is_term(word)).map(str::to_lowercase).collect()
}

/// Says whether a word can be found by a run inside it. Numbers are as many as there are lines, and found by their
/// beginning.
pub(super) fn is_term(word: &str) -> bool {
    (MIN_TERM_CHARS..=MAX_TERM_CHARS).contains(&word.chars().count()) && word.chars().any(char::is_alphabetic)
}

/// A shorter word is found whole.
const MIN_TERM_CHARS: usize = 4;

/// Longer words are mostly hashes and the like, each in one text only.
const MAX_TERM_CHARS: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_fall_into_their_parts() {
        let cases = [
            ("parseError", "parse Error"),
            ("HTTPServer2", "HTTP Server 2"),
            ("snake_case_", "snake case"),
            ("plain", "plain"),
            ("__init__", "init"),
            ("日本", "日本"),
            ("___", ""),
        ];
        for (word, expected) in cases {
            assert_eq!(parts(word).collect::<Vec<_>>().join(" "), expected, "{word}");
        }
    }

    #[test]
    fn data_is_no_word() {
        let text = format!("key {} readFile(x)", "QUJD".repeat(100));
        let words = Words::of(&text);
        assert_eq!((words.whole.as_str(), words.parts.as_str()), ("key readFile x ", "read File "));
        assert_eq!(terms(&words).into_iter().collect::<Vec<_>>(), ["readfile"]);
    }
}
