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

#[test]
fn of_releases_that_share_a_commit_none_makes_room_for_another() {
    let folder = tempfile::tempdir().unwrap();
    // Room for the file itself and three of the manifests.
    let options = Options { capacity_bytes: 1_200_000, ..Options::default() };
    let archive = SqliteArchive::open_with(folder.path().join("archive"), options).unwrap();
    let parcel = |name: &str, at: i64| {
        let mut manifest = vec![0; 300_000];
        blake3::Hasher::new().update(name.as_bytes()).finalize_xof().fill(&mut manifest);
        let mut release = Release::new(name.as_bytes(), manifest, Vec::new());
        release.session = "s".to_owned();
        store::Parcel::of(&release, &archive.scope.tenant, at, &HashSet::new()).unwrap()
    };
    archive.shared.writer.put(parcel("old", 1)).unwrap();
    let group = [parcel("older", 2), parcel("newer", 3), parcel("newest", 4)];
    let answers = archive.write(move |desk| desk.commit(&group.each_ref()));
    assert!(matches!(answers, Ok(answers) if answers.iter().all(Result::is_ok)));
    let is_held = |name: &str| archive.manifest(&crate::output_hash(name.as_bytes())).unwrap().is_some();
    assert_eq!(["old", "older", "newer", "newest"].map(is_held), [false, true, true, true]);
}

#[test]
fn a_search_that_waits_for_the_index_leaves_the_writer_to_others_between_its_steps() {
    const LEN: usize = 100_000;
    const TEXTS: u64 = 30;
    let (_folder, archive) = archive();
    let text = |number: u64| format!("unique{number} {}", "word ".repeat(LEN / 5)).into_bytes();
    let originals = (2..2 + TEXTS).map(|number| (id(number), text(number))).collect();
    archive.put(&Release::new(b"many", vec![1], originals)).unwrap();
    let most = usize::try_from(indexer::SEARCH_STEP_BYTES).unwrap() / LEN + 2;
    let step = archive.write(indexer::search_step).unwrap();
    assert!(matches!(step, indexer::Progress::More(indexed) if (1..=most as u64).contains(&indexed)), "{step:?}");
    assert!(archive.write(indexer::waiting).unwrap() > 0);
    assert_eq!(archive.search(&Query::new(format!("unique{}", 1 + TEXTS))).unwrap().len(), 1);
    assert_eq!(archive.write(indexer::waiting).unwrap(), 0);
}

#[test]
fn a_reason_for_being_gone_that_no_version_writes_is_damage() {
    let (_folder, archive) = archive();
    let other = connect::writer(archive.path()).unwrap();
    let body = || Release::new(b"body", vec![1], vec![(id(1), b"a text of some words".to_vec())]);
    for odd in ["3", "-1", "x'00'"] {
        other.execute_batch(&format!("UPDATE originals SET removed = {odd}")).unwrap();
        assert!(matches!(archive.original(&id(1)), Err(Error::Damaged { .. })), "{odd}");
        assert!(matches!(archive.look_up(&id(1)), Err(Error::Damaged { .. })), "{odd}");
        let scan = archive.scan().unwrap();
        assert_eq!((scan.originals, scan.damaged, scan.is_sound()), (1, 1, false), "{odd}");
    }
    other.execute_batch("UPDATE originals SET removed = 3").unwrap();
    archive.put(&body()).unwrap();
    assert_eq!(archive.original(&id(1)).unwrap().unwrap(), b"a text of some words", "who stores it again has it again");
    assert!(archive.scan().unwrap().is_sound());
}

#[test]
fn old_manifests_are_found_without_reading_all() {
    let (_folder, archive) = archive();
    let plan = archive.read(|connection, _| {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", evict::EVICT_MANIFESTS)).unwrap();
        let steps = plan.query_map(params![0, 1, true], |row| row.get::<_, String>(3)).unwrap();
        Ok(steps.map(std::result::Result::unwrap).collect::<Vec<String>>().join("; "))
    });
    let plan = plan.unwrap();
    assert!(plan.contains("manifests_by_time") && !plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
}
