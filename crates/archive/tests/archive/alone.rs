//! Does a session find the same whether or not others share its file and its texts? What others store, call a text and
//! have indexed may change no id, line, source, count or note of its answers.

use liveset_archive::{Archive, Found, Hit, MAX_HITS, Purge, Query, Release, Scope, Source, SqliteArchive};

use crate::{Dice, crashes, id};

/// Words of texts and labels: plain ones, identifiers, some beyond ASCII, some that stand inside others.
const WORDS: [&str; 24] = [
    "pump",
    "valve",
    "valveTimeout",
    "read_file",
    "readFile",
    "file",
    "größe",
    "STRASSE",
    "straße",
    "İlk",
    "λόγος",
    "日本",
    "क्षेत्र",
    "a1b2",
    "404",
    "x",
    "src/net.rs",
    "HTTPServer",
    "server",
    "needle",
    "eedl",
    "pool:8",
    "naïve_path",
    "e\u{301}te",
];

/// Runs of characters that stand inside some of them.
const RUNS: [&str; 8] = ["ump", "eout", "ead_fi", "röß", "c/net", "eedl", "PSer", "όγο"];

fn open(folder: &tempfile::TempDir, name: &str) -> SqliteArchive {
    SqliteArchive::open(folder.path().join(name)).unwrap()
}

/// A release of texts, each the answer of calls with these labels.
fn called(session: &str, name: &str, texts: &[(u64, &str, &[&str])]) -> Release {
    let originals = texts.iter().map(|(number, text, _)| (id(*number), text.as_bytes().to_vec())).collect();
    let mut release = Release::new(name.as_bytes(), vec![1], originals);
    release.session = session.to_owned();
    let source = |label: &str| Source { tool: "run".into(), label: label.to_owned(), ..Source::default() };
    let sources = texts.iter().flat_map(|(number, _, labels)| labels.iter().map(|label| (id(*number), source(label))));
    release.sources = sources.collect();
    release
}

/// The answer to a session, and to a strict one; hits in the order of their ids.
fn search(archive: &SqliteArchive, session: &str, words: &str) -> Found {
    let query = Query { limit: MAX_HITS, ..Query::new(words) };
    let by_id = |mut found: Found| {
        found.hits.sort_by(|one: &Hit, other: &Hit| one.id.cmp(&other.id));
        found
    };
    let strict = archive.within(Scope::default().strictly(session)).search(&query).unwrap();
    let found = archive.search(&Query { session: Some(session.to_owned()), ..query }).unwrap();
    let (strict, found) = (by_id(strict), by_id(found));
    assert_eq!(strict, found, "{session} strictly: {words}");
    found
}

fn ids(found: &Found) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.id.as_str()).collect()
}

#[test]
fn a_word_of_a_foreign_label_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (all, alone) = (open(&folder, "all"), open(&folder, "alone"));
    let mine = called("mine", "m", &[(1, "a shared größe", &["plain.txt"]), (2, "of mine alone", &["own.txt"])]);
    let theirs = called("theirs", "t", &[(1, "a shared größe", &["hushhush λόγος/naïve.txt", "plain größe_x"])]);
    alone.put(&mine).unwrap();
    all.put(&theirs).unwrap();
    all.put(&mine).unwrap();
    for is_indexed in [false, true] {
        if is_indexed {
            all.index().unwrap();
            alone.index().unwrap();
        }
        for words in
            ["hushhush", "λόγος", "shared naïve", "größe λόγος", "λόγος/naïve", "ushhus", "όγο", "plain größe_x"]
        {
            let found = search(&all, "mine", words);
            assert_eq!(found, search(&alone, "mine", words), "{words}");
            assert_eq!((ids(&found), found.not_searched.has_more), (vec![], false), "{words}");
            let theirs = search(&all, "theirs", words);
            assert_eq!(ids(&theirs), [id(1)], "{words}");
        }
        // A part in the text and a part in the own label; nothing reads on from one to the other.
        assert_eq!(ids(&search(&all, "mine", "shared plain")), [id(1)]);
        assert!(search(&all, "mine", "größe/run").hits.is_empty());
    }
    // What a session that is gone called it is nobody's, whether or not the index has heard of that.
    all.purge(&Purge::Session("theirs".to_owned())).unwrap();
    assert_eq!(search(&all, "mine", "shared λόγος"), search(&alone, "mine", "shared λόγος"));
}

#[test]
fn an_own_label_is_found_behind_any_number_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let all = open(&folder, "all");
    let others: Vec<String> = (0..60).map(|number| format!("other{number}.txt")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    all.put(&called("mine", "m", &[(1, "a shared text", &["quiet.txt"])])).unwrap();
    all.put(&called("mine", "n", &[(1, "a shared text", &others[..30])])).unwrap();
    all.put(&called("theirs", "t", &[(1, "a shared text", &others[30..])])).unwrap();
    all.index().unwrap();
    for words in ["quiet", "quiet shared", "uiet", "other0", "other29"] {
        assert_eq!(ids(&search(&all, "mine", words)), [id(1)], "{words}");
    }
    assert!(search(&all, "mine", "other30").hits.is_empty());
    assert!(search(&all, "theirs", "quiet").hits.is_empty());
    assert_eq!(ids(&search(&all, "theirs", "other30")), [id(1)]);
}

#[test]
fn more_foreign_labels_than_are_weighed_hide_no_own_hit() {
    let folder = tempfile::tempdir().unwrap();
    let (all, alone) = (open(&folder, "all"), open(&folder, "alone"));
    // The only own answer is the oldest; the newer ones hold the word in foreign labels alone.
    let texts: Vec<(u64, String)> = (0..700)
        .map(|number| (number, if number == 0 { "pump".to_owned() } else { format!("text {number}") }))
        .collect();
    let with = |label: &'static [&'static str]| -> Vec<(u64, &str, &[&str])> {
        texts.iter().map(|(number, text)| (*number, text.as_str(), label)).collect()
    };
    let mine = called("mine", "m", &with(&["plain"]));
    for archive in [&all, &alone] {
        archive.put(&mine).unwrap();
    }
    all.put(&called("theirs", "t", &with(&["pump"]))).unwrap();
    all.index().unwrap();
    alone.index().unwrap();
    for words in ["pump", "ump", "pump plain"] {
        let found = search(&all, "mine", words);
        assert_eq!((ids(&found), &found), (vec![id(0).as_str()], &search(&alone, "mine", words)), "{words}");
    }
}

#[test]
fn where_too_much_had_to_be_read_the_search_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let all = open(&folder, "all");
    // Long runs are no words, and quickly indexed.
    let texts: Vec<(u64, String)> =
        (0..18).map(|number| (number, format!("{number} {}", "x".repeat(1 << 20)))).collect();
    for (session, label) in [("mine", "plain"), ("theirs", "pump")] {
        let texts: Vec<(u64, &str, &[&str])> =
            texts.iter().map(|(number, text)| (*number, text.as_str(), std::slice::from_ref(&label))).collect();
        all.put(&called(session, session, &texts)).unwrap();
    }
    all.index().unwrap();
    let found = search(&all, "mine", "pump");
    assert_eq!((ids(&found), found.not_searched.has_more), (vec![], true));
    // The newest are read first; what none of them is called needs no reading.
    assert_eq!(search(&all, "mine", "plain").hits.len(), 15);
    assert!(!search(&all, "mine", "absent").not_searched.has_more);
}

fn words(dice: &mut Dice, most: usize) -> String {
    let count = dice.below(most) + 1;
    let words: Vec<&str> = (0..count).map(|_| WORDS[dice.below(WORDS.len())]).collect();
    words.join([" ", "\n", ", "][dice.below(3)])
}

/// A release of some of the texts, under names of its own.
fn drawn(dice: &mut Dice, session: usize, at: usize, texts: &[String]) -> Release {
    let numbers: Vec<usize> = (0..=dice.below(texts.len())).map(|_| dice.below(texts.len())).collect();
    let original = |number: &usize| (id(*number as u64), texts[*number].clone().into_bytes());
    let mut release = Release::new(&at.to_le_bytes(), vec![1], numbers.iter().map(original).collect());
    release.session = format!("s{session}");
    for number in numbers {
        // Some are named by nobody, some often.
        for _ in 0..[0, 1, 1, 2, 30][dice.below(5)] {
            let source = Source { tool: "run".into(), label: words(dice, 3), ..Source::default() };
            release.sources.push((id(number as u64), source));
        }
    }
    release
}

fn asked(dice: &mut Dice) -> String {
    let word = |dice: &mut Dice| match dice.below(4) {
        0 => RUNS[dice.below(RUNS.len())],
        _ => WORDS[dice.below(WORDS.len())],
    };
    (0..=dice.below(3)).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_session_finds_what_it_finds_where_no_other_is() {
    let mut found = 0;
    for round in 0..crashes(12) {
        let mut dice = Dice(round as u64);
        let many = [8, 30, 120][round % 3];
        let texts: Vec<String> = (0..many).map(|number| format!("{}\nt{number}", words(&mut dice, 6))).collect();
        let folder = tempfile::tempdir().unwrap();
        let all = open(&folder, "all");
        let alone: Vec<SqliteArchive> = (0..3).map(|session| open(&folder, &format!("alone{session}"))).collect();
        for at in 0..12 {
            let session = dice.below(3);
            let release = drawn(&mut dice, session, at, &texts);
            all.put(&release).unwrap();
            alone[session].put(&release).unwrap();
        }
        for archive in alone.iter().chain([&all]) {
            archive.index().unwrap();
        }
        for _ in 0..40 {
            let words = asked(&mut dice);
            for (session, alone) in alone.iter().enumerate() {
                let name = format!("s{session}");
                let expected = search(alone, &name, &words);
                found += expected.hits.len();
                assert_eq!(search(&all, &name, &words), expected, "round {round}, {name}: {words}");
            }
        }
    }
    assert!(found > 1_000, "most searches find something: {found}");
}
