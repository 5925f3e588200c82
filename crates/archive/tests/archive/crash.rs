//! What a crash leaves: a file that ends anywhere within the last write, or whose end was never filled.

use std::fs;
use std::path::Path;

use liveset_archive::{Archive, Error, FileArchive, output_hash};

use crate::{id, release, text};

/// The bytes of a file that holds release `a`, and of one that holds `a`, then `b`.
fn before_and_after(folder: &Path) -> (Vec<u8>, Vec<u8>) {
    let path = folder.join("whole");
    let archive = FileArchive::open(&path).unwrap();
    archive.put(&release("a", &[(1, "one"), (2, "two\nlines")])).unwrap();
    let before = fs::read(&path).unwrap();
    archive.put(&release("b", &[(3, "three"), (4, "four")])).unwrap();
    (before, fs::read(&path).unwrap())
}

fn assert_holds_a(archive: &FileArchive) {
    assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
    assert_eq!(text(archive.original(&id(2)).unwrap()).as_deref(), Some("two\nlines"));
    assert_eq!(text(archive.manifest(&output_hash(b"a")).unwrap()).as_deref(), Some("manifest of a"));
}

fn assert_holds_b(archive: &FileArchive) {
    assert_eq!(text(archive.original(&id(3)).unwrap()).as_deref(), Some("three"));
    assert_eq!(text(archive.original(&id(4)).unwrap()).as_deref(), Some("four"));
    assert_eq!(text(archive.manifest(&output_hash(b"b")).unwrap()).as_deref(), Some("manifest of b"));
}

/// Opens what a crash left, checks that reading changes nothing, and that the next write completes the file.
fn check_recovery(path: &Path, left: &[u8], whole: &[u8]) {
    fs::write(path, left).unwrap();
    let archive = FileArchive::open(path).unwrap();
    assert_holds_a(&archive);
    assert_eq!(fs::read(path).unwrap(), left, "reading changes nothing");
    archive.put(&release("b", &[(3, "three"), (4, "four")])).unwrap();
    assert_holds_a(&archive);
    assert_holds_b(&archive);
    drop(archive);
    let again = FileArchive::open(path).unwrap();
    assert_holds_a(&again);
    assert_holds_b(&again);
    assert_eq!(fs::read(path).unwrap(), whole, "the torn end was cut off");
    assert_eq!(again.lost_bytes(), 0);
}

#[test]
fn a_file_cut_at_any_byte_of_the_last_write_keeps_all_earlier_records() {
    let folder = tempfile::tempdir().unwrap();
    let (before, whole) = before_and_after(folder.path());
    assert!(whole.len() > before.len() + 300);
    for len in before.len()..=whole.len() {
        check_recovery(&folder.path().join("cut"), &whole[..len], &whole);
    }
}

#[test]
fn an_end_that_was_never_filled_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let (before, whole) = before_and_after(folder.path());
    for zeros in [1, 111, 112, 113, 5000, 200_000] {
        let mut left = before.clone();
        left.resize(before.len() + zeros, 0);
        check_recovery(&folder.path().join("zeros"), &left, &whole);
    }
}

#[test]
fn a_manifest_is_never_there_without_its_originals() {
    let folder = tempfile::tempdir().unwrap();
    let (before, whole) = before_and_after(folder.path());
    let path = folder.path().join("cut");
    for len in before.len()..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        let archive = FileArchive::open(&path).unwrap();
        assert_eq!(archive.manifest(&output_hash(b"b")).unwrap(), None, "cut at {len}");
    }
}

#[test]
fn a_crash_while_the_file_was_created_leaves_an_empty_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    FileArchive::open(&path).unwrap();
    let header = fs::read(&path).unwrap();
    for len in 0..header.len() {
        for left in [header[..len].to_vec(), vec![0; len]] {
            fs::write(&path, &left).unwrap();
            let archive = FileArchive::open(&path).unwrap();
            archive.put(&release("a", &[(1, "one"), (2, "two\nlines")])).unwrap();
            assert_holds_a(&FileArchive::open(&path).unwrap());
        }
    }
}

#[test]
fn putting_again_does_not_grow_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let of_a = release("a", &[(1, "one"), (1, "one"), (2, "two")]);
    let archive = FileArchive::open(&path).unwrap();
    archive.put(&of_a).unwrap();
    let len = fs::metadata(&path).unwrap().len();
    archive.put(&of_a).unwrap();
    FileArchive::open(&path).unwrap().put(&of_a).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), len);
}

#[test]
fn files_that_are_no_archive_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    for content in
        [&b"notes"[..], &[0; 49], &[b'{'; 500], b"liveset-arch\xff\0\0\0 of a later version, to be read then"]
    {
        fs::write(&path, content).unwrap();
        let refused = FileArchive::open(&path);
        assert!(matches!(refused, Err(Error::NotAnArchive { .. } | Error::UnknownVersion { found: 255, .. })));
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}
