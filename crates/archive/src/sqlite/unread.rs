//! Which originals that the index does not know hold these words? Reads them, newest first, up to a limit, and says how
//! many it left unread. Writes nothing, and so waits for nobody.

use std::path::Path;

use rusqlite::{Connection, params};

use super::{
    fault, rows,
    search::Where,
    words::{is_word, starts_part},
};
use crate::{Error, Result};

/// Bytes of text that one search reads where the index cannot help: a session of thousands of results, in less time than
/// a person notices.
const MAX_READ_BYTES: i64 = 64 << 20;

/// Originals that are listed to be read. Each has a row and, on average, some KiB of text: more would pass the limit of
/// bytes anyway, but for very short ones.
const MAX_LISTED: usize = 1 << 16;

/// Originals that are weighed against each other.
const MAX_RANKED: usize = 200;

/// Times that a word is counted in one text.
const MAX_TIMES: usize = 256;

/// Which originals the index does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Those that wait for it.
    Waiting,
    /// Those that are longer than what of one is indexed.
    Long,
    /// All of them, where the file has an older layout: its index is not the one that is asked.
    All,
}

impl Unknown {
    fn named(self) -> &'static str {
        match self {
            // Crossed, so that what waits names the rows: it is few, where a tenant has many.
            Self::Waiting => "unindexed u CROSS JOIN originals o WHERE o.id = u.id",
            // The same number as in the layout, so that its index is used.
            Self::All => "originals o WHERE true",
            Self::Long => "originals o WHERE o.len > 2097152 AND o.id NOT IN (SELECT id FROM unindexed)",
        }
    }
}

/// Reads originals for one search.
pub(super) struct Reader<'c> {
    pub(super) connection: &'c Connection,
    pub(super) path: &'c Path,
    pub(super) place: &'c Where,
    /// In lower case.
    asked: Vec<String>,
    left_bytes: i64,
    /// Originals that might hold the words and were not read, or not found whole.
    pub(super) unread: u64,
}

impl<'c> Reader<'c> {
    pub(super) fn new(connection: &'c Connection, path: &'c Path, place: &'c Where, asked: &[&str]) -> Self {
        let asked = asked.iter().map(|word| word.to_lowercase()).collect();
        Self { connection, path, place, asked, left_bytes: MAX_READ_BYTES, unread: 0 }
    }

    /// Gives up to `limit` originals of each kind that hold all the words, in their text or in the names of the calls
    /// they answer.
    pub(super) fn read(&mut self, which: Unknown, limit: usize) -> Result<Read> {
        let (mut found, mut as_words) = (Read::default(), Vec::new());
        if limit == 0 || self.asked.is_empty() {
            return Ok(found);
        }
        let listed = self.listed(which).map_err(|error| fault::of("search", self.path, &error))?;
        if listed.len() >= MAX_LISTED {
            self.unread += self.count(which).map_err(|error| fault::of("search", self.path, &error))?;
            self.unread = self.unread.saturating_sub(listed.len() as u64);
        }
        for (id, len) in listed {
            if as_words.len() >= MAX_RANKED {
                break;
            }
            if len > self.left_bytes {
                self.unread += 1;
                continue;
            }
            self.left_bytes -= len;
            match self.holds_all(id) {
                Ok(Some(Held::AsWords(weight))) => as_words.push((weight, id)),
                Ok(Some(Held::Inside)) if found.inside.len() < limit => found.inside.push(id),
                Ok(Some(Held::Inside) | None) => {}
                // The others can still be read; `verify` names this one.
                Err(Error::Damaged { .. }) => self.unread += 1,
                Err(error) => return Err(error),
            }
        }
        // Those that say the words more often first; of equals the newest.
        as_words.sort_unstable_by(|one, other| other.cmp(one));
        found.as_words = as_words.into_iter().take(limit).map(|(_, id)| id).collect();
        Ok(found)
    }

    /// Rows and lengths, newest first.
    fn listed(&self, which: Unknown) -> rusqlite::Result<Vec<(i64, i64)>> {
        let mut rows = self.connection.prepare_cached(&listing(which))?;
        let bound = params![self.place.tenant, self.place.session, MAX_LISTED as i64];
        rows.query_map(bound, |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    fn count(&self, which: Unknown) -> rusqlite::Result<u64> {
        let sql = format!("SELECT count(*) FROM {}", in_scope(which));
        let bound = params![self.place.tenant, self.place.session];
        self.connection.query_row(&sql, bound, |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    }

    fn holds_all(&self, id: i64) -> Result<Option<Held>> {
        let text = rows::body(self.connection, self.path, id)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lower = text.to_lowercase();
        let mut held: Vec<Option<Held>> = self.asked.iter().map(|word| how(&text, &lower, word)).collect();
        if held.iter().any(|held| *held <= Some(Held::Inside)) {
            let names = rows::names(self.connection, id, self.place.session);
            for call in names.map_err(|error| fault::of("search", self.path, &error))? {
                let lower = call.to_lowercase();
                for (held, word) in held.iter_mut().zip(&self.asked) {
                    *held = (*held).max(how(&call, &lower, word));
                }
            }
        }
        let weight = held.iter().map(|held| held.map_or(0, Held::weight)).sum();
        Ok(held.into_iter().min().flatten().map(|least| match least {
            Held::Inside => Held::Inside,
            Held::AsWords(_) => Held::AsWords(weight),
        }))
    }
}

/// Originals that were read and hold the words.
#[derive(Default)]
pub(super) struct Read {
    /// As words of their own, or as parts of identifiers; best first.
    pub(super) as_words: Vec<i64>,
    /// At least one of them inside another word; newest first.
    pub(super) inside: Vec<i64>,
}

/// How a text holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Inside,
    /// So often.
    AsWords(u32),
}

impl Held {
    /// The tenth time tells less than the first.
    fn weight(self) -> u32 {
        match self {
            Self::Inside => 0,
            Self::AsWords(times) => times.checked_ilog2().map_or(0, |weight| weight + 1),
        }
    }
}

/// Finds a word in a text by the text in lower case.
fn how(text: &str, lower: &str, word: &str) -> Option<Held> {
    lower.contains(word).then(|| match times(text, lower, word) {
        0 => Held::Inside,
        times => Held::AsWords(times),
    })
}

/// Counts how often a text holds a word as a word of its own, or as a part of an identifier, by the text in lower case.
pub(super) fn times(text: &str, lower: &str, word: &str) -> u32 {
    // Where lower case has other lengths, borders that only capitals show are not seen.
    let shown = if text.len() == lower.len() { text } else { lower };
    let is_word = |at: usize| is_border(shown, at) && is_border(shown, at + word.len());
    let places = lower.match_indices(word).filter(|(at, _)| is_word(*at)).take(MAX_TIMES);
    u32::try_from(places.count()).unwrap_or(u32::MAX)
}

/// Says whether a word, or a part of an identifier, may begin or end here.
fn is_border(text: &str, at: usize) -> bool {
    let (Some(before), Some(behind)) = (text.get(..at), text.get(at..)) else { return true };
    let mut behind = behind.chars();
    match (before.chars().next_back(), behind.next()) {
        (Some(before), Some(c)) if is_word(before) && is_word(c) => {
            before == '_' || c == '_' || starts_part(before, c, behind.next())
        }
        _ => true,
    }
}

pub(super) fn listing(which: Unknown) -> String {
    format!("SELECT o.id, o.len FROM {} ORDER BY o.id DESC LIMIT ?3", in_scope(which))
}

fn in_scope(which: Unknown) -> String {
    format!(
        "{} AND o.tenant = ?1 AND o.removed = 0
        AND (?2 IS NULL OR EXISTS (SELECT 1 FROM calls c WHERE c.session = ?2 AND c.original = o.id))",
        which.named()
    )
}

#[cfg(test)]
mod tests {
    use super::{super::words::MAX_INDEXED_BYTES, *};

    #[test]
    fn what_counts_as_long_is_what_the_indexer_cuts() {
        assert!(Unknown::Long.named().contains(&format!("o.len > {MAX_INDEXED_BYTES} ")));
    }

    #[test]
    fn a_word_is_told_from_a_run_inside_one() {
        let text = "let parseError = pool_size2; İ ends";
        let held = |word: &str| how(text, &text.to_lowercase(), word);
        for (word, expected) in [
            ("let", Some(Held::AsWords(1))),
            ("parse", Some(Held::Inside)),
            ("size", Some(Held::AsWords(1))),
            ("size2", Some(Held::AsWords(1))),
            ("ool", Some(Held::Inside)),
            ("ends", Some(Held::AsWords(1))),
            ("absent", None),
        ] {
            assert_eq!(held(word), expected, "{word}");
        }
        let text = "let parseError = 1;";
        assert_eq!(how(text, &text.to_lowercase(), "error"), Some(Held::AsWords(1)));
    }
}
