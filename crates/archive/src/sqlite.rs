//! How are originals kept for good? One SQLite file, for one user; decides nothing about what is cut.

mod around;
mod blocks;
mod connect;
mod contents;
mod copy;
mod evict;
mod fault;
mod indexer;
mod members;
mod own;
mod phrases;
mod rows;
mod schema;
mod sessions;
mod search;
mod store;
mod summaries;
mod throughout;
mod unread;
mod upkeep;
mod weighing;
mod within;
mod words;
mod writer;

#[cfg(test)]
mod search_oracle;
#[cfg(test)]
mod tests;

pub use contents::ContentRow;
pub use copy::Copied;
pub use evict::{DEFAULT_CAPACITY_BYTES, DEFAULT_LIVE_MS, Evicted, Reach};
pub use sessions::{SessionMark, SessionPage, SessionRow};
pub use store::MAX_ARGUMENT_BYTES;
pub use summaries::{Event, MAX_EVENT_BYTES, MAX_SUMMARY_BYTES};
pub use upkeep::{MAX_LISTED_DAMAGE, Purge, Purged, Scan};

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Archive, Clock, Found, Gone, Kept, Lookup, Query, Release, Removal, Result, Scope, clock,
    records::{self, Sum},
};
use store::{Name, Stored};
use writer::{Desk, Writer};

/// Connections that are kept for the next read.
const MAX_IDLE_READERS: usize = 4;

/// Texts that a handle remembers to have stored, so that it need not pack them again; some MiB at most.
const MAX_KNOWN: usize = 1 << 16;

/// How an archive is kept.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Bytes that the file may take, indexes included. The log beside it comes on top.
    pub capacity_bytes: u64,
    /// A conversation that sent a body this recently is alive: what it points at is never evicted to make room.
    pub live_ms: i64,
    /// What time it is.
    pub clock: Clock,
}

impl Default for Options {
    fn default() -> Self {
        Self { capacity_bytes: DEFAULT_CAPACITY_BYTES, live_ms: DEFAULT_LIVE_MS, clock: clock::system }
    }
}

/// An archive in one SQLite file.
///
/// A `put` that returned has survived a power cut. Several handles, threads and processes may share the file. It is
/// created with mode 0600, missing folders above it with 0700; an existing file keeps its mode. One thread a handle
/// writes, started by the first write; releases that arrive together share one commit.
///
/// ```
/// use liveset_archive::{Archive, Release, SqliteArchive};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("archive.db");
/// let id = "0f".repeat(16);
/// SqliteArchive::open(&path)?.put(&Release::new(b"body", vec![1], vec![(id.clone(), vec![2, 3])]))?;
/// assert_eq!(SqliteArchive::open(&path)?.original(&id)?, Some(vec![2, 3]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteArchive {
    shared: Arc<Shared>,
    scope: Scope,
    known: Mutex<HashSet<(Name, Sum)>>,
}

struct Shared {
    path: PathBuf,
    options: Options,
    writer: Writer,
    readers: Mutex<Vec<Reader>>,
}

struct Reader {
    connection: Connection,
    /// Which file it reads, should another take its place.
    file: Option<FileId>,
}

/// Tells a file from another of the same name.
pub(crate) type FileId = (u64, u64);

impl std::fmt::Debug for SqliteArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteArchive")
            .field("path", &self.shared.path)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl SqliteArchive {
    /// Opens the archive at `path`, creating it where it is missing. A file of an older layout is brought to this one;
    /// where it may not be written it is read as it stands.
    ///
    /// # Errors
    /// A file that is no archive, of the older kind or of a newer version, damage, or the file system.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteArchive> {
        Self::open_with(path, Options::default())
    }

    /// Opens the archive with limits of its own.
    ///
    /// # Errors
    /// As [`SqliteArchive::open`].
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<SqliteArchive> {
        let path = path.as_ref().to_owned();
        connect::create(&path)?;
        let first = Reader::open(&path)?;
        if schema::layout(&first.connection, &path)? != schema::LAYOUT {
            match connect::writer(&path).and_then(|mut connection| schema::prepare(&mut connection, &path)) {
                // Who may only read reads what is there; each layout can be. A write says why it cannot be.
                Err(error) if error.is_refused_write() => {}
                done => done?,
            }
        }
        let limits = evict::Limits { capacity_bytes: options.capacity_bytes, live_ms: options.live_ms };
        let writer = Writer::new(&path, limits);
        let shared = Shared { path, options, writer, readers: Mutex::new(vec![first]) };
        Ok(SqliteArchive { shared: Arc::new(shared), scope: Scope::default(), known: Mutex::default() })
    }

    /// Gives a handle of the same archive that sees another scope.
    ///
    /// ```
    /// use liveset_archive::{Archive, Release, Scope, SqliteArchive};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let mine = SqliteArchive::open(folder.path().join("archive.db"))?;
    /// let id = "0f".repeat(16);
    /// mine.put(&Release::new(b"body", vec![1], vec![(id.clone(), vec![2])]))?;
    /// assert_eq!(mine.within(Scope::tenant("another")).original(&id)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn within(&self, scope: Scope) -> SqliteArchive {
        SqliteArchive { shared: Arc::clone(&self.shared), scope, known: Mutex::default() }
    }

    /// The path this archive was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Says whether an original is here and can be redeemed; reads no text.
    ///
    /// # Errors
    /// A malformed id, damage, or the file system.
    pub fn holds(&self, id: &str) -> Result<bool> {
        let name = store::original_name(id)?;
        self.read(|connection, path| Ok(self.find(connection, path, &name)?.is_some_and(|row| row.removed.is_none())))
    }

    /// Brings the full-text index up to date. A handle that stays open does so by itself, after a release or a search.
    ///
    /// # Errors
    /// The file system.
    pub fn index(&self) -> Result<()> {
        // What others store meanwhile is left to the next one, or this might never end.
        let mut left = self.write(|desk| desk.write(|state, path| indexer::waiting(state, path)))?;
        while left > 0 {
            match self.write(indexer::large_step)? {
                0 => break,
                indexed => left = left.saturating_sub(indexed),
            }
        }
        Ok(())
    }

    /// Searches, and where originals were left out that wait for the index, first spends up to about a second on
    /// indexing: for who asks once and goes. Waits for no writer; what is left out even then, the answer says.
    ///
    /// ```
    /// use liveset_archive::{Archive, Query, Release, SqliteArchive};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let archive = SqliteArchive::open(folder.path().join("archive.db"))?;
    /// let id = "0f".repeat(16);
    /// archive.put(&Release::new(b"body", vec![1], vec![(id.clone(), b"a pump".to_vec())]))?;
    /// let found = archive.search_and_index(&Query::new("pump"))?;
    /// assert_eq!((found.hits[0].id.as_str(), found.not_searched.is_nothing()), (id.as_str(), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Archive::search`].
    pub fn search_and_index(&self, query: &Query) -> Result<Found> {
        let found = self.search(query)?;
        if found.not_searched.originals == 0 || self.index_some() == 0 {
            return Ok(found);
        }
        // The first answer was right when it was given.
        Ok(self.search(query).unwrap_or(found))
    }

    /// Indexes some of what waits, while nobody else writes; gives how many texts. What stops it is no error: it was an
    /// attempt.
    fn index_some(&self) -> u64 {
        let (mut texts, mut left) = (0, indexer::SEARCH_BYTES);
        // Asked first, since most often nothing waits, and then no writer need be started to see that.
        while left > 0 && self.read(indexer::waiting).is_ok_and(|waiting| waiting > 0) {
            match self.write(move |desk| indexer::step_within(desk, left)) {
                Ok(step) if step.texts > 0 => {
                    texts += step.texts;
                    left = left.saturating_sub(step.bytes);
                }
                Ok(_) | Err(_) => break,
            }
        }
        texts
    }

    fn scope(&self) -> &Scope {
        &self.scope
    }

    fn limits(&self) -> Options {
        self.shared.options
    }

    fn now(&self) -> i64 {
        (self.shared.options.clock)()
    }

    /// Runs look-ups that all see the archive as it was at the first of them.
    fn read<T>(&self, look: impl FnOnce(&Connection, &Path) -> Result<T>) -> Result<T> {
        let path = &self.shared.path;
        let readers = || self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file_id(path);
        let idle = readers().pop().filter(|reader| reader.file == file);
        let reader = idle.map_or_else(|| Reader::open(path), Ok)?;
        // What one statement found must still be there for the next, whatever others remove meanwhile.
        let fail = |error| fault::of("read", path, &error);
        let snapshot = reader.connection.unchecked_transaction().map_err(fail)?;
        let found = look(&snapshot, path);
        // Nothing was written. One that does not end would hold the log back, and is closed instead.
        let _ = snapshot.finish();
        let mut readers = readers();
        if readers.len() < MAX_IDLE_READERS && reader.connection.is_autocommit() {
            readers.push(reader);
        }
        found
    }

    fn write<T: Send + 'static>(&self, task: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static) -> Result<T> {
        self.shared.writer.run(task)
    }

    /// Gives row and text of an original in scope.
    fn find(&self, connection: &Connection, path: &Path, name: &Name) -> Result<Option<Row>> {
        let fail = |error| fault::of("read", path, &error);
        let Some(tenant) = rows::tenant(connection, &self.scope.tenant).map_err(fail)? else { return Ok(None) };
        let session = match self.scope.border() {
            None => None,
            Some(border) => match rows::session(connection, tenant, border).map_err(fail)? {
                None => return Ok(None),
                session => session,
            },
        };
        let sql = "SELECT id, removed FROM originals WHERE tenant = ?1 AND name = ?2";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
        let found =
            connection.prepare_cached(sql).and_then(|mut one| one.query_row(params![tenant, name], row).optional());
        let found = found.map_err(fail)?;
        if let Some(session) = session {
            // Asked whether or not there is one: who guesses learns nothing from the time it takes.
            let sql = "SELECT EXISTS (SELECT 1 FROM calls WHERE session = ?1 AND original = ?2)";
            let bound = params![session, found.as_ref().map_or(store::NO_ROW, |(id, _)| *id)];
            if !connection.query_row(sql, bound, |row| row.get::<_, bool>(0)).map_err(fail)? {
                return Ok(None);
            }
        }
        let Some((id, removed)) = found else { return Ok(None) };
        let odd =
            || fault::damaged(path, format!("original {}", store::shown_name(name)), "why it is gone is no reason");
        Ok(Some(Row { id, removed: evict::removal(removed).ok_or_else(odd)?, session }))
    }

    /// Says where a search looks; `None` where nothing can be found.
    fn place_of(&self, connection: &Connection, path: &Path, query: &Query) -> Result<Option<search::Where>> {
        let fail = |error| fault::of("search", path, &error);
        let border = self.scope.border();
        if let (Some(border), Some(asked)) = (border, &query.session)
            && border != asked
        {
            return Ok(None);
        }
        let Some(tenant) = rows::tenant(connection, &self.scope.tenant).map_err(fail)? else { return Ok(None) };
        let Some(name) = border.or(query.session.as_deref()) else {
            return Ok(Some(search::Where { tenant, session: None }));
        };
        let session = rows::session(connection, tenant, name).map_err(fail)?;
        Ok(session.map(|session| search::Where { tenant, session: Some(session) }))
    }

    /// Gives an original that is found; one that lost its text alone is damaged.
    fn text_of(connection: &Connection, path: &Path, row: &Row, name: &Name) -> Result<Vec<u8>> {
        let lost = || fault::damaged(path, format!("original {}", store::shown_name(name)), "its text is not there");
        rows::body(connection, path, row.id)?.ok_or_else(lost)
    }
}

struct Row {
    id: i64,
    /// Why its text is not there.
    removed: Option<Removal>,
    /// The session that is a border.
    session: Option<i64>,
}

impl Reader {
    fn open(path: &Path) -> Result<Self> {
        let file = file_id(path);
        Ok(Self { connection: connect::reader(path)?, file })
    }
}

impl Archive for SqliteArchive {
    fn put(&self, release: &Release) -> Result<()> {
        self.scope.admit(&release.session)?;
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.now();
        let of = |known: &HashSet<(Name, Sum)>| {
            let mut parcel = store::Parcel::of(release, &self.scope.tenant, at, known)?;
            parcel.is_strict |= self.scope.border().is_some();
            Ok(parcel)
        };
        let parcel = of(&known())?;
        let names: Vec<(Name, Sum)> = parcel.names().collect();
        if self.shared.writer.put(parcel)? == Stored::Lacking {
            // Somebody removed what this handle had stored.
            known().clear();
            let parcel = of(&HashSet::new())?;
            self.shared.writer.put(parcel)?;
        }
        let mut known = known();
        if known.len() > MAX_KNOWN {
            known.clear();
        }
        known.extend(names);
        Ok(())
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let name = store::original_name(id)?;
        self.read(|connection, path| match self.find(connection, path, &name)? {
            Some(row) if row.removed.is_none() => Self::text_of(connection, path, &row, &name).map(Some),
            Some(_) | None => Ok(None),
        })
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        let key = records::Key::manifest(output)?;
        self.read(|connection, path| {
            let sql = "SELECT m.form, m.body, m.len, m.sum FROM manifests m
                JOIN tenants t ON t.id = m.tenant JOIN sessions s ON s.id = m.session
                WHERE t.name = ?1 AND m.output = ?2 AND (?3 IS NULL OR s.name = ?3)";
            let bound = params![self.scope.tenant, key.id, self.scope.border()];
            let found = connection.query_row(sql, bound, |row| rows::Packed::of(row, 0)).optional();
            let found = found.map_err(|error| fault::of("read", path, &error))?;
            found.map(|packed| packed.unpacked(path, || format!("manifest {output}"))).transpose()
        })
    }

    fn look_up(&self, id: &str) -> Result<Lookup> {
        let name = store::original_name(id)?;
        self.read(|connection, path| {
            let Some(row) = self.find(connection, path, &name)? else { return Ok(Lookup::Unknown) };
            let sources = rows::sources(connection, row.id, row.session);
            let sources = sources.map_err(|error| fault::of("read", path, &error))?;
            Ok(match row.removed {
                None => Lookup::Kept(Kept { bytes: Self::text_of(connection, path, &row, &name)?, sources }),
                Some(why) => Lookup::Gone(Gone { why, sources }),
            })
        })
    }

    fn search(&self, query: &Query) -> Result<Found> {
        let (found, is_behind) = self.read(|connection, path| {
            let found = match self.place_of(connection, path, query)? {
                None => Found::default(),
                Some(place) => search::search(connection, path, &place, query)?,
            };
            Ok((found, schema::is_current(connection, path)? && indexer::waiting(connection, path)? > 0))
        })?;
        if is_behind {
            self.shared.writer.index_soon();
        }
        Ok(found)
    }

    fn summary(&self, input: &str) -> Result<Option<String>> {
        SqliteArchive::summary(self, input)
    }

    fn put_summary(&self, input: &str, text: &str) -> Result<String> {
        SqliteArchive::put_summary(self, input, text)
    }
}

/// Asks the file system which file has this name, without opening it.
#[cfg(unix)]
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Other systems do not let a file that is open go.
#[cfg(not(unix))]
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
