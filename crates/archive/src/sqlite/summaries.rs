//! What did a model say, and what did only one request know? Small records that a later run must find again.

use rusqlite::{OptionalExtension as _, params};

use super::{SqliteArchive, fault, rows, schema};
use crate::{Error, Result, records::Key};

/// Something that only one request knew, at an item of its conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Place of the item, from 0.
    pub item: u32,
    /// What was known, as its owner writes it.
    pub event: String,
}

/// The longest summary: more than any model writes in one answer.
pub const MAX_SUMMARY_BYTES: usize = 1 << 20;

/// The longest event: it says what was known, not what was sent.
pub const MAX_EVENT_BYTES: usize = 16 << 10;

fn refuse_over(what: &'static str, found: usize, limit: usize) -> Result<()> {
    match found > limit {
        true => Err(Error::TooLarge { what, found: found as u64, limit: limit as u64 }),
        false => Ok(()),
    }
}

/// Stores a summary; the first of an input stays.
const PUT: &str = "INSERT OR IGNORE INTO summaries (tenant, input, text, at) VALUES (?1, ?2, ?3, ?4)";

/// A summary on its way from another archive.
pub(super) struct Summary {
    pub(super) input: [u8; 32],
    text: String,
    at: i64,
}

impl SqliteArchive {
    /// Stores the summary of an input, named by the input's BLAKE3 in 64 digits, and gives the one that holds: the first
    /// stays, so that the same input gives the same text from then on.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let archive = liveset_archive::SqliteArchive::open(folder.path().join("archive.db"))?;
    /// let input = liveset_archive::output_hash(b"a long story");
    /// assert_eq!(archive.put_summary(&input, "short")?, "short");
    /// assert_eq!(archive.put_summary(&input, "other")?, "short");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A malformed hash, a text over [`MAX_SUMMARY_BYTES`], or the file system.
    pub fn put_summary(&self, input: &str, text: &str) -> Result<String> {
        refuse_over("summary, in bytes,", text.len(), MAX_SUMMARY_BYTES)?;
        let (tenant, key, text, at) = (self.scope().tenant.clone(), Key::manifest(input)?, text.to_owned(), self.now());
        self.write(move |desk| {
            desk.write(|transaction, path| {
                let write = || {
                    let tenant = rows::tenant_or_new(transaction, &tenant)?;
                    transaction.execute(PUT, params![tenant, key.id, text, at])?;
                    let sql = "SELECT text FROM summaries WHERE tenant = ?1 AND input = ?2";
                    transaction.query_row(sql, params![tenant, key.id], |row| row.get(0))
                };
                write().map_err(|error| fault::of("write", path, &error))
            })
        })
    }

    /// Lists summaries of the tenant by their input, from behind `after`.
    pub(super) fn summaries(&self, after: &[u8], limit: i64) -> Result<Vec<Summary>> {
        self.read(|connection, path| {
            if schema::layout(connection, path)? < schema::WITH_SUMMARIES {
                return Ok(Vec::new());
            }
            let read = || {
                let sql = "SELECT input, text, at FROM summaries JOIN tenants ON id = tenant
                    WHERE name = ?1 AND input > ?2 ORDER BY input LIMIT ?3";
                let mut rows = connection.prepare(sql)?;
                let found = rows.query_map(params![self.scope().tenant, after, limit], |row| {
                    Ok(Summary { input: row.get(0)?, text: row.get(1)?, at: row.get(2)? })
                })?;
                found.collect::<rusqlite::Result<Vec<Summary>>>()
            };
            read().map_err(|error| fault::of("read", path, &error))
        })
    }

    /// Stores summaries of another archive; where an input has one already, that stays.
    pub(super) fn put_summaries(&self, summaries: Vec<Summary>) -> Result<()> {
        let tenant = self.scope().tenant.clone();
        self.write(move |desk| {
            desk.write(|transaction, path| {
                let write = || {
                    let tenant = rows::tenant_or_new(transaction, &tenant)?;
                    let mut insert = transaction.prepare(PUT)?;
                    for Summary { input, text, at } in &summaries {
                        insert.execute(params![tenant, input, text, at])?;
                    }
                    Ok(())
                };
                write().map_err(|error| fault::of("write", path, &error))
            })
        })
    }

    /// Looks up the summary of an input.
    ///
    /// # Errors
    /// A malformed hash, or the file system.
    pub fn summary(&self, input: &str) -> Result<Option<String>> {
        let key = Key::manifest(input)?;
        self.read(|connection, path| {
            let sql = "SELECT text FROM summaries JOIN tenants ON id = tenant WHERE name = ?1 AND input = ?2";
            let found = connection.query_row(sql, params![self.scope().tenant, key.id], |row| row.get(0)).optional();
            found.map_err(|error| fault::of("read", path, &error))
        })
    }

    /// Enters an event into the ledger of a session; the same one again adds nothing.
    ///
    /// # Errors
    /// A session behind the handle's border, an event over [`MAX_EVENT_BYTES`], or the file system.
    pub fn put_event(&self, session: &str, event: &Event) -> Result<()> {
        self.scope().admit(session)?;
        refuse_over("event, in bytes,", event.event.len(), MAX_EVENT_BYTES)?;
        let (tenant, session, event, at) = (self.scope().tenant.clone(), session.to_owned(), event.clone(), self.now());
        self.write(move |desk| {
            desk.write(|transaction, path| {
                let write = || {
                    let tenant = rows::tenant_or_new(transaction, &tenant)?;
                    let session = rows::session_or_new(transaction, tenant, &session, at)?;
                    let sql = "INSERT OR IGNORE INTO ledger (session, item, event, at) VALUES (?1, ?2, ?3, ?4)";
                    transaction.execute(sql, params![session, event.item, event.event, at])
                };
                write().map(drop).map_err(|error| fault::of("write", path, &error))
            })
        })
    }

    /// Reads the ledger of a session, in the order of items, and of time where items are the same.
    ///
    /// # Errors
    /// The file system.
    pub fn events(&self, session: &str) -> Result<Vec<Event>> {
        if self.scope().border().is_some_and(|border| border != session) {
            return Ok(Vec::new());
        }
        self.read(|connection, path| {
            if schema::layout(connection, path)? < schema::WITH_SUMMARIES {
                return Ok(Vec::new());
            }
            let read = || {
                let sql = "SELECT l.item, l.event FROM ledger l JOIN sessions s ON s.id = l.session
                    JOIN tenants t ON t.id = s.tenant WHERE t.name = ?1 AND s.name = ?2 ORDER BY l.item, l.at, l.event";
                let mut rows = connection.prepare(sql)?;
                let events = rows.query_map(params![self.scope().tenant, session], |row| {
                    Ok(Event { item: row.get(0)?, event: row.get(1)? })
                })?;
                events.collect::<rusqlite::Result<Vec<Event>>>()
            };
            read().map_err(|error| fault::of("read", path, &error))
        })
    }
}
