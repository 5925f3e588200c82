//! How is the file opened? For one writer or many readers, for this user alone, and so that a commit lasts.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use super::{fault, schema};
use crate::{Error, Result, error::at, folder};

/// How long a call waits for another process: longer than any transaction of ours, short enough for people.
pub(super) const WAIT: Duration = Duration::from_secs(20);

/// Between two tries of what SQLite does not wait for by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// Makes the archive where it is missing, for this user alone.
///
/// An existing file is never opened here: closing it again would end the locks that this process holds on it.
pub(super) fn create(path: &Path) -> Result<()> {
    folder::create_above(path)?;
    match path.metadata() {
        Ok(found) if found.is_dir() => return Err(at("open", path)(io::ErrorKind::IsADirectory.into())),
        // Opening a pipe waits for somebody at its other end, and nothing can be found again in a device.
        Ok(found) if !found.is_file() => return Err(Error::NotAnArchive { path: path.to_owned() }),
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(at("open", path)(error)),
    }
    // Made under another name, and whole before it gets its own: so an empty file is somebody else's, and nobody can have
    // opened the file by its name while we still had it open.
    let new = beside(path, &format!(".new{}-{:?}", std::process::id(), std::thread::current().id()));
    let made = make(&new, path);
    // Nothing depends on the other name.
    for end in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(&new, end));
    }
    made
}

fn make(new: &Path, path: &Path) -> Result<()> {
    folder::create_private(new).map_err(at("create", path))?;
    // Errors name the file as the user did.
    let mut connection = writer_of(new, path)?;
    schema::make(&mut connection, path)?;
    let fail = |error| fault::of("create", path, &error);
    // Closing would empty the log too, but says nothing where it cannot.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(fail)?;
    connection.close().map_err(|(_, error)| fail(error))?;
    if beside(new, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
        return Err(at("create", path)(io::Error::other("its log could not be emptied")));
    }
    let named = match fs::hard_link(new, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy_to(new, path),
        linked => linked,
    };
    match named {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => named.map_err(at("create", path)),
    }
}

/// For file systems without links: there a crash at this moment leaves a file that is no archive and says so.
fn copy_to(new: &Path, path: &Path) -> io::Result<()> {
    let bytes = fs::read(new)?;
    folder::create_private(path)?;
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(&bytes)?;
    file.sync_all()
}

/// A name beside the file.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens for writing. A commit of this connection has survived a power cut.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    writer_of(path, path)
}

/// Opens `file` for writing; what fails is said of `path`.
fn writer_of(file: &Path, path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open_as(file, path, flags)?;
    let fail = |error| fault::of("set up", path, &error);
    // Only a file that holds nothing yet takes this; pages that are freed can then be given back to the system.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(fail)?;
    write_ahead(&connection, path)?;
    // Where there is no log, the folder is synced too when a journal goes: else a power cut would bring it back.
    connection.pragma_update(None, "synchronous", "EXTRA").map_err(fail)?;
    // macOS calls a sync done when the drive has the bytes in its own memory, unless asked otherwise.
    connection.pragma_update(None, "fullfsync", true).map_err(fail)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(fail)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB).map_err(fail)?;
    Ok(connection)
}

/// Pages after which the log goes into the file: with 4 KiB pages 16 MiB, so that a burst of releases pays once.
const CHECKPOINT_PAGES: i64 = 4_000;

/// Negative: KiB of pages that the writer keeps, enough for the inner pages of an index over some GiB.
const CACHE_KIB: i64 = -16_384;

/// Opens for reading; where nothing beside the file can be written, reads the file as it stands.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let connection = match open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX) {
        Ok(connection) if reads(&connection) => connection,
        Ok(_) | Err(_) => still(path)?,
    };
    connection.pragma_update(None, "query_only", true).map_err(|error| fault::of("open", path, &error))?;
    Ok(connection)
}

fn reads(connection: &Connection) -> bool {
    let found = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
    !matches!(found, Err(error) if matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)))
}

/// Opens a file in a folder that takes no log and no index of it. Without a log beside it the file is whole.
fn still(path: &Path) -> Result<Connection> {
    let log = beside(path, "-wal").metadata().map_or(0, |found| found.len());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    if log > 0 {
        return open(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    }
    let Some(name) = path.to_str() else { return open(path, OpenFlags::SQLITE_OPEN_READ_ONLY) };
    let escaped = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    open(Path::new(&format!("file:{escaped}?immutable=1")), flags).map_err(|_| {
        // The error should name the file as the user did.
        open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .err()
            .unwrap_or_else(|| at("open", path)(io::ErrorKind::PermissionDenied.into()))
    })
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    open_as(path, path, flags)
}

fn open_as(file: &Path, path: &Path, flags: OpenFlags) -> Result<Connection> {
    let fail = |error| fault::of("open", path, &error);
    let connection = Connection::open_with_flags(file, flags).map_err(fail)?;
    connection.busy_timeout(WAIT).map_err(fail)?;
    // What a file says of itself may have been written by somebody else.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(fail)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(fail)?;
    Ok(connection)
}

/// Turns the log on. The switch needs the file alone for a moment and does not wait for it by itself.
fn write_ahead(connection: &Connection, path: &Path) -> Result<()> {
    let tries = WAIT.as_millis() / PAUSE.as_millis();
    for _ in 0..tries {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            // The file system has no shared memory: what was there stays, which is as durable, if slower.
            Ok(_) => return Ok(()),
            Err(error)
                if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) =>
            {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(fault::of("open", path, &error)),
        }
    }
    Err(Error::Busy { path: path.to_owned() })
}
