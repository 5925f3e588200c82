//! What a failing disk leaves: flipped bits, overwritten stretches, a file that shrank.

use std::fs;
use std::path::Path;

use liveset_archive::{Archive, Error, FileArchive, output_hash};

use crate::{id, release, text};

const HEADER_LEN: usize = 48;
const HEAD_LEN: usize = 112;

const TEXTS: [(u64, &str); 3] = [(1, "one"), (2, "two\nlines"), (3, "three")];

fn sound_file(path: &Path) -> Vec<u8> {
    FileArchive::open(path).unwrap().put(&release("a", &TEXTS)).unwrap();
    fs::read(path).unwrap()
}

/// Where the records lie; the last one is the manifest.
fn records() -> Vec<std::ops::Range<usize>> {
    let lens = TEXTS.iter().map(|(_, text)| text.len()).chain(["manifest of a".len()]);
    let mut at = HEADER_LEN;
    lens.map(|len| {
        let record = at..at + HEAD_LEN + len;
        at = record.end;
        record
    })
    .collect()
}

#[test]
fn a_flipped_bit_is_detected_costs_one_record_and_is_mended_by_putting_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let sound = sound_file(&path);
    assert_eq!(records().last().unwrap().end, sound.len());
    for (number, record) in records().into_iter().enumerate() {
        for place in record {
            let mut damaged = sound.clone();
            damaged[place] ^= 1 << (place % 8);
            fs::write(&path, &damaged).unwrap();
            let archive = FileArchive::open(&path).unwrap();
            for (other, (of, content)) in TEXTS.iter().enumerate() {
                match archive.original(&id(*of)) {
                    Ok(Some(found)) => assert!(other != number && found == content.as_bytes(), "byte {place}"),
                    Ok(None) | Err(Error::Damaged { .. }) => assert_eq!(other, number, "byte {place}"),
                    Err(error) => panic!("byte {place}: {error}"),
                }
            }
            archive.put(&release("a", &TEXTS)).unwrap();
            assert_whole(&archive, place);
            assert_whole(&FileArchive::open(&path).unwrap(), place);
            let mended = fs::read(&path).unwrap();
            assert!(mended.starts_with(&damaged), "byte {place}: a record of the file was overwritten");
        }
    }
}

fn assert_whole(archive: &FileArchive, place: usize) {
    for (of, content) in TEXTS {
        assert_eq!(text(archive.original(&id(of)).unwrap()).as_deref(), Some(content), "byte {place}");
    }
    let manifest = archive.manifest(&output_hash(b"a")).unwrap();
    assert_eq!(text(manifest).as_deref(), Some("manifest of a"), "byte {place}");
}

#[test]
fn a_flipped_bit_in_the_header_is_an_error_that_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let sound = sound_file(&path);
    for place in 0..HEADER_LEN {
        let mut damaged = sound.clone();
        damaged[place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let refused = FileArchive::open(&path);
        let expected = matches!(
            refused,
            Err(Error::NotAnArchive { .. } | Error::UnknownVersion { .. } | Error::Damaged { offset: 0, .. })
        );
        assert!(expected, "byte {place}");
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
}

#[test]
fn a_long_overwritten_stretch_hides_only_what_it_covers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = FileArchive::open(&path).unwrap();
    let long = "a line of a long result\n".repeat(20_000);
    archive.put(&release("a", &[(1, "one"), (2, &long), (3, "three")])).unwrap();
    let mut damaged = fs::read(&path).unwrap();
    let second = records()[0].end;
    // The head and all but the last bytes of a payload several search windows long.
    damaged[second..second + long.len()].fill(b'#');
    fs::write(&path, &damaged).unwrap();
    let archive = FileArchive::open(&path).unwrap();
    assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
    assert_eq!(archive.original(&id(2)).unwrap(), None);
    assert_eq!(text(archive.original(&id(3)).unwrap()).as_deref(), Some("three"));
    assert_eq!(archive.lost_bytes(), (HEAD_LEN + long.len()) as u64);
}

#[test]
fn stored_text_that_looks_like_a_record_is_never_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    // Somebody who knows the layout, and even a whole other archive, stores it as a text here.
    let forged = sound_file(&folder.path().join("other"));
    let path = folder.path().join("archive");
    let mut holder = release("b", &[(7, "seven")]);
    holder.originals.push((id(8), forged));
    FileArchive::open(&path).unwrap().put(&holder).unwrap();
    let mut damaged = fs::read(&path).unwrap();
    // The head before the forged text breaks, so that a reader has to look for the next record inside it.
    damaged[HEADER_LEN + HEAD_LEN + "seven".len()] ^= 1;
    fs::write(&path, &damaged).unwrap();
    let archive = FileArchive::open(&path).unwrap();
    assert_eq!(archive.original(&id(1)).unwrap(), None);
    assert_eq!(archive.manifest(&output_hash(b"a")).unwrap(), None);
    assert_eq!(text(archive.manifest(&output_hash(b"b")).unwrap()).as_deref(), Some("manifest of b"));
}

#[test]
fn a_file_that_shrinks_while_open_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let len = sound_file(&path).len() as u64;
    let archive = FileArchive::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len - 1).unwrap();
    assert!(matches!(archive.original(&id(1)), Err(Error::Damaged { .. })));
    assert!(matches!(archive.put(&release("b", &[])), Err(Error::Damaged { .. })));
}
