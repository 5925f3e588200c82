//! Which originals hold these words? Words and parts of identifiers first, best first; else runs inside words.

use std::{collections::HashSet, path::Path};

use rusqlite::{Connection, params};

use super::{
    fault, rows, schema, store, throughout,
    unread::{Reader, Unknown},
    within::Within,
};
use crate::{Error, Found, Hit, MAX_HITS, NotSearched, Query, Result, Source};

/// Words of a query that count; a pasted page finds nothing more by its end.
const MAX_QUERY_WORDS: usize = 16;

/// Characters of a line that a hit shows.
const MAX_SHOWN_CHARS: usize = 200;

/// Where a search looks.
pub(super) struct Where {
    pub(super) tenant: i64,
    /// Only what this session stored.
    pub(super) session: Option<i64>,
}

/// Runs a search: by the index, and by reading what the index does not know.
pub(super) fn search(connection: &Connection, path: &Path, place: &Where, query: &Query) -> Result<Found> {
    let asked: Vec<&str> = query.words.split_whitespace().take(MAX_QUERY_WORDS).collect();
    let limit = query.limit.min(MAX_HITS);
    let mut reader = Reader::new(connection, path, place, &asked);
    if !schema::is_current(connection, path)? {
        let read = reader.read(Unknown::All, limit)?;
        let ids = if read.as_words.is_empty() { read.inside } else { read.as_words };
        return hits(connection, path, place, ids, &asked, NotSearched { originals: reader.unread, has_more: false });
    }
    let fail = |error| fault::of("search", path, &error);
    let mut within = place.session.map(|session| Within::of(connection, path, session)).transpose().map_err(fail)?;
    let by_words = match &mut within {
        Some(within) => within.by_words(&asked, limit)?,
        None => throughout::by_words(connection, place.tenant, &asked, limit).map_err(fail)?,
    };
    let mut waiting = reader.read(Unknown::Waiting, limit)?;
    let mut has_more = false;
    let mut ids = merged(waiting.as_words, by_words, limit);
    if ids.len() < limit {
        let long = reader.read(Unknown::Long, limit)?;
        ids.extend(long.as_words);
        ids = each_once(ids, limit);
        waiting.inside.extend(long.inside);
    }
    // Who asks for a word that is there means it; inside other words is looked only for what is no word.
    if ids.is_empty() {
        let by_runs = match &mut within {
            Some(within) => within.by_runs(&asked, limit)?,
            None => throughout::by_runs(connection, path, place.tenant, &asked, limit)?,
        };
        ids = merged(waiting.inside, by_runs.ids, limit);
        has_more = by_runs.has_more;
    }
    has_more |= within.is_some_and(|within| within.has_more());
    hits(connection, path, place, ids, &asked, NotSearched { originals: reader.unread, has_more })
}

/// Shows what was found; a text that is damaged is counted among what was not searched.
fn hits(
    connection: &Connection,
    path: &Path,
    place: &Where,
    ids: Vec<i64>,
    asked: &[&str],
    mut not_searched: NotSearched,
) -> Result<Found> {
    let mut hits = Vec::with_capacity(ids.len());
    for id in ids {
        match hit(connection, path, place, id, asked) {
            Ok(found) => hits.extend(found),
            // One text that is damaged is no reason to keep the others.
            Err(Error::Damaged { .. }) => not_searched.originals += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(Found { hits, not_searched })
}

/// Rows that the index named.
#[derive(Default)]
pub(super) struct Ids {
    pub(super) ids: Vec<i64>,
    /// Whether there may be others that were not followed.
    pub(super) has_more: bool,
}

/// What was read and what the index names, each once.
///
/// The index weighs, reading does not: what was stored just now may take half of the places from what is best.
fn merged(mut read: Vec<i64>, by_index: Vec<i64>, limit: usize) -> Vec<i64> {
    let others = by_index.iter().filter(|id| !read.contains(id)).count();
    if read.len() + others > limit {
        read.truncate(limit.saturating_sub(others).max(limit.div_ceil(2)));
    }
    read.extend(by_index);
    each_once(read, limit)
}

fn each_once(ids: Vec<i64>, limit: usize) -> Vec<i64> {
    let mut seen = HashSet::with_capacity(ids.len());
    ids.into_iter().filter(|id| seen.insert(*id)).take(limit).collect()
}

fn hit(connection: &Connection, path: &Path, place: &Where, id: i64, asked: &[&str]) -> Result<Option<Hit>> {
    let fail = |error| fault::of("search", path, &error);
    let Some(text) = rows::body(connection, path, id)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text);
    let (line, shown) = best_line(&text, asked);
    let sql = "SELECT o.name, c.tool, c.label, s.name FROM originals o JOIN calls c ON c.original = o.id
        JOIN sessions s ON s.id = c.session
        WHERE o.id = ?1 AND (?2 IS NULL OR c.session = ?2) ORDER BY c.tool <> '' DESC, c.id DESC LIMIT 1";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let found = connection.prepare_cached(sql).and_then(|mut one| one.query_row(params![id, place.session], row));
    let (name, tool, label, session) = found.map_err(fail)?;
    let source = Source { tool, label, arguments: String::new() };
    Ok(Some(Hit { id: store::shown_name(&name), source, session, lines: text.lines().count(), line, text: shown }))
}

/// The first line that holds the most of the words, and a part of it.
fn best_line(text: &str, asked: &[&str]) -> (usize, String) {
    let words: Vec<String> = asked.iter().map(|word| word.to_lowercase()).collect();
    let mut best = (0, 0, "");
    for (at, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        let held = words.iter().filter(|word| lower.contains(word.as_str())).count();
        if held > best.0 {
            best = (held, at + 1, line);
        }
        if held == words.len() {
            break;
        }
    }
    let lower = best.2.to_lowercase();
    // Where lower case has other lengths the place is a little off; it only decides what is shown.
    let place = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
    let skip = lower.get(..place).map_or(0, |before| before.chars().count()).saturating_sub(MAX_SHOWN_CHARS / 4);
    let skip = if best.2.chars().count() <= MAX_SHOWN_CHARS { 0 } else { skip };
    (best.1, best.2.chars().skip(skip).take(MAX_SHOWN_CHARS).collect())
}
