use crate::{Detection, Error, TraceFormat, Warning, detect, trace::Trace};

fn read(file: &str) -> Trace {
    assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::SweAgent));
    Trace::read(TraceFormat::SweAgent, file.as_bytes()).unwrap()
}

fn body(trace: &Trace, agent: &str) -> String {
    String::from_utf8(trace.agent(agent).unwrap().body().unwrap()).unwrap()
}

#[test]
fn text_actions_are_texts_and_other_agents_stand_apart() {
    let file = r#"{"environment":"swe_main","trajectory":[],"history":[
{"role":"system","content":"be good","agent":"primary"},
{"role":"user","content":"a demonstration","agent":"primary","is_demo":true},
{"role":"assistant","content":"I look.\n```\nls\n```","thought":"I look.","action":"ls\n","agent":"primary"},
{"role":"user","content":"sub","agent":"helper"},
{"role":"user","content":"a.py","agent":"primary"}],"info":{}}"#;
    let trace = read(file);
    assert_eq!(
        body(&trace, "main"),
        r#"{"messages":[{"role":"system","content":"be good"},{"role":"user","content":"a demonstration"},{"role":"assistant","content":"I look.\n```\nls\n```"},{"role":"user","content":"a.py"}]}"#
    );
    assert_eq!(body(&trace, "helper"), r#"{"messages":[{"role":"user","content":"sub"}]}"#);
    assert_eq!(trace.conversations()[0].model(), None);
}

#[test]
fn function_calls_and_what_answers_them_are_pairs() {
    let call = r#"{"function":{"name":"bash","arguments":"{\"command\":\"ls\"}"},"id":"c","type":"function"}"#;
    let file = format!(
        r#"{{"trajectory":[],"replay_config":"{{\"agent\":{{\"model\":{{\"name\":\"gpt-4o\"}}}}}}","history":[
{{"role":"user","content":[{{"type":"text","text":"fix"}}],"agent":"main","message_type":"observation"}},
{{"role":"assistant","content":"so","thought":"so","action":"ls","agent":"main","tool_calls":[{call}],"message_type":"action"}},
{{"role":"tool","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}],"agent":"main","tool_call_ids":["c"],"cache_control":{{"type":"ephemeral"}}}},
{{"role":"assistant","content":null,"agent":"main","tool_calls":[{call}]}},
{{"role":"tool","content":"twice","tool_call_ids":["c"],"agent":"main"}},
{{"role":"tool","content":"stray","agent":"main"}},
{{"role":"oracle","content":"?","agent":"main"}}]}}"#
    );
    let trace = read(&file);
    let main = trace.agent("main").unwrap();
    let first = format!(
        r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":[{{"type":"text","text":"fix"}}]}},{{"role":"assistant","content":"so","tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"c","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}]}}"#
    );
    assert_eq!(String::from_utf8(main.body_at(1).unwrap()).unwrap(), format!("{first}]}}"));
    let second = format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"c","content":"twice"}}]}}"#
    );
    assert_eq!(body(&trace, "main"), format!("{first},{second}"));
    let expected =
        [Warning::OrphanResult { line: 7 }, Warning::UnknownRecords { kind: "oracle".to_owned(), records: 1 }];
    assert_eq!(main.warnings(), expected);
}

#[test]
fn mini_swe_agent_sends_its_messages_without_what_it_keeps_for_itself() {
    let file = r#"{"info":{"config":{"model":{"model_name":"anthropic/claude-sonnet-4-5"}}},"messages":[
{"role":"system","content":"s","timestamp":1.5},
{"role":"user","content":"u","extra":{}},
{"role":"assistant","content":"```bash\nls\n```","extra":{"response":{"id":"x"}}},
{"role":"user","content":"a.py"},
{"role":"exit","content":"Submitted","extra":{}}],"trajectory_format":"mini-swe-agent-1.1"}"#;
    let trace = read(file);
    assert_eq!(
        body(&trace, "main"),
        r#"{"model":"anthropic/claude-sonnet-4-5","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"```bash\nls\n```"},{"role":"user","content":"a.py"}]}"#
    );
    assert_eq!(trace.conversations()[0].warnings(), []);
}

#[test]
fn a_replay_names_no_model() {
    let file = r#"{"trajectory":[],"replay_config":{"agent":{"model":{"name":"replay"}}},"history":[{"role":"user","content":"u"}]}"#;
    assert_eq!(read(file).conversations()[0].model(), None);
}

#[test]
fn a_broken_record_is_an_error_with_its_line() {
    let check = |file: &str, line: usize| {
        let error = Trace::read(TraceFormat::SweAgent, file.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Malformed { line: found, .. } if found == line), "{error}");
    };
    check("{\"trajectory\":[],\n\"history\":[\n7]}", 3);
    check("{\"trajectory\":[],\n\"history\":[\n", 3);
    let empty = Trace::read(TraceFormat::SweAgent, b"{}").unwrap_err();
    assert!(matches!(empty, Error::NoConversation { .. }), "{empty}");
}
