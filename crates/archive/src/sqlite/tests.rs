//! What only shows between two statements, or between two steps of the writer.

use std::time::Duration;

use super::*;
use crate::{Error, Purge, Reach};

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
fn who_waits_for_the_index_leaves_the_writer_to_others_between_its_steps() {
    const LEN: usize = 100_000;
    const TEXTS: u64 = 30;
    let (_folder, archive) = archive();
    let text = |number: u64| format!("unique{number} {}", "word ".repeat(LEN / 5)).into_bytes();
    let originals = (2..2 + TEXTS).map(|number| (id(number), text(number))).collect();
    archive.put(&Release::new(b"many", vec![1], originals)).unwrap();
    let most = usize::try_from(indexer::LARGE_STEP_BYTES).unwrap() / LEN + 2;
    let step = archive.write(indexer::large_step).unwrap();
    assert!((1..=most as u64).contains(&step), "{step}");
    assert!(archive.read(indexer::waiting).unwrap() > 0);
    let found = |number: u64| archive.search(&Query::new(format!("unique{number}"))).unwrap().hits.len();
    assert_eq!((found(2), found(1 + TEXTS)), (1, 1), "what is indexed, and what is not yet");
    archive.index().unwrap();
    assert_eq!(archive.read(indexer::waiting).unwrap(), 0);
    assert_eq!((found(2), found(1 + TEXTS)), (1, 1));
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
fn what_is_looked_for_at_each_release_or_search_is_found_without_reading_all() {
    let (_folder, archive) = archive();
    let evict = (evict::EVICT_MANIFESTS.to_owned(), "manifests_by_time");
    let long = (unread::listing(unread::Unknown::Long), "originals_not_indexed_whole");
    let waiting = (unread::listing(unread::Unknown::Waiting), "SEARCH o USING INTEGER PRIMARY KEY");
    for (sql, index) in [evict, long, waiting] {
        let plan = archive.read(|connection, _| {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = plan.raw_query().mapped(|row| row.get::<_, String>(3));
            Ok(steps.map(std::result::Result::unwrap).collect::<Vec<String>>().join("; "))
        });
        let plan = plan.unwrap();
        // What waits is few, and is gone through.
        let plan_of_all = plan.replace("SCAN u", "");
        assert!(plan.contains(index) && !plan_of_all.contains("SCAN"), "{sql}: {plan}");
    }
}

/// Another process that is writing, for as long as this lives.
fn writing(archive: &SqliteArchive) -> Connection {
    let other = connect::writer(archive.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[test]
fn a_search_waits_for_no_writer() {
    let (_folder, archive) = archive();
    let other = writing(&archive);
    let found = archive.search(&Query::new("words")).unwrap();
    assert_eq!((found.hits.len(), found.not_searched.is_nothing()), (1, true), "it is not indexed, and found");
    assert_eq!(archive.index_some(), 0, "nor does what it would index");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(archive.index_some(), 1);
    assert_eq!(archive.read(indexer::waiting).unwrap(), 0);
    assert_eq!(archive.index_some(), 0, "nothing waits");
}

#[test]
fn a_search_that_leaves_something_out_indexes_a_part_and_not_the_whole_archive() {
    let (_folder, archive) = archive();
    archive.index().unwrap();
    let texts = 200;
    let originals = (2..2 + texts).map(|number| (id(number), format!("text {number}").into_bytes())).collect();
    archive.put(&Release::new(b"many", vec![1], originals)).unwrap();
    // Rows that say they are longer than their text: nothing that large need be stored to see how much is looked at.
    let claim = |sql: &str, bytes: i64| {
        let other = connect::writer(archive.path()).unwrap();
        other.execute(&format!("UPDATE originals SET len = ?1 WHERE {sql}"), [bytes]).unwrap();
    };
    claim("id IN (SELECT id FROM unindexed)", indexer::LARGE_STEP_BYTES);
    let left_out = |query: &str| archive.search_and_index(&Query::new(query)).unwrap().not_searched.originals;
    let fits = (indexer::SEARCH_BYTES / indexer::LARGE_STEP_BYTES).unsigned_abs();
    for searches in 1..=2 {
        let rest = texts - searches * fits;
        assert_eq!(left_out("text"), rest, "what was indexed meanwhile is not left out");
        assert_eq!(archive.read(indexer::waiting).unwrap(), rest);
    }
    // One text alone may be more than that.
    claim("id = (SELECT min(id) FROM unindexed)", indexer::SEARCH_BYTES * 2);
    assert_eq!(archive.index_some(), 1);
}

#[test]
fn what_the_index_cannot_mend_is_not_searched_twice() {
    let (_folder, archive) = archive();
    archive.index().unwrap();
    connect::writer(archive.path()).unwrap().execute("UPDATE originals SET len = 1 << 40", []).unwrap();
    let found = archive.search_and_index(&Query::new("words")).unwrap();
    assert!(found.hits.is_empty() && found.not_searched.originals > 0, "it is too long to be read, and not whole");
    // Who indexed nothing does not search again.
    assert_eq!(archive.index_some(), 0);
}

#[test]
fn who_searches_and_leaves_has_left_an_index() {
    let (_folder, archive) = archive();
    let path = archive.path().to_owned();
    drop(archive);
    let archive = SqliteArchive::open(path).unwrap();
    assert_eq!(archive.read(indexer::waiting).unwrap(), 1, "who stores and leaves does not take the time");
    archive.search(&Query::new("words")).unwrap();
    let path = archive.path().to_owned();
    drop(archive);
    assert_eq!(SqliteArchive::open(path).unwrap().read(indexer::waiting).unwrap(), 0);
}

#[test]
fn what_is_more_than_one_search_reads_is_said_until_it_is_indexed() {
    let (_folder, archive) = archive();
    // A row that says it is longer than what is read: nothing that large need be stored to see that it is not looked at.
    archive.put(&Release::new(b"b", vec![1], vec![(id(2), b"other words".to_vec())])).unwrap();
    let other = writing(&archive);
    let found = |archive: &SqliteArchive| archive.search(&Query::new("words")).unwrap();
    assert_eq!(found(&archive).hits.len(), 2);
    other.execute("UPDATE originals SET len = 1 << 40 WHERE id = (SELECT max(id) FROM originals)", []).unwrap();
    other.execute_batch("COMMIT; BEGIN IMMEDIATE").unwrap();
    let partly = found(&archive);
    assert_eq!((partly.hits.len(), partly.not_searched.originals), (1, 1));
    assert_eq!(partly.not_searched.told().as_deref(), Some("1 original was not searched"));
}

#[test]
fn the_words_of_one_tenant_take_no_place_from_anothers() {
    let (_folder, archive) = archive();
    let many: String = (0..2_000).map(|at| format!("crowd{at}needle ")).collect();
    let ada = archive.within(Scope::tenant("ada"));
    let bob = archive.within(Scope::tenant("bob"));
    bob.put(&Release::new(b"b", vec![1], vec![(id(2), b"one myneedlework".to_vec())])).unwrap();
    ada.put(&Release::new(b"a", vec![1], vec![(id(1), many.into_bytes())])).unwrap();
    archive.index().unwrap();
    for asked in ["needle", "eedlew", "needle one"] {
        let found = bob.search(&Query::new(asked)).unwrap();
        assert_eq!((found.hits.len(), found.not_searched.is_nothing()), (1, true), "{asked}: {found:?}");
        assert_eq!(found.hits[0].id, id(2));
    }
    // Of hers alone there are more than a search follows, which it says.
    let found = ada.search(&Query::new("eedle")).unwrap();
    assert_eq!((found.hits.len(), found.not_searched.has_more), (1, true));
}

#[test]
fn of_many_words_around_a_run_those_that_hold_least_besides_it_are_followed() {
    let (_folder, archive) = archive();
    let many: String = (0..2_000).map(|at| format!("xneedle{at} ")).collect();
    let originals = vec![(id(2), b"xneedle".to_vec()), (id(3), many.into_bytes())];
    archive.put(&Release::new(b"b", vec![1], originals)).unwrap();
    archive.index().unwrap();
    let found = archive.search(&Query::new("needle")).unwrap();
    assert!(found.not_searched.has_more);
    assert_eq!(found.hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>(), [id(3), id(2)]);
}

#[test]
fn the_end_of_a_very_long_text_is_found() {
    let (_folder, archive) = archive();
    let long = "some filling words\n".repeat(150_000) + "the end of Everything\n";
    archive.put(&Release::new(b"b", vec![1], vec![(id(2), long.into_bytes())])).unwrap();
    for is_indexed in [false, true] {
        let found = archive.search(&Query::new("everything")).unwrap();
        assert_eq!((found.hits.len(), found.not_searched.is_nothing()), (1, true), "indexed: {is_indexed}");
        assert_eq!((found.hits[0].id.as_str(), found.hits[0].line), (id(2).as_str(), 150_001));
        archive.index().unwrap();
    }
}

#[test]
fn what_is_read_comes_in_the_order_of_how_often_it_says_the_words() {
    let (_folder, archive) = archive();
    let texts = ["a pump and a valve", &"pump valve ".repeat(9), "the valve of a pump"];
    let originals = texts.iter().zip(2..).map(|(text, number)| (id(number), text.as_bytes().to_vec())).collect();
    archive.put(&Release::new(b"b", vec![1], originals)).unwrap();
    let _writing = writing(&archive);
    let found = archive.search(&Query::new("pump valve")).unwrap();
    assert_eq!(found.hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>(), [id(3), id(4), id(2)]);
}

const OLD_TEXT: &[u8] = b"what an older version stored";

/// Makes a file as an older version made it, with one original.
fn make_old(path: &Path, layout: u32) {
    let old = schema::tests::of_layout(path, layout);
    let (name, output) = (store::original_name(&id(7)).unwrap(), records::Key::manifest(&"ab".repeat(32)).unwrap());
    old.execute_batch("INSERT INTO tenants VALUES (1, ''); INSERT INTO sessions VALUES (1, 1, 's', 5);").unwrap();
    let (sum, len) = (records::sum_of(OLD_TEXT), OLD_TEXT.len() as i64);
    let sql =
        "INSERT INTO originals (id, tenant, name, sum, len, stored_len, used_at) VALUES (1, 1, ?1, ?2, ?3, ?3, 5)";
    old.execute(sql, params![name, sum, len]).unwrap();
    old.execute("INSERT INTO bodies VALUES (1, 0, ?1)", [OLD_TEXT]).unwrap();
    let sql =
        "INSERT INTO manifests (tenant, output, sum, session, at, len, form, body) VALUES (1, ?1, ?2, 1, 5, ?3, 0, ?4)";
    old.execute(sql, params![output.id, sum, len, OLD_TEXT]).unwrap();
    old.execute("INSERT INTO calls VALUES (1, 1, 1, x'00', 'read', 'old.txt', '{}')", []).unwrap();
}

/// Checks that the archive holds what [`make_old`] stored, and finds it.
fn check_old(archive: &SqliteArchive, layout: u32) {
    assert_eq!(archive.original(&id(7)).unwrap().unwrap(), OLD_TEXT, "layout {layout}");
    assert_eq!(archive.manifest(&"ab".repeat(32)).unwrap().unwrap(), OLD_TEXT, "layout {layout}");
    for words in ["older stored", "old.txt", "lder"] {
        let found = archive.search_and_index(&Query::new(words)).unwrap();
        assert!(found.not_searched.is_nothing(), "{layout}: {words}");
        assert_eq!(found.hits.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), [id(7)], "{layout}: {words}");
    }
}

#[test]
fn a_file_of_each_older_layout_keeps_what_it_holds_and_is_searched() {
    for layout in 1..schema::LAYOUT {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        make_old(&path, layout);
        let archive = SqliteArchive::open(&path).unwrap();
        check_old(&archive, layout);
        archive.put(&Release::new(b"new", vec![1], vec![(id(8), b"new".to_vec())])).unwrap();
        archive.index().unwrap();
        check_old(&archive, layout);
        assert!(archive.scan().unwrap().is_sound());
    }
}

/// Who runs this may write anywhere; then the child becomes somebody who may not.
#[cfg(unix)]
#[test]
fn a_file_of_an_older_layout_that_may_not_be_written_is_read_as_it_stands() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    const CHILD: &str = "LIVESET_OLD_ARCHIVES";
    const NOBODY: u32 = 65_534;
    if let Some(folder) = std::env::var_os(CHILD) {
        for layout in 1..schema::LAYOUT {
            let path = Path::new(&folder).join(format!("of{layout}"));
            let archive = SqliteArchive::open(&path).unwrap();
            check_old(&archive, layout);
            assert!(archive.scan().unwrap().is_sound());
            let sessions = archive.sessions().unwrap();
            assert_eq!((sessions.len(), archive.contents("s", 9).unwrap().len()), (1, 1), "layout {layout}");
            assert_eq!((archive.events("s").unwrap(), archive.summaries(&[], 9).unwrap().len()), (vec![], 0));
            let refused = archive.put(&Release::new(b"new", vec![1], Vec::new())).unwrap_err();
            assert!(refused.is_refused_write(), "{refused:?}");
            let left = schema::layout(&connect::reader(&path).unwrap(), &path).unwrap();
            assert_eq!(left, layout, "it stays what it is");
        }
        return println!("checked");
    }
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for layout in 1..schema::LAYOUT {
        let path = folder.path().join(format!("of{layout}"));
        make_old(&path, layout);
        mode(&path, 0o444);
    }
    mode(folder.path(), 0o555);
    let test = "sqlite::tests::a_file_of_an_older_layout_that_may_not_be_written_is_read_as_it_stands";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, folder.path());
    if fs::write(folder.path().join("probe"), "").is_ok() {
        command.uid(NOBODY).current_dir("/");
    }
    let output = command.output();
    mode(folder.path(), 0o755);
    match output {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.contains("checked"), "{told}");
        }
        Err(error) => liveset_testkit::skipped("nobody else can run this test's program", error),
    }
}

#[test]
fn a_program_whose_file_a_newer_one_took_over_stops_writing_and_says_why() {
    let (_folder, archive) = archive();
    let newer = connect::writer(archive.path()).unwrap();
    newer.pragma_update(None, "user_version", schema::LAYOUT + 1).unwrap();
    let release = Release::new(b"late", vec![1], vec![(id(2), b"late".to_vec())]);
    for refused in [archive.put(&release), archive.purge(&Purge::Id(id(1))).map(drop), archive.index()] {
        assert!(matches!(refused, Err(Error::UnknownVersion { .. })), "{refused:?}");
    }
    newer.pragma_update(None, "user_version", schema::LAYOUT).unwrap();
    assert_eq!(archive.original(&id(1)).unwrap().unwrap(), b"a text of some words", "nothing of it was done");
    assert_eq!(archive.original(&id(2)).unwrap(), None);
}

#[test]
fn a_damaged_block_of_words_fails_no_search_is_named_and_is_built_anew() {
    let (_folder, archive) = archive();
    let mut release = Release::new(b"b", vec![1], vec![(id(2), b"the valveTimeout of a pump".to_vec())]);
    release.session = "s".to_owned();
    archive.put(&release).unwrap();
    archive.index().unwrap();
    let found = || archive.search(&Query { session: Some("s".to_owned()), ..Query::new("imeou") }).unwrap();
    assert_eq!((found().hits.len(), found().not_searched.has_more), (1, false));
    let other = connect::writer(archive.path()).unwrap();
    other.execute_batch("UPDATE blocks SET terms = substr(terms, 1, length(terms) - 1)").unwrap();
    assert_eq!((found().hits.len(), found().not_searched.has_more), (1, true), "the text is read");
    let scan = archive.scan().unwrap();
    assert_eq!((scan.damaged, scan.is_sound(), scan.places.len()), (1, false, 1), "{scan:?}");
    archive.evict(u64::MAX, Reach::Unused).unwrap();
    archive.index().unwrap();
    assert_eq!((found().hits.len(), found().not_searched.has_more), (1, false));
    assert!(archive.scan().unwrap().is_sound());
}
