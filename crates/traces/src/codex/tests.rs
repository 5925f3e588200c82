use crate::{Conversation, Detection, Error};
use crate::{Fidelity, TraceFormat, Warning, detect, trace::Trace};

const META: &str =
    r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"be brief"}}}"#;
const CONTEXT: &str = r#"{"timestamp":"t","type":"turn_context","payload":{"model":"gpt-5-codex"}}"#;
const ENVIRONMENT: &str =
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}"#;
const ASK: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#;
const THINK: &str = r#"{"type":"reasoning","summary":[],"encrypted_content":"z"}"#;
const CALL: &str = r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"done"}"#;
const SAY: &str = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}"#;

fn line(item: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"response_item","payload":{item}}}"#)
}

fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"event_msg","payload":{payload}}}"#)
}

fn read(lines: &[&str]) -> Conversation {
    let file = lines.join("\n");
    assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Codex));
    Trace::read(TraceFormat::Codex, file.as_bytes()).unwrap().conversations()[0].clone()
}

fn body(conversation: &Conversation, point: usize) -> String {
    String::from_utf8(conversation.body_at(point).unwrap()).unwrap()
}

fn input(items: &[&str]) -> String {
    format!(r#"{{"model":"gpt-5-codex","instructions":"be brief","input":[{}]}}"#, items.join(","))
}

#[test]
fn items_stand_as_they_are_and_nothing_else_does() {
    let [ask, think, call, output, say] = [ASK, THINK, CALL, OUTPUT, SAY].map(line);
    let noise = event(r#"{"type":"token_count","info":{}}"#);
    let ghost = line(r#"{"type":"ghost_snapshot","ghost_commit":{}}"#);
    let main = read(&[META, CONTEXT, &ask, &noise, &think, &call, &ghost, &output, &say]);
    assert_eq!((main.request_points(), main.requests(), main.fidelity()), (2, vec![0, 1], Fidelity::ModelVisible));
    assert_eq!((main.model(), main.wire_format()), (Some("gpt-5-codex"), "openai-responses"));
    assert_eq!(body(&main, 0), input(&[ASK]));
    assert_eq!(body(&main, 1), input(&[ASK, THINK, CALL, OUTPUT]));
    assert_eq!(main.warnings(), []);
}

#[test]
fn older_files_hold_bare_items() {
    let head = r#"{"id":"s","timestamp":"t","instructions":null,"git":{}}"#;
    let state = r#"{"record_type":"state"}"#;
    let main = read(&[head, ASK, state, CALL, OUTPUT, r#"{"type":"novelty"}"#]);
    assert_eq!(body(&main, 1), format!(r#"{{"input":[{ASK},{CALL},{OUTPUT}]}}"#));
    assert_eq!(main.warnings(), [Warning::UnknownRecords { kind: "novelty".to_owned(), records: 1 }]);
}

#[test]
fn after_a_compaction_the_history_is_what_the_client_kept() {
    let [ask, call, output, say] = [ASK, CALL, OUTPUT, SAY].map(line);
    let compacted = format!(
        r#"{{"timestamp":"t","type":"compacted","payload":{{"message":"","replacement_history":[{ENVIRONMENT},{{"type":"compaction","encrypted_content":"k"}}]}}}}"#
    );
    let main = read(&[META, CONTEXT, &ask, &call, &output, &say, &compacted, &ask]);
    assert_eq!((main.histories(), main.boundaries()), (2, vec![2]));
    assert_eq!(body(&main, 2), input(&[ENVIRONMENT, r#"{"type":"compaction","encrypted_content":"k"}"#, ASK]));
    assert_eq!(main.warnings(), []);
}

#[test]
fn a_compaction_that_names_nothing_keeps_the_users_messages_and_the_summary() {
    let [environment, ask, call, output] = [ENVIRONMENT, ASK, CALL, OUTPUT].map(line);
    let compacted = r#"{"timestamp":"t","type":"compacted","payload":{"message":"so far"}}"#;
    let main = read(&[META, CONTEXT, &environment, &ask, &call, &output, compacted]);
    let summary = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"so far"}]}"#;
    assert_eq!(body(&main, 3), input(&[ENVIRONMENT, ASK, summary]));
    assert_eq!((main.request_points(), main.boundaries()), (4, vec![3]));
    assert_eq!(main.warnings(), [Warning::CompactionRebuilt { line: 7 }]);
}

#[test]
fn turns_that_were_taken_back_are_gone() {
    let more = ASK.replace("go", "more");
    let [environment, ask, say, call] = [ENVIRONMENT, ASK, SAY, CALL].map(line);
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let main = read(&[META, CONTEXT, &environment, &ask, &say, &line(&more), &call, &back, &line(&more)]);
    assert_eq!(main.boundaries(), [3]);
    assert_eq!(body(&main, 3), input(&[ENVIRONMENT, ASK, SAY, &more]));
    let all = event(r#"{"type":"thread_rolled_back","num_turns":9}"#);
    let main = read(&[META, CONTEXT, &environment, &ask, &say, &all]);
    assert_eq!(body(&main, main.request_points() - 1), input(&[ENVIRONMENT]));
}

#[test]
fn strays_are_left_out_and_unknown_items_pass() {
    let novelty = r#"{"type":"hologram","data":1}"#;
    let [ask, call, output, novel] = [ASK, CALL, OUTPUT, novelty].map(line);
    let main = read(&[META, CONTEXT, &ask, &output, &call, &output, &output, &novel]);
    assert_eq!(body(&main, 2), input(&[ASK, CALL, OUTPUT, novelty]));
    let expected = [
        Warning::OrphanResult { line: 4 },
        Warning::DuplicateResult { line: 7 },
        Warning::UnknownItems { kind: "hologram".to_owned(), items: 1 },
    ];
    assert_eq!(main.warnings(), expected);
}

#[test]
fn a_broken_line_is_an_error_with_its_number() {
    let file = [META, "{\"type\":\"response_item\",", CONTEXT].join("\n");
    let error = Trace::read(TraceFormat::Codex, file.as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Malformed { line: 2, .. }), "{error}");
    let empty = Trace::read(TraceFormat::Codex, META.as_bytes()).unwrap_err();
    assert!(matches!(empty, Error::NoConversation { .. }));
}

#[test]
fn a_small_file_cannot_ask_for_endless_histories() {
    let think = line(THINK);
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let turn = [line(ASK), back].join("\n");
    let file = [vec![META; 1], vec![think.as_str(); 500], vec![turn.as_str(); 30]].concat().join("\n");
    let error = Trace::read(TraceFormat::Codex, file.as_bytes()).unwrap_err();
    assert!(matches!(error, Error::TooMuchCarried { .. }), "{error}");
}
