//! What does an error of SQLite mean for an archive? One table of codes.

use std::{
    io::{self, Read as _},
    path::Path,
};

use rusqlite::{Error as Sql, ErrorCode, ffi};

use crate::{Error, error::at};

/// First bytes of the append-only archives of earlier versions.
const OLD_KIND: &[u8] = b"liveset-arch";

/// Turns an error of SQLite into ours. `action` says what was being done, as a verb.
pub(super) fn of(action: &'static str, path: &Path, error: &Sql) -> Error {
    if matches!(error, Sql::QueryReturnedNoRows) {
        return damaged(path, "a row", "another that belongs to it is not there");
    }
    let Some(found) = error.sqlite_error() else {
        // A value of another type than the schema says: the file is not what was written.
        return damaged(path, "a row", "a value has the wrong type");
    };
    match found.code {
        ErrorCode::NotADatabase => not_ours(path),
        ErrorCode::DatabaseCorrupt => damaged(path, "its pages", "the structure is broken"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Busy { path: path.to_owned() },
        ErrorCode::DiskFull => at(action, path)(io::ErrorKind::StorageFull.into()),
        ErrorCode::ReadOnly => at("write", path)(io::ErrorKind::PermissionDenied.into()),
        ErrorCode::PermissionDenied => at(action, path)(io::ErrorKind::PermissionDenied.into()),
        ErrorCode::CannotOpen => at("open", path)(cannot_open(path)),
        ErrorCode::OutOfMemory => at(action, path)(io::ErrorKind::OutOfMemory.into()),
        // Only the name of the code: a message may quote what was asked for.
        _ => at(action, path)(io::Error::other(ffi::code_to_str(found.extended_code))),
    }
}

pub(super) fn damaged(path: &Path, place: impl Into<String>, what: &'static str) -> Error {
    Error::Damaged { path: path.to_owned(), place: place.into(), what }
}

/// SQLite does not say why it cannot open; asking the system again does.
fn cannot_open(path: &Path) -> io::Error {
    match path.metadata() {
        Ok(found) if found.is_dir() => io::ErrorKind::IsADirectory.into(),
        Ok(_) => io::ErrorKind::PermissionDenied.into(),
        Err(error) => error,
    }
}

/// The file is no SQLite database, so nobody holds a lock on it that reading it here could end.
fn not_ours(path: &Path) -> Error {
    let mut start = [0; OLD_KIND.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read.is_ok() && start == OLD_KIND {
        true => Error::OldKind { path: path.to_owned() },
        false => Error::NotAnArchive { path: path.to_owned() },
    }
}
