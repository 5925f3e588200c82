//! What only shows between two statements, or between two steps of the writer.

use std::time::Duration;

use super::*;
use crate::{Purge, Reach};

fn id(number: u64) -> String {
    format!("{number:032x}")
}

fn archive() -> (tempfile::TempDir, SqliteArchive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&Release::new(b"body", vec![1], vec![(id(1), b"a text of some words".to_vec())])).unwrap();
    (folder, archive)
}

#[test]
fn a_purge_that_cannot_empty_the_log_says_so_and_the_next_one_does_it() {
    let (_folder, archive) = archive();
    archive
        .write(|desk| {
            desk.connection.busy_timeout(Duration::ZERO).unwrap();
            Ok(())
        })
        .unwrap();
    let reader = connect::reader(archive.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM originals").unwrap();
    let log = || fs::metadata(connect::beside(archive.path(), "-wal")).unwrap().len();
    let purged = archive.purge(&Purge::Id(id(1)));
    assert!(matches!(purged, Err(Error::Busy { .. })), "{purged:?}");
    assert!(matches!(archive.evict(0, Reach::Everything), Err(Error::Busy { .. })));
    assert!(log() > 0);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(archive.purge(&Purge::Id(id(1))).unwrap().originals, 0, "it is gone since the first");
    assert_eq!(log(), 0);
    archive.put(&Release::new(b"next", vec![1], Vec::new())).unwrap();
}

#[test]
fn what_a_look_up_found_is_there_until_it_ends() {
    let (_folder, archive) = archive();
    let name = store::original_name(&id(1)).unwrap();
    let other = connect::writer(archive.path()).unwrap();
    let found = archive.read(|connection, path| {
        let row = archive.find(connection, path, &name)?.unwrap();
        other.execute_batch("DELETE FROM bodies; UPDATE originals SET removed = 2").unwrap();
        SqliteArchive::text_of(connection, path, &row, &name)
    });
    assert_eq!(found.unwrap(), b"a text of some words");
    assert_eq!(archive.original(&id(1)).unwrap(), None, "the next one sees what is there now");
}

#[test]
fn a_row_that_is_missing_is_told_from_one_of_another_type() {
    let (_folder, archive) = archive();
    let told = |error: &rusqlite::Error| fault::of("read", archive.path(), error).to_string();
    let missing = told(&rusqlite::Error::QueryReturnedNoRows);
    assert!(missing.contains("is not there"), "{missing}");
    assert_ne!(missing, told(&rusqlite::Error::InvalidQuery));
}
