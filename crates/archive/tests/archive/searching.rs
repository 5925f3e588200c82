//! What a search finds in code and logs, and that nothing in a query is taken for an operator.

use liveset_archive::{Archive, Purge, Query, SqliteArchive};

use crate::{id, release_in};

const CODE: &str = "fn parse_header(input: &str) -> Result<HttpHeader> {\n    self.readTimeoutMs(30)\n}\n";
const LOG: &str = "2024-05-01 ERROR src/net/pool.rs:88 connection reset by peer (code E0382)\nok\n";

fn archive() -> (tempfile::TempDir, SqliteArchive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    archive.put(&release_in("s", "a", &[(1, CODE), (2, LOG), (3, "unrelated words")])).unwrap();
    (folder, archive)
}

fn found(archive: &SqliteArchive, words: &str) -> Vec<String> {
    archive.search(&Query::new(words)).unwrap().hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn words_parts_of_identifiers_paths_and_runs_inside_words_are_found() {
    let (_folder, archive) = archive();
    for (words, expected) in [
        ("parse_header", 1),
        ("PARSE_HEADER", 1),
        ("header", 1),
        ("timeout", 1),
        ("readTimeout", 1),
        ("HttpHeader", 1),
        ("imeoutM", 1),
        ("rse_hea", 1),
        ("src/net/pool.rs", 2),
        ("pool.rs:88", 2),
        ("E0382", 2),
        ("reset peer", 2),
        ("onnecti eset", 2),
        ("readTimeoutMs(30)", 1),
        ("Result<HttpHeader>", 1),
    ] {
        assert_eq!(found(&archive, words), [id(expected)], "{words}");
    }
    assert_eq!(found(&archive, "header peer"), Vec::<String>::new(), "all words in one original");
}

#[test]
fn what_looks_like_a_query_language_is_words() {
    let (_folder, archive) = archive();
    for words in [
        "\"",
        "' OR 1=1 --",
        "words NOT unrelated",
        "a AND",
        "(",
        "NEAR(a b)",
        "whole:x",
        "*",
        "^",
        "-",
        "\u{0}",
        "%",
        "\"\" *",
    ] {
        archive.search(&Query::new(words)).unwrap();
    }
    assert_eq!(found(&archive, "words OR parse_header"), Vec::<String>::new(), "`OR` is a word");
    let pasted = "word ".repeat(50_000) + &"x".repeat(100_000);
    archive.search(&Query::new(pasted)).unwrap();
}

#[test]
fn what_was_stored_last_is_found_at_once_and_by_a_new_handle() {
    let (_folder, archive) = archive();
    archive.put(&release_in("s", "b", &[(4, "freshly stored")])).unwrap();
    assert_eq!(found(&archive, "freshly"), [id(4)]);
    archive.put(&release_in("s", "c", &[(5, "stored by the last breath")])).unwrap();
    let path = archive.path().to_owned();
    drop(archive);
    assert_eq!(found(&SqliteArchive::open(path).unwrap(), "breath"), [id(5)]);
}

#[test]
fn pictures_and_bytes_that_are_no_text_harm_no_search() {
    let (_folder, archive) = archive();
    let mut odd = release_in("s", "b", &[]);
    odd.originals =
        vec![(id(7), (0..=255).cycle().take(5_000).collect()), (id(8), b"ab\xed\xa0\x80 surrogate".to_vec())];
    odd.originals.push((id(9), format!("{{\"data\":\"{}\"}}", "iVBORw0KGgo".repeat(9_000)).into_bytes()));
    archive.put(&odd).unwrap();
    assert_eq!(found(&archive, "surrogate"), [id(8)]);
    assert_eq!(found(&archive, "parse_header"), [id(1)]);
}

fn found_in(archive: &SqliteArchive, session: &str, words: &str) -> (Vec<String>, bool) {
    let query = Query { session: Some(session.to_owned()), limit: 20, ..Query::new(words) };
    let found = archive.search(&query).unwrap();
    (found.hits.into_iter().map(|hit| hit.id).collect(), found.not_searched.has_more)
}

#[test]
fn what_other_sessions_hold_changes_no_answer_of_a_session() {
    // The first says the common word often, the second the rare one.
    let texts = ["pump pump pump valve", "pump valve valve valve", "pump", "pump", "a reader"];
    let mine: Vec<(u64, &str)> = (11..).zip(texts).collect();
    let (_folder, archive) = archive();
    archive.put(&release_in("mine", "m", &mine)).unwrap();
    archive.index().unwrap();
    let asked = ["pump valve", "valve", "eader", "ump alve", "alv"];
    let alone: Vec<_> = asked.iter().map(|words| found_in(&archive, "mine", words)).collect();
    assert_eq!(alone[0].0, [id(12), id(11)], "what few originals of the session hold weighs more");
    // To others the rare word is common, and many words stand around each run.
    let others: Vec<(u64, String)> =
        (100..400).map(|number| (number, format!("valve eader{number} xumpx{number} valve"))).collect();
    let others: Vec<(u64, &str)> = others.iter().map(|(number, text)| (*number, text.as_str())).collect();
    archive.put(&release_in("others", "o", &others)).unwrap();
    archive.index().unwrap();
    let beside: Vec<_> = asked.iter().map(|words| found_in(&archive, "mine", words)).collect();
    assert_eq!(alone, beside);
}

#[test]
fn a_run_inside_a_word_is_found_in_each_session_that_holds_it_until_it_is_purged() {
    let (_folder, archive) = archive();
    archive.put(&release_in("t", "t", &[(1, CODE), (20, "404 and readTimeoutMs too")])).unwrap();
    archive.index().unwrap();
    assert_eq!(found_in(&archive, "s", "imeoutM").0, [id(1)]);
    assert_eq!(found_in(&archive, "t", "imeoutM").0, [id(20), id(1)]);
    assert_eq!(found_in(&archive, "t", "imeoutM 404").0, [id(20)], "a word that is too short to hold another");
    archive.purge(&Purge::Id(id(20))).unwrap();
    assert_eq!(found_in(&archive, "t", "imeoutM").0, [id(1)]);
    archive.purge(&Purge::Session("t".to_owned())).unwrap();
    assert_eq!((found_in(&archive, "t", "imeoutM").0, found_in(&archive, "s", "imeoutM").0), (vec![], vec![id(1)]));
}

#[test]
fn what_another_session_calls_a_text_finds_it_in_no_session_but_that_one() {
    let (_folder, archive) = archive();
    let called = |session: &str, label: &str| {
        let mut release = release_in(session, session, &[(30, "a shared text"), (31, "and one more")]);
        release.sources[0].1.label = label.to_owned();
        archive.put(&release).unwrap();
    };
    called("mine", "plain.txt");
    called("theirs", "hushhush.txt");
    archive.index().unwrap();
    for words in ["hushhush", "ushhus", "shared hushhush"] {
        assert_eq!(found_in(&archive, "theirs", words).0, [id(30)], "{words}");
        assert_eq!(found_in(&archive, "mine", words).0, Vec::<String>::new(), "{words}");
    }
    assert_eq!(found_in(&archive, "mine", "shared plain").0, [id(30)]);
}

#[test]
fn within_a_session_the_same_identifier_comes_before_neighbours_that_spell_it() {
    let (_folder, archive) = archive();
    let apart = "let a_value = 1;\n21_000\n";
    let texts: Vec<(u64, &str)> = (40..60)
        .map(|number| (number, apart))
        .chain([(60, "fn readFile(value_21) {} // a longer line than any of the others has")])
        .collect();
    archive.put(&release_in("many", "m", &texts[..])).unwrap();
    archive.put(&release_in("many", "n", &[(61, apart)])).unwrap();
    archive.index().unwrap();
    let (found, _) = found_in(&archive, "many", "value_21");
    assert_eq!(found.first(), Some(&id(60)), "{found:?}");
    assert_eq!(found_in(&archive, "many", "read_file").0, [id(60)], "another style of the same name");
}
