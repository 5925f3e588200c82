//! How is the file opened? For one writer or many readers, for this user alone, and so that a commit lasts.

use std::{
    fs, io,
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

/// How long an empty file may be one that another process is about to put in place, which takes it one call. An empty
/// file that stays so is somebody else's.
const PLACING: Duration = Duration::from_millis(100);

/// Makes the archive where it is missing, for this user alone.
///
/// An existing file is never opened here: closing it again would end the locks that this process holds on it.
pub(super) fn create(path: &Path) -> Result<()> {
    create_with(path, place)
}

/// `place` gives the file its name, and replaces none.
fn create_with(path: &Path, place: fn(&Path, &Path) -> io::Result<()>) -> Result<()> {
    folder::create_above(path)?;
    match path.metadata() {
        Ok(found) if found.is_dir() => return Err(at("open", path)(io::ErrorKind::IsADirectory.into())),
        // Opening a pipe waits for somebody at its other end, and nothing can be found again in a device.
        Ok(found) if !found.is_file() => return Err(Error::NotAnArchive { path: path.to_owned() }),
        Ok(_) => {
            await_content(path);
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(at("open", path)(error)),
    }
    // Made in a folder of its own, and whole before it gets its name: so an empty file is somebody else's, and nobody can
    // have opened the file by its name while we still had it open. The folder goes with whatever is left in it.
    let folder = new_folder(path).map_err(at("create", path))?;
    let new = folder.path().join("archive");
    make(&new, path)?;
    match place(&new, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Another process was faster.
            await_content(path);
            Ok(())
        }
        placed => placed.map_err(at("create", path)),
    }
}

/// Makes a folder beside the file that nobody else has, on whatever machine or in whatever container, for this user
/// alone.
fn new_folder(path: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".liveset-new-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let above = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What went wrong, without the name that nobody gave.
    builder.tempdir_in(above).map_err(|error| error.kind().into())
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
    Ok(())
}

fn place(new: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(new, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => place_without_links(new, path),
        linked => linked,
    }
}

/// For file systems without links. A rename replaces what has the name, so the name is first taken by an empty file: who
/// comes second is told, and nothing but that file is replaced. A crash between the two leaves it, and it says that it is
/// no archive.
fn place_without_links(new: &Path, path: &Path) -> io::Result<()> {
    folder::create_private(path)?;
    fs::rename(new, path).inspect_err(|_| {
        // Ours, and still empty.
        let _ = fs::remove_file(path);
    })
}

/// Gives another process the moment it needs between taking the name and putting the whole file there.
fn await_content(path: &Path) {
    for _ in 0..PLACING.as_millis() / PAUSE.as_millis() {
        if path.metadata().map_or(true, |found| found.len() > 0) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
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

/// The same for a reader, of which there are some: what one search goes through of the index of a GiB.
const READER_CACHE_KIB: i64 = -8_192;

/// Statements that a connection keeps read: about as many as there are different ones.
const STATEMENTS: usize = 48;

/// Opens for reading; where nothing beside the file can be written, reads the file as it stands.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let connection = match open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX) {
        Ok(connection) if reads(&connection) => connection,
        Ok(_) | Err(_) => still(path)?,
    };
    let fail = |error| fault::of("open", path, &error);
    connection.pragma_update(None, "query_only", true).map_err(fail)?;
    connection.pragma_update(None, "cache_size", READER_CACHE_KIB).map_err(fail)?;
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
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // What a file says of itself may have been written by somebody else.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(fail)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
    // No plan depends on a value: else a statement is read anew whenever another value is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const WAYS: [fn(&Path, &Path) -> io::Result<()>; 2] = [place, place_without_links];

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|found| found.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn of_many_that_come_first_at_once_each_opens_a_whole_archive() {
        const MANY: usize = 6;
        for way in WAYS {
            for _ in 0..10 {
                let folder = tempfile::tempdir().unwrap();
                let (path, start) = (folder.path().join("archive"), Barrier::new(MANY));
                let come = || {
                    start.wait();
                    create_with(&path, way)?;
                    schema::layout(&reader(&path)?, &path)
                };
                std::thread::scope(|scope| {
                    let all: Vec<_> = (0..MANY).map(|_| scope.spawn(come)).collect();
                    for one in all {
                        assert_eq!(one.join().unwrap().unwrap(), schema::LAYOUT);
                    }
                });
                assert!(names(folder.path()).iter().all(|name| name.starts_with("archive")), "{folder:?}");
            }
        }
    }

    #[test]
    fn what_has_the_name_already_stays_and_what_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (new, path, old) = (folder.path().join("new"), folder.path().join("archive"), folder.path().join("old"));
        fs::write(&old, "old").unwrap();
        for way in WAYS {
            fs::write(&new, "new").unwrap();
            assert_eq!(way(&new, &old).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&old).unwrap(), b"old");
            #[cfg(unix)]
            {
                let file = super::super::file_id(&new);
                way(&new, &path).unwrap();
                assert_eq!(
                    super::super::file_id(&path),
                    file,
                    "the file itself, not a copy that may end in the middle"
                );
                fs::remove_file(&path).unwrap();
            }
            let _ = fs::remove_file(&new);
            way(&new, &path).unwrap_err();
            assert_eq!(names(folder.path()), ["old"]);
        }
    }

    #[test]
    fn an_error_names_no_file_but_the_one_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let error = new_folder(&folder.path().join("missing/archive")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("liveset-new"), "{error}");
    }

    #[test]
    fn files_of_another_process_that_counts_like_this_one_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let others = format!("archive.new{}-{:?}", std::process::id(), std::thread::current().id());
        for end in ["", "-wal", "-shm", "-journal"] {
            fs::write(folder.path().join(format!("{others}{end}")), "theirs").unwrap();
        }
        create(&path).unwrap();
        for name in names(folder.path()) {
            assert!(name == "archive" || fs::read(folder.path().join(&name)).unwrap() == b"theirs", "{name}");
        }
        assert_eq!(names(folder.path()).len(), 5);
    }
}
