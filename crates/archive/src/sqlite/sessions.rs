//! Which sessions are there, and how much does each hold? Lists them whole or in pages; reads no text.

use std::{fmt, str::FromStr};

use rusqlite::{Connection, params};

use super::{SqliteArchive, fault, rows};
use crate::Result;

/// One session and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRow {
    /// Its name.
    pub session: String,
    /// Originals that are here.
    pub originals: u64,
    /// Their bytes as they were cut.
    pub bytes: u64,
    /// Bodies that can be restored.
    pub bodies: u64,
    /// When a body of it was last handed out, in milliseconds since 1970.
    pub used_at: i64,
}

/// A place in the list of sessions: behind the last one of a page. Sessions that are used meanwhile move to the front of
/// the list; no other is left out or told twice.
///
/// ```
/// use liveset_archive::SessionMark;
/// let mark: SessionMark = "1700000000000.7".parse()?;
/// assert_eq!(mark.to_string(), "1700000000000.7");
/// assert!("7".parse::<SessionMark>().is_err());
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionMark {
    used_at: i64,
    id: i64,
}

impl fmt::Display for SessionMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.used_at, self.id)
    }
}

impl FromStr for SessionMark {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let (used_at, id) = text.split_once('.').unwrap_or((text, ""));
        Ok(Self { used_at: used_at.parse()?, id: id.parse()? })
    }
}

/// Some of the sessions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions.
    pub rows: Vec<SessionRow>,
    /// Where the next page begins; `None` behind the last.
    pub next: Option<SessionMark>,
}

/// Which sessions are read.
#[derive(Clone, Copy, Default)]
struct Asked<'a> {
    name: Option<&'a str>,
    after: Option<SessionMark>,
    limit: Option<usize>,
}

impl SqliteArchive {
    /// Lists the tenant's sessions, newest first.
    ///
    /// # Errors
    /// Damage, or the file system.
    pub fn sessions(&self) -> Result<Vec<SessionRow>> {
        self.session_page(Asked::default()).map(|page| page.rows)
    }

    /// Lists at most `limit` of them, from behind `after`; looks into no other.
    ///
    /// ```
    /// use liveset_archive::{Archive, Release, SqliteArchive};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let archive = SqliteArchive::open(folder.path().join("archive.db"))?;
    /// for name in ["a", "b"] {
    ///     let mut release = Release::new(name.as_bytes(), vec![1], Vec::new());
    ///     release.session = name.into();
    ///     archive.put(&release)?;
    /// }
    /// let first = archive.sessions_after(None, 1)?;
    /// let second = archive.sessions_after(first.next, 1)?;
    /// assert_eq!((first.rows.len(), second.rows.len(), second.next), (1, 1, None));
    /// assert_ne!(first.rows[0].session, second.rows[0].session);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Damage, or the file system.
    pub fn sessions_after(&self, after: Option<SessionMark>, limit: usize) -> Result<SessionPage> {
        self.session_page(Asked { after, limit: Some(limit), ..Asked::default() })
    }

    /// Says what one session holds; `None` where there is none of this name in scope.
    ///
    /// # Errors
    /// Damage, or the file system.
    pub fn session(&self, name: &str) -> Result<Option<SessionRow>> {
        let page = self.session_page(Asked { name: Some(name), ..Asked::default() })?;
        Ok(page.rows.into_iter().next())
    }

    fn session_page(&self, asked: Asked<'_>) -> Result<SessionPage> {
        self.read(|connection, path| {
            let tenant = &self.scope().tenant;
            page(connection, tenant, self.scope().border(), asked).map_err(|error| fault::of("read", path, &error))
        })
    }
}

/// Picks the sessions first, and counts only what these hold.
const PAGE: &str = "WITH page AS MATERIALIZED (
        SELECT id, name, used_at FROM sessions
        WHERE tenant = ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR name = ?3)
        AND (?4 IS NULL OR (used_at, id) < (?4, ?5)) ORDER BY used_at DESC, id DESC LIMIT ?6)
    SELECT s.name, s.used_at, count(o.id), coalesce(sum(o.len), 0),
        (SELECT count(*) FROM manifests m WHERE m.session = s.id), s.id
    FROM page s
    LEFT JOIN (SELECT DISTINCT session, original FROM calls WHERE session IN (SELECT id FROM page)) c
        ON c.session = s.id
    LEFT JOIN originals o ON o.id = c.original AND o.removed = 0
    GROUP BY s.id ORDER BY s.used_at DESC, s.id DESC";

fn page(
    connection: &Connection,
    tenant: &str,
    border: Option<&str>,
    asked: Asked<'_>,
) -> rusqlite::Result<SessionPage> {
    let Some(tenant) = rows::tenant(connection, tenant)? else { return Ok(SessionPage::default()) };
    let limit = asked.limit.unwrap_or(usize::MAX);
    // One more than is told shows whether there are more; without a limit there never are.
    let wanted = i64::try_from(limit.saturating_add(1)).unwrap_or(-1);
    let (used_at, id) = (asked.after.map(|mark| mark.used_at), asked.after.map(|mark| mark.id));
    let number = |row: &rusqlite::Row<'_>, at| row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or(0));
    let mut statement = connection.prepare_cached(PAGE)?;
    let found = statement.query_map(params![tenant, border, asked.name, used_at, id, wanted], |row| {
        let found = SessionRow {
            session: row.get(0)?,
            used_at: row.get(1)?,
            originals: number(row, 2)?,
            bytes: number(row, 3)?,
            bodies: number(row, 4)?,
        };
        Ok((row.get(5)?, found))
    })?;
    let mut found: Vec<(i64, SessionRow)> = found.collect::<rusqlite::Result<_>>()?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|(id, row)| SessionMark { used_at: row.used_at, id: *id });
    Ok(SessionPage { rows: found.into_iter().map(|(_, row)| row).collect(), next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Archive, Release};

    #[test]
    fn pages_behind_one_another_are_the_list_and_look_into_no_other_session() {
        let folder = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
        for name in ["a", "b", "c", "d", ""] {
            let mut release = Release::new(name.as_bytes(), vec![1], vec![("0f".repeat(16), vec![1])]);
            release.session = name.into();
            archive.put(&release).unwrap();
        }
        let whole = archive.sessions().unwrap();
        for limit in 1..7 {
            let (mut rows, mut after) = (Vec::new(), None);
            loop {
                let page = archive.sessions_after(after, limit).unwrap();
                assert!(page.rows.len() <= limit && !page.rows.is_empty());
                rows.extend(page.rows);
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(rows, whole, "pages of {limit}");
        }
        assert_eq!(archive.session("c").unwrap().as_ref(), whole.iter().find(|row| row.session == "c"));
        assert_eq!(archive.session("e").unwrap(), None);
        let strict = archive.within(crate::Scope::default().strictly("c"));
        assert_eq!((strict.session("a").unwrap(), strict.sessions_after(None, 9).unwrap().rows.len()), (None, 1));
        let connection = super::super::connect::reader(archive.path()).unwrap();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {PAGE}")).unwrap();
        let steps = plan
            .query_map(params![1, None::<i64>, None::<i64>, None::<i64>, None::<i64>, 9], |row| row.get::<_, String>(3))
            .unwrap()
            .collect::<rusqlite::Result<Vec<_>>>()
            .unwrap();
        let reads_all = |step: &&String| {
            ["calls", "originals", "o", "manifests", "m"].iter().any(|table| step.starts_with(&format!("SCAN {table}")))
        };
        assert_eq!(steps.iter().find(reads_all), None, "{steps:?}");
    }
}
