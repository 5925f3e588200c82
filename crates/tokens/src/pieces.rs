//! Where does a vocabulary's pattern cut a text into pieces?
//!
//! Follows the published patterns of o200k and cl100k by hand, alternative by alternative; no regular expression runs. It
//! never looks at a vocabulary: a token lies inside one piece.

use crate::classes::{BLANK, LETTER, LOWER, NUMBER, UPPER, classes};

/// Digits that form one piece at most.
const MAX_DIGITS: usize = 3;

/// Gives the first character at a place and its length in bytes.
#[inline]
fn char_at(text: &str, at: usize) -> Option<(char, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 128 {
        return Some((char::from(byte), 1));
    }
    let c = text.get(at..)?.chars().next()?;
    Some((c, c.len_utf8()))
}

/// Skips the characters that have one of the wanted classes.
#[inline]
fn skip(text: &str, mut at: usize, wanted: u8) -> usize {
    while let Some((c, len)) = char_at(text, at) {
        if classes(c) & wanted == 0 {
            break;
        }
        at += len;
    }
    at
}

/// Gives the end of the o200k piece that begins at `start`.
///
/// The pattern's alternatives in their order: a word that ends in lower case, a word in upper case (each with one sign or
/// blank in front and a contraction behind), up to three digits, signs with line ends and slashes, blanks.
pub(crate) fn o200k_end(text: &str, start: usize) -> usize {
    let Some((first, len)) = char_at(text, start) else { return text.len() };
    let class = classes(first);
    let takes_front = class & (LETTER | NUMBER) == 0 && first != '\r' && first != '\n';
    let mut word = None;
    for shape in [word_to_lower, word_in_upper] {
        if word.is_none() && takes_front {
            word = shape(text, start + len);
        }
        if word.is_none() && class & (UPPER | LOWER) != 0 {
            word = shape(text, start);
        }
    }
    match word {
        Some(end) => end + contraction_len(text, end),
        None if class & NUMBER != 0 => digits_end(text, start),
        None => signs_end(text, start, |byte| matches!(byte, b'\r' | b'\n' | b'/'))
            .unwrap_or_else(|| blanks_end(text, start)),
    }
}

/// Gives the end of the cl100k piece that begins at `start`.
///
/// In their order: a contraction, a word with one sign or blank in front, up to three digits, signs with line ends, blanks.
pub(crate) fn cl100k_end(text: &str, start: usize) -> usize {
    let Some((first, len)) = char_at(text, start) else { return text.len() };
    let contraction = contraction_len(text, start);
    if contraction > 0 {
        return start + contraction;
    }
    let class = classes(first);
    let word = match class & (LETTER | NUMBER) {
        0 if first != '\r' && first != '\n' => start + len,
        _ => start,
    };
    let word_end = skip(text, word, LETTER);
    if word_end > word {
        return word_end;
    }
    if class & NUMBER != 0 {
        return digits_end(text, start);
    }
    signs_end(text, start, |byte| matches!(byte, b'\r' | b'\n')).unwrap_or_else(|| trailing_blanks_end(text, start))
}

/// `[UPPER]*[LOWER]+`, which gives characters back that are both when nothing lower follows.
fn word_to_lower(text: &str, start: usize) -> Option<usize> {
    let upper_end = skip(text, start, UPPER);
    let lower_end = skip(text, upper_end, LOWER);
    if lower_end > upper_end {
        return Some(lower_end);
    }
    let taken = text.get(start..upper_end)?;
    let (at, last) = taken.char_indices().rfind(|(_, c)| classes(*c) & LOWER != 0)?;
    Some(start + at + last.len_utf8())
}

/// `[UPPER]+[LOWER]*`.
fn word_in_upper(text: &str, start: usize) -> Option<usize> {
    let upper_end = skip(text, start, UPPER);
    (upper_end > start).then(|| skip(text, upper_end, LOWER))
}

fn digits_end(text: &str, start: usize) -> usize {
    let mut end = start;
    for _ in 0..MAX_DIGITS {
        match char_at(text, end) {
            Some((c, len)) if classes(c) & NUMBER != 0 => end += len,
            Some(_) | None => break,
        }
    }
    end
}

/// ` ?[^\s\p{L}\p{N}]+` and then what may trail it.
fn signs_end(text: &str, start: usize, trails: impl Fn(u8) -> bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = start + usize::from(bytes.get(start) == Some(&b' '));
    let mut end = first;
    while let Some((c, len)) = char_at(text, end) {
        if classes(c) & (BLANK | LETTER | NUMBER) != 0 {
            break;
        }
        end += len;
    }
    if end == first {
        return None;
    }
    Some(end + bytes.get(end..)?.iter().take_while(|&&byte| trails(byte)).count())
}

/// `\s*[\r\n]+`, else `\s+(?!\S)`, else `\s+`: up to the last line end, or all but the blank before what follows.
fn blanks_end(text: &str, start: usize) -> usize {
    let end = skip(text, start, BLANK);
    let Some(run) = text.get(start..end) else { return text.len() };
    if let Some(line_end) = run.bytes().rposition(|byte| matches!(byte, b'\r' | b'\n')) {
        return start + line_end + 1;
    }
    let last = run.chars().next_back().map_or(0, char::len_utf8);
    if end == text.len() || run.len() == last { end.max(start + 1) } else { end - last }
}

/// The same with `\s+$` first: at the end of a text blanks stay together.
fn trailing_blanks_end(text: &str, start: usize) -> usize {
    let end = skip(text, start, BLANK);
    if end == text.len() { end } else { blanks_end(text, start) }
}

/// Length of an apostrophe with `s`, `t`, `m`, `d`, `re`, `ve` or `ll` in any case, or 0.
fn contraction_len(text: &str, start: usize) -> usize {
    if text.as_bytes().get(start) != Some(&b'\'') {
        return 0;
    }
    let Some((first, len)) = char_at(text, start + 1) else { return 0 };
    let second = char_at(text, start + 1 + len).map(|(c, _)| c.to_ascii_lowercase());
    match (first.to_ascii_lowercase(), second) {
        // The long s is an s to a pattern that ignores case.
        ('s' | 't' | 'm' | 'd' | 'ſ', _) => 1 + len,
        ('r' | 'v', Some('e')) | ('l', Some('l')) => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, end: fn(&str, usize) -> usize) -> Vec<&str> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let next = end(text, at);
            pieces.push(&text[at..next]);
            at = next;
        }
        pieces
    }

    #[test]
    fn o200k_cuts_words_numbers_signs_and_blanks() {
        assert_eq!(cut("HTTPServer I'll  go", o200k_end), ["HTTPServer", " I'll", " ", " go"]);
        assert_eq!(cut("x=12345;\n\n/y", o200k_end), ["x", "=", "123", "45", ";\n\n/", "y"]);
        assert_eq!(cut("亚洲AV", o200k_end), ["亚洲", "AV"]);
        assert_eq!(cut(" \n \t", o200k_end), [" \n", " \t"]);
    }

    #[test]
    fn cl100k_cuts_contractions_off() {
        assert_eq!(cut("I'll we'VE", cl100k_end), ["I", "'ll", " we", "'VE"]);
        assert_eq!(cut("it'ſharp", cl100k_end), ["it", "'ſ", "harp"]);
        assert_eq!(cut("a \n \n b  ", cl100k_end), ["a", " \n \n", " b", "  "]);
    }
}
