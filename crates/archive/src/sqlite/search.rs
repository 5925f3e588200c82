//! Which originals hold these words? Words and parts of identifiers first, best first; else runs inside words.

use std::{collections::HashSet, path::Path};

use rusqlite::{Connection, params};

use super::{
    around::{Around, RUN_CHARS},
    fault, rows, schema, store,
    unread::{Reader, Unknown},
    words::{is_word, parts},
};
use crate::{Error, Found, Hit, MAX_HITS, NotSearched, Query, Result, Source};

/// Words of a query that count; a pasted page finds nothing more by its end.
const MAX_QUERY_WORDS: usize = 16;

/// Originals that are read to see whether they hold what was asked, for each hit that is wanted.
const READS_PER_HIT: usize = 4;

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
    let by_words = by_words(connection, place, &asked, limit).map_err(fail)?;
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
        let by_runs = by_runs(connection, path, place, &asked, limit)?;
        ids = merged(waiting.inside, by_runs.ids, limit);
        has_more = by_runs.has_more;
    }
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
struct Ids {
    ids: Vec<i64>,
    /// Whether there may be others that were not followed.
    has_more: bool,
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

/// Each asked word, as a phrase of the words it is made of, or of the parts of those.
fn by_words(connection: &Connection, place: &Where, asked: &[&str], limit: usize) -> rusqlite::Result<Vec<i64>> {
    let terms: Vec<Term> = asked.iter().filter_map(|word| Term::of(word)).collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    best(connection, place, &terms, limit)
}

/// Originals in scope that the index names for all of the words, best first.
///
/// Words that hundreds of originals hold tell none of them from the others, and weighing them reads the index of each:
/// then the newest come first.
fn best(connection: &Connection, place: &Where, terms: &[Term], limit: usize) -> rusqlite::Result<Vec<i64>> {
    let newest = newest(connection, place, &all_of(terms), MAX_RANKED)?;
    let (Some(&last), Some(&first)) = (newest.first(), newest.last()) else { return Ok(Vec::new()) };
    // One alone is the best, whatever it weighs.
    if newest.len() == 1 || newest.len() >= MAX_RANKED {
        return Ok(newest.into_iter().take(limit).collect());
    }
    // Each phrase costs a way through all that the archive holds of it. One that none of these rows holds weighs nothing
    // in any of them.
    let mut held = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM words WHERE words MATCH ?1 AND rowid BETWEEN ?2 AND ?3)")?;
    let mut weighed = Vec::with_capacity(terms.len());
    for term in terms {
        let is_held = |phrase: &String| held.query_row(params![phrase, first, last], |row| row.get::<_, bool>(0));
        weighed.push(term.keeping(is_held)?);
    }
    let sql = format!("SELECT words.rowid {IN_SCOPE} ORDER BY bm25(words, 2.0, 1.0), words.rowid DESC LIMIT ?6");
    let bound = params![all_of(&weighed), first, last, place.tenant, place.session, limit as i64];
    connection.prepare_cached(&sql)?.query_map(bound, |row| row.get(0))?.collect()
}

/// The same, newest first.
fn newest(connection: &Connection, place: &Where, terms: &str, limit: usize) -> rusqlite::Result<Vec<i64>> {
    // A session's originals lie close together: others need not be looked at.
    let (first, last) = match place.session {
        None => (i64::MIN, i64::MAX),
        Some(session) => {
            // Apart, each is one look into the index; together they would read all of the session.
            let sql = "SELECT coalesce((SELECT min(original) FROM calls WHERE session = ?1), 0),
                coalesce((SELECT max(original) FROM calls WHERE session = ?1), 0)";
            connection.prepare_cached(sql)?.query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        }
    };
    if place.session.is_some() && last.saturating_sub(first) < MAX_SPAN {
        // The index leads to the first row of a stretch at once, to its last one only past all that came later.
        let sql = format!("SELECT words.rowid {IN_SCOPE} ORDER BY words.rowid LIMIT ?6");
        let bound = params![terms, first, last, place.tenant, place.session, MAX_SPAN];
        let mut rows: Vec<i64> =
            connection.prepare_cached(&sql)?.query_map(bound, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        rows.reverse();
        rows.truncate(limit);
        return Ok(rows);
    }
    let sql = format!("SELECT words.rowid {IN_SCOPE} ORDER BY words.rowid DESC LIMIT ?6");
    let bound = params![terms, first, last, place.tenant, place.session, limit as i64];
    connection.prepare_cached(&sql)?.query_map(bound, |row| row.get(0))?.collect()
}

/// What a search looks through: a query of the index, the first and last row, tenant, session. Crossed, so that the index
/// names the rows: asked about each row of a session it would be slower than reading all of them.
const IN_SCOPE: &str = "FROM words CROSS JOIN originals o
    WHERE o.id = words.rowid AND words MATCH ?1 AND words.rowid BETWEEN ?2 AND ?3 AND o.tenant = ?4 AND o.removed = 0
    AND (?5 IS NULL OR EXISTS (SELECT 1 FROM calls c WHERE c.session = ?5 AND c.original = o.id))";

/// Rows from a session's first original to its last, up to which all that match are listed.
const MAX_SPAN: i64 = 20_000;

/// Originals that are weighed against each other.
const MAX_RANKED: usize = 200;

/// An asked word as the phrases that find it, any one of them. Words in quotes are never an operator of the query
/// language.
struct Term(Vec<String>);

impl Term {
    fn of(word: &str) -> Option<Self> {
        let words: Vec<&str> = word.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return None;
        }
        let of_parts: Vec<&str> = words.iter().flat_map(|word| parts(word)).collect();
        let mut phrases = vec![format!("whole: \"{}\"", words.join(" "))];
        if !of_parts.is_empty() {
            phrases.push(format!("parts: \"{}\"", of_parts.join(" ")));
        }
        Some(Self(phrases))
    }

    /// The same without the phrases that need not be asked for.
    fn keeping(&self, mut is_kept: impl FnMut(&String) -> rusqlite::Result<bool>) -> rusqlite::Result<Self> {
        let mut kept = Vec::with_capacity(self.0.len());
        for phrase in &self.0 {
            if is_kept(phrase)? {
                kept.push(phrase.clone());
            }
        }
        Ok(Self(kept))
    }
}

/// Writes terms as a query of the index, which rows that hold all of them answer.
fn all_of(terms: &[Term]) -> String {
    let each: Vec<String> = terms.iter().map(|Term(phrases)| format!("({})", phrases.join(" OR "))).collect();
    each.join(" AND ")
}

/// Originals that hold every asked word as a run of characters, whatever stands around it.
fn by_runs(connection: &Connection, path: &Path, place: &Where, asked: &[&str], limit: usize) -> Result<Ids> {
    let fail = |error| fault::of("search", path, &error);
    let Around { terms: Some(terms), has_more } = Around::of(connection, place.tenant, asked).map_err(fail)? else {
        return Ok(Ids::default());
    };
    // A run without marks in it stands in the words that were found for it; no text need be read.
    let is_certain = asked.iter().all(|word| word.chars().all(is_word) && word.chars().count() >= RUN_CHARS);
    if is_certain {
        return Ok(Ids { ids: newest(connection, place, &terms, limit).map_err(fail)?, has_more });
    }
    let candidates = newest(connection, place, &terms, limit * READS_PER_HIT).map_err(fail)?;
    let is_cut = candidates.len() >= limit * READS_PER_HIT;
    let asked: Vec<String> = asked.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    for id in candidates {
        if found.len() >= limit {
            return Ok(Ids { ids: found, has_more });
        }
        // The index knows words, not what stands between them.
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
    Ok(Ids { ids: found, has_more: has_more || is_cut })
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
