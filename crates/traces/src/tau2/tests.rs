use crate::{Detection, Error, TraceFormat, Warning, detect, trace::Trace};

const FILE: &str = r#"{"info":{"agent_info":{"llm":"gpt-4.1"},"environment_info":{"policy":"be kind"}},"simulations":[
{"id":"s-1","messages":[{"role":"assistant","content":"Hi!","tool_calls":null},{"role":"user","content":"bye"}]},
{"id":"s-2","messages":[
{"role":"user","content":null,"tool_calls":[{"id":"u1","name":"look","arguments":{},"requestor":"user"}]},
{"id":"u1","role":"tool","content":"dark","requestor":"user"},
{"role":"user","content":"refund"},
{"role":"assistant","content":null,"tool_calls":[
  {"id":"a","name":"find","arguments":{"id":  "7",
     "all":[1,2]},"requestor":"assistant"},
  {"id":"b","name":"find","arguments":{},"requestor":"assistant"}]},
{"role":"tool","tool_messages":[
  {"id":"b","role":"tool","content":"two","requestor":"assistant"},
  {"id":"a","role":"tool","content":"one","requestor":"assistant"}]},
{"role":"narrator","content":"?"}]}]}"#;

#[test]
fn each_simulation_is_a_conversation_found_by_place_or_id() {
    assert_eq!(detect(FILE.as_bytes()), Detection::Trace(TraceFormat::Tau2));
    let trace = Trace::read(TraceFormat::Tau2, FILE.as_bytes()).unwrap();
    let names: Vec<_> = trace.conversations().iter().map(|one| (one.agent(), one.id(), one.model())).collect();
    assert_eq!(names, [("1", Some("s-1"), Some("gpt-4.1")), ("2", Some("s-2"), Some("gpt-4.1"))]);
    assert_eq!(trace.agent("s-2").unwrap().body(), trace.agent("2").unwrap().body());
    assert!(trace.agent("3").is_none());
}

#[test]
fn the_agent_sees_policy_user_and_its_own_calls() {
    let trace = Trace::read(TraceFormat::Tau2, FILE.as_bytes()).unwrap();
    let second = trace.agent("2").unwrap();
    assert_eq!(
        String::from_utf8(second.body().unwrap()).unwrap(),
        r#"{"model":"gpt-4.1","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"refund"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{\"id\": \"7\", \"all\": [1, 2]}"}},{"id":"b","type":"function","function":{"name":"find","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_call_id":"a","content":"one"}]}"#
    );
    assert_eq!((second.request_points(), second.requests()), (3, vec![0, 2]));
    assert_eq!(second.warnings(), [Warning::UnknownRecords { kind: "narrator".to_owned(), records: 1 }]);
}

#[test]
fn a_broken_record_is_an_error_with_its_line() {
    for (file, line) in [
        ("{\"info\":{},\"simulations\":[\n{\"messages\":[]},\n{\"messages\":7}]}", 3),
        ("{\"info\":{},\"simulations\":[{\"messages\":[\n\"x\"]}]}", 2),
    ] {
        let error = Trace::read(TraceFormat::Tau2, file.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Malformed { line: found, .. } if found == line), "{error}");
    }
    let empty = Trace::read(TraceFormat::Tau2, b"{\"info\":{},\"simulations\":[]}").unwrap_err();
    assert!(matches!(empty, Error::NoConversation { .. }), "{empty}");
}
