//! What would a search find that saves itself nothing? Asks the index for every phrase over all of the tenant, weighs all
//! of them, and looks for each run as a whole; the search must name the same originals in the same order.

use rusqlite::{Connection, params};

use super::{SqliteArchive, store};
use crate::{Archive, Query, Release, Source};

/// Originals that are weighed against each other, and words that a run may stand for, as the search has them.
const RANKED: usize = 200;
const AROUND: i64 = 64;

/// Each session's originals, so that some words are in more of one than are ranked.
const SESSION: u64 = 260;

/// Words that the index of runs must hold before the search looks for rare pieces.
const MANY_WORDS: i64 = 40_000;

fn ask(connection: &Connection, terms: &str, session: Option<i64>, order: &str) -> Vec<i64> {
    let sql = format!(
        "SELECT w.id FROM (SELECT rowid AS id, bm25(words, 2.0, 1.0) AS weight FROM words WHERE words MATCH ?1) w
        WHERE ?2 IS NULL OR w.id IN (SELECT original FROM calls WHERE session = ?2) ORDER BY {order}"
    );
    let mut rows = connection.prepare(&sql).unwrap();
    rows.query_map(params![terms, session], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
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

/// Rows that the words find, best first, and whether the runs stand in more than was followed. `words` says how each
/// asked word is found: whole, and in parts.
fn plain(connection: &Connection, words: &[(&str, &str)], session: Option<i64>) -> (Vec<i64>, bool) {
    let each: Vec<String> =
        words.iter().map(|(whole, parts)| format!("(whole: \"{whole}\" OR parts: \"{parts}\")")).collect();
    let terms = each.join(" AND ");
    let newest = ask(connection, &terms, session, "w.id DESC");
    if newest.len() >= RANKED {
        return (newest, false);
    }
    if !newest.is_empty() {
        return (ask(connection, &terms, session, "w.weight, w.id DESC"), false);
    }
    let around: Vec<(String, bool)> = words.iter().map(|(run, _)| words_around(connection, run)).collect();
    let has_more = around.iter().any(|(_, has_more)| *has_more);
    let terms: Vec<String> = around.into_iter().map(|(terms, _)| terms).collect();
    (ask(connection, &terms.join(" AND "), session, "w.id DESC"), has_more)
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
            let row = session.map(|_| count("SELECT id FROM sessions WHERE name = 's1'"));
            let (mut expected, has_more) = plain(&connection, &words, row);
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
