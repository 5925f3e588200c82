//! Several handles, threads and users of one file.

use std::fs;

use liveset_archive::{Archive, Error, Event, Purge, Reach, Result, SqliteArchive, output_hash};

use crate::{id, release, text};

#[test]
fn two_handles_see_what_the_other_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let (one, two) = (SqliteArchive::open(&path).unwrap(), SqliteArchive::open(&path).unwrap());
    one.put(&release("a", &[(1, "one")])).unwrap();
    two.put(&release("b", &[(2, "two")])).unwrap();
    one.put(&release("c", &[(3, "three")])).unwrap();
    for (of, content) in [(1, "one"), (2, "two"), (3, "three")] {
        assert_eq!(text(one.original(&id(of)).unwrap()).as_deref(), Some(content));
        assert_eq!(text(two.original(&id(of)).unwrap()).as_deref(), Some(content));
    }
    assert!(matches!(two.put(&release("d", &[(3, "tres")])), Err(Error::Collision { .. })));
    let mut newer = release("a", &[]);
    newer.manifest = b"newer".to_vec();
    two.put(&newer).unwrap();
    assert_eq!(text(one.manifest(&newer.output).unwrap()).as_deref(), Some("newer"));
}

#[test]
fn handles_that_write_at_the_same_time_lose_nothing() {
    const WRITERS: u64 = 4;
    const RELEASES: u64 = 12;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let shared = SqliteArchive::open(&path).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (path, shared) = (&path, &shared);
            scope.spawn(move || {
                let own = SqliteArchive::open(path).unwrap();
                for number in 0..RELEASES {
                    let archive = if number % 2 == 0 { shared } else { &own };
                    let content = format!("{writer} {number}");
                    let originals = [(writer * RELEASES + number, content.as_str()), (1000, "common")];
                    archive.put(&release(&content, &originals)).unwrap();
                }
            });
        }
    });
    let archive = SqliteArchive::open(&path).unwrap();
    for number in 0..WRITERS * RELEASES {
        let content = format!("{} {}", number / RELEASES, number % RELEASES);
        assert_eq!(text(archive.original(&id(number)).unwrap()).as_deref(), Some(content.as_str()));
        assert!(archive.manifest(&output_hash(content.as_bytes())).unwrap().is_some());
    }
    let scan = archive.scan().unwrap();
    assert_eq!((scan.originals, scan.is_sound()), (WRITERS * RELEASES + 1, true), "a shared original is stored once");
}

#[cfg(unix)]
#[test]
fn the_file_and_new_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folders/archive");
    let archive = SqliteArchive::open(&path).unwrap();
    archive.put(&release("a", &[])).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for beside in ["", "-wal", "-shm"] {
        assert_eq!(mode(&folder.path().join(format!("new/folders/archive{beside}"))), 0o600, "{beside}");
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    drop(archive);
    SqliteArchive::open(&path).unwrap().put(&release("b", &[])).unwrap();
    assert_eq!(mode(&path), 0o640, "an owner who shares the file keeps doing so");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left in the folder");
}

#[cfg(unix)]
#[test]
fn a_deleted_file_takes_no_more_releases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = SqliteArchive::open(&path).unwrap();
    archive.put(&release("a", &[(1, "one")])).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(archive.put(&release("a", &[(1, "one")])), Err(Error::Removed { .. })));
    assert!(archive.put(&release("b", &[(2, "two")])).is_err());
    assert!(archive.original(&id(1)).is_err(), "what was stored is not said to be unknown");
}

#[cfg(unix)]
#[test]
fn nothing_is_said_to_be_written_to_a_file_that_was_deleted_or_replaced() {
    type Write = fn(&SqliteArchive) -> Result<()>;
    let writes: [(&str, Write); 6] = [
        ("put", |archive| archive.put(&release("b", &[(2, "two")]))),
        ("event", |archive| archive.put_event("s", &Event { item: 1, event: "cold".into() })),
        ("summary", |archive| archive.put_summary(&output_hash(b"input"), "short").map(drop)),
        ("evict", |archive| archive.evict(0, Reach::Everything).map(drop)),
        ("purge", |archive| archive.purge(&Purge::Id(id(1))).map(drop)),
        ("index", SqliteArchive::index),
    ];
    for is_replaced in [false, true] {
        for (name, write) in writes {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("archive");
            let archive = SqliteArchive::open(&path).unwrap();
            archive.put(&release("a", &[(1, "one")])).unwrap();
            fs::remove_file(&path).unwrap();
            if is_replaced {
                SqliteArchive::open(&path).unwrap();
            }
            let first = write(&archive);
            assert!(matches!(first, Err(Error::Removed { .. })), "{name}, replaced: {is_replaced}: {first:?}");
            let again = archive.put_event("s", &Event { item: 2, event: "later".into() });
            assert!(matches!(again, Err(Error::Failed { .. })), "{name}, replaced: {is_replaced}: {again:?}");
        }
    }
}
