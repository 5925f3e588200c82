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
