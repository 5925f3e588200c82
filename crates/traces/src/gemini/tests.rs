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
