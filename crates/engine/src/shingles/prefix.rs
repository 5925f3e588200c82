//! How many bytes at the start of a line are not the line's own text? A patch mark, a line number, or a grep place.
//!
//! Never looks past the line's end and never allocates; each byte is looked at a fixed number of times.

use super::letters::{is_digit, is_word};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Finds what a patch holds in its first line when an agent writes one by tool. Made once, since most texts are shorter than the making is long.
static PATCH_NOTE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Begin Patch"));
/// What the output of `git diff` starts with.
const DIFF_START: &str = "diff --git";

/// What some tools print between a line's number and the line.
const ARROW: char = '→';

/// Whether the lines of a text carry patch marks. Asked once of each text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// The text is a patch: each line may begin with one `+`, `-` or space that is not its own.
    Patch,
    /// The text is not a patch.
    Plain,
}

impl Marks {
    /// Says which marks the lines of `text` carry.
    pub(super) fn of(text: &str) -> Self {
        if text.starts_with(DIFF_START) || PATCH_NOTE.find(text.as_bytes()).is_some() {
            Self::Patch
        } else {
            Self::Plain
        }
    }
}

/// Gives the length of the prefix of the line that starts at byte `at` of `text`: the patch mark first, then a line number or else a grep place.
pub(super) fn prefix_len(text: &str, at: usize, marks: Marks) -> usize {
    let first = text.as_bytes().get(at);
    let mark = usize::from(marks == Marks::Patch && matches!(first, Some(b'+' | b'-' | b' ')));
    let at = at + mark;
    mark + line_number_len(text, at).or_else(|| grep_place_len(text, at)).unwrap_or(0)
}

/// Matches `^\s*\d+\s*[→\t|:]\s?` as a backtracking matcher would.
fn line_number_len(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let indent = rest.iter().take_while(|byte| is_space_or_tab(**byte)).count();
    let first = *rest.get(indent)?;
    // Nearly every line ends here: the first byte after its indent is no digit.
    if first.is_ascii_graphic() && !first.is_ascii_digit() {
        return None;
    }
    let number = rest.get(indent..)?;
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let tail = number.get(digits..)?;
    let blanks = tail.iter().take_while(|byte| is_space_or_tab(**byte)).count();
    let separator = match *tail.get(blanks..)? {
        _ if digits == 0 => return any_line_number_len(text.get(at..)?),
        [b':' | b'|', ..] => blanks + 1,
        [0xe2, 0x86, 0x92, ..] => blanks + ARROW.len_utf8(),
        // The blanks are greedy, so among several tabs the last one is the separator.
        [byte, ..] if byte.is_ascii_graphic() => tail.get(..blanks)?.iter().rposition(|byte| *byte == b'\t')? + 1,
        _ => return any_line_number_len(text.get(at..)?),
    };
    let end = indent + digits + separator;
    Some(end + blank_len(text, at + end))
}

fn is_space_or_tab(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The same for digits and white space of any script.
fn any_line_number_len(line: &str) -> Option<usize> {
    let number = line.trim_start_matches(is_blank);
    let after = number.trim_start_matches(is_digit);
    if after.len() == number.len() {
        return None;
    }
    let tail = after.trim_start_matches(is_blank);
    let blanks = after.get(..after.len() - tail.len())?;
    let rest = match tail.strip_prefix([ARROW, '|', ':']) {
        Some(rest) => rest,
        // The blanks are greedy, so among several tabs the last one is the separator.
        None => after.get(blanks.rfind('\t')? + 1..)?,
    };
    let rest = rest.strip_prefix(is_blank).unwrap_or(rest);
    Some(line.len() - rest.len())
}

/// Gives the length of the white space character at byte `at`, or 0 if there stands another.
fn blank_len(text: &str, at: usize) -> usize {
    match text.as_bytes().get(at) {
        Some(b' ' | b'\t') => 1,
        Some(byte) if byte.is_ascii_graphic() => 0,
        _ => text.get(at..).and_then(|rest| rest.chars().next()).filter(|c| is_blank(*c)).map_or(0, char::len_utf8),
    }
}

/// Matches `^[\w./@+-]*[./][\w./@+-]*[:-]\d+[:-]`, where `\w` is a letter, a number or `_`.
///
/// The greedy pattern takes the last place where a `:` or `-` stands before digits and another `:` or `-`, with a `.` or `/` somewhere before.
/// So one walk is enough: it remembers the newest separator that may open such a place and the end of the last place seen.
fn grep_place_len(text: &str, at: usize) -> Option<usize> {
    let mut is_path = false;
    let mut is_open = false;
    let mut digits = 0;
    let mut found = None;
    let bytes = text.as_bytes();
    let mut here = at;
    while let Some(&byte) = bytes.get(here) {
        match byte {
            b':' | b'-' => {
                if is_open && digits > 0 {
                    found = Some(here + 1 - at);
                }
                // A path cannot hold a colon: only the place that this colon opens may still follow.
                if byte == b':' {
                    return if is_path {
                        place_after_colon(text, here + 1).map(|end| end - at).or(found)
                    } else {
                        found
                    };
                }
                is_open = is_path;
                digits = 0;
            }
            b'0'..=b'9' => digits += 1,
            b'.' | b'/' => (is_path, is_open) = (true, false),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'@' | b'+' => is_open = false,
            0x80.. => {
                let c = text.get(here..)?.chars().next()?;
                if !is_word(c) {
                    return found;
                }
                if is_digit(c) {
                    digits += 1;
                } else {
                    is_open = false;
                }
                here += c.len_utf8() - 1;
            }
            0..=0x7f => return found,
        }
        here += 1;
    }
    found
}

/// Gives the end of `\d+[:-]` at byte `at`.
fn place_after_colon(text: &str, at: usize) -> Option<usize> {
    let line = text.get(at..)?;
    let after = line.trim_start_matches(is_digit);
    let is_place = after.len() < line.len() && after.starts_with([':', '-']);
    is_place.then(|| at + line.len() - after.len() + 1)
}

/// White space inside a line: lines end at `\n` alone, so a carriage return is white space.
fn is_blank(c: char) -> bool {
    c != '\n' && c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, rest: &str) {
        assert_eq!(&line[prefix_len(line, 0, Marks::of(line))..], rest, "{line:?}");
    }

    #[test]
    fn line_numbers_go_with_their_separator_and_one_blank() {
        check("   12\tlet x", "let x");
        check("12→  let", " let");
        check("7: a", "a");
        check("7 \t \t  a", " a");
        check("٣|a", "a");
        check("12 a", "12 a");
        check("12", "12");
        check(" \n 12: a", " \n 12: a");
        check("12:\na", "\na");
    }

    #[test]
    fn grep_places_need_a_path_and_a_number_between_separators() {
        check("src/a.rs:12:  fn", "  fn");
        check("src/a.rs-12-fn", "fn");
        check("a.b-1-2-3", "3");
        check("a-1-b.c-2:3", "3");
        check("a-1.b", "a-1.b");
        check("Makefile:3:x", "Makefile:3:x");
        check("a.c:12x", "a.c:12x");
        check("a.c-7-:8:x", "x");
        check("a.c-7:x", "x");
        check("путь/файл:9:x", "x");
        check("2024-01-02", "2024-01-02");
    }

    #[test]
    fn a_patch_loses_its_mark_before_its_line_number() {
        check("diff --git a b", "diff --git a b");
        let patch = "*** Begin Patch\n+12: x\n y";
        assert_eq!(prefix_len(patch, 16, Marks::of(patch)), 5);
        assert_eq!(prefix_len(patch, 23, Marks::of(patch)), 1);
        assert_eq!(prefix_len("+12: x", 0, Marks::Plain), 0);
    }
}
