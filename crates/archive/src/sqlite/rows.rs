//! What stands in a row? Small reads that several files share.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{fault, store};
use crate::{
    Result, Source,
    packed::{self, Form},
    records::Sum,
};

pub(super) fn tenant(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM tenants WHERE name = ?1";
    connection.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()
}

pub(super) fn tenant_or_new(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    if let Some(id) = tenant(connection, name)? {
        return Ok(id);
    }
    connection.execute("INSERT INTO tenants (name) VALUES (?1)", [name])?;
    Ok(connection.last_insert_rowid())
}

pub(super) fn session(connection: &Connection, tenant: i64, name: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM sessions WHERE tenant = ?1 AND name = ?2";
    connection.prepare_cached(sql)?.query_row(params![tenant, name], |row| row.get(0)).optional()
}

/// Gives a session, used now. Always writes: so a commit always syncs what an earlier process may have left unsynced.
pub(super) fn session_or_new(connection: &Connection, tenant: i64, name: &str, at: i64) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO sessions (tenant, name, used_at) VALUES (?1, ?2, ?3)
        ON CONFLICT (tenant, name) DO UPDATE SET used_at = max(used_at, excluded.used_at) RETURNING id";
    connection.prepare_cached(sql)?.query_row(params![tenant, name, at], |row| row.get(0))
}

/// Reads the text of an original; `None` where there is no row of it.
pub(super) fn body(connection: &Connection, path: &Path, id: i64) -> Result<Option<Vec<u8>>> {
    let sql = "SELECT b.form, b.body, o.len, o.sum, o.name FROM bodies b JOIN originals o USING (id) WHERE id = ?1";
    let packed = |row: &rusqlite::Row<'_>| {
        let name: Vec<u8> = row.get(4)?;
        Ok((Packed::of(row, 0)?, name))
    };
    let found = connection.prepare_cached(sql).and_then(|mut one| one.query_row([id], packed).optional());
    match found.map_err(|error| fault::of("read", path, &error))? {
        None => Ok(None),
        Some((packed, name)) => packed.unpacked(path, || format!("original {}", store::shown_name(&name))).map(Some),
    }
}

/// A text as a row holds it, in the columns form, body, len, sum.
pub(super) struct Packed {
    form: i64,
    body: Vec<u8>,
    len: i64,
    sum: Sum,
}

impl Packed {
    pub(super) fn of(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            form: row.get(first)?,
            body: row.get(first + 1)?,
            len: row.get(first + 2)?,
            sum: row.get(first + 3)?,
        })
    }

    pub(super) fn unpacked(&self, path: &Path, place: impl FnOnce() -> String) -> Result<Vec<u8>> {
        let form = Form::of_number(self.form);
        let text = form.zip(u64::try_from(self.len).ok());
        let text = text.and_then(|(form, len)| packed::unpack(form, &self.body, len, &self.sum));
        text.ok_or_else(|| fault::damaged(path, place(), "it fails its checksum"))
    }
}

/// Reads the calls of an original, newest first; those of one session where one is a border.
pub(super) fn sources(connection: &Connection, original: i64, session: Option<i64>) -> rusqlite::Result<Vec<Source>> {
    let sql = "SELECT tool, label, arguments FROM calls
        WHERE original = ?1 AND (?2 IS NULL OR session = ?2) AND tool <> '' ORDER BY id DESC LIMIT ?3";
    let mut rows = connection.prepare_cached(sql)?;
    let sources = rows.query_map(params![original, session, MAX_SOURCES], |row| {
        Ok(Source { tool: row.get(0)?, label: row.get(1)?, arguments: row.get(2)? })
    })?;
    sources.collect()
}

/// Gives what calls of an original say, each name once, the newest first; those of one session where one is a border.
pub(super) fn names(connection: &Connection, original: i64, session: Option<i64>) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT tool, label FROM calls WHERE original = ?1 AND (?2 IS NULL OR session = ?2) AND tool <> ''
        GROUP BY tool, label ORDER BY max(id) DESC";
    let mut rows = connection.prepare_cached(sql)?;
    let names = rows.query_map(params![original, session], |row| {
        Ok(Source { tool: row.get(0)?, label: row.get(1)?, arguments: String::new() }.name())
    })?;
    names.collect()
}

/// Calls of one original that are told: a text that hundreds of calls gave is named well enough by a few.
const MAX_SOURCES: u32 = 20;
