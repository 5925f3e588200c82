use crate::{Detection, Error, TraceFormat, Warning, detect, trace::Trace};

fn session(messages: &str) -> String {
    format!(r#"{{"sessionId":"s","projectHash":"h","messages":[{messages}]}}"#)
}

#[test]
fn calls_and_results_of_a_reply_become_messages() {
    let file = session(
        r#"{"id":"1","type":"user","content":"go"},
{"id":"2","type":"info","content":"update"},
{"id":"3","type":"gemini","content":"","thoughts":[{"subject":"x","description":"y"}],"model":"gemini-2.5-pro","toolCalls":[
 {"id":"a","name":"ls","args":{"path": "."},"status":"success","result":[{"functionResponse":{"id":"a","name":"ls","response":{"output":"x.py"}}}]},
 {"id":"b","name":"ls","args":{},"status":"error","result":[{"functionResponse":{"id":"b","name":"ls","response":{"error":"no"}}}]},
 {"id":"c","name":"map","args":{},"status":"success","result":[{"functionResponse":{"id":"c","name":"map","response":{"x": 1}}},{"text":"more"},{"inlineData":{"data":"AA"}}]}]},
{"id":"4","type":"gemini","content":"done","model":"gemini-2.5-flash"},
{"id":"5","type":"user","content":[{"text":"and"},"now"]}"#,
    );
    assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Gemini));
    let trace = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap();
    let main = trace.agent("main").unwrap();
    assert_eq!(
        String::from_utf8(main.body().unwrap()).unwrap(),
        r#"{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{\"path\":\".\"}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"map","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x.py"},{"role":"tool","tool_call_id":"b","content":"no"},{"role":"tool","tool_call_id":"c","content":"{\"x\":1}\nmore"},{"role":"assistant","content":"done"},{"role":"user","content":"and\nnow"}]}"#
    );
    assert_eq!((main.request_points(), main.requests()), (5, vec![0, 3, 4]));
    assert_eq!(main.warnings(), [Warning::UnknownRecords { kind: "inlineData".to_owned(), records: 1 }]);
}

#[test]
fn a_call_that_never_ran_is_said_and_unknown_kinds_are_named() {
    let file = session(
        r#"{"type":"user","content":"go"},{"type":"gemini","content":"a","toolCalls":[{"id":"a","name":"ls","args":{}}]},{"type":"psst","content":"x"},{"type":"user","content":"well?"}"#,
    );
    let trace = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap();
    let expected = [
        Warning::UnansweredCalls { line: 1, calls: 1 },
        Warning::UnknownRecords { kind: "psst".to_owned(), records: 1 },
    ];
    assert_eq!(trace.conversations()[0].warnings(), expected);
}

#[test]
fn a_broken_record_is_an_error_with_its_line() {
    for (file, line) in [(session("\n7"), 2), (session("\n\n{\"type\""), 3)] {
        let error = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Malformed { line: found, .. } if found == line), "{error}");
    }
    let empty = Trace::read(TraceFormat::Gemini, session("").as_bytes()).unwrap_err();
    assert!(matches!(empty, Error::NoConversation { .. }), "{empty}");
}

#[test]
fn newer_files_hold_changes_line_by_line() {
    let head = r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#;
    let asked = r#"{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"a","name":"ls","args":{}}]}"#;
    let answered = r#"{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"a","name":"ls","args":{},"result":[{"functionResponse":{"response":{"output":"x"}}}]}]}"#;
    let user = |id: &str, text: &str| format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"{text}"}}]}}"#);
    let lines = [
        head,
        &user("1", "go"),
        asked,
        answered,
        r#"{"$set":{"lastUpdated":"t"}}"#,
        &user("3", "wrong"),
        r#"{"$rewindTo":"3"}"#,
        &user("4", "right"),
        r#"{"what":1}"#,
    ];
    let file = lines.join("\n");
    assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Gemini));
    let trace = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap();
    let main = trace.agent("main").unwrap();
    let said = r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}"#;
    let at = |point| String::from_utf8(main.body_at(point).unwrap()).unwrap();
    assert_eq!(at(2), format!(r#"{said},{{"role":"user","content":"wrong"}}]}}"#));
    assert_eq!(at(4), format!(r#"{said},{{"role":"user","content":"right"}}]}}"#));
    assert_eq!((main.request_points(), main.boundaries()), (5, vec![3]));
    assert_eq!(main.warnings(), [Warning::UnknownRecords { kind: "?".to_owned(), records: 1 }]);
    let error = Trace::read(TraceFormat::Gemini, [head, "{\"id\"", head].join("\n").as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Malformed { line: 2, .. }), "{error}");
}

#[test]
fn a_client_that_sets_its_messages_begins_a_history() {
    let file = r#"{"sessionId":"s","projectHash":"h"}
{"id":"1","type":"user","content":"go"}
{"$set":{"messages":[{"id":"7","type":"user","content":"short"}]}}
{"$rewindTo":"unknown"}
{"id":"8","type":"user","content":"anew"}"#;
    let trace = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap();
    let main = trace.agent("main").unwrap();
    let bodies: Vec<String> =
        (0..main.request_points()).map(|point| String::from_utf8(main.body_at(point).unwrap()).unwrap()).collect();
    let said = |text: &str| format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    assert_eq!(bodies, ["go", "short", "anew"].map(said));
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let file = session(
        r#"{"type":"gemini","content":"","toolCalls":[{"id":"a","name":"ls","result":"x"}]},{"type":"user","content":"y"}"#,
    );
    let trace = Trace::read(TraceFormat::Gemini, file.as_bytes()).unwrap();
    let body = String::from_utf8(trace.conversations()[0].body().unwrap()).unwrap();
    assert!(body.contains(r#""name":"ls","arguments":"{}"}"#) && body.contains(r#""content":"x"}"#), "{body}");
}
