//! Traces in, bodies out.

use expect_test::expect;
use serde_json::{Value, json};

use crate::program::Place;

/// A session file with two questions.
fn session() -> String {
    let line = |id: &str, parent: Value, kind: &str, message: Value| {
        json!({"uuid": id, "parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": kind, "message": message})
            .to_string()
    };
    let assistant = |id: &str, block: Value| json!({"role": "assistant", "id": id, "model": "claude-sonnet-4-5", "content": [block]});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "log.txt"}});
    let result = |id: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]});
    [
        line("a", Value::Null, "user", json!({"role": "user", "content": "Why does the pump stop?"})),
        line("b", json!("a"), "assistant", assistant("m1", call("t1"))),
        line("c", json!("b"), "user", result("t1", "the float hangs")),
        line("d", json!("c"), "assistant", assistant("m2", json!({"type": "text", "text": "The float hangs."}))),
        line("e", json!("d"), "user", json!({"role": "user", "content": "Since when?"})),
    ]
    .join("\n")
        + "\n"
}

fn messages(run: &crate::program::Run) -> usize {
    assert_eq!(run.code, 0, "{}", run.err);
    serde_json::from_slice::<Value>(&run.out).unwrap()["messages"].as_array().unwrap().len()
}

#[test]
fn a_trace_is_known_by_its_shape_and_cut_at_its_last_request() {
    let place = Place::with("session.jsonl", session());
    let run = place.run("compact session.jsonl --report report.json --report-format json");
    assert_eq!(messages(&run), 5);
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    assert_eq!((&report["format"], &report["fidelity"]), (&json!("anthropic"), &json!("model_visible")));
}

#[test]
fn a_request_point_cuts_the_trace_there() {
    let place = Place::with("session.jsonl", session());
    assert_eq!(messages(&place.run("compact session.jsonl --at 0")), 1);
    assert_eq!(messages(&place.run("compact session.jsonl --format claude-code --at 1 --agent main")), 3);
}

#[test]
fn points_and_agents_that_are_not_there() {
    let place = Place::with("session.jsonl", session());
    expect![[r#"
        exit 2
        err | liveset: session.jsonl: request point 9 does not exist, the conversation has 3 (counted from 0)
    "#]]
    .assert_eq(&place.run("compact session.jsonl --at 9").shown());
    expect![[r#"
        exit 2
        err | liveset: session.jsonl: no agent `scout` in the trace, conversations in it: 1
        err | hint: there are: main
    "#]]
    .assert_eq(&place.run("compact session.jsonl --agent scout").shown());
    expect![[r#"
        exit 2
        err | liveset: session.jsonl: invalid JSON at byte 143: expected the end of the text
        err | hint: the input is no JSON; is it a trace? `--format` names the formats that are known
    "#]]
    .assert_eq(&place.run("compact session.jsonl --format openai-chat").shown());
}

#[test]
fn a_file_of_many_conversations_asks_which() {
    let list = r#"[{"role":"system","content":"help"},{"role":"user","content":"hi"}]"#;
    let place = Place::with("lists.json", format!("[{}]", vec![list; 14].join(",")));
    expect![[r#"
        exit 2
        err | liveset: lists.json: the trace holds 14 conversations
        err | hint: choose one with --agent: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …
    "#]]
    .assert_eq(&place.run("compact lists.json --model gpt-4.1").shown());
    assert_eq!(messages(&place.run("compact lists.json --model gpt-4.1 --agent 14")), 2);
    expect![[r#"
        exit 2
        err | liveset: lists.json: no agent `15` in the trace, conversations in it: 14
        err | hint: there are: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …
    "#]]
    .assert_eq(&place.run("compact lists.json --model gpt-4.1 --agent 15").shown());
}

#[test]
fn a_list_of_messages_becomes_a_body() {
    let list = r#"[{"role":"system","content":"help"},{"role":"user","content":"hi"}]"#;
    let place = Place::with("list.json", list);
    let run = place.run("compact list.json --model gpt-4.1");
    assert_eq!(messages(&run), 2);
}

#[test]
fn what_the_importer_left_out_is_a_warning() {
    let place = Place::with("session.jsonl", session() + "{\"uuid\":\"f\",\"type\":\"us");
    let run = place.run("compact session.jsonl --dry-run");
    assert!(run.err.contains("warning: line 6 is cut off"), "{}", run.err);
}
