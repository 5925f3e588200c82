//! What a failing disk leaves: flipped bits, overwritten stretches, a file that shrank.

use std::{fs, path::Path};

use liveset_archive::{Archive, Error, Query, SqliteArchive, output_hash};

use crate::{Dice, crashes, id, release, text};

const TEXTS: [(u64, &str); 3] = [(1, "one"), (2, "two\nlines"), (3, "three")];

fn sound_file(path: &Path) -> Vec<u8> {
    let archive = SqliteArchive::open(path).unwrap();
    let long = (0..900).map(|at| format!("line {at} of a long result {}\n", at * 7 % 31)).collect::<String>();
    let mut of_a = release("a", &TEXTS);
    of_a.originals.push((id(4), long.into_bytes()));
    archive.put(&of_a).unwrap();
    archive.index().unwrap();
    drop(archive);
    fs::read(path).unwrap()
}

/// Puts the bytes down as the file of an archive that nobody has open.
fn put_down(path: &Path, bytes: &[u8]) {
    for end in ["-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(format!("{}{end}", path.display()));
    }
    fs::write(path, bytes).unwrap();
}

/// Nothing but what was stored comes out, and nothing panics.
fn check_reads(path: &Path, place: &str) -> usize {
    let Ok(archive) = SqliteArchive::open(path) else { return 1 };
    let mut errors = 0;
    for (of, content) in TEXTS {
        match archive.original(&id(of)) {
            Ok(found) => assert!(found.is_none_or(|found| found == content.as_bytes()), "{place}"),
            Err(error) => errors += usize::from(!error.to_string().is_empty()),
        }
    }
    match archive.manifest(&output_hash(b"a")) {
        Ok(found) => assert!(found.is_none_or(|found| found == b"manifest of a"), "{place}"),
        Err(_) => errors += 1,
    }
    errors += usize::from(archive.search(&Query::new("two lines")).is_err());
    errors + usize::from(!archive.scan().is_ok_and(|scan| scan.is_sound()))
}

#[test]
fn random_damage_gives_errors_or_nothing_and_never_another_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let sound = sound_file(&path);
    let mut dice = Dice(11);
    let mut noticed = 0;
    for round in 0..crashes(60) {
        let mut damaged = sound.clone();
        match round % 3 {
            0 => {
                let place = dice.below(damaged.len());
                damaged[place] ^= 1 << dice.below(8);
            }
            1 => {
                let (from, len) = (dice.below(damaged.len()), dice.below(9_000) + 1);
                let end = damaged.len().min(from + len);
                damaged[from..end].fill(u8::try_from(dice.below(256)).unwrap());
            }
            _ => damaged.truncate(dice.below(sound.len())),
        }
        put_down(&path, &damaged);
        noticed += usize::from(check_reads(&path, &format!("round {round}")) > 0);
    }
    assert!(noticed > crashes(60) / 3, "most damage is noticed: {noticed}");
}

/// Pages of a file, as SQLite makes them here.
const PAGE: usize = 4_096;

/// Whatever a page holds (the header, rows, indexes, long texts, free space), losing it gives errors or nothing.
#[test]
fn each_page_may_be_lost_and_none_makes_another_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let sound = sound_file(&path);
    assert_eq!(sound.len() % PAGE, 0);
    let pages = sound.len() / PAGE;
    let mut noticed = 0;
    for page in 0..pages {
        let (own, other) = (page * PAGE..(page + 1) * PAGE, (page * 7 + 3) % pages * PAGE);
        for kind in 0..3 {
            let mut damaged = sound.clone();
            match kind {
                0 => damaged[own.clone()].fill(0),
                1 => damaged[own.clone()].fill(0xff),
                // A write that went to the wrong place: a page that is sound in itself.
                _ => damaged.copy_within(other..other + PAGE, own.start),
            }
            put_down(&path, &damaged);
            noticed += usize::from(check_reads(&path, &format!("page {page}, kind {kind}")) > 0);
        }
    }
    assert!(noticed > pages, "most pages matter: {noticed} of {}", pages * 3);
}

/// Where a text stands in the file.
fn place_of(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|part| part == text.as_bytes()).unwrap()
}

#[test]
fn a_damaged_text_is_named_is_never_handed_out_and_is_mended_by_putting_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let mut bytes = sound_file(&path);
    let place = place_of(&bytes, "two\nlines");
    bytes[place] ^= 1;
    put_down(&path, &bytes);
    let archive = SqliteArchive::open(&path).unwrap();
    let error = archive.original(&id(2)).unwrap_err();
    assert!(matches!(&error, Error::Damaged { place, .. } if *place == format!("original {}", id(2))), "{error}");
    let scan = archive.scan().unwrap();
    assert_eq!((scan.originals, scan.damaged, scan.places), (4, 1, vec![format!("original {}", id(2))]));
    archive.put(&release("a", &TEXTS)).unwrap();
    assert_eq!(text(archive.original(&id(2)).unwrap()).as_deref(), Some("two\nlines"));
    assert!(archive.scan().unwrap().is_sound());
}

#[test]
fn a_file_of_a_newer_version_is_left_alone_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let mut bytes = sound_file(&path);
    // SQLite's header keeps the user's version at byte 60, big-endian.
    bytes[60..64].copy_from_slice(&77_u32.to_be_bytes());
    put_down(&path, &bytes);
    assert!(matches!(SqliteArchive::open(&path), Err(Error::UnknownVersion { found: 77, .. })));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
