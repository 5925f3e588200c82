//! Which originals did a session store? Their rows alone, in order; reads nothing of what they hold.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{blocks, own::Own};
use crate::Result;

/// Originals, the newest of a session, whose lengths stand for those of all.
const MEASURED: usize = 4_096;

/// Rows from a session's first original to its last up to which all that match are listed.
const MAX_SPAN: i64 = 20_000;

/// Originals that are judged at a time.
const BATCH: usize = 256;

/// The originals of one session. Invariant: rows ascend, each once.
pub(super) struct Members {
    rows: Vec<i64>,
}

impl Members {
    pub(super) fn of(connection: &Connection, session: i64) -> rusqlite::Result<Self> {
        let sql = "SELECT DISTINCT original FROM calls WHERE session = ?1 ORDER BY original";
        let mut rows = connection.prepare_cached(sql)?;
        let rows = rows.query_map([session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Self { rows })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn holds(&self, row: i64) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Blocks of the index that list words of these originals, and which originals of each.
    pub(super) fn blocks(&self) -> BTreeMap<i64, u32> {
        blocks::by_block(self.rows.iter().copied())
    }

    /// Gives the bytes of an original of this session, on average.
    pub(super) fn average_len(&self, connection: &Connection) -> rusqlite::Result<f64> {
        let measured = self.rows.get(self.rows.len().saturating_sub(MEASURED)..).unwrap_or_default();
        let mut one = connection.prepare_cached("SELECT len FROM originals WHERE id = ?1")?;
        let mut sum = 0_i64;
        for row in measured {
            sum = sum.saturating_add(one.query_row([row], |row| row.get(0))?);
        }
        Ok(sum as f64 / measured.len().max(1) as f64)
    }

    /// Gives those that a query of the index of words names by what they and the session itself say, at most so many,
    /// newest first.
    pub(super) fn matching(&self, own: &mut Own<'_>, query: &str, most: usize) -> Result<Vec<i64>> {
        // A session's originals lie close together: others need not be looked at.
        let (Some(&first), Some(&last)) = (self.rows.first(), self.rows.last()) else { return Ok(Vec::new()) };
        let is_narrow = last.saturating_sub(first) < MAX_SPAN;
        // The index leads to the first row of a stretch at once, to its last one only past all that came later.
        let order = if is_narrow { "" } else { "DESC" };
        let sql =
            format!("SELECT rowid FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid {order}");
        let connection = own.connection;
        let mut named = connection.prepare_cached(&sql).map_err(|error| own.fail(&error))?;
        let named = named.query_map(params![query, first, last], |row| row.get(0)).map_err(|error| own.fail(&error))?;
        let mine = named.filter(|row| row.as_ref().map_or(true, |row| self.holds(*row)));
        if is_narrow {
            let mut all: Vec<i64> = mine.collect::<rusqlite::Result<_>>().map_err(|error| own.fail(&error))?;
            all.reverse();
            return kept(all.into_iter().map(Ok), own, query, most);
        }
        kept(mine, own, query, most)
    }
}

/// Goes through originals that the index names until so many are the session's own answers.
fn kept(
    mut named: impl Iterator<Item = rusqlite::Result<i64>>,
    own: &mut Own<'_>,
    query: &str,
    most: usize,
) -> Result<Vec<i64>> {
    let mut kept = Vec::new();
    while kept.len() < most {
        let batch = named.by_ref().take(BATCH).collect::<rusqlite::Result<Vec<i64>>>();
        let mut batch = batch.map_err(|error| own.fail(&error))?;
        if batch.is_empty() {
            break;
        }
        own.keep(&mut batch, query)?;
        kept.extend(batch);
    }
    kept.truncate(most);
    Ok(kept)
}
