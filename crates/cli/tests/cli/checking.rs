//! `check`: defects one a line, exit 1 when there are any.

use expect_test::expect;

use crate::{bodies, bodies::SMALL, program::Place};

const ORPHAN: &str = r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;

#[test]
fn a_sound_body_has_nothing_to_say() {
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&Place::with("body.json", bodies::long()).run("check body.json").shown());
}

#[test]
fn each_defect_has_its_line() {
    expect![[r#"
        exit 1
        out | body.json: orphan_result at byte 62 (messages[1]): no call with this id comes before it
    "#]]
    .assert_eq(&Place::with("body.json", ORPHAN).run("check body.json").shown());
    expect![[r#"
        exit 1
        out | standard input: orphan_result at byte 62 (messages[1]): no call with this id comes before it
    "#]]
    .assert_eq(&Place::new().pipe("check -", ORPHAN.as_bytes()).shown());
}

#[test]
fn against_its_original_a_body_answers_for_what_is_new() {
    let place = Place::with("body.json", ORPHAN);
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&place.run("check body.json --against body.json").shown());
    let call =
        r#"{"role":"assistant","tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    place.write("worse.json", ORPHAN.replace("]}", &format!(",{call},{{\"role\":\"user\",\"content\":\"and?\"}}]}}")));
    expect![[r#"
        exit 1
        out | worse.json: unpaired_call at byte 146 (messages[2].tool_calls[0]): nothing answers this call
        out | worse.json: id_changed at byte 146 (messages[2].tool_calls[0]): an id that the original does not hold here
    "#]]
    .assert_eq(&place.run("check worse.json --against body.json").shown());
}

#[test]
fn what_compact_writes_stands_against_its_input() {
    let place = Place::with("body.json", bodies::long());
    place.run(&format!("compact body.json {SMALL} -o small.json"));
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&place.run("check small.json --against body.json").shown());
}

#[test]
fn an_original_that_cannot_be_read_is_named() {
    let place = Place::with("body.json", ORPHAN);
    place.write("cut.json", "{\"messages\":[");
    expect![[r#"
        exit 2
        err | liveset: cut.json: invalid JSON at byte 13: expected a value
        err | hint: the input ends too early: is it whole?
    "#]]
    .assert_eq(&place.run("check body.json --against cut.json").shown());
    expect![[r#"
        exit 2
        err | liveset: cannot read `none.json`: no such file or directory
    "#]]
    .assert_eq(&place.run("check body.json --against none.json").shown());
}

/// A conversation at two turns, both compacted, with the reports of the runs.
fn two_turns() -> Place {
    let results: Vec<String> = (0..8).map(|at| bodies::lines(&format!("night {at}"), 120)).collect();
    let first = bodies::chat(&results[..3]);
    let place = Place::with("turn-1.json", &first);
    place.write("turn-2.json", bodies::go_on(&first, &results[3..]));
    for turn in ["turn-1", "turn-2"] {
        let run = place.run(&format!(
            "compact {turn}.json {SMALL} -o {turn}.out.json --report {turn}.report.json --report-format json"
        ));
        assert_eq!(run.code, 0, "{}", run.err);
    }
    place
}

#[test]
fn an_earlier_turn_stays_as_it_was_sent_unless_the_report_declares_a_sweep() {
    let place = two_turns();
    let words = "check turn-2.out.json --against turn-1.out.json";
    assert_eq!(place.run(&format!("{words} --report turn-2.report.json")).shown(), "exit 0\n", "a sweep since");
    expect![[r#"
        exit 1
        out | turn-2.out.json: prefix_changed at byte 307 (item 3): it is not what was sent before, and no sweep is declared
    "#]].assert_eq(&place.run(&format!("{words} --undeclared")).shown());
    // The first turn's report knows of no later sweep.
    expect![[r#"
        exit 1
        out | turn-2.out.json: prefix_changed at byte 307 (item 3): it is not what was sent before, and no sweep is declared
    "#]].assert_eq(&place.run(&format!("{words} --report turn-1.report.json")).shown());
    assert_eq!(place.run("check turn-1.out.json --against turn-1.out.json --undeclared").code, 0);
    // What came after is the client's own, ids that were never seen before included.
    let grown = bodies::go_on(&place.read("turn-1.out.json"), &["dry".to_owned()]);
    place.write("grown.json", grown);
    assert_eq!(place.run("check grown.json --against turn-1.out.json --undeclared").shown(), "exit 0\n");
    expect![[r#"
        exit 1
        out | turn-1.out.json: prefix_changed at byte 307 (item 3): it is not what was sent before, and no sweep is declared
    "#]].assert_eq(&place.run("check turn-1.out.json --against turn-2.out.json --undeclared").shown());
}

#[test]
fn a_report_that_is_none_is_named() {
    let place = Place::with("body.json", ORPHAN);
    expect![[r#"
        exit 2
        err | liveset: body.json: it is no report of this version (line 1)
        err | hint: write one with `liveset compact --report FILE --report-format json`
    "#]]
    .assert_eq(&place.run("check body.json --against body.json --report body.json").shown());
    expect![[r#"
        exit 2
        err | liveset: the following required arguments were not provided: --against <ORIGINAL>
        err | hint: usage: liveset check --against <ORIGINAL> --undeclared <FILE>
    "#]]
    .assert_eq(&place.run("check body.json --undeclared").shown());
}
