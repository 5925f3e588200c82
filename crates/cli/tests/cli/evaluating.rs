//! `liveset eval`: the same figures with any number of threads, and cost never without outcome.

use std::{fmt::Write as _, fs};

use expect_test::expect;

use crate::program::{Place, Run};

const FILES: [&str; 7] =
    ["plan.txt", "results.csv", "results.json", "runs.csv", "turns.csv", "report.md", "report.html"];

/// Plays three seeds of three conditions into a folder.
fn reports(place: &Place, folder: &str, threads: u32) -> [Vec<u8>; 7] {
    let mut command = place.command(&format!("eval irbench --seeds 3 --threads {threads} -o {folder}"));
    for condition in ["sliding 5", "balanced 5 + recall", "once B=265 random"] {
        command.args(["--condition", condition]);
    }
    let run = Run::of(command.output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.text().contains("reference agent (standard), high regime, 3 seeds"), "{}", run.text());
    FILES.map(|name| fs::read(place.path(folder).join(name)).unwrap())
}

#[test]
fn a_matrix_is_the_same_twice_and_with_one_or_two_threads() {
    let place = Place::new();
    let first = reports(&place, "a", 1);
    assert!(first == reports(&place, "b", 2), "two threads give another report");
    assert!(first == reports(&place, "c", 2), "a second run gives another report");
    let page = String::from_utf8(first[6].clone()).unwrap();
    assert!(page.contains("<svg") && !page.contains("http"), "a page fetches nothing");
    let rows = String::from_utf8(first[1].clone()).unwrap();
    assert!(rows.lines().skip(1).all(|row| row.starts_with("reference agent (")), "{rows}");
}

#[test]
fn a_condition_that_nobody_knows_is_bad_usage() {
    let run = Place::new().run("eval irbench --condition slide");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("a condition is `full`"), "{}", run.err);
}

/// A folder of runs: so many look-ups each, and what came of them.
fn folder(place: &Place, name: &str, look_ups: u32, outcomes: &str) {
    fs::create_dir(place.path(name)).unwrap();
    for seed in 0..6 {
        let mut messages = r#"[{"role":"user","content":"go"}"#.to_owned();
        for call in 0..look_ups + seed {
            write!(
                messages,
                r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{call}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{call}","content":"a room"}}"#
            )
            .unwrap();
        }
        messages.push(']');
        place.write(&format!("{name}/clean__{seed}.json"), messages);
    }
    place.write(&format!("{name}/outcomes.csv"), outcomes);
}

fn outcomes(completion: u32) -> String {
    (0..6).map(|seed| format!("clean__{seed}.json,{completion}\n")).collect()
}

#[test]
fn paired_traces_tell_outcome_and_cost_in_one_table() {
    let place = Place::new();
    folder(&place, "full", 3, &outcomes(100));
    folder(&place, "cut", 9, &outcomes(100));
    folder(&place, "restored", 5, &outcomes(100));
    let run = place.run("eval protocol full cut restored --class look=retrieval");
    expect![[r#"
        exit 0
        out | 6 pairs
        out |   measure            first    second  change
        out |   completion %      100.00    100.00  +0.00 [+0.00, +0.00], p 1.0000
        out |   all calls           5.50     11.50  +6.00 [+6.00, +6.00], p 0.0312
        out |   retrieval           5.50     11.50  +6.00 [+6.00, +6.00], p 0.0312
        out |   execution           0.00      0.00  +0.00 [+0.00, +0.00], p 1.0000
        out |   navigation          0.00      0.00  +0.00 [+0.00, +0.00], p 1.0000
        out |   unclassified        0.00      0.00  +0.00 [+0.00, +0.00], p 1.0000
        out | dominance: the first dominates
        out | completion-insensitive: the change of look-ups is found, that of completion is not
        out | restoring removes 67 % [67, 67] of the added look-ups
        out | look-ups by turn, first/second: 1.0/1.0 1.0/1.0 1.0/1.0 0.8/1.0 0.7/1.0 0.5/1.0 0.3/1.0 0.2/1.0 0.0/1.0 0.0/0.8 0.0/0.7 0.0/0.5 0.0/0.3 0.0/0.2
    "#]]
    .assert_eq(&run.shown());
}

#[test]
fn cost_without_outcome_is_refused() {
    let place = Place::new();
    folder(&place, "full", 3, &outcomes(100));
    folder(&place, "cut", 3, "clean__0,100\n");
    let run = place.run("eval protocol full cut");
    assert_eq!(run.code, 0);
    assert!(run.text().contains("refused: clean__1 has no outcome"), "{}", run.text());
    assert!(run.text().contains("unclassified, counted apart: look"), "{}", run.text());
    fs::remove_file(place.path("cut/outcomes.csv")).unwrap();
    let run = place.run("eval protocol full cut");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("outcome and cost go together"), "{}", run.err);
}
