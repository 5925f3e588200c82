//! `compact` where all goes well.

use expect_test::expect;
use serde_json::Value;

use crate::{
    bodies::{self, SMALL},
    program::Place,
};

#[test]
fn a_long_body_is_made_to_fit_and_the_report_says_how() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} -o small.json"));
    expect![[r#"
        exit 0
        err | where the tokens were
        err |   tool results            ████████████████████████████     12,056   98.4 %  x 8
        err |   tool calls              ▎                                   152    1.2 %  x 8
        err |   user text                                                    22    0.1 %  x 2
        err |   system text                                                  12    0.0 %  x 1
        err |   tools, request                                                3    0.0 %  x 1
        err |
        err | tool results by tool
        err |   read_log                ████████████████████████████     12,056   98.4 %  x 8
        err |
        err | what went, and why
        err |   tool                    as        items    before    after  why
        err |   read_log                tombstone     3     4,500      111  old, least needed
        err |   read_log                tombstone     1     1,500       37  repeated later
        err |   read_log                gap           1     1,500      803  old, least needed
        err |
        err | compacted: 2 sweeps
        err |   before                  ████████████████████████████     12,245
        err |   after                   █████████████                     5,696  -53.4 %
        err |   window                  ██████████████████▎               8,000  trigger 6,440, target 4,200
        err |   tokens counted by o200k (exact)
        err |   first sweep after item 11: 7,657 -> 4,154, pays from request 4 on
        err |   last sweep after item 15: 7,206 -> 4,160, pays from request 4 on
    "#]]
    .assert_eq(&run.shown());
    assert!(place.read("small.json").len() < place.read("body.json").len());
}

#[test]
fn a_body_under_its_limits_leaves_as_it_came() {
    // Spacing, escapes and unknown fields are the client's own business.
    let body = b" {\"x\" : 1.0, \"model\":\"gpt-4.1\",\"messages\":[ {\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\\u006fk\"} ] }\n";
    let run = Place::with("body.json", body).run("compact body.json");
    assert_eq!((run.code, run.out.as_slice()), (0, body.as_slice()));
    assert!(run.err.contains("unchanged: under the trigger"), "{}", run.err);
}

#[test]
fn a_pin_that_names_no_call_is_said() {
    let body = br#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    let run = Place::with("body.json", body).run("compact body.json --pin a --pin call_9");
    assert_eq!((run.code, run.out.as_slice()), (0, body.as_slice()));
    let said = "warning: no call of the body has the pinned id `call_9` (unknown_pin)";
    assert!(run.err.contains(said), "{}", run.err);
}

#[test]
fn standard_input_and_a_file_give_the_same_bytes() {
    let place = Place::with("body.json", bodies::long());
    let file = place.run(&format!("compact body.json {SMALL}"));
    for words in ["compact -", "compact"] {
        let pipe = place.pipe(&format!("{words} {SMALL}"), &bodies::long());
        assert_eq!((pipe.code, &pipe.out), (0, &file.out));
    }
    place.run(&format!("compact body.json {SMALL} -o small.json"));
    assert_eq!(place.read("small.json"), file.out);
}

#[test]
fn what_went_out_goes_out_again_unchanged() {
    let place = Place::with("body.json", bodies::long());
    let first = place.run(&format!("compact body.json {SMALL}"));
    let second = place.pipe(&format!("compact {SMALL}"), &first.out);
    assert_eq!(second.out, first.out);
}

#[test]
fn the_json_report_has_the_fields_of_its_schema() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --report-format json --paranoid"));
    let report: Value = serde_json::from_str(&run.err).unwrap();
    let schema: Value = serde_json::from_str(place.run("schema report").text()).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&report), keys(&schema["properties"]));
    assert_eq!(report["outcome"], "compacted");
    assert!(report["tokens"]["after"].as_u64().unwrap() <= 7_000);
}

#[test]
fn a_report_can_be_a_file_and_standard_error_stays_silent() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("compact body.json {SMALL} --report report.json --report-format json -o small.json"));
    assert_eq!((run.code, run.text(), run.err.as_str()), (0, "", ""));
    assert!(serde_json::from_slice::<Value>(&place.read("report.json")).is_ok());
}

#[test]
fn a_dry_run_reports_what_the_run_does_and_leaves_no_file() {
    let place = Place::with("body.json", bodies::chat(&[bodies::lines("flood", 4_000), "ok".to_owned()]));
    // An archive lets intake cut what stays whole without one.
    let words = "compact body.json --archive a.liveset --report-format json";
    let dry = place.run(&format!("{words} --dry-run"));
    assert_eq!((dry.code, dry.text()), (0, ""));
    assert_eq!(place.files(), ["body.json"]);
    let real = place.run(words);
    assert!(real.out.len() < place.read("body.json").len());
    assert_eq!(dry.err, real.err);
}

#[test]
fn flags_override_the_policy_file() {
    let place = Place::with("body.json", bodies::long());
    place.write("mine.toml", "window = 1_000_000\nreserve = 0\ntrigger = 50\ntarget = 40\n");
    let limits = |flags: &str| {
        let run = place.run(&format!("compact body.json --policy mine.toml --report-format json --dry-run {flags}"));
        let report: Value = serde_json::from_str(&run.err).unwrap();
        ["window", "trigger", "target"].map(|name| report["tokens"][name].as_u64().unwrap())
    };
    assert_eq!(limits(""), [1_000_000, 500_000, 400_000]);
    assert_eq!(limits("--window 100000 --target 30"), [100_000, 50_000, 30_000]);
    // A lower trigger takes the target down with it.
    assert_eq!(limits("--reserve 100000 --trigger 20"), [1_000_000, 180_000, 180_000]);
}

#[test]
fn a_pinned_result_stays() {
    let place = Place::with("body.json", bodies::long());
    let oldest = serde_json::to_string(&bodies::lines("night 0", 100)).unwrap();
    let holds = |run: crate::program::Run| run.text().contains(&oldest);
    assert!(!holds(place.run(&format!("compact body.json {SMALL}"))));
    assert!(holds(place.run(&format!("compact body.json {SMALL} --pin call_0"))));
}

#[test]
fn overhead_counts_as_if_it_stood_in_the_body() {
    let place = Place::with("body.json", bodies::long());
    let before = |flags: &str| {
        let run = place.run(&format!("compact body.json --dry-run --report-format json {flags}"));
        serde_json::from_str::<Value>(&run.err).unwrap()["tokens"]["before"].as_u64().unwrap()
    };
    assert_eq!(before("--overhead 5000"), before("") + 5_000);
}
