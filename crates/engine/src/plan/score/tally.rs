//! How many shingles of each passage of one result are said or stale, and which message quotes it?
//!
//! Never weighs anything: it counts, and the formula weighs.

use super::quotes::Quotes;
use super::repeats::Repeats;
use super::{Part, ResultText};
use crate::shingles::{Shingle, for_each_shingle};

/// Counts over the shingles that start in one passage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) shingles: u32,
    pub(super) said: u32,
    pub(super) stale: u32,
    /// The newest message that quotes one of them while it is rare.
    pub(super) newest: Option<u32>,
}

impl Tally {
    /// Says whether `part` is nine tenths of the shingles or more. Nothing is mostly anything without shingles.
    pub(super) fn is_mostly(&self, part: u32) -> bool {
        self.shingles > 0 && u64::from(part) * 10 >= u64::from(self.shingles) * 9
    }
}

/// Counts the result at `idx`: one tally for each passage of each part, in order, into `tallies`.
pub(super) fn tally(
    idx: usize,
    result: &ResultText<'_>,
    quotes: &Quotes,
    repeats: &mut Repeats,
    tallies: &mut Vec<Tally>,
) {
    tallies.clear();
    for part in &result.parts {
        let first = tallies.len();
        tallies.resize(first + part.passages.len(), Tally::default());
        let Some(tallies) = tallies.get_mut(first..) else { continue };
        let mut place = 0;
        for_each_shingle(part.text, |shingle| {
            while part.passages.get(place).is_some_and(|passage| passage.end <= shingle.start) {
                place += 1;
            }
            let Some(tally) = tallies.get_mut(place) else { return };
            let quote = quotes.quote(shingle.hash);
            tally.shingles += 1;
            tally.said += u32::from(quote.is_said());
            tally.stale += u32::from(repeats.is_stale(shingle.hash, idx, is_shown(part, place, shingle)));
            tally.newest = tally.newest.max(quote.reference(result.number));
        });
    }
}

/// Says whether all passages that the shingle touches are in view; it starts in the one at `place`.
#[inline]
fn is_shown(part: &Part<'_>, place: usize, shingle: Shingle) -> bool {
    let mut here = place;
    while part.shows(here) {
        match part.passages.get(here) {
            Some(passage) if passage.end < shingle.end => here += 1,
            Some(_) => return true,
            None => return false,
        }
    }
    false
}
