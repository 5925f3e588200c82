//! What are the words and values of a text? The referee's own reading, after the study's "Metric, exactly".
//!
//! Shares no code with the engine's shingles, so that one mistake cannot hide in the judge and the judged.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What a search tool writes before a line: path, colon or dash, number, colon or dash.
static SEARCH_PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\w./@+-]*[./][\w./@+-]*[:-]\d+[:-]").ok());

/// Fewest characters of a value.
const SHORTEST_VALUE: usize = 5;

/// Gives a line without the number or the place that a tool wrote before it.
///
/// ```
/// use liveset_eval::words::without_prefix;
/// assert_eq!(without_prefix("  12\u{2192}let a = 1;"), "let a = 1;");
/// assert_eq!(without_prefix("src/a.rs:7:let a = 1;"), "let a = 1;");
/// assert_eq!(without_prefix("let a = 1;"), "let a = 1;");
/// ```
#[must_use]
pub fn without_prefix(line: &str) -> &str {
    if let Some(rest) = without_number(line) {
        return rest;
    }
    let found = SEARCH_PREFIX.as_ref().and_then(|prefix| prefix.find(line));
    found.and_then(|found| line.get(found.end()..)).unwrap_or(line)
}

/// Takes `^\s*\d+\s*[→\t|:]\s?` off a line.
fn without_number(line: &str) -> Option<&str> {
    let digits = line.trim_start();
    let rest = digits.trim_start_matches(|character: char| character.is_ascii_digit());
    if rest.len() == digits.len() {
        return None;
    }
    let after = rest.trim_start();
    // A tab is both a space and a mark: the last one counts where no other mark follows.
    let marked = after.strip_prefix(['\u{2192}', '|', ':']).or_else(|| {
        let spaces = rest.get(..rest.len() - after.len()).unwrap_or("");
        spaces.rfind('\t').and_then(|tab| rest.get(tab + 1..))
    })?;
    Some(marked.strip_prefix(char::is_whitespace).unwrap_or(marked))
}

/// Says whether a character belongs to a word of several.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Walks the words of a line: runs of letters, digits and `_`, and every other character that is no space.
///
/// ```
/// use liveset_eval::words::words;
/// assert_eq!(words("a_1 = f(x)").collect::<Vec<_>>(), ["a_1", "=", "f", "(", "x", ")"]);
/// ```
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let end = match is_letter(first) {
            true => rest.find(|character| !is_letter(character)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Says whether a word starts with a letter, a digit or `_`.
#[must_use]
pub fn is_speaking(word: &str) -> bool {
    word.chars().next().is_some_and(is_letter)
}

/// Walks the values of a line: names, paths, numbers and addresses that a text can be asked for.
///
/// ```
/// use liveset_eval::words::values;
/// assert_eq!(values("see src/a.rs, plain words, camelCase").collect::<Vec<_>>(), ["src/a.rs", "camelCase"]);
/// ```
pub fn values(line: &str) -> impl Iterator<Item = &str> {
    let in_run = |character: char| character.is_ascii_alphanumeric() || "_.@/#-".contains(character);
    let runs = line.split(move |character| !in_run(character));
    runs.filter_map(|run| {
        let opens = |byte: &u8| byte.is_ascii_alphanumeric() || b"_#".contains(byte);
        let closes = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let bytes = run.as_bytes();
        let place: Range<usize> = bytes.iter().position(opens)?..bytes.iter().rposition(closes)? + 1;
        let value = run.get(place).filter(|value| value.len() >= SHORTEST_VALUE)?;
        let is_marked = value.bytes().any(|byte| byte.is_ascii_digit() || b"_/@.".contains(&byte));
        let is_camel = || {
            value
                .as_bytes()
                .windows(2)
                .any(|two| matches!(two, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
        };
        (is_marked || is_camel()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_lines_go_with_their_mark_and_one_space() {
        let lines = ["12\tx", " 7 |  y", "3: z", "12 apples", "5 \t\t q", "x12: y", "12:30"];
        let bare: Vec<&str> = lines.into_iter().map(without_prefix).collect();
        assert_eq!(bare, ["x", " y", "z", "12 apples", "q", "x12: y", "30"]);
    }

    #[test]
    fn places_of_search_tools_go_and_other_colons_stay() {
        let lines = ["src/a.rs:12:fn a", "./b-7-  x", "https://a.b/c", "a:12:b", "key.name: 3"];
        let bare: Vec<&str> = lines.into_iter().map(without_prefix).collect();
        assert_eq!(bare, ["fn a", "  x", "https://a.b/c", "a:12:b", "key.name: 3"]);
    }

    #[test]
    fn words_are_runs_of_letters_of_any_script_and_single_signs() {
        assert_eq!(words("naïve_2 中文->x  ").collect::<Vec<_>>(), ["naïve_2", "中文", "-", ">", "x"]);
        assert_eq!([is_speaking("é"), is_speaking("("), is_speaking("_a")], [true, false, true]);
    }

    #[test]
    fn values_hold_a_mark_and_end_on_a_letter_or_digit() {
        let found = |line: &'static str| values(line).collect::<Vec<_>>();
        assert_eq!(found("--file=a/b.c. #A123 me@x.org"), ["a/b.c", "#A123", "me@x.org"]);
        assert_eq!(found("plain Plain aB12 -_x_- x.y "), [""; 0]);
        assert_eq!(found("ABCdef abCd abcDe"), ["abcDe"]);
    }
}
