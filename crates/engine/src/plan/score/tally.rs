//! How many shingles of each passage of one result are said or stale, and which message quotes it?
//!
//! Never weighs anything: it counts, and the formula weighs.

use super::quotes::Quotes;
use super::repeats::Repeats;
use super::shingled::{Shingled, Starting};

/// Counts over the shingles that start in one passage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    shingles: u32,
    said: u32,
    stale: u32,
    /// The newest message that quotes one of them while it is rare.
    pub(super) newest: Option<u32>,
}

impl Tally {
    /// Says whether the chain holds nine tenths of the shingles or more.
    pub(super) fn is_said(&self) -> bool {
        self.is_mostly(self.said)
    }

    /// Says whether newer results show nine tenths of the shingles or more.
    pub(super) fn is_stale(&self) -> bool {
        self.is_mostly(self.stale)
    }

    /// Nothing is mostly anything without shingles.
    fn is_mostly(&self, part: u32) -> bool {
        self.shingles > 0 && u64::from(part) * 10 >= u64::from(self.shingles) * 9
    }
}

/// Counts the result at `idx`: one tally for each passage of each part, in order, into `tallies`.
pub(super) fn tally(
    idx: usize,
    shingled: &Shingled<'_>,
    quotes: &Quotes,
    repeats: &mut Repeats<'_>,
    scratch: &mut Vec<u64>,
    tallies: &mut Vec<Tally>,
) {
    let number = shingled.result.number;
    tallies.clear();
    shingled.for_each_passage(scratch, |starting: Starting<'_>| {
        let mut tally = Tally { shingles: starting.hashes.len() as u32, ..Tally::default() };
        quotes.for_each(starting.hashes, |quote| {
            tally.said += 1;
            tally.newest = tally.newest.max(quote.reference(number));
        });
        tally.stale = repeats.count_stale(idx, starting);
        tallies.push(tally);
    });
}
