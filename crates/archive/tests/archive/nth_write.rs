//! A disk that fails once: the nth write, sync or change of a name of each thing an archive does, for every n. What fails
//! says so, nothing that was said to be stored is missing, and the archive goes on.

use std::path::Path;

use liveset_archive::{Archive, Error, Purge, Reach, Result, Spill, SqliteArchive, output_hash};
use liveset_testkit::{Failure, Step, on_failing_disk, skipped};

use crate::{id, release_in, text};

const SESSION: &str = "s";

/// Releases that are there before, and those that are stored while the disk fails.
const BEFORE: std::ops::RangeInclusive<u64> = 1..=3;
const DURING: std::ops::RangeInclusive<u64> = 11..=13;

/// More writes than any of the scenarios makes.
const MANY: u64 = 2_000;

/// Something an archive does.
struct Scenario {
    prepare: fn(&Path),
    /// Gives the releases that were said to be stored, and how it ended.
    work: fn(&Path) -> (Vec<u64>, Result<()>),
    /// Looks at what is left, knowing how it ended.
    check: fn(&Path, &Result<()>),
    /// Whether the work syncs nothing but what it says to be stored: then no sync may fail untold.
    tells_each_sync: bool,
}

#[test]
fn a_new_archive_is_made_whole_or_not_at_all() {
    let made = |path: &Path, ended: &Result<()>| assert!(ended.is_err() || path.exists());
    fail_each_write(&Scenario { prepare: |_| {}, work: put, check: made, tells_each_sync: false });
}

#[test]
fn a_release_is_stored_or_refused() {
    fail_each_write(&Scenario {
        prepare: fill,
        work: put,
        check: |path, _| assert_all_are_there(path),
        tells_each_sync: false,
    });
}

#[test]
fn indexing_loses_no_text() {
    fail_each_write(&Scenario {
        prepare: fill,
        work: index,
        check: |path, _| assert_all_are_there(path),
        tells_each_sync: false,
    });
}

#[test]
fn an_older_layout_is_brought_to_this_one_without_loss() {
    fail_each_write(&Scenario {
        prepare: fill_older,
        work: put,
        check: |path, _| assert_all_are_there(path),
        tells_each_sync: false,
    });
}

#[test]
fn an_eviction_takes_all_or_nothing() {
    fail_each_write(&Scenario { prepare: fill, work: evict, check: check_evicted, tells_each_sync: false });
}

#[test]
fn a_purge_is_done_or_can_be_done_again() {
    fail_each_write(&Scenario { prepare: fill, work: purge, check: check_purged, tells_each_sync: false });
}

#[test]
fn a_copy_is_whole_or_can_be_completed() {
    fail_each_write(&Scenario {
        prepare: |path| fill(&other(path)),
        work: copy,
        check: check_copied,
        tells_each_sync: false,
    });
}

#[test]
fn a_spilled_file_is_whole_or_not_there() {
    fail_each_write(&Scenario { prepare: fill, work: spill, check: check_spilled, tells_each_sync: true });
}

fn content(number: u64) -> String {
    (0..60).map(|line| format!("own{number} line{} of text{line}\n", line * number)).collect()
}

fn release_of(number: u64) -> liveset_archive::Release {
    release_in(SESSION, &format!("body {number}"), &[(number, &content(number))])
}

fn other(path: &Path) -> std::path::PathBuf {
    path.with_extension("other")
}

fn fill(path: &Path) {
    let archive = SqliteArchive::open(path).unwrap();
    BEFORE.for_each(|number| archive.put(&release_of(number)).unwrap());
}

/// As the version before this one left it.
fn fill_older(path: &Path) {
    fill(path);
    let file = rusqlite::Connection::open(path).unwrap();
    file.execute_batch("DROP TABLE blocks; PRAGMA user_version = 4").unwrap();
}

fn put(path: &Path) -> (Vec<u64>, Result<()>) {
    let mut stored = Vec::new();
    let put = || {
        let archive = SqliteArchive::open(path)?;
        for number in DURING {
            archive.put(&release_of(number))?;
            stored.push(number);
        }
        Ok(())
    };
    let ended = { put }();
    (stored, ended)
}

fn index(path: &Path) -> (Vec<u64>, Result<()>) {
    (Vec::new(), SqliteArchive::open(path).and_then(|archive| archive.index()))
}

fn evict(path: &Path) -> (Vec<u64>, Result<()>) {
    let evict = |archive: SqliteArchive| archive.evict(0, Reach::Everything).map(drop);
    (Vec::new(), SqliteArchive::open(path).and_then(evict))
}

fn purge(path: &Path) -> (Vec<u64>, Result<()>) {
    let purge = |archive: SqliteArchive| archive.purge(&Purge::Session(SESSION.to_owned())).map(drop);
    (Vec::new(), SqliteArchive::open(path).and_then(purge))
}

fn copy(path: &Path) -> (Vec<u64>, Result<()>) {
    let copy = || SqliteArchive::open(other(path))?.copy_to(&SqliteArchive::open(path)?).map(drop);
    (Vec::new(), copy())
}

fn spill(path: &Path) -> (Vec<u64>, Result<()>) {
    let spill = || {
        let spill = Spill::new(path.parent().unwrap(), "spilled")?;
        BEFORE.map(release_of).try_for_each(|release| spill.write(&release))
    };
    (Vec::new(), spill())
}

fn held(archive: &SqliteArchive, number: u64) -> bool {
    let original = text(archive.original(&id(number)).unwrap());
    assert!(original.is_none() || original.as_deref() == Some(&content(number)), "{number} is whole or not there");
    original.is_some()
}

fn assert_all_are_there(path: &Path) {
    let archive = SqliteArchive::open(path).unwrap();
    assert!({ BEFORE }.all(|number| held(&archive, number)), "what was there before is there");
}

fn check_evicted(path: &Path, ended: &Result<()>) {
    let archive = SqliteArchive::open(path).unwrap();
    let left = BEFORE.filter(|number| held(&archive, *number)).count();
    assert!(left == 0 || (left == 3 && ended.is_err()), "all or none: {left}");
}

fn check_purged(path: &Path, ended: &Result<()>) {
    let archive = SqliteArchive::open(path).unwrap();
    let left = BEFORE.filter(|number| held(&archive, *number)).count();
    assert!(left == 0 || (left == 3 && ended.is_err()), "all or none: {left}");
    archive.purge(&Purge::Session(SESSION.to_owned())).unwrap();
    drop(archive);
    let bytes = std::fs::read(path).unwrap();
    assert!(!bytes.windows(4).any(|four| four == b"own2"), "a purge that is done again leaves no word");
}

fn check_copied(path: &Path, ended: &Result<()>) {
    assert_all_are_there(&other(path));
    let archive = SqliteArchive::open(path).unwrap();
    let copied = BEFORE.filter(|number| held(&archive, *number)).count();
    assert!(copied == 3 || ended.is_err());
    SqliteArchive::open(other(path)).unwrap().copy_to(&archive).unwrap();
    assert_all_are_there(path);
}

fn check_spilled(path: &Path, ended: &Result<()>) {
    let folder = path.parent().unwrap();
    let spill = Spill::new(folder, "spilled").unwrap();
    let file = |number| std::fs::read_to_string(folder.join(spill.name(&id(number))));
    for number in BEFORE {
        match file(number) {
            Ok(found) => assert_eq!(found, content(number), "a file is whole"),
            Err(_) => assert!(ended.is_err(), "{number} was said to be spilled"),
        }
    }
    BEFORE.for_each(|number| spill.write(&release_of(number)).unwrap());
    assert!({ BEFORE }.all(|number| file(number).unwrap() == content(number)));
}

/// In memory where that can be had: what counts is the order of the writes, not how long they take.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn check(path: &Path, scenario: &Scenario, stored: &[u64], ended: &Result<()>) {
    if let Err(error) = ended {
        let is_typed = matches!(error, Error::Io { .. } | Error::Failed { .. } | Error::Removed { .. });
        assert!(is_typed, "{error:?}");
        assert!(!error.to_string().contains('\n'));
    }
    let archive = SqliteArchive::open(path).unwrap();
    for number in DURING {
        let manifest = archive.manifest(&output_hash(format!("body {number}").as_bytes())).unwrap();
        assert!(manifest.is_none() || held(&archive, number), "no body without its original");
        assert!(manifest.is_some() || !stored.contains(&number), "{number} was said to be stored");
    }
    (scenario.check)(path, ended);
    archive.put(&release_of(99)).unwrap();
    archive.index().unwrap();
    assert!(held(&archive, 99) && archive.scan().unwrap().is_sound());
}

/// Does it again and again, each time with the next write failing, until none is left to fail.
fn fail_each_write(scenario: &Scenario) {
    let (mut told, mut writes) = (0, 0);
    for at in 1..=MANY {
        // Each kind of failure at every other write.
        let errno = if at % 2 == 0 { libc::EIO } else { libc::ENOSPC };
        let folder = folder();
        let path = folder.path().join("archive");
        (scenario.prepare)(&path);
        let outcome = match on_failing_disk(folder.path(), Failure { at, errno }, || (scenario.work)(&path)) {
            Ok(outcome) => outcome,
            Err(error) => return skipped("no write can be failed here", error),
        };
        let (stored, ended) = outcome.value;
        check(&path, scenario, &stored, &ended);
        told += u64::from(ended.is_err());
        let is_told = ended.is_err() || outcome.failed != Some(Step::Sync) || !scenario.tells_each_sync;
        assert!(is_told, "sync {at} failed, and what was written may not last");
        if outcome.failed.is_none() {
            assert!(ended.is_ok(), "{ended:?}");
            break;
        }
        writes = at;
    }
    println!("{told} of {writes} failed writes were told; the others lost nothing");
    assert!(told > 0 && writes < MANY, "{told} of {writes}");
}
