//! Is it no text at all: base64, hexadecimal digits, a dump, bytes that were read as characters?

use super::ContentKind;

/// Bytes that a blob has at least.
const MIN_BYTES: usize = 400;
/// Share of the bytes that stand in long runs of digits and letters, in tenths.
const TENTHS: usize = 7;
/// Bytes of such a run, at least.
const MIN_RUN: usize = 60;
/// One character in so many is no character of text.
const ODD_ONE_IN: usize = 20;

/// Says whether a line is a long run of base64 or hexadecimal digits, or a line of a dump.
///
/// ```
/// use liveset_engine::content::blob::is_encoded;
/// assert!(is_encoded(&"iVBORw0KGgoAAAANSUhEUg".repeat(4)));
/// assert!(is_encoded("00000010: 7f45 4c46 0201 0100  .ELF...."));
/// assert!(!is_encoded(&"a word and another ".repeat(4)));
/// ```
#[must_use]
pub fn is_encoded(line: &str) -> bool {
    is_run(line.trim()) || is_dump(line)
}

fn is_run(text: &str) -> bool {
    // What stands before data in an address of its own: `data:image/png;base64,`.
    let text = text.split_once(";base64,").map_or(text, |(_, data)| data);
    let text = text.trim_matches(['"', '\'', ',', ')']);
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    text.len() >= MIN_RUN && text.bytes().all(is_digit) && text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_dump(line: &str) -> bool {
    let Some((at, rest)) = line.split_once([':', ' ']) else { return false };
    let is_hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut words = rest.split_whitespace();
    let is_pair = |word: Option<&str>| word.is_some_and(|word| matches!(word.len(), 2 | 4 | 8) && is_hex(word));
    at.len() >= 7 && is_hex(at) && (0..4).all(|_| is_pair(words.next()))
}

/// Bytes that were seen.
#[derive(Default)]
pub(super) struct BlobLines {
    bytes: usize,
    encoded: usize,
    characters: usize,
    odd: usize,
}

impl BlobLines {
    pub(super) fn see(&mut self, line: &str) {
        self.bytes += line.len();
        self.encoded += if is_encoded(line) { line.len() } else { 0 };
        self.characters += line.chars().count();
        let is_odd = |c: &char| *c == '\u{fffd}' || (c.is_control() && !matches!(c, '\t' | '\r' | '\x1b' | '\x08'));
        self.odd += line.chars().filter(is_odd).count();
    }

    pub(super) fn kind(&self) -> Option<ContentKind> {
        let is_encoded = self.encoded >= MIN_BYTES && self.encoded * 10 >= self.bytes * TENTHS;
        let is_odd = self.odd > 0 && self.characters >= MIN_BYTES && self.odd * ODD_ONE_IN >= self.characters;
        (is_encoded || is_odd).then_some(ContentKind::Blob)
    }
}
