//! Several handles, threads and users of one file.

use std::fs;

use liveset_archive::{Archive, Error, FileArchive, output_hash};

use crate::{id, release, text};

#[test]
fn two_handles_see_what_the_other_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let (one, two) = (FileArchive::open(&path).unwrap(), FileArchive::open(&path).unwrap());
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
fn a_handle_survives_the_crash_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = FileArchive::open(&path).unwrap();
    archive.put(&release("a", &[(1, "one")])).unwrap();
    let sound = fs::read(&path).unwrap();
    // Another process began a record and died.
    fs::write(&path, [&sound, &sound[48..100]].concat()).unwrap();
    archive.put(&release("b", &[(2, "two")])).unwrap();
    let again = FileArchive::open(&path).unwrap();
    assert_eq!(text(again.original(&id(1)).unwrap()).as_deref(), Some("one"));
    assert_eq!(text(again.original(&id(2)).unwrap()).as_deref(), Some("two"));
    assert_eq!(again.lost_bytes(), 0);
}

#[test]
fn handles_that_write_at_the_same_time_lose_nothing() {
    const WRITERS: u64 = 4;
    const RELEASES: u64 = 12;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let shared = FileArchive::open(&path).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (path, shared) = (&path, &shared);
            scope.spawn(move || {
                let own = FileArchive::open(path).unwrap();
                for number in 0..RELEASES {
                    let archive = if number % 2 == 0 { shared } else { &own };
                    let content = format!("{writer} {number}");
                    let originals = [(writer * RELEASES + number, content.as_str()), (1000, "common")];
                    archive.put(&release(&content, &originals)).unwrap();
                }
            });
        }
    });
    let archive = FileArchive::open(&path).unwrap();
    for number in 0..WRITERS * RELEASES {
        let content = format!("{} {}", number / RELEASES, number % RELEASES);
        assert_eq!(text(archive.original(&id(number)).unwrap()).as_deref(), Some(content.as_str()));
        assert!(archive.manifest(&output_hash(content.as_bytes())).unwrap().is_some());
    }
    let stored = fs::read(&path).unwrap();
    assert_eq!(stored.windows(6).filter(|bytes| bytes == b"common").count(), 1, "a shared original is stored once");
    assert_eq!(archive.lost_bytes(), 0);
}

#[cfg(unix)]
#[test]
fn the_file_and_new_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folders/archive");
    let archive = FileArchive::open(&path).unwrap();
    archive.put(&release("a", &[])).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(archive.path()), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    drop(archive);
    FileArchive::open(&path).unwrap().put(&release("b", &[])).unwrap();
    assert_eq!(mode(&path), 0o640, "an owner who shares the file keeps doing so");
}

#[cfg(unix)]
#[test]
fn a_deleted_file_takes_no_more_releases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = FileArchive::open(&path).unwrap();
    archive.put(&release("a", &[(1, "one")])).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(archive.put(&release("a", &[(1, "one")])), Err(Error::Removed { .. })));
    assert!(matches!(archive.put(&release("b", &[(2, "two")])), Err(Error::Removed { .. })));
}
