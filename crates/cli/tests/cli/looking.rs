//! `inspect`, `explain`, `count`, `schema`: what is said of a body, nothing changed.

use expect_test::expect;
use serde_json::Value;

use crate::{
    bodies::{self, SMALL},
    program::Place,
};

#[test]
fn inspect_shows_where_the_tokens_are() {
    let place = Place::with("body.json", bodies::long());
    expect![[r#"
        exit 0
        out | 12,245 tokens in 19 items, openai-chat, model gpt-4.1, window 1,047,576, trigger 934,329 (counted by o200k)
        out |
        out | by kind
        out |   tool results            ████████████████████████████     12,056   98.4 %  x 8
        out |   tool calls              ▎                                   152    1.2 %  x 8
        out |   user text                                                    22    0.1 %  x 2
        out |   system text                                                  12    0.0 %  x 1
        out |   tools, request                                                3    0.0 %  x 1
        out |
        out | tool results by tool
        out |   read_log                ████████████████████████████     12,056   98.4 %  x 8
        out |
        out | largest results
        out |     tokens   item   age   said  stale  call
        out |      1,507      3     7    0 %    0 %  read_log logs/pump-0.txt
        out |      1,507      5     6    0 %    0 %  read_log logs/pump-1.txt
        out |      1,507      7     5    0 %   99 %  read_log logs/pump-2.txt
        out |
        out | repeated results
        out |     tokens   item same as  call
        out |      1,507     13       7  read_log logs/pump-5.txt
        out |
        out | of all results
        out |   said by the agent                                             0    0.0 %  x 0
        out |   repeated later          ███████████████████████████▊      1,500   12.4 %  x 1
        out |   same as an earlier one  ████████████████████████████      1,507   12.5 %  x 1
    "#]].assert_eq(&place.run("inspect body.json --top 3").shown());
}

#[test]
fn inspect_as_json_lists_every_item_and_adds_up() {
    let place = Place::with("body.json", bodies::long());
    let shown: Value = serde_json::from_str(place.run("inspect body.json --json").text()).unwrap();
    let sum =
        |list: &str| shown[list].as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("by_kind"), shown["tokens"]["before"].as_u64().unwrap());
    assert_eq!(shown["items"].as_array().unwrap().len(), 19);
    assert_eq!(shown["items"][13]["repeats"], 7);
}

#[test]
fn inspect_needs_no_window() {
    let place = Place::with("body.json", r#"{"model":"nobody-7b","messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(place.run("inspect body.json --format openai-chat").code, 0);
}

#[test]
fn explain_has_a_line_for_each_edit_of_the_report() {
    let place = Place::with("body.json", bodies::long());
    let run = place.run(&format!("explain body.json {SMALL}"));
    expect![[r#"
        exit 0
        out | 2 sweeps
        out | item     3  tombstone step 1     1,500 -> 37       read_log logs/pump-0.txt: 9 of 9 passages, age 4
        out | item     5  tombstone step 1     1,500 -> 37       read_log logs/pump-1.txt: 9 of 9 passages, age 3
        out | item     7  tombstone step 1     1,500 -> 37       read_log logs/pump-2.txt: 5 of 5 passages, 5 repeated later, age 4
        out | item     9  tombstone step 1     1,500 -> 37       read_log logs/pump-3.txt: 9 of 9 passages, age 3
        out | item    11  gap       step 1     1,500 -> 803      read_log logs/pump-4.txt: 4 of 9 passages, age 2
    "#]].assert_eq(&run.shown());
    let report = place.run(&format!("compact body.json {SMALL} --dry-run --report-format json")).err;
    let report: Value = serde_json::from_str(&report).unwrap();
    let lines = run.text().lines().filter(|line| line.starts_with("item ")).count();
    assert_eq!(lines, report["edits"].as_array().unwrap().len());
}

#[test]
fn explain_shows_one_item_with_its_passages() {
    let place = Place::with("body.json", bodies::chat(&[bodies::lines("night", 40), bodies::lines("day", 40)]));
    let words = "--window 1200 --reserve 0 --trigger 60 --target 50";
    expect![[r#"
        exit 0
        out | item     3  tombstone step 1       520 -> 34       read_log logs/pump-0.txt: the rest of the body alone fills the target
        out | passages as they stand at the end of the body, before any cut:
        out |   lines     1-14       182 tokens  score   -7
        out |   lines    15-28       182 tokens  score   -7
        out |   lines    29-40       156 tokens  score   -7
        out | in place of 1,422 bytes: [pruned from context: read_log logs/pump-0.txt, 40 lines, 520 tokens; run the call again only if repeating it is safe]
    "#]].assert_eq(&place.run(&format!("explain body.json {words} --item 3")).shown());
    expect![[r#"
        exit 0
        out | item     1  leaves as it came, 12 tokens  user text
    "#]]
    .assert_eq(&place.run(&format!("explain body.json {words} --item 1")).shown());
}

#[test]
fn count_says_how_far_its_figure_is_to_be_trusted() {
    let place = Place::with("text.txt", "The pump stops at night.\n");
    place.write("body.json", r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"The pump stops."}]}"#);
    expect![[r#"
        exit 0
        out | 6 tokens (o200k, exact)
    "#]]
    .assert_eq(&place.run("count text.txt --text").shown());
    expect![[r#"
        exit 0
        out | {"band_percent":12,"counter":"claude-estimate","exact":false,"tokens":9}
    "#]]
    .assert_eq(&place.run("count text.txt --text --model claude-sonnet-4-5 --json").shown());
    expect![[r#"
        exit 0
        out | 10 tokens (o200k, exact)
    "#]]
    .assert_eq(&place.run("count body.json --format openai-chat").shown());
    expect![[r#"
        exit 0
        out | {"band_percent":null,"counter":"o200k","exact":true,"tokens":10}
    "#]]
    .assert_eq(&place.run("count body.json --format openai-chat --json").shown());
    expect![[r#"
        exit 0
        out | at most 12 tokens (claude-estimate, an estimate: this is its upper edge, 12 % over the middle)
    "#]]
    .assert_eq(&place.run("count body.json --format openai-chat --model claude-sonnet-4-5").shown());
}

#[test]
fn count_takes_text_from_a_pipe() {
    let place = Place::with("text.txt", bodies::lines("night", 50));
    let pipe = place.pipe("count --text", bodies::lines("night", 50).as_bytes());
    assert_eq!(pipe.text(), place.run("count text.txt --text").text());
}

#[test]
fn schemas_are_schemas() {
    for (name, title) in [("report", "Report"), ("policy", "Policy")] {
        let run = Place::new().run(&format!("schema {name}"));
        let schema: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!((run.code, &schema["title"]), (0, &Value::from(title)));
    }
}
