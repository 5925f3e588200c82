//! When does a text become findable? Behind the release that stored it, in small steps; no release waits for it.

use std::{collections::BTreeSet, path::Path};

use rusqlite::{Connection, Transaction, params};

use super::{
    blocks, fault, rows,
    words::{MAX_INDEXED_BYTES, Words, terms},
    writer::Desk,
};
use crate::Result;

/// Bytes of text that one step indexes: some 20 ms, for which a release may have to wait.
const STEP_BYTES: i64 = 128 << 10;

/// The same while somebody waits for all of them: larger steps share more of their cost, at the price that a release may
/// have to wait for eight of the small ones.
pub(super) const LARGE_STEP_BYTES: i64 = 8 * STEP_BYTES;

/// Bytes of text that a search which left something out may have indexed before it answers: about a second's worth. Who
/// waits for an answer would rather read what was left out than wait for the rest of some GiB.
pub(super) const SEARCH_BYTES: i64 = 6 * LARGE_STEP_BYTES;

/// Adds a row to an index of words.
pub(super) const INSERT_WORDS: &str = "INSERT INTO words (rowid, whole, parts) VALUES (?1, ?2, ?3)";

/// What a step indexed.
pub(super) struct Indexed {
    pub(super) texts: u64,
    pub(super) bytes: i64,
}

/// Indexes some of what is not indexed yet, unless another process writes just now; gives how many texts.
///
/// Nobody asked for it: it waits for nobody, or a release that comes meanwhile, or the end of the process, would too.
pub(super) fn step(desk: &mut Desk) -> Result<u64> {
    desk.at_once(|desk| step_of(desk, STEP_BYTES)).map(|step| step.texts)
}

/// The same for somebody who waits. One step a task, so that releases are served between them.
pub(super) fn large_step(desk: &mut Desk) -> Result<u64> {
    step_of(desk, LARGE_STEP_BYTES).map(|step| step.texts)
}

/// The same for a search: no larger than what is left to it, and it gives up where another process writes.
pub(super) fn step_within(desk: &mut Desk, left_bytes: i64) -> Result<Indexed> {
    desk.at_once(|desk| step_of(desk, left_bytes.min(LARGE_STEP_BYTES)))
}

/// Counts the texts that are not indexed yet.
pub(super) fn waiting(connection: &Connection, path: &Path) -> Result<u64> {
    let number = connection.query_row("SELECT count(*) FROM unindexed", [], |row| row.get::<_, i64>(0));
    number.map(i64::unsigned_abs).map_err(|error| fault::of("index", path, &error))
}

fn step_of(desk: &mut Desk, bytes: i64) -> Result<Indexed> {
    desk.write(|transaction, path| {
        let fail = |error| fault::of("index", path, &error);
        let sql = "SELECT id, len FROM unindexed JOIN originals USING (id) ORDER BY id LIMIT 512";
        let mut rows = transaction.prepare(sql).map_err(fail)?;
        let waiting: Vec<(i64, i64)> =
            rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).and_then(Iterator::collect).map_err(fail)?;
        let (mut indexed, mut listed) = (Indexed { texts: 0, bytes: 0 }, Vec::new());
        for (id, len) in &waiting {
            if indexed.bytes >= bytes {
                break;
            }
            indexed.bytes = indexed.bytes.saturating_add(*len);
            indexed.texts += 1;
            // A damaged text cannot be found by its words; reading it says what is wrong.
            let text = rows::body(transaction, path, *id).unwrap_or_default();
            listed.push((*id, index(transaction, *id, text.as_deref().unwrap_or_default()).map_err(fail)?));
        }
        blocks::put(transaction, &listed).map_err(fail)?;
        Ok(indexed)
    })
}

/// Indexes one text; gives its words that can be found by a run inside them.
fn index(transaction: &Transaction<'_>, id: i64, text: &[u8]) -> rusqlite::Result<BTreeSet<String>> {
    let words = words_of(text, &rows::names(transaction, id, None)?);
    transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    let mut insert = transaction.prepare_cached(INSERT_WORDS)?;
    insert.execute(params![id, words.whole, words.parts])?;
    let tenant: i64 = transaction.query_row("SELECT tenant FROM originals WHERE id = ?1", [id], |row| row.get(0))?;
    let mut term = transaction.prepare_cached("INSERT OR IGNORE INTO terms (tenant, term) VALUES (?1, ?2)")?;
    let mut run = transaction.prepare_cached("INSERT INTO runs (rowid, term) VALUES (?1, ?2)")?;
    let terms = terms(&words);
    for word in &terms {
        if term.execute(params![tenant, word])? > 0 {
            run.execute(params![transaction.last_insert_rowid(), word])?;
        }
    }
    transaction.execute("DELETE FROM unindexed WHERE id = ?1", [id])?;
    Ok(terms)
}

/// Gives the words of a text and of the calls that it answers, whose own words find it too. Their arguments are not
/// indexed: they may hold what no list should show.
pub(super) fn words_of(text: &[u8], names: &[String]) -> Words {
    let text = text.get(..text.len().min(MAX_INDEXED_BYTES)).unwrap_or_default();
    let mut words = Words::of(&String::from_utf8_lossy(text));
    for name in names {
        words.add_apart(&Words::of(name));
    }
    words
}

/// Takes what was removed out of the indexes for good: they only mark it until their parts are merged. A word that
/// another text still holds, of whatever tenant, may stay.
pub(super) fn forget_removed(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
    transaction.execute_batch(
        "CREATE TEMP TABLE unused AS SELECT id FROM terms WHERE term NOT IN (SELECT term FROM vocabulary);
         DELETE FROM runs WHERE rowid IN (SELECT id FROM unused);
         DELETE FROM terms WHERE id IN (SELECT id FROM unused);
         DROP TABLE unused;",
    )?;
    transaction.execute("INSERT INTO runs (runs) VALUES ('optimize')", [])?;
    Ok(())
}
