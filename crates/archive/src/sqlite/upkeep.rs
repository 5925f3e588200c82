//! What is in the archive, is it whole, and what may leave? Lists, checks, eviction on demand, purges.

use std::path::Path;

use rusqlite::{Connection, Transaction, params};

use super::{SqliteArchive, blocks, evict, fault, indexer, rows, schema, store, writer::Desk};
use crate::{Evicted, Reach, Result, Scope};

/// Places of damage that a scan lists; more are only counted, since one bad stretch of a disk hits many records.
pub const MAX_LISTED_DAMAGE: usize = 100;

/// What a probe writes: enough to need pages of its own.
const PROBED_BYTES: i64 = 64 << 10;

/// What a reading of every record found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// Originals, damaged ones included.
    pub originals: u64,
    /// Manifests, damaged ones included: one for each body that was handed out.
    pub manifests: u64,
    /// Bytes in use, those of every tenant and of the indexes included.
    pub bytes: u64,
    /// Bytes that the archive may take.
    pub capacity_bytes: u64,
    /// Records that fail their checksum, and blocks of words that cannot be read: these an eviction builds anew.
    pub damaged: u64,
    /// The first [`MAX_LISTED_DAMAGE`] of them.
    pub places: Vec<String>,
    /// Whether the structure of the file is whole.
    pub is_structure_sound: bool,
}

impl Scan {
    /// Says whether all that is stored can be read.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damaged == 0 && self.is_structure_sound
    }

    fn add_damage(&mut self, place: String) {
        self.damaged += 1;
        if self.places.len() < MAX_LISTED_DAMAGE {
            self.places.push(place);
        }
    }
}

/// What to purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purge {
    /// One original, and every manifest of a session that held it. Where sessions are a border, what other sessions hold
    /// stays theirs.
    Id(String),
    /// A session with its manifests, calls, ledger, and every original that no other session holds.
    Session(String),
}

/// What a purge removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// Originals.
    pub originals: u64,
    /// Manifests: the bodies they belong to can no longer be restored.
    pub manifests: u64,
    /// Whether what was named is known in the handle's scope, if only as gone. A session that was purged is not.
    pub is_known: bool,
}

impl SqliteArchive {
    /// Reads every record of the tenant and checks it against its checksum, and the structure of the file. Changes
    /// nothing.
    ///
    /// ```
    /// use liveset_archive::{Archive, Release, SqliteArchive};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let archive = SqliteArchive::open(folder.path().join("archive.db"))?;
    /// archive.put(&Release::new(b"body", vec![1], vec![("0f".repeat(16), vec![2, 3])]))?;
    /// let scan = archive.scan()?;
    /// assert_eq!((scan.originals, scan.manifests, scan.is_sound()), (1, 1, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The file system. Damage is no error here but what a scan looks for.
    pub fn scan(&self) -> Result<Scan> {
        let capacity_bytes = self.limits().capacity_bytes;
        self.read(|connection, path| scan(connection, path, &self.scope().tenant, capacity_bytes))
    }

    /// Writes something and takes it back, so that whoever asks knows whether originals could be stored right now.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let archive = liveset_archive::SqliteArchive::open(folder.path().join("archive.db"))?;
    /// archive.probe()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The file system: a full disk, a file that is gone or may only be read.
    pub fn probe(&self) -> Result<()> {
        let at = self.now();
        self.write(move |desk| {
            desk.write(|transaction, path| {
                let write = || {
                    // No tenant has the number 0, so nobody sees the row, not even for a moment.
                    let put = "INSERT INTO summaries (tenant, input, text, at) VALUES (0, zeroblob(?1), 'probe', ?2)";
                    transaction.execute(put, params![PROBED_BYTES, at])?;
                    transaction.execute("DELETE FROM summaries WHERE tenant = 0", [])
                };
                write().map(drop).map_err(|error| fault::of("write", path, &error))
            })
        })
    }

    /// Evicts until at most `goal_bytes` of the file are in use, or nothing is left that may go; then gives the space back.
    ///
    /// The owner of the file makes room in all of it; any other scope only in what is its own.
    ///
    /// # Errors
    /// The file system; [`Error::Busy`](crate::Error::Busy) where somebody reads for so long that the space could not be
    /// given back. The same call again does so.
    pub fn evict(&self, goal_bytes: u64, reach: Reach) -> Result<Evicted> {
        let (now, scope) = (self.now(), self.scope().clone());
        self.write(move |desk| {
            let limits = desk.limits;
            let evicted = desk.write(|transaction, path| {
                let whose = whose(transaction, &scope).map_err(|error| fault::of("read", path, &error))?;
                let Some(whose) = whose else { return Ok(Evicted::default()) };
                let goal = evict::Goal { bytes: goal_bytes, reach, whose };
                let evicted = evict::evict(transaction, path, &limits, now, goal)?;
                let tidy = indexer::forget_removed(transaction).and_then(|()| blocks::mend(transaction));
                tidy.map_err(|error| fault::of("write", path, &error))?;
                Ok(evicted)
            });
            desk.whole.clear();
            let evicted = evicted?;
            desk.give_back()?;
            Ok(evicted)
        })
    }

    /// Removes what is named, for good: the bytes are overwritten in the file.
    ///
    /// # Errors
    /// A malformed id, or the file system; [`Error::Busy`](crate::Error::Busy) where somebody reads for so long that the
    /// log beside the file still holds what was removed. The same call again empties it.
    pub fn purge(&self, what: &Purge) -> Result<Purged> {
        let (scope, what) = (self.scope().clone(), what.clone());
        if let Purge::Id(id) = &what {
            store::original_name(id)?;
        }
        self.write(move |desk| {
            overwrite_removed(desk, true)?;
            let purged = desk.write(|transaction, path| {
                let purged = purge(transaction, path, &scope, &what)?;
                indexer::forget_removed(transaction).map_err(|error| fault::of("write", path, &error))?;
                Ok(purged)
            });
            desk.whole.clear();
            let done = purged.and_then(|purged| desk.give_back().map(|()| purged));
            overwrite_removed(desk, false)?;
            done
        })
    }
}

/// Says whether what is removed from now on is overwritten where it stood.
fn overwrite_removed(desk: &Desk, is_overwritten: bool) -> Result<()> {
    let done = desk.connection.pragma_update(None, "secure_delete", is_overwritten);
    done.map_err(|error| fault::of("write", &desk.path, &error))
}

fn scan(connection: &Connection, path: &Path, tenant: &str, capacity_bytes: u64) -> Result<Scan> {
    let fail = |error| fault::of("read", path, &error);
    let check: rusqlite::Result<String> = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
    let bytes = evict::used_bytes(connection).unwrap_or(0);
    let mut found =
        Scan { capacity_bytes, bytes, is_structure_sound: check.is_ok_and(|told| told == "ok"), ..Scan::default() };
    let Some(tenant) = rows::tenant(connection, tenant).map_err(fail)? else { return Ok(found) };
    // A reason for being gone that no version writes is damage, whatever the text looks like.
    let texts = format!(
        "SELECT CASE o.removed WHEN 0 THEN b.form END, b.body, o.len, o.sum, o.name
        FROM originals o LEFT JOIN bodies b USING (id) WHERE o.tenant = ?1 AND o.removed NOT IN ({}, {})",
        evict::EVICTED,
        evict::PURGED
    );
    let manifests = "SELECT form, body, len, sum, output FROM manifests WHERE tenant = ?1";
    for (sql, what) in [(texts.as_str(), "original"), (manifests, "manifest")] {
        let listed = look_through(connection, path, sql, tenant, what, &mut found);
        // Where the tables themselves are broken, nobody knows what stands behind the break.
        if listed.is_err() {
            found.is_structure_sound = false;
        }
    }
    if schema::is_current(connection, path)? {
        match blocks::damaged(connection) {
            Ok(blocks) => blocks.iter().for_each(|block| found.add_damage(format!("block of words {block}"))),
            Err(_) => found.is_structure_sound = false,
        }
    }
    Ok(found)
}

fn look_through(
    connection: &Connection,
    path: &Path,
    sql: &str,
    tenant: i64,
    what: &'static str,
    found: &mut Scan,
) -> rusqlite::Result<()> {
    let mut rows_found = connection.prepare(sql)?;
    let mut rows_found = rows_found.query([tenant])?;
    while let Some(row) = rows_found.next()? {
        match what {
            "original" => found.originals += 1,
            _ => found.manifests += 1,
        }
        let name: Vec<u8> = row.get(4)?;
        let place = format!("{what} {}", store::shown_name(&name));
        let is_whole = rows::Packed::of(row, 0).is_ok_and(|packed| packed.unpacked(path, || place.clone()).is_ok());
        if !is_whole {
            found.add_damage(place);
        }
    }
    Ok(())
}

/// Gives what a scope may evict; `None` where it holds nothing.
fn whose(transaction: &Transaction<'_>, scope: &Scope) -> rusqlite::Result<Option<evict::Whose>> {
    if *scope == Scope::default() {
        return Ok(Some(evict::Whose::default()));
    }
    let Some(tenant) = rows::tenant(transaction, &scope.tenant)? else { return Ok(None) };
    let all = evict::Whose { tenant: Some(tenant), session: None };
    let Some(border) = scope.border() else { return Ok(Some(all)) };
    let session = rows::session(transaction, tenant, border)?;
    Ok(session.map(|session| evict::Whose { session: Some(session), ..all }))
}

fn purge(transaction: &Transaction<'_>, path: &Path, scope: &Scope, what: &Purge) -> Result<Purged> {
    let fail = |error| fault::of("write", path, &error);
    let Some(tenant) = rows::tenant(transaction, &scope.tenant).map_err(fail)? else { return Ok(Purged::default()) };
    match (what, scope.border()) {
        (Purge::Id(id), None) => purge_id(transaction, tenant, &store::original_name(id)?).map_err(fail),
        (Purge::Id(id), Some(border)) => match rows::session(transaction, tenant, border).map_err(fail)? {
            None => Ok(Purged::default()),
            Some(session) => purge_own(transaction, session, &store::original_name(id)?).map_err(fail),
        },
        (Purge::Session(name), Some(border)) if name != border => Ok(Purged::default()),
        (Purge::Session(name), _) => match rows::session(transaction, tenant, name).map_err(fail)? {
            None => Ok(Purged::default()),
            Some(session) => purge_session(transaction, session).map_err(fail),
        },
    }
}

fn purge_id(transaction: &Transaction<'_>, tenant: i64, name: &store::Name) -> rusqlite::Result<Purged> {
    let sql = "SELECT id FROM originals WHERE tenant = ?1 AND name = ?2";
    let mut purged = Purged::default();
    for id in ids(transaction, sql, params![tenant, name])? {
        purged.is_known = true;
        let sql = "SELECT id FROM originals WHERE id = ?1 AND removed <> ?2";
        if ids(transaction, sql, params![id, evict::PURGED])?.is_empty() {
            continue;
        }
        // A manifest holds raw pieces of the text wherever a client escapes in its own way.
        let sql = "DELETE FROM manifests WHERE session IN (SELECT session FROM calls WHERE original = ?1)";
        purged.manifests += transaction.execute(sql, [id])? as u64;
        purged.originals += 1;
        forget(transaction, &[id])?;
    }
    Ok(purged)
}

/// The same for a session that is a border: a text that others hold too only leaves this one.
fn purge_own(transaction: &Transaction<'_>, session: i64, name: &store::Name) -> rusqlite::Result<Purged> {
    let sql =
        "SELECT o.id FROM originals o WHERE o.name = ?2 AND o.tenant = (SELECT tenant FROM sessions WHERE id = ?1)
        AND EXISTS (SELECT 1 FROM calls c WHERE c.session = ?1 AND c.original = o.id)";
    let mut purged = Purged::default();
    for id in ids(transaction, sql, params![session, name])? {
        purged.is_known = true;
        purged.originals += 1;
        purged.manifests += transaction.execute("DELETE FROM manifests WHERE session = ?1", [session])? as u64;
        let others = "SELECT id FROM calls WHERE original = ?1 AND session <> ?2 LIMIT 1";
        if ids(transaction, others, params![id, session])?.is_empty() {
            forget(transaction, &[id])?;
            continue;
        }
        // Indexed again, without the words of this session's calls.
        for sql in [
            "INSERT OR IGNORE INTO unindexed SELECT id FROM originals WHERE id = ?1 AND removed = 0",
            "DELETE FROM words WHERE rowid = ?1",
        ] {
            transaction.execute(sql, [id])?;
        }
        blocks::forget(transaction, [id])?;
        transaction.execute("DELETE FROM calls WHERE original = ?1 AND session = ?2", params![id, session])?;
    }
    Ok(purged)
}

fn purge_session(transaction: &Transaction<'_>, session: i64) -> rusqlite::Result<Purged> {
    let alone = "SELECT DISTINCT original FROM calls c WHERE session = ?1
        AND NOT EXISTS (SELECT 1 FROM calls other WHERE other.original = c.original AND other.session <> ?1)";
    let found = ids(transaction, alone, params![session])?;
    let mut purged = Purged { originals: found.len() as u64, manifests: 0, is_known: true };
    forget(transaction, &found)?;
    let told = "SELECT DISTINCT original FROM calls WHERE session = ?1 AND tool <> ''";
    blocks::forget(transaction, ids(transaction, told, [session])?)?;
    purged.manifests = transaction.execute("DELETE FROM manifests WHERE session = ?1", [session])? as u64;
    for sql in [
        // What others hold too is indexed again, without the words of this session's calls.
        "INSERT OR IGNORE INTO unindexed SELECT o.id FROM calls c JOIN originals o ON o.id = c.original
            WHERE c.session = ?1 AND c.tool <> '' AND o.removed = 0",
        "DELETE FROM words WHERE rowid IN (SELECT original FROM calls WHERE session = ?1 AND tool <> '')",
        "DELETE FROM calls WHERE session = ?1",
        "DELETE FROM ledger WHERE session = ?1",
        "DELETE FROM sessions WHERE id = ?1",
    ] {
        transaction.execute(sql, [session])?;
    }
    Ok(purged)
}

fn ids(transaction: &Transaction<'_>, sql: &str, bound: impl rusqlite::Params) -> rusqlite::Result<Vec<i64>> {
    transaction.prepare(sql)?.query_map(bound, |row| row.get(0))?.collect()
}

/// Removes texts and every call that tells of them. That they were purged stays known, by their ids alone.
fn forget(transaction: &Transaction<'_>, gone: &[i64]) -> rusqlite::Result<()> {
    evict::remove_texts(transaction, gone, evict::PURGED)?;
    let mut each = transaction.prepare_cached("DELETE FROM calls WHERE original = ?1")?;
    gone.iter().try_for_each(|id| each.execute([id]).map(drop))
}
