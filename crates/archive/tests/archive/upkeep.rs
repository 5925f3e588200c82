//! What leaves an archive and when: capacity, purge, copies, summaries, the ledger.

use std::{fs, process::Command};

use liveset_archive::{
    Archive, Error, Event, Lookup, MAX_EVENT_BYTES, MAX_SUMMARY_BYTES, Options, Purge, Query, Reach, Release, Removal,
    Scope, SqliteArchive, output_hash,
};

use crate::{id, release, release_in, source, text};

const DAY: i64 = 24 * 60 * 60 * 1_000;

thread_local! {
    static NOW: std::cell::Cell<i64> = const { std::cell::Cell::new(0) };
}

/// A small archive whose clock each test sets for itself.
fn small(folder: &tempfile::TempDir, capacity_bytes: u64) -> SqliteArchive {
    let mut options = Options::default();
    options.capacity_bytes = capacity_bytes;
    options.live_ms = 7 * DAY;
    options.clock = || NOW.get();
    SqliteArchive::open_with(folder.path().join("archive"), options).unwrap()
}

/// A text that does not compress.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut dice = crate::Dice(seed);
    (0..bytes).map(|_| u8::try_from(dice.below(256)).unwrap()).collect()
}

fn large(session: &str, number: u64) -> Release {
    let mut release = release_in(session, &format!("body {number}"), &[]);
    release.originals = vec![(id(number), noise(number, 50_000))];
    release.sources = vec![(id(number), source(number))];
    release
}

#[test]
fn a_full_archive_evicts_what_was_used_longest_ago_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let archive = small(&folder, 1_000_000);
    for number in 0..60 {
        NOW.set(i64::try_from(number).unwrap() * 8 * DAY);
        archive.put(&large("s", number)).unwrap();
    }
    let scan = archive.scan().unwrap();
    assert!(scan.bytes <= scan.capacity_bytes && scan.originals > 5, "{scan:?}");
    let held: Vec<u64> = (0..60).filter(|number| archive.original(&id(*number)).unwrap().is_some()).collect();
    assert_eq!(held.last(), Some(&59));
    assert!(held.windows(2).all(|pair| pair[0] + 1 == pair[1]), "the oldest went: {held:?}");
    match archive.look_up(&id(0)).unwrap() {
        Lookup::Gone(gone) => assert_eq!((gone.why, gone.sources), (Removal::Evicted, vec![source(0)])),
        other => panic!("{other:?}"),
    }
    assert_eq!(archive.look_up(&id(99)).unwrap(), Lookup::Unknown);
    archive.put(&large("s", 0)).unwrap();
    assert_eq!(archive.original(&id(0)).unwrap(), Some(noise(0, 50_000)), "what comes again is there again");
}

#[test]
fn what_a_living_conversation_points_at_is_kept_and_the_release_refused() {
    let folder = tempfile::tempdir().unwrap();
    let archive = small(&folder, 1_000_000);
    NOW.set(100 * DAY);
    let mut stored = 0;
    let refused = loop {
        match archive.put(&large("s", stored)) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 60);
    };
    assert!(matches!(refused, Error::Full { .. }), "{refused}");
    assert!((0..stored).all(|number| archive.original(&id(number)).unwrap().is_some()));
    assert_eq!(archive.original(&id(stored)).unwrap(), None);
    let polite = archive.evict(0, Reach::Unused).unwrap();
    assert_eq!((polite.originals, polite.live_originals), (0, 0));
    let told = archive.evict(500_000, Reach::Everything).unwrap();
    assert!(told.live_originals == told.originals && told.originals > 0, "{told:?}");
    archive.put(&large("s", stored)).unwrap();
    // A body that points at what went is refused, so that nobody gets it.
    let mut pointing = release_in("s", "later", &[]);
    pointing.points_at = vec![id(0)];
    assert!(matches!(archive.put(&pointing), Err(Error::Missing { .. })));
}

#[test]
fn an_original_in_use_outlives_its_age() {
    let folder = tempfile::tempdir().unwrap();
    let archive = small(&folder, 1_000_000);
    archive.put(&large("s", 0)).unwrap();
    for number in 1..60 {
        NOW.set(i64::try_from(number).unwrap() * 8 * DAY);
        let mut release = large("s", number);
        release.points_at = vec![id(0)];
        archive.put(&release).unwrap();
    }
    assert!(archive.original(&id(0)).unwrap().is_some());
    assert_eq!(archive.original(&id(1)).unwrap(), None);
}

#[test]
fn a_put_never_evicts_what_it_points_at_however_short_a_conversation_lives() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    (options.capacity_bytes, options.live_ms, options.clock) = (1_000_000, 0, || NOW.get());
    let archive = SqliteArchive::open_with(folder.path().join("archive"), options).unwrap();
    archive.put(&large("s", 0)).unwrap();
    for number in 1..60 {
        NOW.set(i64::try_from(number).unwrap() * 25_000);
        let mut release = large("s", number);
        release.points_at = vec![id(0)];
        archive.put(&release).unwrap();
        for held in [0, number] {
            assert!(archive.original(&id(held)).unwrap().is_some(), "{held} after {number}");
        }
        assert!(archive.manifest(&release.output).unwrap().is_some(), "{number}");
    }
    assert_eq!(archive.original(&id(1)).unwrap(), None, "there was no need to evict");
}

#[test]
fn two_hundred_turns_of_one_session_store_each_original_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = small(&folder, 1 << 30);
    let mut originals = Vec::new();
    for turn in 0..200 {
        originals.push((id(turn), noise(turn, 2_000)));
        let mut release = release_in("s", &format!("turn {turn}"), &[]);
        release.originals = originals.clone();
        archive.put(&release).unwrap();
    }
    let scan = archive.scan().unwrap();
    assert_eq!((scan.originals, scan.manifests), (200, 200));
    assert!(scan.bytes < 3 * 200 * 2_000, "{} bytes", scan.bytes);
}

#[test]
fn a_purge_leaves_no_byte_of_the_text_in_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = SqliteArchive::open(&path).unwrap();
    let secret = "correct horse battery staple";
    let mut private = release_in("private", "a", &[(1, secret), (2, "shared words")]);
    private.sources[0].1.arguments = format!("{{\"word\":\"{secret}\"}}");
    private.manifest = secret.into();
    archive.put(&private).unwrap();
    archive.put(&release_in("other", "b", &[(2, "shared words")])).unwrap();
    assert_eq!(archive.search(&Query::new("battery")).unwrap().hits.len(), 1);
    let purged = archive.purge(&Purge::Session("private".into())).unwrap();
    assert_eq!((purged.originals, purged.manifests), (1, 1));
    assert_eq!(archive.search(&Query::new("battery")).unwrap().hits, []);
    match archive.look_up(&id(1)).unwrap() {
        Lookup::Gone(gone) => assert_eq!((gone.why, gone.sources), (Removal::Purged, vec![])),
        other => panic!("{other:?}"),
    }
    assert_eq!(text(archive.original(&id(2)).unwrap()).as_deref(), Some("shared words"));
    assert_eq!(archive.sessions().unwrap().len(), 1);
    check_absent(&folder, &["horse", "battery", "orse"]);
    assert!(archive.scan().unwrap().is_sound());
}

/// Looks for words in the bytes of every file.
fn check_absent(folder: &tempfile::TempDir, words: &[&str]) {
    // Read by another process: closing a file here would end the locks that this process holds on it.
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = Command::new("cat").arg(file.unwrap().path()).output().unwrap().stdout;
        for word in words {
            assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
        }
    }
}

/// One text as the answer of a call with this label.
fn labelled(session: &str, name: &str, text: &str, label: &str) -> Release {
    let mut release = release_in(session, name, &[(1, text)]);
    release.sources[0].1.label = label.to_owned();
    release
}

#[test]
fn a_purged_session_takes_the_words_of_its_calls_from_what_others_hold_too() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&labelled("private", "a", "common text", "plan_xylophone.txt")).unwrap();
    archive.put(&labelled("other", "b", "common text", "notes.txt")).unwrap();
    assert_eq!(archive.search(&Query::new("xylophone")).unwrap().hits.len(), 1);
    archive.purge(&Purge::Session("private".into())).unwrap();
    check_absent(&folder, &["xylophone", "ylopho"]);
    assert_eq!(archive.search(&Query::new("xylophone")).unwrap().hits, []);
    for words in ["common", "notes"] {
        assert_eq!(archive.search(&Query::new(words)).unwrap().hits.len(), 1, "{words}");
    }
}

#[test]
fn a_later_call_finds_a_text_that_was_indexed_before_and_a_purge_finds_it_in_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&labelled("s", "a", "quixotic text", "first.txt")).unwrap();
    assert_eq!(archive.search(&Query::new("first")).unwrap().hits.len(), 1);
    archive.put(&labelled("s", "b", "quixotic text", "second.txt")).unwrap();
    for words in ["second", "first", "quixotic"] {
        assert_eq!(archive.search(&Query::new(words)).unwrap().hits.len(), 1, "{words}");
    }
    // Now it is in the index and waits for it too.
    archive.put(&labelled("t", "c", "quixotic text", "third.txt")).unwrap();
    archive.purge(&Purge::Id(id(1))).unwrap();
    check_absent(&folder, &["quixotic", "uixoti"]);
    assert_eq!(archive.search(&Query::new("quixotic")).unwrap().hits, []);
}

#[test]
fn a_purged_id_takes_every_body_that_held_it() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&release_in("s", "a", &[(1, "one"), (2, "two")])).unwrap();
    archive.put(&release_in("t", "b", &[(2, "two")])).unwrap();
    let purged = archive.purge(&Purge::Id(id(1))).unwrap();
    assert_eq!((purged.originals, purged.manifests), (1, 1));
    assert_eq!(archive.manifest(&output_hash(b"a")).unwrap(), None);
    assert!(archive.manifest(&output_hash(b"b")).unwrap().is_some());
    assert!(archive.original(&id(2)).unwrap().is_some());
    assert!(matches!(archive.purge(&Purge::Id("../x".into())), Err(Error::BadId { .. })));
    archive.put(&release_in("s", "a", &[(1, "one"), (2, "two")])).unwrap();
    assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"), "who stores it again has it again");
}

#[test]
fn a_copy_holds_everything_of_its_tenant_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&release_in("s", "a", &[(1, "one"), (2, "two")])).unwrap();
    archive.put(&release_in("t", "b", &[(2, "two"), (3, "three pumps")])).unwrap();
    archive.put_event("t", &Event { item: 4, event: "cold".into() }).unwrap();
    // More than one transaction carries.
    let inputs: Vec<String> = (0..300_u32).map(|number| output_hash(&number.to_le_bytes())).collect();
    for input in &inputs {
        archive.put_summary(input, &format!("short for {input}")).unwrap();
    }
    let bob = archive.within(Scope::tenant("bob"));
    bob.put(&release_in("s", "c", &[(4, "four")])).unwrap();
    bob.put_summary(&output_hash(b"of bob"), "his").unwrap();
    let copy = SqliteArchive::open(folder.path().join("copy")).unwrap();
    let copied = archive.copy_to(&copy).unwrap();
    assert_eq!((copied.sessions, copied.manifests, copied.summaries, copied.damaged), (2, 2, 300, 0));
    for input in &inputs {
        assert_eq!(copy.summary(input).unwrap(), archive.summary(input).unwrap());
    }
    assert_eq!(copy.summary(&output_hash(b"of bob")).unwrap(), None);
    let strict = SqliteArchive::open(folder.path().join("strict")).unwrap();
    let copied = archive.within(Scope::default().strictly("s")).copy_to(&strict).unwrap();
    assert_eq!((copied.sessions, copied.summaries), (1, 0));
    for number in 1..=3 {
        assert_eq!(copy.look_up(&id(number)).unwrap(), archive.look_up(&id(number)).unwrap());
    }
    assert_eq!(copy.manifest(&output_hash(b"a")).unwrap(), archive.manifest(&output_hash(b"a")).unwrap());
    assert_eq!(copy.original(&id(4)).unwrap(), None);
    assert_eq!(copy.events("t").unwrap(), archive.events("t").unwrap());
    assert_eq!(copy.search(&Query::new("pumps")).unwrap().hits[0].session, "t");
    assert_eq!(copy.scan().unwrap().originals, 3);
}

#[test]
fn the_first_summary_of_an_input_stays_and_events_are_kept_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive");
    let archive = SqliteArchive::open(&path).unwrap();
    let input = output_hash(b"input");
    assert_eq!(archive.summary(&input).unwrap(), None);
    assert_eq!(archive.put_summary(&input, "a fallback").unwrap(), "a fallback");
    let event = |item: u32, event: &str| Event { item, event: event.into() };
    for one in [event(9, "cold"), event(2, "too long"), event(9, "cold")] {
        archive.put_event("s", &one).unwrap();
    }
    let again = SqliteArchive::open(&path).unwrap();
    assert_eq!(again.put_summary(&input, "a better one").unwrap(), "a fallback");
    assert_eq!(again.events("s").unwrap(), [event(2, "too long"), event(9, "cold")]);
    assert_eq!(again.within(Scope::tenant("bob")).summary(&input).unwrap(), None);
    assert_eq!(again.within(Scope::tenant("bob")).events("s").unwrap(), []);
    assert_eq!(again.within(Scope::default().strictly("t")).events("s").unwrap(), []);
}

#[test]
fn summaries_and_events_have_a_largest_size() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    let input = output_hash(b"input");
    let summary = |bytes: usize| archive.put_summary(&input, &"x".repeat(bytes)).map(drop);
    let event = |bytes: usize| archive.put_event("s", &Event { item: 1, event: "x".repeat(bytes) });
    for refused in [summary(MAX_SUMMARY_BYTES + 1), event(MAX_EVENT_BYTES + 1)] {
        assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    }
    assert_eq!((archive.summary(&input).unwrap(), archive.events("s").unwrap()), (None, Vec::new()));
    summary(MAX_SUMMARY_BYTES).unwrap();
    event(MAX_EVENT_BYTES).unwrap();
}

#[test]
fn a_copy_of_large_originals_goes_by_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    let texts: Vec<String> = (0..5).map(|at| format!("large {at} ").repeat(3 << 20)).collect();
    let texts: Vec<(u64, &str)> = (1..).zip(texts.iter().map(String::as_str)).collect();
    archive.put(&release_in("s", "a", &texts)).unwrap();
    let copy = SqliteArchive::open(folder.path().join("copy")).unwrap();
    let copied = archive.copy_to(&copy).unwrap();
    assert_eq!((copied.originals, copied.manifests), (5, 1));
    assert!(texts.iter().all(|(number, text)| copy.original(&id(*number)).unwrap().unwrap() == text.as_bytes()));
}

#[test]
fn sessions_are_listed_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let archive = small(&folder, 1 << 30);
    for (at, session) in [(5, "s"), (9, "t"), (7, "u")] {
        NOW.set(at);
        archive.put(&release_in(session, session, &[(1, "one"), (u64::try_from(at).unwrap(), "more")])).unwrap();
    }
    archive.put(&release("no session", &[(1, "one")])).unwrap();
    let listed = archive.sessions().unwrap();
    let told: Vec<_> = listed.iter().map(|row| (row.session.as_str(), row.originals, row.bytes, row.bodies)).collect();
    assert_eq!(told, [("t", 2, 7, 1), ("", 1, 3, 1), ("u", 2, 7, 1), ("s", 2, 7, 1)]);
}
