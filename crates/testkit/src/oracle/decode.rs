//! What does a string literal say? Decoded to UTF-8 in which a lone surrogate is its three-byte form (WTF-8).

/// Decodes a literal, quotes included. The caller has parsed it, so unknown escapes cannot occur.
pub(crate) fn text(literal: &[u8]) -> Vec<u8> {
    let inner = literal.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(literal);
    let mut out = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let Some(&kind) = inner.get(at + 1) else { break };
        at += 2;
        match kind {
            b'u' => at += unicode(inner, at, &mut out),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            other => out.push(other),
        }
    }
    out
}

/// Decodes the digits at `at` (and a low surrogate behind them); gives the bytes used.
fn unicode(inner: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let unit = digits(inner, at);
    if (0xD800..0xDC00).contains(&unit) && inner.get(at + 4..at + 6) == Some(b"\\u") {
        let low = digits(inner, at + 6);
        if (0xDC00..0xE000).contains(&low) {
            push(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
            return 10;
        }
    }
    push(unit, out);
    4
}

fn digits(inner: &[u8], at: usize) -> u32 {
    let text = inner.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
    text.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD)
}

fn push(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(character) => out.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend([0xE0 | (code >> 12) as u8, 0x80 | (code >> 6 & 0x3F) as u8, 0x80 | (code & 0x3F) as u8]),
    }
}

/// Gives the byte places at which characters start, and the length: the borders a cut may fall on.
pub(crate) fn character_borders(text: &[u8]) -> Vec<usize> {
    let is_start = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    (0..=text.len()).filter(is_start).collect()
}

/// Says whether a text is nothing or white space only.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.trim().is_empty())
}

/// Splits a text into lines, each with its `\n`; a text that ends in `\n` has no empty last line.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_pairs_and_keeps_lone_halves() {
        assert_eq!(text(br#""a\ud83d\ude00\n\/""#), "a😀\n/".as_bytes());
        assert_eq!(text(br#""\ud83dx""#), [0xED, 0xA0, 0xBD, b'x']);
    }
}
