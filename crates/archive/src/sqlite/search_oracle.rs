//! What would a search find that saves itself nothing? Throughout a tenant it asks the index for every phrase, weighs all
//! of them, and looks for each run as a whole; within a session it reads every text. The search must name the same
//! originals in the same order.

use rusqlite::{Connection, params};

use super::{
    SqliteArchive, store,
    words::{is_word, parts},
};
use crate::{Archive, Query, Release, Source};

/// Originals that are weighed against each other, and words that a run may stand for, as the search has them.
const RANKED: usize = 200;
const AROUND: i64 = 64;

/// Each session's originals, so that some words are in more of one than are ranked.
const SESSION: u64 = 260;

/// Words that the index of runs must hold before the search looks for rare pieces.
const MANY_WORDS: i64 = 40_000;

fn ask(connection: &Connection, terms: &str, order: &str) -> Vec<i64> {
    let sql = format!(
        "SELECT w.id FROM (SELECT rowid AS id, bm25(words, 2.0, 1.0) AS weight FROM words WHERE words MATCH ?1) w
        ORDER BY {order}"
    );
    let mut rows = connection.prepare(&sql).unwrap();
    rows.query_map([terms], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn words_around(connection: &Connection, run: &str) -> (String, bool) {
    let sql = "SELECT t.term FROM runs r JOIN terms t ON t.id = r.rowid WHERE runs MATCH ?1
        ORDER BY length(t.term), t.term LIMIT ?2";
    let mut rows = connection.prepare(sql).unwrap();
    let found = rows.query_map(params![format!("\"{run}\""), AROUND + 1], |row| row.get::<_, String>(0)).unwrap();
    let mut words: Vec<String> = found.map(|word| format!("\"{}\"", word.unwrap())).collect();
    let has_more = words.len() as i64 > AROUND;
    words.truncate(AROUND as usize);
    words.push(format!("\"{run}\""));
    (format!("whole: ({})", words.join(" OR ")), has_more)
}

/// An asked word, and how it is found: whole, and in parts.
type Asked<'a> = (&'a str, &'a str);

fn query_of((whole, parts): &Asked<'_>) -> String {
    format!("(whole: \"{whole}\" OR parts: \"{parts}\")")
}

/// Rows of a tenant that the words find, best first, and whether the runs stand in more than was followed.
fn plain(connection: &Connection, words: &[Asked<'_>]) -> (Vec<i64>, bool) {
    let terms = words.iter().map(query_of).collect::<Vec<_>>().join(" AND ");
    let newest = ask(connection, &terms, "w.id DESC");
    if newest.len() >= RANKED {
        return (newest, false);
    }
    if !newest.is_empty() {
        return (ask(connection, &terms, "w.weight, w.id DESC"), false);
    }
    let around: Vec<(String, bool)> = words.iter().map(|(run, _)| words_around(connection, run)).collect();
    let has_more = around.iter().any(|(_, has_more)| *has_more);
    let terms: Vec<String> = around.into_iter().map(|(terms, _)| terms).collect();
    (ask(connection, &terms.join(" AND "), "w.id DESC"), has_more)
}

/// The same of one session, whose texts are given with their rows, newest first.
fn plain_within(texts: &[(i64, String)], words: &[Asked<'_>]) -> Vec<i64> {
    let holders = |word: &str| texts.iter().filter(|(_, text)| times(text, word) > 0).count();
    let all_hold = |text: &str| words.iter().all(|(word, _)| times(text, word) > 0);
    let mut found: Vec<&(i64, String)> = texts.iter().filter(|(_, text)| all_hold(text)).collect();
    if (1..RANKED).contains(&found.len()) {
        let all = texts.len() as f64;
        let average = texts.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / all;
        let weight = |text: &str| -> f64 {
            let of_word = |(word, _): &Asked<'_>| {
                let (holders, times) = (holders(word) as f64, f64::from(times(text, word)));
                let rarity = (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln();
                rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * text.len() as f64 / average))
            };
            words.iter().map(of_word).sum()
        };
        found.sort_by_cached_key(|(id, text)| (-(weight(text) * 1e9) as i64, -id));
    }
    if found.is_empty() {
        found = texts.iter().filter(|(_, text)| words.iter().all(|(run, _)| is_inside(text, run))).collect();
    }
    found.iter().map(|(id, _)| *id).collect()
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|token| !token.is_empty())
}

/// Counts neighbouring parts of identifiers, or whole ones, that spell the word.
fn times(text: &str, word: &str) -> u32 {
    let word = word.to_lowercase();
    let spells = |token: &str| {
        let parts: Vec<String> = parts(token).map(str::to_lowercase).collect();
        let runs = (0..parts.len()).flat_map(|from| (from..parts.len()).map(move |to| (from, to)));
        let of_parts = runs.filter(|(from, to)| parts[*from..=*to].concat() == word).count();
        if of_parts == 0 { usize::from(token.to_lowercase() == word) } else { of_parts }
    };
    u32::try_from(tokens(text).map(spells).sum::<usize>()).unwrap()
}

fn is_inside(text: &str, run: &str) -> bool {
    let (lower, run) = (text.to_lowercase(), run.to_lowercase());
    let holds = |token: &str| token == run || (token.len() > 3 && token.contains(&run));
    let with_letters = tokens(&lower).filter(|token| token.chars().any(char::is_alphabetic));
    with_letters.into_iter().any(holds)
}

fn text(number: u64) -> String {
    let own: String = (0..70).map(|at| format!("let own{at}_{number} = {at};\n")).collect();
    // Words of several weights: in each text, in some, in few, and more often in some than in others.
    let often = "pump ".repeat((number % 5) as usize);
    format!("shared reader{} valveTimeout {often} value_{number} rare{}x\n{own}", number % 9, number % 130)
}

#[test]
fn a_search_finds_what_the_plain_one_finds_in_the_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    for session in 0..3_u64 {
        let numbers = session * SESSION..(session + 1) * SESSION;
        let id = |number: u64| format!("{number:032x}");
        let originals = numbers.clone().map(|number| (id(number), text(number).into_bytes())).collect();
        let mut release = Release::new(&session.to_le_bytes(), vec![1], originals);
        release.session = format!("s{session}");
        let call = |number: u64| Source { tool: "read".into(), label: format!("m{number}.rs"), ..Source::default() };
        release.sources = numbers.map(|number| (id(number), call(number))).collect();
        archive.put(&release).unwrap();
    }
    archive.index().unwrap();
    let connection = super::connect::reader(archive.path()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert!(count("SELECT max(id) FROM terms") > MANY_WORDS, "fewer words are looked for as a whole");
    // What a call says is a part of what is weighed.
    let told = |number: u64| format!("{} read m{number}.rs", text(number));
    let row = |number: u64| i64::try_from(number).unwrap() + 1;
    let of_session: Vec<(i64, String)> =
        (SESSION..2 * SESSION).rev().map(|number| (row(number), told(number))).collect();
    let mut kinds = [0; 4];
    for words in [
        vec![("value_300", "value 300")],
        vec![("value_301", "value 301"), ("shared", "shared")],
        vec![("pump", "pump"), ("timeout", "timeout"), ("rare7x", "rare 7 x")],
        vec![("timeout", "timeout"), ("reader4", "reader 4")],
        vec![("valve", "valve"), ("own14_299", "own 14 299")],
        vec![("shared", "shared")],
        vec![("alue_300", "alue 300")],
        vec![("lvetim", "lvetim")],
        vec![("wn14_30", "wn 14 30")],
        vec![("ALUE_30", "ALUE 30"), ("eader", "eader")],
        vec![("own", "own"), ("wn6", "wn 6")],
        vec![("absent", "absent")],
    ] {
        for session in [None, Some("s1")] {
            let asked: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let query = Query { session: session.map(str::to_owned), limit: 40, words: asked.join(" ") };
            let found = archive.search(&query).unwrap();
            let (mut expected, has_more) = match session {
                None => plain(&connection, &words),
                Some(_) => (plain_within(&of_session, &words), false),
            };
            kinds[match expected.len() {
                0 => 0,
                1 => 1,
                2..RANKED => 2,
                _ => 3,
            }] += 1;
            expected.truncate(query.limit);
            let name = |id: &i64| {
                let sql = "SELECT name FROM originals WHERE id = ?1";
                connection.query_row(sql, [id], |row| row.get::<_, Vec<u8>>(0)).map(|name| store::shown_name(&name))
            };
            let expected: Vec<String> = expected.iter().map(|id| name(id).unwrap()).collect();
            let hits: Vec<String> = found.hits.into_iter().map(|hit| hit.id).collect();
            assert_eq!((hits, found.not_searched.has_more), (expected, has_more), "{words:?} in {session:?}");
        }
    }
    assert!(kinds.iter().all(|count| *count > 1), "none, one, some and many are found: {kinds:?}");
}
