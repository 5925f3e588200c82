//! Bodies that no rule can make fit: exit 3, and nothing that could be sent by mistake.

use expect_test::expect;
use serde_json::Value;

use crate::{bodies, program::Place};

const TIGHT: &str = "--window 3000 --reserve 500";

#[test]
fn the_line_says_what_holds_the_space() {
    let place = Place::with("body.json", bodies::incompressible());
    let run = place.run(&format!("compact body.json {TIGHT} --format openai-chat --report report.txt"));
    expect![[r#"
        exit 3
        err | liveset: body.json: cannot fit: 3928 tokens are left, window less reserve is 2500; most of what no rule may cut is user text, 3911 tokens
        err | hint: a larger --window, a smaller --reserve, or --best-effort for the smallest lawful body
    "#]].assert_eq(&run.shown());
}

#[test]
fn a_window_smaller_than_the_system_part_is_named_with_both_numbers() {
    let system = serde_json::json!({"role": "system", "content": bodies::lines("rule", 200)});
    let user = serde_json::json!({"role": "user", "content": "hi"});
    let place = Place::with("body.json", bodies::body(&[system, user]));
    let run = place.run("compact body.json --window 1000 --reserve 0 --format openai-chat --report report.txt");
    expect![[r#"
        exit 3
        err | liveset: body.json: cannot fit: tools and system alone hold 2606 tokens, window less reserve is 1000
        err | hint: a larger --window, a smaller --reserve, or --best-effort for the smallest lawful body
    "#]]
    .assert_eq(&run.shown());
}

#[test]
fn an_old_output_file_stays_as_it_was() {
    let place = Place::with("body.json", bodies::incompressible());
    place.write("out.json", "old");
    let run = place.run(&format!("compact body.json {TIGHT} --format openai-chat -o out.json"));
    assert_eq!((run.code, run.text()), (3, ""));
    assert_eq!(place.read("out.json"), b"old");
    assert_eq!(place.files(), ["body.json", "out.json"]);
}

#[test]
fn best_effort_writes_the_smallest_body_and_still_says_three() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run("compact body.json --window 150 --reserve 50 --best-effort");
    assert_eq!(run.code, 3);
    assert!(run.out.len() < place.read("body.json").len());
    assert!(serde_json::from_slice::<Value>(&run.out).is_ok());
    assert!(run.err.contains("cannot fit: "), "{}", run.err);
}

#[test]
fn a_json_report_on_standard_error_is_json_to_its_end() {
    let place = Place::with("body.json", bodies::incompressible());
    for flags in ["", "--best-effort", "--dry-run"] {
        let run = place.run(&format!("compact body.json {TIGHT} --format openai-chat --report-format json {flags}"));
        assert_eq!(run.code, 3, "{flags}");
        assert_eq!(serde_json::from_str::<Value>(&run.err).unwrap()["outcome"], "cannot_fit", "{flags}");
    }
}
