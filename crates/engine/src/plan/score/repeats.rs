//! Which shingles do several results in view hold? Walked newest first, that tells which ones a newer result repeats.
//!
//! Never keeps an entry for a shingle that certainly occurs once, which is most of them.

use super::ResultText;
use super::table::{Sightings, Table};

/// Which shingles stand in more than one result in view. Filled in two rounds: a first one marks what occurs twice, and only that gets an entry.
pub(super) struct Repeats {
    sightings: Sightings,
    /// One more than the index of the newest result that shows the shingle.
    newest: Table<u32>,
}

impl Repeats {
    /// Makes an empty register for the shingles of `results`.
    pub(super) fn of(results: &[ResultText<'_>]) -> Self {
        let parts = results.iter().flat_map(|result| &result.parts);
        let bytes = parts.filter(|part| part.in_view.contains(&true)).map(|part| part.text.len()).sum();
        Self { sightings: Sightings::for_text(bytes), newest: Table::new() }
    }

    /// First round: notes that a result holds the shingle.
    #[inline]
    pub(super) fn sight(&mut self, hash: u64) {
        self.sightings.add(hash);
    }

    /// Second round, newest result first: says whether a newer result than the one at `idx` shows the shingle, and whether that one does from now on.
    #[inline]
    pub(super) fn is_stale(&mut self, hash: u64, idx: usize, is_shown: bool) -> bool {
        if !self.sightings.may_repeat(hash) {
            return false;
        }
        let id = u32::try_from(idx + 1).unwrap_or(u32::MAX);
        if is_shown {
            self.newest.value_or(hash, id).is_some_and(|newest| *newest != id)
        } else {
            let newest = self.newest.value(hash);
            newest != 0 && newest != id
        }
    }
}
