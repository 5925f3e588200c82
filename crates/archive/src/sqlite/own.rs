//! Which of a session's originals hold the words by their text and by what this session's own calls say? The index knows
//! the calls of all sessions: where another one calls an original otherwise, the original is read and indexed once more,
//! for this search alone, and the same query is asked there.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::Path,
};

use rusqlite::{Connection, params};

use super::{
    fault, indexer, rows,
    words::{Words, terms},
};
use crate::{Error, Result};

/// Bytes of originals that one search reads for this: about a second's worth.
const MAX_READ_BYTES: i64 = 16 << 20;

/// What tells which words of an original are the session's own.
pub(super) enum Teller {
    /// The index of the archive: no other session calls it anything else.
    Index,
    /// Its text and the own calls, which were read. These are its words that can be found by a run inside them.
    Reading(BTreeSet<String>),
    /// Nothing, since its text is damaged: as a hit it is counted among what was not searched.
    Damaged,
    /// Nothing, since too much had been read before.
    Unread,
}

/// What one search knows of one session's originals.
pub(super) struct Own<'c> {
    pub(super) connection: &'c Connection,
    path: &'c Path,
    session: i64,
    tellers: HashMap<i64, Teller>,
    /// Holds the words of what was read; made for the first of it.
    index: Option<Connection>,
    left_bytes: i64,
    /// Whether there may be originals that hold the words and were left unread.
    pub(super) has_more: bool,
}

impl<'c> Own<'c> {
    pub(super) fn of(connection: &'c Connection, path: &'c Path, session: i64) -> Self {
        let tellers = HashMap::new();
        Self { connection, path, session, tellers, index: None, left_bytes: MAX_READ_BYTES, has_more: false }
    }

    /// Says which database could not be asked.
    pub(super) fn fail(&self, error: &rusqlite::Error) -> Error {
        fault::of("search", self.path, error)
    }

    /// Of originals that the archive's index names for a query, keeps those that it would name if no other session was.
    pub(super) fn keep(&mut self, originals: &mut Vec<i64>, query: &str) -> Result<()> {
        self.learn(originals)?;
        let is_read = |row: &i64| matches!(self.teller(*row), Teller::Reading(_));
        let held = match originals.iter().any(is_read) {
            true => self.ask(query).map_err(|error| self.fail(&error))?,
            false => HashSet::new(),
        };
        originals.retain(|row| match self.teller(*row) {
            Teller::Index | Teller::Damaged => true,
            Teller::Reading(_) => held.contains(row),
            Teller::Unread => false,
        });
        Ok(())
    }

    /// Gives what tells of an original that was learnt of.
    pub(super) fn teller(&self, row: i64) -> &Teller {
        self.tellers.get(&row).unwrap_or(&Teller::Unread)
    }

    /// Sees what tells of originals which the archive's index names, and reads those of which it does not.
    pub(super) fn learn(&mut self, originals: &[i64]) -> Result<()> {
        let mut read = Vec::new();
        for row in originals {
            if self.tellers.contains_key(row) {
                continue;
            }
            let teller = match self.is_told_by_index(*row).map_err(|error| self.fail(&error))? {
                true => Teller::Index,
                false => match self.words(*row) {
                    Ok(None) => Teller::Unread,
                    Ok(Some(words)) => {
                        let terms = terms(&words);
                        read.push((*row, words));
                        Teller::Reading(terms)
                    }
                    Err(Error::Damaged { .. }) => Teller::Damaged,
                    Err(error) => return Err(error),
                },
            };
            self.has_more |= matches!(teller, Teller::Unread);
            self.tellers.insert(*row, teller);
        }
        self.add(&read).map_err(|error| self.fail(&error))
    }

    /// Says whether the index knows no call of another session that is not one of this session too. What waits to be
    /// indexed anew may have been called otherwise by a session that is gone.
    fn is_told_by_index(&self, row: i64) -> rusqlite::Result<bool> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM unindexed WHERE id = ?1) AND NOT EXISTS (
            SELECT 1 FROM calls f WHERE f.original = ?1 AND f.session <> ?2 AND NOT EXISTS (
                SELECT 1 FROM calls o WHERE o.original = ?1 AND o.session = ?2 AND o.sum = f.sum) AND f.tool <> '')";
        self.connection.prepare_cached(sql)?.query_row([row, self.session], |row| row.get(0))
    }

    /// Reads an original and what the session's own calls say; `None` where it is too much.
    fn words(&mut self, row: i64) -> Result<Option<Words>> {
        let mut one = self
            .connection
            .prepare_cached("SELECT len FROM originals WHERE id = ?1")
            .map_err(|error| self.fail(&error))?;
        let len: i64 = one.query_row([row], |row| row.get(0)).map_err(|error| self.fail(&error))?;
        if len > self.left_bytes {
            return Ok(None);
        }
        self.left_bytes -= len;
        let text = rows::body(self.connection, self.path, row)?.unwrap_or_default();
        let names = rows::names(self.connection, row, Some(self.session)).map_err(|error| self.fail(&error))?;
        Ok(Some(indexer::words_of(&text, &names)))
    }

    fn add(&mut self, read: &[(i64, Words)]) -> rusqlite::Result<()> {
        if read.is_empty() {
            return Ok(());
        }
        let index = match self.index.take() {
            Some(index) => index,
            None => self.new_index()?,
        };
        let index = self.index.insert(index);
        let transaction = index.transaction()?;
        for (row, words) in read {
            let mut insert = transaction.prepare_cached(indexer::INSERT_WORDS)?;
            insert.execute(params![row, words.whole, words.parts])?;
        }
        transaction.commit()
    }

    /// Makes an index like the archive's, so that words are told apart by the same rules.
    fn new_index(&self) -> rusqlite::Result<Connection> {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'words'";
        let layout: String = self.connection.query_row(sql, [], |row| row.get(0))?;
        let index = Connection::open_in_memory()?;
        index.execute_batch(&layout)?;
        Ok(index)
    }

    fn ask(&self, query: &str) -> rusqlite::Result<HashSet<i64>> {
        let Some(index) = &self.index else { return Ok(HashSet::new()) };
        let mut found = index.prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1")?;
        found.query_map([query], |row| row.get(0))?.collect()
    }
}
