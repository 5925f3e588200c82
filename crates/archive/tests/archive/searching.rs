//! What a search finds in code and logs, and that nothing in a query is taken for an operator.

use liveset_archive::{Archive, Query, SqliteArchive};

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
