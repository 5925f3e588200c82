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
fn a_rewound_branch_is_left_out() {
    let rewound = r#"{"type":"assistant","uuid":"x","parentUuid":"u","message":{"id":"o","model":"x","content":[{"type":"text","text":"no"}]}}"#;
    let all = bodies(&[USER, rewound, CALL_1, RESULT_1]);
    assert!(!all[1].contains("no\""), "{}", all[1]);
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

fn warnings(lines: &[&str]) -> Vec<Warning> {
    let trace = Trace::read(TraceFormat::ClaudeCode, lines.join("\n").as_bytes()).unwrap();
    trace.agent("main").unwrap().warnings().to_vec()
}

fn text(uuid: &str, parent: &str, text: &str) -> String {
    format!(r#"{{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","message":{{"content":"{text}"}}}}"#)
}

#[test]
fn a_result_that_comes_late_stands_behind_its_call_and_is_said() {
    let next = r#"{"type":"assistant","uuid":"a3","parentUuid":"r2","message":{"id":"n","content":[{"type":"text","text":"done"}]}}"#;
    let late = RESULT_1.replace("\"a1\"", "\"a3\"");
    let lines = [USER, CALL_1, CALL_2, RESULT_2, next, &late];
    assert_eq!(warnings(&lines), [Warning::LateResult { line: 6 }]);
    let all = bodies(&lines);
    assert!(all[2].ends_with(
        r#"{"type":"tool_result","tool_use_id":"t2","content":"two"},{"type":"tool_result","tool_use_id":"t1","content":"one"}]}]}"#
    ));
}

#[test]
fn calls_without_a_result_are_said_once_the_conversation_goes_on() {
    assert_eq!(warnings(&[USER, CALL_1, CALL_2]), []);
    assert_eq!(warnings(&[USER, CALL_1, CALL_2, RESULT_2]), []);
    let unanswered = [Warning::UnansweredCalls { line: 2, calls: 1 }];
    assert_eq!(warnings(&[USER, CALL_1, CALL_2, RESULT_2, DONE]), unanswered);
    assert_eq!(warnings(&[USER, CALL_1, CALL_2, RESULT_2, &text("v", "r2", "stop")]), unanswered);
}

#[test]
fn orphans_repeats_and_blanks_are_left_out_and_said() {
    let orphan = RESULT_2.replace("\"a2\"", "\"r1\"");
    let again = RESULT_1.replace("\"r1\"", "\"r3\"").replace("\"a1\"", "\"r2\"");
    let lines = [USER, CALL_1, RESULT_1, &orphan, &again, &text("v", "r3", " \\n")];
    let expected =
        [Warning::OrphanResult { line: 4 }, Warning::DuplicateResult { line: 5 }, Warning::BlankText { line: 6 }];
    assert_eq!(warnings(&lines), expected);
    assert_eq!(bodies(&lines).len(), 2);
}

#[test]
fn lines_copied_by_a_resumed_session_count_once() {
    let twice = [USER, CALL_1, RESULT_1, USER, CALL_1, RESULT_1];
    assert_eq!((bodies(&twice), warnings(&twice)), (bodies(&twice[..3]), Vec::new()));
}

#[test]
fn a_result_on_the_newest_branch_wins_over_one_on_a_branch_that_was_left() {
    let kept = RESULT_1.replace("\"r1\"", "\"r9\"").replace("one", "kept");
    let lines = [USER, CALL_1, RESULT_1, &kept, &text("v", "r9", "more")];
    assert!(bodies(&lines)[1].contains("kept"));
    assert_eq!(warnings(&lines), [Warning::AbandonedBranch { lines: 1 }]);
}

#[test]
fn a_missing_parent_falls_back_to_file_order() {
    let lines = [USER, CALL_1, RESULT_1, &text("v", "gone", "more")];
    assert!(bodies(&lines)[2].contains("t1"));
    assert_eq!(warnings(&lines), [Warning::MissingParent { line: 4 }]);
}

#[test]
fn what_a_compaction_kept_follows_its_summary_without_a_request_between() {
    let kept = [
        r#""preservedSegment":{"headUuid":"a1","tailUuid":"r1"}"#,
        r#""preservedMessages":{"uuids":["r1","a1"]},"preservedSegment":{"headUuid":"u","tailUuid":"u"}"#,
    ];
    for kept in kept {
        let boundary = format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"b","logicalParentUuid":"r1","compactMetadata":{{{kept}}}}}"#
        );
        let summary = text("s", "b", "so far").replace(",\"message\"", ",\"isCompactSummary\":true,\"message\"");
        let lines = [USER, CALL_1, RESULT_1, &boundary, &summary, &text("v", "s", "more")];
        let all = bodies(&lines);
        assert_eq!(all.len(), 4, "{kept}");
        assert_eq!(
            messages(&all[2]),
            r#"[{"role":"user","content":"so far"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"}]}]"#
        );
        let trace = Trace::read(TraceFormat::ClaudeCode, lines.join("\n").as_bytes()).unwrap();
        assert_eq!((trace.conversations()[0].boundaries(), trace.conversations()[0].requests()), (vec![2], vec![0, 3]));
    }
}

#[test]
fn failed_requests_never_reach_a_body_and_a_made_up_reply_names_no_model() {
    let reply = |flag: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"e","parentUuid":"u","isApiErrorMessage":{flag},"message":{{"id":"e","model":"<synthetic>","content":[{{"type":"text","text":"oops"}}]}}}}"#
        )
    };
    let after = text("v", "e", "again");
    let failed = bodies(&[USER, &reply("true"), &after]);
    assert_eq!(messages(&failed[1]).matches("role").count(), 1);
    let made_up = bodies(&[USER, &reply("false"), &after]);
    assert!(made_up[1].contains("oops") && !made_up[1].contains("model"));
}

#[test]
fn what_the_client_says_in_the_name_of_the_user_is_user_text() {
    let hidden =
        |flag: &str| text("y", "u", "analyse").replace(",\"message\"", &format!(",\"{flag}\":true,\"message\""));
    let after = text("v", "y", "more");
    let meta = hidden("isMeta");
    assert_eq!(warnings(&[USER, &meta, &after]), []);
    assert_eq!(
        messages(&bodies(&[USER, &meta, &after])[2]),
        r#"[{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"analyse"},{"type":"text","text":"more"}]}]"#
    );
    // Shown and never sent: the one kind of user line that stays out.
    let shown_only = hidden("isVisibleInTranscriptOnly");
    assert_eq!(bodies(&[USER, &shown_only, &after]).len(), 2);
}

#[test]
fn a_side_chain_in_progress_lines_is_a_conversation_in_order() {
    let progress = |uuid: &str, message: &str| {
        format!(
            r#"{{"type":"progress","uuid":"p{uuid}","parentUuid":"u","data":{{"type":"agent_progress","agentId":"sub","message":{message}}}}}"#
        )
    };
    let first = progress("1", r#"{"type":"user","uuid":"s1","message":{"content":"look"}}"#);
    let second = progress("2", &CALL_1.replace("\"a1\"", "\"s2\"").replace(",\"parentUuid\":\"u\"", ""));
    let trace = Trace::read(TraceFormat::ClaudeCode, [USER, &first, &second].join("\n").as_bytes()).unwrap();
    let side = String::from_utf8(trace.agent("sub").unwrap().history(0).unwrap()).unwrap();
    assert!(side.contains("look") && side.contains("t1"), "{side}");
    assert_eq!(trace.agent("main").unwrap().warnings(), []);
}

#[test]
fn kinds_of_line_that_nobody_knows_are_named() {
    let lines = [USER, r#"{"type":"horoscope","text":"x"}"#, r#"{"type":"last-prompt"}"#, r#"{"type":"horoscope"}"#];
    assert_eq!(warnings(&lines), [Warning::UnknownRecords { kind: "horoscope".to_owned(), records: 2 }]);
}
