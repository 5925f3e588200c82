//! Which originals of a tenant does the index name, whatever session stored them? Best first; reads texts only to see what
//! stands between words.

use std::path::Path;

use rusqlite::{Connection, params};

use super::{
    around::{Around, RUN_CHARS},
    fault,
    phrases::{Phrases, all_of},
    rows,
    search::Ids,
    words::is_word,
};
use crate::{Error, Result};

/// Originals that are weighed against each other.
pub(super) const MAX_RANKED: usize = 200;

/// Originals that are read to see whether they hold what was asked, for each hit that is wanted.
pub(super) const READS_PER_HIT: usize = 4;

/// What a search looks through: a query of the index, the first and last row, the tenant. Crossed, so that the index
/// names the rows.
const IN_SCOPE: &str = "FROM words CROSS JOIN originals o
    WHERE o.id = words.rowid AND words MATCH ?1 AND words.rowid BETWEEN ?2 AND ?3 AND o.tenant = ?4 AND o.removed = 0";

/// Originals that hold all of the words, best first.
///
/// Words that hundreds of originals hold tell none of them from the others, and weighing them reads the index of each:
/// then the newest come first.
pub(super) fn by_words(
    connection: &Connection,
    tenant: i64,
    asked: &[&str],
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let asked: Vec<Phrases> = asked.iter().filter_map(|word| Phrases::of(word)).collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let newest = newest(connection, tenant, &all_of(&asked), MAX_RANKED)?;
    let (Some(&last), Some(&first)) = (newest.first(), newest.last()) else { return Ok(Vec::new()) };
    // One alone is the best, whatever it weighs.
    if newest.len() == 1 || newest.len() >= MAX_RANKED {
        return Ok(newest.into_iter().take(limit).collect());
    }
    // Each phrase costs a way through all that the archive holds of it. One that none of these rows holds weighs nothing
    // in any of them.
    let mut held = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3)")?;
    let mut weighed = Vec::with_capacity(asked.len());
    for phrases in asked {
        let is_held = |phrase: &String| held.query_row(params![phrase, first, last], |row| row.get::<_, bool>(0));
        weighed.push(phrases.keeping(is_held)?);
    }
    let sql = format!("SELECT words.rowid {IN_SCOPE} ORDER BY bm25(words, 2.0, 1.0), words.rowid DESC LIMIT ?5");
    let bound = params![all_of(&weighed), first, last, tenant, limit as i64];
    connection.prepare_cached(&sql)?.query_map(bound, |row| row.get(0))?.collect()
}

/// The same, newest first.
fn newest(connection: &Connection, tenant: i64, terms: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = format!("SELECT words.rowid {IN_SCOPE} ORDER BY words.rowid DESC LIMIT ?5");
    let bound = params![terms, i64::MIN, i64::MAX, tenant, limit as i64];
    connection.prepare_cached(&sql)?.query_map(bound, |row| row.get(0))?.collect()
}

/// Originals that hold every asked word as a run of characters, whatever stands around it.
pub(super) fn by_runs(connection: &Connection, path: &Path, tenant: i64, asked: &[&str], limit: usize) -> Result<Ids> {
    let fail = |error| fault::of("search", path, &error);
    let Around { terms: Some(terms), has_more } = Around::of(connection, tenant, asked).map_err(fail)? else {
        return Ok(Ids::default());
    };
    if are_told_by_words(asked) {
        return Ok(Ids { ids: newest(connection, tenant, &terms, limit).map_err(fail)?, has_more });
    }
    let candidates = newest(connection, tenant, &terms, limit * READS_PER_HIT).map_err(fail)?;
    let is_cut = candidates.len() >= limit * READS_PER_HIT;
    let found = that_hold(connection, path, candidates, asked, limit)?;
    Ok(Ids { has_more: has_more || (is_cut && found.len() < limit), ids: found })
}

/// A run without marks in it stands in the words that were found for it; no text need be read.
pub(super) fn are_told_by_words(asked: &[&str]) -> bool {
    asked.iter().all(|word| word.chars().all(is_word) && word.chars().count() >= RUN_CHARS)
}

/// Of originals whose words hold the runs, up to `limit` whose texts hold what was asked: the index knows words, not what
/// stands between them.
pub(super) fn that_hold(
    connection: &Connection,
    path: &Path,
    candidates: Vec<i64>,
    asked: &[&str],
    limit: usize,
) -> Result<Vec<i64>> {
    let asked: Vec<String> = asked.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    for id in candidates {
        if found.len() >= limit {
            break;
        }
        let text = match rows::body(connection, path, id) {
            Ok(text) => text.unwrap_or_default(),
            // It cannot be told what it held; as a hit it is counted among what was not searched.
            Err(Error::Damaged { .. }) => {
                found.push(id);
                continue;
            }
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&text).to_lowercase();
        if asked.iter().all(|word| text.contains(word)) {
            found.push(id);
        }
    }
    Ok(found)
}
