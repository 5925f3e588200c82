use crate::{Detection, Error, Fidelity, TraceFormat, Warning, detect, trace::Trace};

#[test]
fn a_list_of_lists_is_a_conversation_each() {
    let file = br#"[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]]"#;
    let trace = Trace::read(TraceFormat::OpenaiChat, file).unwrap();
    let bodies: Vec<_> = trace.conversations().iter().map(|conversation| conversation.body().unwrap()).collect();
    assert_eq!(
        bodies,
        [
            br#"{"messages":[{"role":"user","content":"a"}]}"#.to_vec(),
            br#"{"messages":[{"role":"user","content":"b"}]}"#.to_vec()
        ]
    );
}

#[test]
fn fields_that_a_provider_refuses_are_left_out_of_anthropic_messages() {
    let file = br#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"ts":7}],"system_prompt":"s"}"#;
    let body = Trace::read(TraceFormat::AnthropicMessages, file).unwrap().conversations()[0].body().unwrap();
    assert_eq!(
        String::from_utf8(body).unwrap(),
        r#"{"max_tokens":8192,"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#
    );
}

#[test]
fn numbers_and_escapes_stay_as_they_are() {
    let file =
        br#"[{"role":"user","content":"\u00e9","seed":1.0e2},{"role":"tool","tool_call_id":"a","content":"ok"}]"#;
    let body = Trace::read(TraceFormat::OpenaiChat, file).unwrap().conversations()[0].body().unwrap();
    assert!(String::from_utf8(body).unwrap().contains(r#"{"role":"user","content":"\u00e9","seed":1.0e2}"#));
}

#[test]
fn a_body_per_line_is_exact_and_plain_text_alone_is_ambiguous() {
    let lines = b"{\"model\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"model\":\"b\",\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}";
    let trace = Trace::read(TraceFormat::OpenaiChat, lines).unwrap();
    let models: Vec<_> = trace.conversations().iter().map(|one| (one.agent(), one.model(), one.fidelity())).collect();
    assert_eq!(models, [("1", Some("a"), Fidelity::ExactWire), ("2", Some("b"), Fidelity::ExactWire)]);
    let candidates = vec![TraceFormat::AnthropicMessages, TraceFormat::OpenaiChat];
    let seen = vec!["messages of plain text"; 2];
    assert_eq!(detect(lines), Detection::Ambiguous { candidates, seen });
}

#[test]
fn responses_items_are_recognised_and_cut_after_each_output() {
    let file = br#"[{"role":"user","content":"go"},{"type":"reasoning","encrypted_content":"x"},{"type":"function_call","call_id":"a"},{"type":"function_call","call_id":"b"},{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call_output","call_id":"b","output":"2"}]"#;
    assert_eq!(detect(file), Detection::Trace(TraceFormat::OpenaiResponses));
    let trace = Trace::read(TraceFormat::OpenaiResponses, file).unwrap();
    let main = trace.agent("main").unwrap();
    assert_eq!((main.request_points(), main.requests()), (3, vec![0, 2]));
    let body = String::from_utf8(main.body_at(1).unwrap()).unwrap();
    assert!(body.starts_with(r#"{"input":["#) && body.ends_with(r#""call_id":"a","output":"1"}]}"#), "{body}");
}

#[test]
fn a_cut_inside_a_batch_keeps_the_bytes_around_it() {
    let file = br#"[{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"b"}]},{ "content" : [ {"type":"tool_result","tool_use_id":"a"} , {"type":"tool_result","tool_use_id":"b"} ] , "role" : "user" }]"#;
    let trace = Trace::read(TraceFormat::AnthropicMessages, file).unwrap();
    let bodies: Vec<String> =
        (0..2).map(|point| String::from_utf8(trace.conversations()[0].body_at(point).unwrap()).unwrap()).collect();
    assert!(
        bodies[0].ends_with(r#",{ "content" : [ {"type":"tool_result","tool_use_id":"a"} ] , "role" : "user" }]}"#)
    );
    assert!(bodies[1].contains(std::str::from_utf8(&file[1..]).unwrap().trim_end_matches(']')));
}

#[test]
fn the_reply_of_a_log_stands_in_the_history_only() {
    let file = br#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}],"response":{"choices":[{"message":{"role":"assistant","content":"z"}}]}}"#;
    let trace = Trace::read(TraceFormat::OpenaiChat, file).unwrap();
    let main = trace.agent("main").unwrap();
    assert!(!String::from_utf8(main.body().unwrap()).unwrap().contains("\"z\""));
    assert!(String::from_utf8(main.history(0).unwrap()).unwrap().ends_with(r#",{"role":"assistant","content":"z"}]}"#));
}

#[test]
fn a_torn_last_line_is_said_and_a_missing_point_is_an_error() {
    let file = b"[{\"role\":\"user\",\"content\":\"a\"}]\n[{\"role\":\"us";
    let trace = Trace::read(TraceFormat::OpenaiChat, file).unwrap();
    assert_eq!(trace.conversations()[0].warnings(), [Warning::CutOffLine { line: 2 }]);
    let error = trace.conversations()[0].body_at(1).unwrap_err();
    assert_eq!(error, Error::NoSuchPoint { point: 1, points: 1 });
}
