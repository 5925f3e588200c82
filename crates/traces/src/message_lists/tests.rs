use crate::{TraceFormat, trace::Trace};

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
