//! What does the file hold? The tables, and the steps from each layout to the next.
//!
//! A released step is never changed: files in the world were made by it.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::fault;
use crate::{Error, Result};

/// Marks a SQLite file as ours ("LvSt"), in its header.
pub(super) const APPLICATION_ID: i32 = 0x4c76_5374;

/// Each layout as the step from the one before it. The layout's number is the place in this list, from 1.
///
/// `originals` says what is known of a text, `bodies` holds it: what looks through many rows reads no text. A text that
/// was removed keeps its row. `used_at` says when a body was last handed out that
/// points at it. `calls` says which call a text answers and in which session; a text without a call has an empty one, so
/// that each belongs to a session. `words` finds texts by their words; `terms` holds each word of a tenant once, and `runs`
/// finds words by what stands inside them: an index of runs over the texts themselves is twice as large as the texts, or, without
/// places, names too many texts to read. `blocks` lists the same words by stretches of originals, for what is asked within
/// one session.
const STEPS: [&str; 6] = [
    "
    CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, name TEXT NOT NULL,
        used_at INTEGER NOT NULL, UNIQUE (tenant, name));
    CREATE TABLE originals (
        id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name BLOB NOT NULL, sum BLOB NOT NULL,
        len INTEGER NOT NULL, stored_len INTEGER NOT NULL, removed INTEGER NOT NULL DEFAULT 0,
        used_at INTEGER NOT NULL, UNIQUE (tenant, name));
    CREATE INDEX originals_by_use ON originals (used_at);
    CREATE TABLE bodies (id INTEGER PRIMARY KEY, form INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE manifests (
        id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, output BLOB NOT NULL, sum BLOB NOT NULL,
        session INTEGER NOT NULL, at INTEGER NOT NULL, len INTEGER NOT NULL, form INTEGER NOT NULL,
        body BLOB NOT NULL, UNIQUE (tenant, output));
    CREATE INDEX manifests_of_session ON manifests (session, at);
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY, original INTEGER NOT NULL, session INTEGER NOT NULL, sum BLOB NOT NULL,
        tool TEXT NOT NULL, label TEXT NOT NULL, arguments TEXT NOT NULL, UNIQUE (original, session, sum));
    CREATE INDEX calls_of_session ON calls (session, original);
    ",
    "
    CREATE VIRTUAL TABLE words USING fts5 (
        whole, parts, content = '', contentless_delete = 1, tokenize = \"unicode61 remove_diacritics 0 tokenchars '_'\");
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
    CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
    CREATE VIRTUAL TABLE runs USING fts5 (term, content = '', contentless_delete = 1, tokenize = 'trigram');
    CREATE TABLE unindexed (id INTEGER PRIMARY KEY);
    INSERT INTO unindexed SELECT id FROM bodies;
    CREATE TABLE summaries (
        tenant INTEGER NOT NULL, input BLOB NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (tenant, input)) WITHOUT ROWID;
    CREATE TABLE ledger (
        session INTEGER NOT NULL, item INTEGER NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (session, item, event)) WITHOUT ROWID;
    ",
    "
    CREATE INDEX manifests_by_time ON manifests (at);
    ",
    "
    DROP TABLE runs;
    DROP TABLE terms;
    CREATE TABLE terms (
        id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, term TEXT NOT NULL, UNIQUE (tenant, term));
    CREATE VIRTUAL TABLE runs USING fts5 (term, content = '', contentless_delete = 1, tokenize = 'trigram');
    INSERT OR IGNORE INTO unindexed SELECT id FROM bodies;
    CREATE INDEX originals_not_indexed_whole ON originals (tenant) WHERE len > 2097152;
    ",
    "
    CREATE TABLE blocks (id INTEGER PRIMARY KEY, terms BLOB NOT NULL);
    INSERT OR IGNORE INTO unindexed SELECT id FROM bodies;
    ",
    // No table is another, but `words` holds each name of a call, and apart from what it is the call of.
    "
    INSERT OR IGNORE INTO unindexed SELECT id FROM bodies;
    ",
];

/// The layout that this version writes.
pub(super) const LAYOUT: u32 = STEPS.len() as u32;

/// Lays out a file that was made just now and holds nothing.
pub(super) fn make(connection: &mut Connection, path: &Path) -> Result<()> {
    let fail = |error| fault::of("create", path, &error);
    let steps = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    apply(&steps, 0, LAYOUT).map_err(fail)?;
    steps.commit().map_err(fail)
}

/// Brings an older file to this layout, in one step that is done whole or not at all.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<()> {
    if layout(connection, path)? == LAYOUT {
        return Ok(());
    }
    let fail = |error| fault::of("set up", path, &error);
    let steps = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    // Another process may have been faster.
    let found = layout(&steps, path)?;
    apply(&steps, found, LAYOUT).map_err(fail)?;
    steps.commit().map_err(fail)
}

/// Gives a file's layout. A file that holds nothing is no archive: ours are whole before they have their name.
pub(super) fn layout(connection: &Connection, path: &Path) -> Result<u32> {
    let fail = |error| fault::of("open", path, &error);
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(fail);
    let (owner, found) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    if owner != i64::from(APPLICATION_ID) || found < 1 {
        return Err(Error::NotAnArchive { path: path.to_owned() });
    }
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    if found > LAYOUT {
        return Err(Error::UnknownVersion { path: path.to_owned(), found, expected: LAYOUT });
    }
    Ok(found)
}

/// Says whether a file has this layout: one of an older layout may be read as it stands, where it cannot be written.
pub(super) fn is_current(connection: &Connection, path: &Path) -> Result<bool> {
    layout(connection, path).map(|found| found == LAYOUT)
}

/// The layout from which on a file holds summaries and ledgers.
pub(super) const WITH_SUMMARIES: u32 = 2;

fn apply(steps: &Transaction<'_>, found: u32, wanted: u32) -> rusqlite::Result<()> {
    for step in STEPS.iter().take(wanted as usize).skip(found as usize) {
        steps.execute_batch(step)?;
    }
    steps.pragma_update(None, "application_id", APPLICATION_ID)?;
    steps.pragma_update(None, "user_version", wanted)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Makes a file as an older version made it.
    pub(in crate::sqlite) fn of_layout(path: &Path, wanted: u32) -> Connection {
        crate::folder::create_private(path).unwrap();
        let mut connection = super::super::connect::writer(path).unwrap();
        let steps = connection.transaction().unwrap();
        apply(&steps, 0, wanted).unwrap();
        steps.commit().unwrap();
        connection
    }

    #[test]
    fn each_older_layout_becomes_this_one_and_a_newer_one_is_left_alone() {
        for found in 1..=LAYOUT {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            let mut connection = of_layout(&path, found);
            prepare(&mut connection, &path).unwrap();
            assert_eq!(layout(&connection, &path).unwrap(), LAYOUT);
            connection.pragma_update(None, "user_version", LAYOUT + 1).unwrap();
            let newer = prepare(&mut connection, &path);
            assert!(matches!(newer, Err(Error::UnknownVersion { found, .. }) if found == LAYOUT + 1));
        }
    }

    #[test]
    fn a_database_of_somebody_else_is_no_archive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE notes (text)").unwrap();
        assert!(matches!(prepare(&mut connection, &path), Err(Error::NotAnArchive { .. })));
    }
}
