//! Which piece of a long answer is given? Pages that end with a line where one ends, and never inside a character.
//!
//! Changes no text: all pages behind one another are the answer.

/// Bytes of one answer's text, at most: about 8,000 tokens, under what common clients take from one tool call.
pub const MAX_ANSWER_BYTES: usize = 32_000;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page<'t> {
    pub(crate) text: &'t str,
    /// Where in the text it begins.
    pub(crate) from: usize,
    /// Where the next one begins; `None` behind the last.
    pub(crate) next: Option<usize>,
}

/// Gives the page that begins at byte `offset`, or at the character that byte is in.
pub(crate) fn page(text: &str, offset: usize) -> Page<'_> {
    let from = border(text, offset);
    let rest = text.get(from..).unwrap_or_default();
    if rest.len() <= MAX_ANSWER_BYTES {
        return Page { text: rest, from, next: None };
    }
    let most = rest.get(..border(rest, MAX_ANSWER_BYTES)).unwrap_or_default();
    // A line longer than a page is cut; so each page brings the reader further.
    let end = most.rfind('\n').map_or(most.len(), |end| end + 1);
    Page { text: rest.get(..end).unwrap_or_default(), from, next: Some(from + end) }
}

/// Gives the last border between characters at or before a byte.
fn border(text: &str, byte: usize) -> usize {
    let byte = byte.min(text.len());
    (0..=byte).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_pages(text: &str) -> Vec<&str> {
        let mut pages = Vec::new();
        let mut at = Some(0);
        while let Some(offset) = at {
            let page = page(text, offset);
            assert!(page.text.len() <= MAX_ANSWER_BYTES && page.next.is_none_or(|next| next > offset));
            pages.push(page.text);
            at = page.next;
        }
        pages
    }

    #[test]
    fn pages_behind_one_another_are_the_text() {
        let lines: String = (0..9_000).map(|line| format!("line {line}\n")).collect();
        let giant = "äöü€".repeat(20_000);
        for text in ["", "one line", &lines, &giant, &format!("a\n{giant}\nb\n")] {
            assert_eq!(all_pages(text).concat(), *text);
        }
        assert!(all_pages(&lines).iter().all(|page| page.ends_with('\n')), "a page ends with a line");
    }

    #[test]
    fn an_offset_past_the_end_or_inside_a_character_is_no_panic() {
        assert_eq!(page("ab", 99), Page { text: "", from: 2, next: None });
        assert_eq!(page("ä", 1), Page { text: "ä", from: 0, next: None });
        assert_eq!(page("ä", usize::MAX).text, "");
    }
}
