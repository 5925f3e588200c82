//! Which originals hold these words? Words and parts of identifiers first, best first; then runs inside words.

use std::{collections::HashSet, path::Path};

use rusqlite::{Connection, params};

use super::{
    fault, rows, store,
    words::{is_word, parts},
};
use crate::{Hit, MAX_HITS, Query, Result, Source};

/// Words of a query that count; a pasted page finds nothing more by its end.
const MAX_QUERY_WORDS: usize = 16;

/// Characters that a run needs to be looked up; shorter ones are only checked.
const RUN_CHARS: usize = 3;

/// Originals that may hold all runs of a query and are read to see whether they do: each costs a read.
const MAX_CANDIDATES: usize = 400;

/// Characters of a line that a hit shows.
const MAX_SHOWN_CHARS: usize = 200;

/// Where a search looks.
pub(super) struct Where {
    pub(super) tenant: i64,
    /// Only what this session stored.
    pub(super) session: Option<i64>,
}

/// Runs a search.
pub(super) fn search(connection: &Connection, path: &Path, place: &Where, query: &Query) -> Result<Vec<Hit>> {
    let asked: Vec<&str> = query.words.split_whitespace().take(MAX_QUERY_WORDS).collect();
    let limit = query.limit.min(MAX_HITS);
    let fail = |error| fault::of("search", path, &error);
    let mut ids = by_words(connection, place, &asked, limit).map_err(fail)?;
    if ids.len() < limit {
        let known: HashSet<i64> = ids.iter().copied().collect();
        let more = by_runs(connection, path, place, &asked, limit - ids.len(), &known)?;
        ids.extend(more);
    }
    let mut hits = Vec::with_capacity(ids.len());
    for id in ids {
        hits.extend(hit(connection, path, place, id, &asked)?);
    }
    Ok(hits)
}

/// Each asked word, as a phrase of the words it is made of, or of the parts of those.
fn by_words(connection: &Connection, place: &Where, asked: &[&str], limit: usize) -> rusqlite::Result<Vec<i64>> {
    let terms: Vec<String> = asked.iter().filter_map(|word| term(word)).collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT words.rowid FROM words JOIN originals o ON o.id = words.rowid
        WHERE words MATCH ?1 AND o.tenant = ?2 AND o.removed = 0
        AND (?3 IS NULL OR EXISTS (SELECT 1 FROM calls c WHERE c.original = o.id AND c.session = ?3))
        ORDER BY bm25(words, 2.0, 1.0), words.rowid DESC LIMIT ?4";
    let mut rows = connection.prepare(sql)?;
    let found =
        rows.query_map(params![terms.join(" AND "), place.tenant, place.session, limit as i64], |row| row.get(0))?;
    found.collect()
}

/// Words in quotes are never an operator of the query language.
fn term(word: &str) -> Option<String> {
    let words: Vec<&str> = word.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let last = words.last()?;
    let of_parts: Vec<&str> = words.iter().flat_map(|word| parts(word)).collect();
    // The last word may be cut short: `pars` finds `parser`.
    let star = if last.chars().count() >= RUN_CHARS { "*" } else { "" };
    let whole = format!("whole: \"{}\"{star}", words.join(" "));
    Some(match of_parts.is_empty() {
        true => format!("({whole})"),
        false => format!("({whole} OR parts: \"{}\"{star})", of_parts.join(" ")),
    })
}

/// Originals that hold every asked word as a run of characters, whatever stands around it; newest first.
fn by_runs(
    connection: &Connection,
    path: &Path,
    place: &Where,
    asked: &[&str],
    limit: usize,
    known: &HashSet<i64>,
) -> Result<Vec<i64>> {
    let runs: Vec<String> = asked.iter().flat_map(|word| trigrams(word)).collect();
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let fail = |error| fault::of("search", path, &error);
    let sql = "SELECT runs.rowid FROM runs JOIN originals o ON o.id = runs.rowid
        WHERE runs MATCH ?1 AND o.tenant = ?2 AND o.removed = 0
        AND (?3 IS NULL OR EXISTS (SELECT 1 FROM calls c WHERE c.original = o.id AND c.session = ?3))
        ORDER BY runs.rowid DESC LIMIT ?4";
    let mut rows = connection.prepare(sql).map_err(fail)?;
    let bound = params![runs.join(" AND "), place.tenant, place.session, MAX_CANDIDATES as i64];
    let candidates = rows.query_map(bound, |row| row.get::<_, i64>(0)).map_err(fail)?;
    let asked: Vec<String> = asked.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    for id in candidates {
        let id = id.map_err(fail)?;
        if found.len() >= limit {
            break;
        }
        if known.contains(&id) {
            continue;
        }
        // The index knows which runs of three an original holds, not where: only its text says that they stand together.
        let text = rows::body(connection, path, id)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).to_lowercase();
        if asked.iter().all(|word| text.contains(word)) {
            found.push(id);
        }
    }
    Ok(found)
}

/// Gives the runs of three characters of a word, each once, as terms.
fn trigrams(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let mut seen = HashSet::new();
    let runs = chars.windows(RUN_CHARS).map(|run| run.iter().collect::<String>());
    runs.filter(|run| seen.insert(run.clone()))
        .take(MAX_RUNS)
        .map(|run| format!("\"{}\"", run.replace('"', "\"\"")))
        .collect()
}

/// Runs of one word that are looked up; the text is read in any case.
const MAX_RUNS: usize = 24;

fn hit(connection: &Connection, path: &Path, place: &Where, id: i64, asked: &[&str]) -> Result<Option<Hit>> {
    let fail = |error| fault::of("search", path, &error);
    let Some(text) = rows::body(connection, path, id)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text);
    let (line, shown) = best_line(&text, asked);
    let name: Vec<u8> =
        connection.query_row("SELECT name FROM originals WHERE id = ?1", [id], |row| row.get(0)).map_err(fail)?;
    let sql = "SELECT c.tool, c.label, s.name FROM calls c JOIN sessions s ON s.id = c.session
        WHERE c.original = ?1 AND (?2 IS NULL OR c.session = ?2) ORDER BY c.tool <> '' DESC, c.id DESC LIMIT 1";
    let (tool, label, session) = connection
        .query_row(sql, params![id, place.session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .map_err(fail)?;
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
