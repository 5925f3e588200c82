//! What does one session hold? Its calls in order, without their texts.

use rusqlite::{Connection, params};

use super::{SqliteArchive, fault, rows, store};
use crate::{Result, Source};

/// One call of a session whose answer, or argument, is or was in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentRow {
    /// Content id of the original.
    pub id: String,
    /// The call.
    pub source: Source,
    /// Bytes of the original as it was cut.
    pub bytes: u64,
    /// Whether it was removed since.
    pub is_removed: bool,
}

impl SqliteArchive {
    /// Lists what a session holds in the order in which it was stored, the newest `limit` of it; an unknown session, or
    /// one outside the scope, holds nothing.
    ///
    /// ```
    /// use liveset_archive::{Archive, Release, Source, SqliteArchive};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let archive = SqliteArchive::open(folder.path().join("archive.db"))?;
    /// let id = "0f".repeat(16);
    /// let mut release = Release::new(b"body", vec![1], vec![(id.clone(), vec![2, 3])]);
    /// release.session = "s".into();
    /// release.sources = vec![(id, Source { tool: "read".into(), label: "a.rs".into(), ..Source::default() })];
    /// archive.put(&release)?;
    /// let rows = archive.contents("s", 100)?;
    /// assert_eq!((rows.len(), rows[0].source.name(), rows[0].bytes), (1, "read a.rs".to_owned(), 2));
    /// assert!(archive.contents("other", 100)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Damage, or the file system.
    pub fn contents(&self, session: &str, limit: usize) -> Result<Vec<ContentRow>> {
        if self.scope().border().is_some_and(|border| border != session) {
            return Ok(Vec::new());
        }
        self.read(|connection, path| {
            contents(connection, &self.scope().tenant, session, limit).map_err(|error| fault::of("read", path, &error))
        })
    }
}

fn contents(connection: &Connection, tenant: &str, session: &str, limit: usize) -> rusqlite::Result<Vec<ContentRow>> {
    let Some(tenant) = rows::tenant(connection, tenant)? else { return Ok(Vec::new()) };
    let Some(session) = rows::session(connection, tenant, session)? else { return Ok(Vec::new()) };
    let sql = "SELECT o.name, c.tool, c.label, c.arguments, o.len, o.removed FROM calls c
        JOIN originals o ON o.id = c.original WHERE c.session = ?1 ORDER BY c.id DESC LIMIT ?2";
    let mut statement = connection.prepare(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = statement.query_map(params![session, limit], |row| {
        Ok(ContentRow {
            id: store::shown_name(&row.get::<_, Vec<u8>>(0)?),
            source: Source { tool: row.get(1)?, label: row.get(2)?, arguments: row.get(3)? },
            bytes: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
            is_removed: row.get::<_, i64>(5)? != 0,
        })
    })?;
    let mut rows: Vec<ContentRow> = found.collect::<rusqlite::Result<_>>()?;
    rows.reverse();
    Ok(rows)
}
