//! What goes when the archive is full? What no living conversation points at, longest unused first.

use std::path::Path;

use rusqlite::{Transaction, params};

use super::{blocks, fault, store::USE_STEP_MS};
use crate::{Error, Removal, Result};

/// The most bytes that an archive takes where nothing else is said: a year of heavy use by one person.
pub const DEFAULT_CAPACITY_BYTES: u64 = 8 << 30;

/// A conversation that sent nothing for so long is taken to be over: a week, so that a holiday is none.
pub const DEFAULT_LIVE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Rows that are looked at together when room is made.
const STEP: i64 = 256;

/// Share of the capacity that is freed beyond need, so that the next release need not make room again.
const SLACK: u64 = 64;

/// How much an archive may hold, and what it must keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) capacity_bytes: u64,
    pub(super) live_ms: i64,
}

/// What was evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evicted {
    /// Originals in all.
    pub originals: u64,
    /// Originals among them at which a living conversation may still point.
    pub live_originals: u64,
    /// Manifests: the bodies they belong to can no longer be restored.
    pub manifests: u64,
}

/// How far eviction may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing at which a living conversation points.
    Unused,
    /// Whatever is there, longest unused first.
    Everything,
}

/// Whose originals may go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whose {
    /// `None`: everybody's.
    pub(super) tenant: Option<i64>,
    /// Only what this session stored and no other.
    pub(super) session: Option<i64>,
}

/// Evicts what releases need room for, the first of them made at `now`; an archive that is full of what is needed refuses
/// them.
pub(super) fn make_room(transaction: &Transaction<'_>, path: &Path, limits: &Limits, now: i64) -> Result<()> {
    let used = used_bytes(transaction).map_err(|error| fault::of("read", path, &error))?;
    if used <= limits.capacity_bytes {
        return Ok(());
    }
    let goal = limits.capacity_bytes - limits.capacity_bytes / SLACK;
    // The file has one capacity, whoever fills it.
    evict(transaction, path, limits, now, Goal { bytes: goal, reach: Reach::Unused, whose: Whose::default() })?;
    let used = used_bytes(transaction).map_err(|error| fault::of("read", path, &error))?;
    match used <= limits.capacity_bytes {
        true => Ok(()),
        false => Err(Error::Full { path: path.to_owned(), what: "its size in bytes", limit: limits.capacity_bytes }),
    }
}

/// What an eviction is to come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// Bytes that may be in use.
    pub(super) bytes: u64,
    pub(super) reach: Reach,
    pub(super) whose: Whose,
}

/// Evicts until no more than the goal's bytes are in use, or nothing is left that may go. What was handed out at `now` or
/// later, and what it points at, goes only where everything may.
pub(super) fn evict(
    transaction: &Transaction<'_>,
    path: &Path,
    limits: &Limits,
    now: i64,
    goal: Goal,
) -> Result<Evicted> {
    let Goal { bytes, reach, whose } = goal;
    let fail = |error| fault::of("write", path, &error);
    // Between two recorded uses a text looks older than it is.
    let over_since = now.saturating_sub(limits.live_ms.max(USE_STEP_MS));
    let sent_before = match reach {
        Reach::Unused => now,
        Reach::Everything => i64::MAX,
    };
    let mut evicted = Evicted::default();
    // A manifest takes the way back of one body; an original the way back of all that point at it.
    let stages = [
        (Stage::OldManifests, over_since),
        (Stage::Originals, over_since),
        (Stage::PassedManifests, sent_before),
        (Stage::Originals, i64::MAX),
    ];
    for (at, (stage, before)) in stages.into_iter().enumerate() {
        if at == LIVE_STAGE && reach == Reach::Unused {
            break;
        }
        while used_bytes(transaction).map_err(fail)? > bytes {
            let gone = match stage {
                Stage::OldManifests => manifests(transaction, whose, before, false),
                Stage::PassedManifests => manifests(transaction, whose, before, true),
                Stage::Originals => originals(transaction, whose, before),
            };
            let gone = gone.map_err(fail)?;
            match stage {
                Stage::OldManifests | Stage::PassedManifests => evicted.manifests += gone,
                Stage::Originals => evicted.originals += gone,
            }
            if at == LIVE_STAGE {
                evicted.live_originals += gone;
            }
            if gone == 0 {
                break;
            }
        }
    }
    Ok(evicted)
}

/// The stage that takes what living conversations point at.
const LIVE_STAGE: usize = 3;

#[derive(Clone, Copy)]
enum Stage {
    OldManifests,
    /// Those of bodies that a newer body of their session followed.
    PassedManifests,
    Originals,
}

/// Evicts the oldest manifests from before a time; with `is_passed` only those that are not the newest of their session.
fn manifests(transaction: &Transaction<'_>, whose: Whose, before: i64, is_passed: bool) -> rusqlite::Result<u64> {
    let bound = params![before, STEP, is_passed, whose.tenant, whose.session];
    transaction.execute(EVICT_MANIFESTS, bound).map(|gone| gone as u64)
}

/// A time, how many at most, whether only those that a newer one of their session followed, tenant, session.
pub(super) const EVICT_MANIFESTS: &str = "DELETE FROM manifests WHERE id IN (
    SELECT m.id FROM manifests m WHERE m.at < ?1 AND (NOT ?3 OR EXISTS (
        SELECT 1 FROM manifests newer WHERE newer.session = m.session AND (newer.at, newer.id) > (m.at, m.id)))
    AND (?4 IS NULL OR m.tenant = ?4) AND (?5 IS NULL OR m.session = ?5)
    ORDER BY m.at LIMIT ?2)";

fn originals(transaction: &Transaction<'_>, whose: Whose, before: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT id FROM originals o WHERE used_at < ?1 AND removed = 0
        AND (?3 IS NULL OR tenant = ?3)
        AND (?4 IS NULL OR (EXISTS (SELECT 1 FROM calls c WHERE c.session = ?4 AND c.original = o.id)
            AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.session <> ?4 AND c.original = o.id)))
        ORDER BY used_at LIMIT ?2";
    let ids: Vec<i64> = transaction
        .prepare(sql)?
        .query_map(params![before, STEP, whose.tenant, whose.session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    remove_texts(transaction, &ids, EVICTED)?;
    Ok(ids.len() as u64)
}

/// Numbers of the file's layout for why a text is not there.
pub(super) const EVICTED: i64 = 1;
pub(super) const PURGED: i64 = 2;

/// Reads such a number; 0 stands for a text that is there. `None`: no version writes this.
pub(super) fn removal(number: i64) -> Option<Option<Removal>> {
    match number {
        0 => Some(None),
        EVICTED => Some(Some(Removal::Evicted)),
        PURGED => Some(Some(Removal::Purged)),
        _ => None,
    }
}

/// Takes texts out of every table; what is known of them stays.
pub(super) fn remove_texts(transaction: &Transaction<'_>, ids: &[i64], why: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM bodies WHERE id = ?1",
        // One that waits to be indexed may have been before.
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM unindexed WHERE id = ?1",
    ] {
        let mut each = transaction.prepare_cached(sql)?;
        for id in ids {
            each.execute([id])?;
        }
    }
    let mut each = transaction.prepare_cached("UPDATE originals SET removed = ?2, stored_len = 0 WHERE id = ?1")?;
    for id in ids {
        each.execute(params![id, why])?;
    }
    blocks::forget(transaction, ids.iter().copied())
}

/// Bytes of pages that hold something.
pub(super) fn used_bytes(connection: &rusqlite::Connection) -> rusqlite::Result<u64> {
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let pages = number("PRAGMA page_count")?.saturating_sub(number("PRAGMA freelist_count")?);
    Ok(u64::try_from(pages.saturating_mul(number("PRAGMA page_size")?)).unwrap_or(0))
}
