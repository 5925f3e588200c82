//! `diff`: equal or not, where first, and why.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::{bodies, bodies::SMALL, program::Place};

/// A body compacted under two targets, with the reports of both runs.
fn two_runs() -> Place {
    let place = Place::with("body.json", bodies::long());
    for (name, target) in [("a", 60), ("b", 80)] {
        let words = format!("compact body.json {SMALL} --target {target} -o {name}.json");
        let run = place.run(&format!("{words} --report {name}.report --report-format json"));
        assert_eq!(run.code, 0, "{}", run.err);
    }
    place
}

fn check(place: &Place, words: &str, expected: Expect) {
    expected.assert_eq(&place.run(words).shown());
}

#[test]
fn two_bodies_part_at_an_item() {
    let place = two_runs();
    check(
        &place,
        "diff a.json b.json",
        expect![[r#"
        exit 1
        out | a.json and b.json differ first at item 3 (tool result, read_log logs/pump-0.txt)
        out |   a.json  byte       320  {"content":"[pruned from context: read_log logs/pump-0.txt, …
        out |   b.json  byte       320  {"content":"[lines 1-96 of 100 left out; run the call again …
        out | why: a.json holds a tombstone of this result, b.json the text with gaps
        out |   3 items before it are equal, of 19 and 19
    "#]],
    );
    check(
        &place,
        "diff body.json a.json",
        expect![[r#"
        exit 1
        out | body.json and a.json differ first at item 3 (tool result, read_log logs/pump-0.txt)
        out |   body.json  byte       319  {"content":"night 0 line 0: value 0 of part 0\nnight 0 line …
        out |   a.json     byte       319  {"content":"[pruned from context: read_log logs/pump-0.txt, …
        out | why: body.json holds the text of this result, a.json a tombstone
        out |   3 items before it are equal, of 19 and 19
    "#]],
    );
    check(
        &place,
        "diff a.json a.json",
        expect![[r#"
        exit 0
        out | equal: the same bytes
    "#]],
    );
}

#[test]
fn a_body_that_goes_on_is_said_to_go_on() {
    let place = two_runs();
    place.write("later.json", bodies::go_on(&place.read("a.json"), &["dry".to_owned()]));
    check(
        &place,
        "diff a.json later.json",
        expect![[r#"
            exit 1
            out | a.json ends after item 18, later.json has 2 more from item 19 (tool call, read_log logs/pump-8.txt) on
            out |   a.json      byte    15,766
            out |   later.json  byte    15,796  …","tool_calls":[{"function":{"arguments":"{\"path\":\"logs/p…
            out |   19 items before it are equal, of 19 and 21
        "#]],
    );
    check(
        &place,
        "diff later.json a.json --format openai-chat",
        expect![[r#"
            exit 1
            out | a.json ends after item 18, later.json has 2 more from item 19 (tool call, read_log logs/pump-8.txt) on
            out |   later.json  byte    15,796  …","tool_calls":[{"function":{"arguments":"{\"path\":\"logs/p…
            out |   a.json      byte    15,766
            out |   19 items before it are equal, of 21 and 19
        "#]],
    );
}

#[test]
fn a_bare_list_of_messages_is_a_body_whatever_its_length() {
    let message = r#"{"role":"user","content":"hi"}"#;
    for count in 1..6 {
        let place = Place::with("a.json", format!("[{}]", vec![message; count].join(",")));
        place.write("b.json", format!("[{}]", vec![message; count + 1].join(",")));
        let run = place.run("diff a.json b.json --format openai-chat");
        assert_eq!(run.code, 1, "{}", run.err);
        assert!(run.text().starts_with(&format!("a.json ends after item {}", count - 1)), "{}", run.text());
    }
}

#[test]
fn a_body_that_fits_two_formats_has_that_of_the_other() {
    let place = Place::with("clear.json", bodies::long());
    let plain = r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}"#;
    place.write("plain.json", plain);
    place.write("other.json", plain.replace("hi", "ho"));
    assert_eq!(place.run("diff plain.json clear.json").code, 1);
    assert_eq!(place.run("diff clear.json plain.json").code, 1);
    let unclear = place.run("diff plain.json other.json");
    assert!(unclear.code == 2 && unclear.err.contains("hint: say which it is with --format"), "{}", unclear.err);
}

#[test]
fn equal_bytes_are_equal_and_what_cannot_be_read_is_refused() {
    let place = Place::with("deep.json", format!("{{\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)));
    check(
        &place,
        "diff deep.json deep.json",
        expect![[r#"
        exit 0
        out | equal: the same bytes
    "#]],
    );
    place.write("other.json", bodies::long());
    check(
        &place,
        "diff deep.json other.json",
        expect![[r#"
        exit 2
        err | liveset: deep.json: depth of nesting at byte 523 is over the limit of 512
    "#]],
    );
}

#[test]
fn fields_and_layout_are_told_from_items() {
    let place = Place::with("a.json", bodies::long());
    let text = String::from_utf8(bodies::long()).unwrap();
    place.write("model.json", text.replace("\"gpt-4.1\"", "\"gpt-4o\""));
    place.write("spaced.json", text.replacen("{\"messages\":", "{ \"messages\": ", 1));
    assert_ne!(place.read("spaced.json"), place.read("a.json"));
    check(
        &place,
        "diff a.json model.json",
        expect![[r#"
        exit 1
        out | a.json and model.json differ, not in their items
        out |   a.json      byte    32,096  …],"model":"gpt-4.1"}
        out |   model.json  byte    32,096  …],"model":"gpt-4o"}
        out |   19 items before it are equal, of 19 and 19
        out |   fields of the request that differ: `model`
    "#]],
    );
    check(
        &place,
        "diff a.json spaced.json",
        expect![[r#"
        exit 1
        out | a.json and spaced.json differ only in layout, escapes or cache marks
        out |   a.json       byte         1  {"messages":[{"content":"You keep the station's log in order…
        out |   spaced.json  byte         1  { "messages": [{"content":"You keep the station's log in ord…
        out |   19 items before it are equal, of 19 and 19
    "#]],
    );
}

#[test]
fn two_reports_part_at_an_edit_and_say_what_the_runs_had() {
    let place = two_runs();
    check(
        &place,
        "diff a.report b.report",
        expect![[r#"
        exit 1
        out | a.report and b.report differ first at item 3 (read_log, call_0)
        out |   a.report  tombstone in one of the sweeps 1 to 2, step 1, 1,500 -> 37 tokens: 9 of 9 passages, age 4
        out |   b.report  gap in one of the sweeps 1 to 4, step 1, 1,500 -> 83 tokens: 8 of 9 passages, age 4
        out |   4 items differ in all
        out | why: the runs had other limits
        out |   target              4,200  |  5,600
        out |   sweeps              2  |  4
        out |   reason              2 sweeps  |  4 sweeps
        out |   tokens after        5,696  |  5,534
        out |   sweep 1             after item 11, 7,657 -> 4,154  |  after item 11, 7,657 -> 5,543
    "#]],
    );
    check(
        &place,
        "diff a.report a.report",
        expect![[r#"
        exit 0
        out | equal: the same report
    "#]],
    );
}

#[test]
fn runs_of_other_bodies_are_no_riddle() {
    let place = two_runs();
    let run = place.pipe(
        "compact - --window 8000 --reserve 1000 -o c.json --report c.report --report-format json",
        &bodies::chat(&[bodies::lines("flood", 900)]),
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let text = place.run("diff a.report c.report").text().to_owned();
    assert!(text.contains("why: the bodies that came in were not the same"), "{text}");
}

#[test]
fn logs_are_compared_entry_by_entry() {
    let place = two_runs();
    let line = |name: &str| {
        let value: Value = serde_json::from_slice(&place.read(name)).unwrap();
        format!("{value}\n")
    };
    let (body, a, b) = (line("body.json"), line("a.report"), line("b.report"));
    place.write("one.jsonl", format!("{a}{a}"));
    place.write("two.jsonl", format!("{a}{b}"));
    place.write("three.jsonl", format!("{a}{a}{b}"));
    place.write("mixed.jsonl", format!("{a}{body}"));
    place.write("bodies.jsonl", format!("{body}{}", line("a.json")));
    let run = place.run("diff one.jsonl two.jsonl");
    assert!(
        run.text().starts_with("entry 1 (counted from 0): one.jsonl and two.jsonl differ first at item "),
        "{}",
        run.text()
    );
    check(
        &place,
        "diff one.jsonl one.jsonl",
        expect![[r#"
        exit 0
        out | equal: the same 2 entries
    "#]],
    );
    check(
        &place,
        "diff one.jsonl three.jsonl",
        expect![[r#"
        exit 1
        out | one.jsonl ends after 2 equal entries, three.jsonl has 3
    "#]],
    );
    check(
        &place,
        "diff one.jsonl bodies.jsonl",
        expect![[r#"
        exit 2
        err | liveset: `one.jsonl` holds a report, `bodies.jsonl` a body
        err | hint: compare bodies with bodies and reports with reports
    "#]],
    );
    check(
        &place,
        "diff mixed.jsonl one.jsonl",
        expect![[r#"
        exit 2
        err | liveset: mixed.jsonl: entry 1 is not of the sort of entry 0
        err | hint: a log holds reports alone or bodies alone
    "#]],
    );
    check(
        &place,
        "diff bodies.jsonl bodies.jsonl",
        expect![[r#"
        exit 0
        out | equal: the same 2 entries
    "#]],
    );
}

#[test]
fn json_says_the_same() {
    let place = two_runs();
    let json = |words: &str| -> (i32, Value) {
        let run = place.run(&format!("diff {words} --report-format json"));
        (run.code, serde_json::from_str(run.text()).unwrap())
    };
    assert_eq!(json("a.json a.json"), (0, serde_json::json!({"equal": true})));
    let (code, bodies) = json("body.json a.json");
    assert_eq!((code, &bodies["first"], &bodies["b"]["mark"]), (1, &Value::from("item"), &Value::from("tombstone")));
    let item = bodies["equal_items"].as_u64().unwrap();
    assert_eq!(bodies["a"]["items"], bodies["b"]["items"]);
    let (code, reports) = json("a.report b.report");
    assert_eq!((code, reports["equal"].as_bool()), (1, Some(false)));
    assert!(reports["edit"]["item"].as_u64().unwrap() >= item);
    assert_eq!(reports["figures"][0]["name"], "target");
}

#[test]
fn what_cannot_be_compared_is_exit_2() {
    let place = two_runs();
    place.write("cut.json", &place.read("a.json")[..500]);
    check(
        &place,
        "diff a.json a.report",
        expect![[r#"
        exit 2
        err | liveset: `a.json` holds a body, `a.report` a report
        err | hint: compare bodies with bodies and reports with reports
    "#]],
    );
    check(
        &place,
        "diff a.json none.json",
        expect![[r#"
        exit 2
        err | liveset: cannot read `none.json`: no such file or directory
    "#]],
    );
    check(
        &place,
        "diff cut.json a.json",
        expect![[r#"
            exit 2
            err | liveset: cut.json: invalid JSON at byte 500: expected `"`
            err | hint: the input ends too early: is it whole?
        "#]],
    );
    check(
        &place,
        "diff - -",
        expect![[r#"
        exit 2
        err | liveset: both would be read from standard input
        err | hint: name a file for one of them
    "#]],
    );
    place.write("old.report", r#"{"contract":0,"outcome":"folded"}"#);
    check(
        &place,
        "diff a.report old.report",
        expect![[r#"
        exit 2
        err | liveset: old.report: entry 0 is no report of this version (its line 1)
        err | hint: was it written by another version of liveset? `liveset schema report` prints this version's schema
    "#]],
    );
}

#[test]
fn a_long_text_is_shown_by_its_head_alone() {
    let place = Place::with("a.json", bodies::chat(&[bodies::lines("night", 500)]));
    place.write("b.json", bodies::chat(&[bodies::lines("day", 500)]));
    let text = place.run("diff a.json b.json").text().to_owned();
    assert!(text.len() < 600 && text.contains("night line 0"), "{text}");
}
