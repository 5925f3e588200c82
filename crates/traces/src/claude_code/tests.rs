use super::*;
use crate::TraceFormat;
use crate::trace::Trace;

fn bodies(lines: &[&str]) -> Vec<String> {
    let trace = Trace::read(TraceFormat::ClaudeCode, lines.join("\n").as_bytes()).unwrap();
    let main = trace.agent("main").unwrap();
    (0..main.request_points()).map(|point| String::from_utf8(main.body_at(point).unwrap()).unwrap()).collect()
}

fn messages(body: &str) -> &str {
    body.split_once("\"messages\":").unwrap().1.strip_suffix('}').unwrap()
}

const USER: &str = r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"go"}}"#;
const CALL_1: &str = r#"{"type":"assistant","uuid":"a1","parentUuid":"u","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}"#;
const RESULT_1: &str = r#"{"type":"user","uuid":"r1","parentUuid":"a1","toolUseResult":"much more","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"}]}}"#;
const CALL_2: &str = r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}"#;
const RESULT_2: &str = r#"{"type":"user","uuid":"r2","parentUuid":"a2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"two"}]}}"#;
const DONE: &str = r#"{"type":"assistant","uuid":"a3","parentUuid":"r2","message":{"id":"n","model":"x","content":[{"type":"text","text":"done"}]}}"#;

#[test]
fn a_reply_over_several_lines_is_one_message_and_its_results_are_one_more() {
    let all = bodies(&[USER, CALL_1, RESULT_1, CALL_2, RESULT_2, DONE]);
    assert_eq!(all.len(), 3);
    assert_eq!(
        messages(&all[2]),
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"},{"type":"tool_result","tool_use_id":"t2","content":"two"}]}]"#
    );
}

#[test]
fn a_rewound_branch_and_meta_lines_are_left_out() {
    let rewound = r#"{"type":"assistant","uuid":"x","parentUuid":"u","message":{"id":"o","model":"x","content":[{"type":"text","text":"no"}]}}"#;
    let meta =
        r#"{"type":"user","uuid":"y","parentUuid":"u","isMeta":true,"message":{"role":"user","content":"caveat"}}"#;
    let all = bodies(&[USER, rewound, meta, CALL_1, RESULT_1]);
    assert!(!all[1].contains("no\"") && !all[1].contains("caveat"), "{}", all[1]);
}

#[test]
fn after_a_compaction_the_history_is_its_summary() {
    let boundary =
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"r1"}"#;
    let summary = r#"{"type":"user","uuid":"s","parentUuid":"b","isCompactSummary":true,"message":{"role":"user","content":"so far"}}"#;
    let all = bodies(&[USER, CALL_1, RESULT_1, boundary, summary]);
    assert_eq!(messages(&all[2]), r#"[{"role":"user","content":"so far"}]"#);
}

#[test]
fn side_chains_stand_apart() {
    let side = r#"{"type":"user","uuid":"q","parentUuid":null,"isSidechain":true,"agentId":"abc","message":{"role":"user","content":"sub"}}"#;
    let trace = Trace::read(TraceFormat::ClaudeCode, [USER, side].join("\n").as_bytes()).unwrap();
    let agents: Vec<&str> = trace.conversations().iter().map(Conversation::agent).collect();
    assert_eq!(agents, ["main", "abc"]);
}

#[test]
fn a_torn_last_line_is_a_warning_and_a_torn_middle_line_an_error() {
    let torn = &CALL_1[..40];
    let trace = Trace::read(TraceFormat::ClaudeCode, [USER, torn].join("\n").as_bytes()).unwrap();
    assert!(trace.conversations()[0].warnings().contains(&Warning::CutOffLine { line: 2 }));
    let error = Trace::read(TraceFormat::ClaudeCode, [USER, torn, DONE].join("\n").as_bytes()).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}
