//! Which shingles of the results does the chain hold, since when, and in how many results?
//!
//! Keeps an entry only for what stands, or may stand, in both: the rest of chain and results costs no memory but a filter's few bits.

use super::repeats::Repeats;
use super::table::{Filter, Table};
use super::{ChainText, RARE_RESULTS, ResultText};
use crate::shingles::for_each_shingle;

/// What is known of one shingle that results hold.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quote {
    /// One more than the index of the newest result seen to hold it; 0 stands for no entry.
    last: u32,
    /// The newest message number up to the current one of a chain text that holds it.
    newest: u32,
    /// How many results hold it, counted no further than to one more than is rare.
    results: u8,
    /// Whether a chain text holds it.
    is_said: bool,
}

impl Quote {
    /// Says whether the chain holds the shingle.
    pub(super) fn is_said(self) -> bool {
        self.is_said
    }

    /// Gives the newest message after `number` that holds the shingle, if the shingle is rare enough to tell.
    pub(super) fn reference(self, number: u32) -> Option<u32> {
        (self.is_said && u32::from(self.results) <= RARE_RESULTS && self.newest > number).then_some(self.newest)
    }

    fn saw_result(&mut self, idx: u32) {
        if self.last != idx + 1 {
            self.last = idx + 1;
            self.results = (self.results + 1).min(RARE_RESULTS as u8 + 1);
        }
    }
}

/// All shingles that chain and results share.
pub(super) struct Quotes {
    said: Filter,
    table: Table<Quote>,
}

impl Quotes {
    /// Reads the chain, the results, and the chain again. On the way it shows every shingle of a result in view to `repeats`.
    pub(super) fn of(current: u32, chain: &[ChainText<'_>], results: &[ResultText<'_>], repeats: &mut Repeats) -> Self {
        let bytes = chain.iter().map(|text| text.text.len()).sum();
        let mut said = Filter::for_text(bytes);
        for text in chain {
            for_each_shingle(text.text, |shingle| said.add(shingle.hash));
        }
        let mut quotes = Self { said, table: Table::new() };
        for (idx, result) in (0..).zip(results) {
            quotes.see_result(idx, result, repeats);
        }
        for text in chain {
            quotes.see_chain(current, text);
        }
        quotes
    }

    fn see_result(&mut self, idx: u32, result: &ResultText<'_>, repeats: &mut Repeats) {
        for part in &result.parts {
            let is_shown = part.in_view.contains(&true);
            for_each_shingle(part.text, |shingle| {
                if is_shown {
                    repeats.sight(shingle.hash);
                }
                if self.said.may_hold(shingle.hash) {
                    let first = Quote { last: u32::MAX, ..Quote::default() };
                    if let Some(quote) = self.table.value_or(shingle.hash, first) {
                        quote.saw_result(idx);
                    }
                }
            });
        }
    }

    fn see_chain(&mut self, current: u32, text: &ChainText<'_>) {
        for_each_shingle(text.text, |shingle| {
            if let Some(quote) = self.table.value_mut(shingle.hash) {
                quote.is_said = true;
                if text.number <= current {
                    quote.newest = quote.newest.max(text.number);
                }
            }
        });
    }

    /// Gives what is known of a shingle that some result holds.
    #[inline]
    pub(super) fn quote(&self, hash: u64) -> Quote {
        if self.said.may_hold(hash) { self.table.value(hash) } else { Quote::default() }
    }
}
