//! Which shingles do several results in view hold? Walked newest first, that tells which ones a newer result repeats.
//!
//! Never keeps an entry for a shingle that certainly occurs once, which is most of them.

use super::filter::{Sightings, select};
use super::shingled::Starting;
use super::table::Table;

/// The shingles of results in view, from the newest result to the one just asked for.
pub(super) struct Repeats<'s> {
    sightings: &'s Sightings,
    /// One more than the index of the newest result that shows the shingle.
    newest: Table<u32>,
}

impl<'s> Repeats<'s> {
    /// Knows from `sightings`, which hold all shingles of results in view, what may occur twice.
    pub(super) fn of(sightings: &'s Sightings) -> Self {
        Self { sightings, newest: Table::new() }
    }

    /// Counts the shingles of a passage that newer results than the one at `idx` show, and notes what this one shows.
    ///
    /// Results must come newest first, each in one go.
    pub(super) fn count_stale(&mut self, idx: usize, starting: Starting<'_>) -> u32 {
        let id = u32::try_from(idx + 1).unwrap_or(u32::MAX);
        let Self { sightings, newest } = self;
        let mut stale = 0;
        select(
            starting.hashes,
            |hash| sightings.may_repeat(hash),
            |place, hash| {
                let shown_by = if place < starting.shown {
                    newest.value_or(hash, id).map_or(id, |newest| *newest)
                } else {
                    newest.value(hash)
                };
                stale += u32::from(shown_by != 0 && shown_by != id);
            },
        );
        stale
    }
}
