//! Which shingles of the results does the chain hold, since when, and in how many results?
//!
//! Keeps an entry only for what stands, or may stand, in both: the rest of the chain costs no memory but a few bits of a filter.

use std::cell::OnceCell;

use super::filter::{Filter, Sightings, select};
use super::shingled::Hashes;
use super::table::Table;
use super::{ChainText, RARE_RESULTS};

/// What is known of one shingle that the chain holds.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quote {
    /// One more than the newest message number, up to the current one, of a chain text that holds it; 0 if there is none.
    newest: u32,
    /// [`Self::ENTRY`], the number of results that hold it, and below that one more than the index of the last one seen.
    results: u32,
}

impl Quote {
    /// Set in every entry, so that none looks like an absent one.
    const ENTRY: u32 = 1 << 31;
    /// One result in the count, which goes no further than to one more than is rare.
    const ONE: u32 = 1 << 28;

    /// Says whether the chain holds the shingle.
    #[inline]
    pub(super) fn is_said(self) -> bool {
        self.results != 0
    }

    /// Gives the newest message after `number` that holds the shingle, if the shingle is rare enough to tell.
    #[inline]
    pub(super) fn reference(self, number: u32) -> Option<u32> {
        let newest = self.newest.checked_sub(1)?;
        (self.count() <= RARE_RESULTS && newest > number).then_some(newest)
    }

    fn count(self) -> u32 {
        (self.results & !Self::ENTRY) / Self::ONE
    }

    /// Counts the result at `idx`, once if it is seen several times in a row.
    fn see_result(&mut self, idx: usize) {
        let last = (idx + 1) as u32 % Self::ONE;
        if self.results % Self::ONE != last {
            let count = (self.count() + 1).min(RARE_RESULTS + 1);
            self.results = Self::ENTRY | (count * Self::ONE) | last;
        }
    }
}

/// All shingles that chain and results share.
pub(super) struct Quotes {
    said: Filter,
    table: Table<Quote>,
}

impl Quotes {
    /// Reads the chain, as far as `sightings` of results in view ask for it.
    pub(super) fn of(
        current: u32,
        chain: &[(ChainText<'_>, &OnceCell<Hashes>)],
        sightings: &Sightings,
        scratch: &mut Vec<u64>,
    ) -> Self {
        let said = Filter::for_text(chain.iter().map(|(text, _)| text.text.len()).sum());
        let mut quotes = Self { said, table: Table::new() };
        for (text, hashes) in chain {
            let newest = if text.number <= current { text.number.saturating_add(1) } else { 0 };
            let hashes = hashes.get_or_init(|| Hashes::of(text.text, scratch)).all(text.text, scratch);
            select(hashes, |hash| sightings.may_hold(hash), |_, hash| quotes.add(hash, newest));
        }
        quotes
    }

    fn add(&mut self, hash: u64, newest: u32) {
        self.said.add(hash);
        let first = Quote { newest, results: Quote::ENTRY };
        if let Some(quote) = self.table.value_or(hash, first) {
            quote.newest = quote.newest.max(newest);
        }
    }

    /// Counts the result at `idx` for all of its `hashes` that the chain holds. All results must be counted before references are asked for.
    pub(super) fn see_result(&mut self, idx: usize, hashes: &[u64]) {
        let Self { said, table } = self;
        select(
            hashes,
            |hash| said.may_hold(hash),
            |_, hash| {
                if let Some(quote) = table.value_mut(hash) {
                    quote.see_result(idx);
                }
            },
        );
    }

    /// Calls `f` with what is known of each of `hashes` that the chain holds.
    #[inline]
    pub(super) fn for_each(&self, hashes: &[u64], mut f: impl FnMut(Quote)) {
        select(
            hashes,
            |hash| self.said.may_hold(hash),
            |_, hash| {
                let quote = self.table.value(hash);
                if quote.is_said() {
                    f(quote);
                }
            },
        );
    }
}
