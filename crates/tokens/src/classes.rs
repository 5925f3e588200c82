//! What kind of character is this? Letter, number, blank, upper or lower, as the vocabularies' patterns mean it.

use crate::layout::PAGE_CHARS;
pub(crate) use crate::layout::{BLANK, LETTER, LOWER, NUMBER, UPPER};

static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.index"));
static PAGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.pages"));

/// Gives the classes of a character as bits.
#[inline]
pub(crate) fn classes(c: char) -> u8 {
    let code = c as usize;
    // ASCII fills the first half of the first page.
    let page = if code < 128 { 0 } else { INDEX.get(code / PAGE_CHARS).map_or(0, |&page| page as usize) };
    PAGES.get(page * PAGE_CHARS + code % PAGE_CHARS).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_classes() {
        assert_eq!(classes('a'), LETTER | LOWER);
        assert_eq!(classes('A'), LETTER | UPPER);
        assert_eq!(classes('字'), LETTER | UPPER | LOWER);
        assert_eq!(classes('\u{301}'), UPPER | LOWER);
        assert_eq!(classes('7'), NUMBER);
        assert_eq!(classes('\u{3000}'), BLANK);
        assert_eq!(classes('-'), 0);
        assert_eq!(classes('\u{10ffff}'), 0);
    }
}
