//! How many tokens stand between two lines? What a count notes on its way, so that parts need no count of their own.

use crate::tokens::Tokens;

/// Places behind line ends where a piece of the vocabulary's pattern ends too, with the tokens up to there.
///
/// The pattern looks ahead and never back. So what begins at such a place has the same pieces alone as inside its text, and
/// what ends at one has no piece that would go on: the text between two of them counts as much alone.
///
/// ```
/// use liveset_tokens::{LineMarks, TokenCounter, o200k};
/// let text = "fn main() {\n    run();\n}\n";
/// let mut marks = LineMarks::default();
/// let all = o200k().count_marked(text, &mut marks);
/// assert_eq!(all, o200k().count(text));
/// assert_eq!(marks.between(12, 23), Some(o200k().count("    run();\n")));
/// assert_eq!(marks.between(5, 23), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMarks {
    /// Ends in bytes and tokens up to there, both rising; the last is the text's end.
    places: Vec<(u32, u32)>,
}

impl LineMarks {
    /// Gives the tokens of the text between two bytes; `None` where one of them is no noted place.
    #[must_use]
    pub fn between(&self, from: usize, to: usize) -> Option<Tokens> {
        let (from, to) = (self.up_to(from)?, self.up_to(to)?);
        to.checked_sub(from).map(|tokens| Tokens(u64::from(tokens)))
    }

    fn up_to(&self, byte: usize) -> Option<u32> {
        if byte == 0 {
            return Some(0);
        }
        let byte = u32::try_from(byte).ok()?;
        let at = self.places.binary_search_by_key(&byte, |&(end, _)| end).ok()?;
        self.places.get(at).map(|&(_, tokens)| tokens)
    }

    /// Notes a place. What is too large to note is left out, and counted when it is asked for.
    pub(crate) fn push(&mut self, end: usize, tokens: u64) {
        if let (Ok(end), Ok(tokens)) = (u32::try_from(end), u32::try_from(tokens)) {
            self.places.push((end, tokens));
        }
    }
}
