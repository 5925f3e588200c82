//! How many tokens does a public vocabulary give? Exactly as many as the vendor's own tokenizer.

use std::cell::RefCell;

use crate::{
    counter::{Exactness, TokenCounter},
    marks::LineMarks,
    merge::Merger,
    pieces,
    tokens::Tokens,
    vocabulary::{self, Vocabulary},
};

/// A public vocabulary and the pattern that cuts its pieces.
pub(crate) struct Exact {
    name: &'static str,
    vocabulary: &'static Vocabulary,
    piece_end: fn(&str, usize) -> usize,
}

/// `o200k_base`: GPT-4o and later.
pub(crate) static O200K: Exact = Exact { name: "o200k", vocabulary: &vocabulary::O200K, piece_end: pieces::o200k_end };
/// `cl100k_base`: GPT-3.5 and GPT-4.
pub(crate) static CL100K: Exact =
    Exact { name: "cl100k", vocabulary: &vocabulary::CL100K, piece_end: pieces::cl100k_end };

thread_local! {
    /// Room for merging, kept from text to text. What it remembers never changes a count.
    static MERGER: RefCell<Merger> = RefCell::default();
}

impl TokenCounter for Exact {
    fn count(&self, text: &str) -> Tokens {
        self.count_noting(text, |_, _| ())
    }

    fn count_marked(&self, text: &str, marks: &mut LineMarks) -> Tokens {
        *marks = LineMarks::default();
        self.count_noting(text, |end, tokens| {
            if end == text.len() || text.as_bytes().get(end.wrapping_sub(1)) == Some(&b'\n') {
                marks.push(end, tokens);
            }
        })
    }

    fn name(&self) -> &str {
        self.name
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }
}

impl Exact {
    /// Counts, telling after each piece where it ended and how many tokens there were up to there.
    fn count_noting(&self, text: &str, note: impl FnMut(usize, u64)) -> Tokens {
        MERGER.with(|merger| match merger.try_borrow_mut() {
            Ok(mut merger) => self.count_with(&mut merger, text, note),
            Err(_) => self.count_with(&mut Merger::default(), text, note),
        })
    }

    fn count_with(&self, merger: &mut Merger, text: &str, mut note: impl FnMut(usize, u64)) -> Tokens {
        let (mut start, mut total) = (0, 0_u64);
        while start < text.len() {
            // Each piece takes something, so the walk ends whatever the text.
            let end = (self.piece_end)(text, start).max(start + 1).min(text.len());
            total = total.saturating_add(merger.count(self.vocabulary, text.as_bytes(), start, end));
            start = end;
            note(end, total);
        }
        Tokens(total)
    }
}
