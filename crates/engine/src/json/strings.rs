//! What does a string literal say, and how is a text written as one?
//!
//! Works on single literals; never looks at what stands around them.

use super::specials::{Specials, string_end};
use crate::error::{Error, Result};
use std::borrow::Cow;

/// Text of a lone surrogate; as long in UTF-8 as the surrogate in WTF-8, so offsets agree.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// What a string literal says.
///
/// A `\ud83d` without its other half is no character: [`Decoded::text`] has U+FFFD in its place, [`Decoded::wtf8`] keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    text: Cow<'a, str>,
    /// Offset in `text` and value of each lone surrogate.
    lone: Vec<(usize, u16)>,
}

impl<'a> Decoded<'a> {
    /// Gives the text, with U+FFFD for each lone surrogate.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the text, borrowed from the literal where that has no escape.
    #[must_use]
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// Gives the text in generalised UTF-8 (WTF-8), where lone surrogates stay what they are: for content ids.
    #[must_use]
    pub fn wtf8(&self) -> Cow<'_, [u8]> {
        if self.lone.is_empty() {
            return Cow::Borrowed(self.text.as_bytes());
        }
        let mut bytes = self.text.as_bytes().to_vec();
        for (offset, unit) in &self.lone {
            if let Some(place) = bytes.get_mut(*offset..*offset + 3) {
                place.copy_from_slice(&surrogate_bytes(*unit));
            }
        }
        Cow::Owned(bytes)
    }

    /// Says whether the literal holds half a surrogate pair.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        !self.lone.is_empty()
    }
}

/// Gives the three bytes that UTF-8's scheme has for a surrogate.
fn surrogate_bytes(unit: u16) -> [u8; 3] {
    let low_six = |bits: u16| 0x80 | (bits & 0x3f) as u8;
    [0xe0 | (unit >> 12) as u8, low_six(unit >> 6), low_six(unit)]
}

/// Decodes a string literal, quotation marks included.
///
/// ```
/// use liveset_engine::json::decode;
/// let decoded = decode(br#""a\tb \ud83d""#)?;
/// assert_eq!(decoded.text(), "a\tb \u{fffd}");
/// assert_eq!(&*decoded.wtf8(), b"a\tb \xed\xa0\xbd");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
///
/// # Errors
/// What is no JSON string in UTF-8, with the offset from the literal's first byte.
pub fn decode(literal: &[u8]) -> Result<Decoded<'_>> {
    if literal.first() != Some(&b'"') {
        return Err(Error::Json { offset: 0, expected: "`\"`" });
    }
    let text = utf8(literal)?;
    let end = string_end(literal, 0)?;
    if end < literal.len() {
        return Err(Error::Json { offset: end, expected: "the end of the string" });
    }
    Ok(unescape(text.get(1..end - 1).unwrap_or_default()))
}

/// Checks that bytes are UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        let offset = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        Error::Utf8 { offset }
    })
}

/// Says whether a literal that is known to be valid says `text`.
pub(super) fn says(literal: &[u8], text: &str) -> bool {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if inner == text.as_bytes() {
        return !inner.contains(&b'\\');
    }
    // Escapes only ever make a literal longer.
    inner.len() > text.len() && inner.contains(&b'\\') && decode(literal).is_ok_and(|decoded| decoded.text() == text)
}

/// Decodes the inside of a literal whose escapes are known to be valid.
pub(super) fn unescape(inner: &str) -> Decoded<'_> {
    let bytes = inner.as_bytes();
    let mut specials = Specials::new(bytes, 0);
    let mut escape = specials.next(0);
    if escape == bytes.len() {
        return Decoded { text: Cow::Borrowed(inner), lone: Vec::new() };
    }
    let mut text = String::with_capacity(inner.len());
    let mut lone = Vec::new();
    let mut from = 0;
    while escape < bytes.len() {
        text.push_str(inner.get(from..escape).unwrap_or_default());
        let (said, len) = escape_at(bytes, escape);
        match said {
            Said::Char(char) => text.push(char),
            Said::Lone(unit) => {
                lone.push((text.len(), unit));
                text.push(REPLACEMENT);
            }
        }
        from = escape + len;
        escape = specials.next(from);
    }
    text.push_str(inner.get(from..).unwrap_or_default());
    Decoded { text: Cow::Owned(text), lone }
}

/// What an escape stands for.
pub(super) enum Said {
    Char(char),
    Lone(u16),
}

impl Said {
    /// Gives its length in the decoded text.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Char(char) => char.len_utf8(),
            Self::Lone(_) => REPLACEMENT.len_utf8(),
        }
    }
}

/// Reads the escape whose backslash stands at `at`, and its length in the literal.
pub(super) fn escape_at(bytes: &[u8], at: usize) -> (Said, usize) {
    let short = |char| (Said::Char(char), 2);
    match bytes.get(at + 1) {
        Some(b'n') => short('\n'),
        Some(b't') => short('\t'),
        Some(b'r') => short('\r'),
        Some(b'b') => short('\u{8}'),
        Some(b'f') => short('\u{c}'),
        Some(b'u') => unicode_escape_at(bytes, at),
        Some(&other) if other.is_ascii() => short(char::from(other)),
        // Only text that is no JSON gets here: the backslash stands for itself.
        _ => (Said::Char('\\'), 1),
    }
}

fn unicode_escape_at(bytes: &[u8], at: usize) -> (Said, usize) {
    let Some(unit) = unit_at(bytes, at) else { return (Said::Char('u'), 2) };
    if let Some(char) = char::from_u32(u32::from(unit)) {
        return (Said::Char(char), 6);
    }
    let pair = [unit, unit_at(bytes, at + 6).unwrap_or_default()];
    match char::decode_utf16(pair).next() {
        Some(Ok(char)) => (Said::Char(char), 12),
        Some(Err(_)) | None => (Said::Lone(unit), 6),
    }
}

/// Reads the four digits of a `\u` escape at `at`.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// Writes a text as a JSON string, with the shortest escapes and only those that JSON demands.
///
/// ```
/// use liveset_engine::json::encode;
/// assert_eq!(encode("é\n\"\u{1}"), r#""é\n\"\u0001""#);
/// ```
#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16 + 2);
    out.push('"');
    push_encoded(&mut out, text);
    out.push('"');
    out
}

/// Writes a text as [`encode`] does, without the quotation marks: to be put into a literal.
///
/// ```
/// assert_eq!(liveset_engine::json::encode_inner("a\tb"), r"a\tb");
/// ```
#[must_use]
pub fn encode_inner(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    push_encoded(&mut out, text);
    out
}

fn push_encoded(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut specials = Specials::new(bytes, 0);
    let mut from = 0;
    loop {
        let at = specials.next(from);
        out.push_str(text.get(from..at).unwrap_or_default());
        let Some(&byte) = bytes.get(at) else { return };
        push_escape(out, byte);
        from = at + 1;
    }
}

fn push_escape(out: &mut String, byte: u8) {
    match byte {
        b'\n' => out.push_str("\\n"),
        b'\t' => out.push_str("\\t"),
        b'\r' => out.push_str("\\r"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        control => {
            out.push_str("\\u00");
            for digit in [control >> 4, control & 0xf] {
                out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
    }
}
