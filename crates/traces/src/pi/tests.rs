use crate::{Conversation, Detection, Error, TraceFormat, Warning, detect, trace::Trace};

const HEAD: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x"}"#;

fn line(id: &str, parent: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"t","message":{message}}}"#)
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}"#)
}

fn reply(api: &str, content: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{content}],"api":"{api}","provider":"p","model":"m-{api}","usage":{{}},"stopReason":"stop"}}"#
    )
}

const CALL: &str = r#"{"type":"toolCall","id":"c","name":"read","arguments":{"path": "a.py"}}"#;
const RESULT: &str = r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"details":{"x":1},"isError":false}"#;
const PICTURE: &str = r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":false}"#;

fn read(lines: &[&str]) -> Conversation {
    let file = lines.join("\n");
    assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Pi));
    Trace::read(TraceFormat::Pi, file.as_bytes()).unwrap().conversations()[0].clone()
}

fn messages(conversation: &Conversation) -> String {
    let body = String::from_utf8(conversation.body().unwrap()).unwrap();
    body.split_once("\"messages\":").unwrap().1.strip_suffix('}').unwrap().to_owned()
}

#[test]
fn an_anthropic_session_is_said_in_blocks() {
    let thought = r#"{"type":"thinking","thinking":"hm","thinkingSignature":"sig"}"#;
    let answer = reply("anthropic-messages", &format!(r#"{thought},{{"type":"text","text":"I read."}},{CALL}"#));
    let foreign = reply(
        "openai-responses",
        r#"{"type":"thinking","thinking":"aha","thinkingSignature":"{}"},{"type":"text","text":"ok"}"#,
    );
    let lines = [
        line("1", "", &user("go")),
        line("2", "1", &foreign),
        line("3", "2", &user("more")),
        line("4", "3", &answer),
        line("5", "4", RESULT),
    ];
    let [a, b, c, d, e] = &lines;
    let main = read(&[HEAD, a, b, c, d, e]);
    assert_eq!(
        messages(&main),
        r#"[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"aha"},{"type":"text","text":"ok"}]},{"role":"user","content":"more"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"I read."},{"type":"tool_use","id":"c","name":"read","input":{"path": "a.py"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"one\ntwo","is_error":false}]}]"#
    );
    assert_eq!((main.wire_format(), main.model()), ("anthropic", Some("m-anthropic-messages")));
    assert!(main.body_at(0).unwrap().starts_with(br#"{"model":"m-openai-responses","#));
    assert_eq!(main.warnings(), []);
    let picture = read(&[HEAD, a, &line("4", "1", &answer), &line("5", "4", PICTURE)]);
    assert!(messages(&picture).contains(
        r#""content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":false"#
    ));
}

#[test]
fn any_other_session_is_said_in_chat() {
    let answer = reply(
        "openai-completions",
        &format!(
            r#"{{"type":"thinking","thinking":"hm","thinkingSignature":"reasoning_content"}},{{"type":"text","text":"I "}},{{"type":"text","text":"read."}},{CALL}"#
        ),
    );
    let [a, b] = [line("1", "", &user("go")), line("2", "1", &answer)];
    let main = read(&[HEAD, &a, &b, &line("3", "2", RESULT)]);
    let said = r#"[{"role":"user","content":"go"},{"role":"assistant","content":"I read.","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}}]},{"role":"tool","tool_call_id":"c","content":"#;
    assert_eq!(messages(&main), format!(r#"{said}"one\ntwo"}}]"#));
    assert_eq!((main.wire_format(), main.model()), ("openai-chat", Some("m-openai-completions")));
    let picture = read(&[HEAD, &a, &b, &line("3", "2", PICTURE)]);
    assert_eq!(
        messages(&picture),
        format!(
            r#"{said}"(see attached image)"}},{{"role":"user","content":[{{"type":"text","text":"Attached image(s) from tool result:"}},{{"type":"image_url","image_url":{{"url":"data:image/png;base64,AAAA"}}}}]}}]"#
        )
    );
}

#[test]
fn a_branch_that_was_left_is_out_and_its_summary_is_in() {
    let summary = r#"{"type":"branch_summary","id":"4","parentId":"1","fromId":"3","summary":"it failed"}"#;
    let left = [line("1", "", &user("go")), line("2", "1", &user("left")), line("3", "2", &user("too"))];
    let after = line("5", "4", &user("anew"));
    let main = read(&[HEAD, &left[0], &left[1], &left[2], summary, &after]);
    assert_eq!(main.request_points(), 3);
    assert_eq!(
        messages(&main),
        r#"[{"role":"user","content":"go"},{"role":"user","content":"The following is a summary of a branch that this conversation came back from:\n\n<summary>\nit failed</summary>"},{"role":"user","content":"anew"}]"#
    );
    assert_eq!(main.warnings(), [Warning::AbandonedBranch { lines: 2 }]);
    let lost = read(&[HEAD, &left[0], &line("9", "gone", &user("x"))]);
    assert_eq!((lost.request_points(), lost.warnings()), (2, &[Warning::MissingParent { line: 3 }][..]));
}

#[test]
fn a_compaction_keeps_its_summary_and_the_newest_messages() {
    let kept = [r#""firstKeptEntryId":"2""#, r#""firstKeptEntryIndex":2"#];
    for kept in kept {
        let compaction =
            format!(r#"{{"type":"compaction","id":"3","parentId":"2","summary":"so far","tokensBefore":9,{kept}}}"#);
        let lines = [line("1", "", &user("go")), line("2", "1", &user("kept")), line("4", "3", &user("then"))];
        let main = read(&[HEAD, &lines[0], &lines[1], &compaction, &lines[2]]);
        assert_eq!(
            messages(&main),
            r#"[{"role":"user","content":"The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary>"},{"role":"user","content":"kept"},{"role":"user","content":"then"}]"#
        );
        assert_eq!((main.histories(), main.boundaries(), main.request_points()), (2, vec![2], 4), "{kept}");
    }
}

#[test]
fn commands_of_the_person_are_told_and_hidden_ones_are_not() {
    let bash = |extra: &str| {
        format!(
            r#"{{"role":"bashExecution","command":"ls \"x\"","output":"a\nb","exitCode":2,"cancelled":false,"truncated":false{extra}}}"#
        )
    };
    let lines = [
        line("1", "", &bash("")),
        line("2", "1", &bash(r#","excludeFromContext":true"#)),
        r#"{"type":"custom_message","id":"3","parentId":"2","customType":"note","content":"by the way","display":false}"#.to_owned(),
        r#"{"type":"custom","id":"4","parentId":"3","customType":"note","data":1}"#.to_owned(),
        r#"{"type":"riddle","id":"5","parentId":"4"}"#.to_owned(),
    ];
    let main = read(&[HEAD, &lines[0], &lines[1], &lines[2], &lines[3], &lines[4]]);
    assert_eq!(
        messages(&main),
        r#"[{"role":"user","content":"Ran `ls \"x\"`\n```\na\nb\n```\n\nCommand exited with code 2"},{"role":"user","content":"by the way"}]"#
    );
    assert_eq!(main.warnings(), [Warning::UnknownRecords { kind: "riddle".to_owned(), records: 1 }]);
}

#[test]
fn replies_that_failed_are_left_out_and_a_choice_of_model_holds_from_there() {
    let failed = reply("anthropic-messages", CALL).replace("\"stop\"", "\"aborted\"");
    let change = r#"{"type":"model_change","id":"4","parentId":"3","provider":"anthropic","modelId":"claude-next"}"#;
    let lines =
        [line("1", "", &user("go")), line("2", "1", &failed), line("3", "2", RESULT), line("5", "4", &user("on"))];
    let main = read(&[HEAD, &lines[0], &lines[1], &lines[2], change, &lines[3]]);
    assert_eq!(
        messages(&main),
        r#"[{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"on"}]}]"#
    );
    assert_eq!(main.model(), Some("claude-next"));
    assert_eq!(main.warnings(), [Warning::OrphanResult { line: 4 }, Warning::FailedReplies { replies: 1 }]);
}

#[test]
fn a_broken_line_is_an_error_with_its_number() {
    let error = Trace::read(TraceFormat::Pi, [HEAD, "{\"type\"", HEAD].join("\n").as_bytes()).unwrap_err();
    assert!(matches!(error, Error::Malformed { line: 2, .. }), "{error}");
    let empty = Trace::read(TraceFormat::Pi, HEAD.as_bytes()).unwrap_err();
    assert!(matches!(empty, Error::NoConversation { .. }), "{empty}");
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let bare = r#"{"type":"toolCall","id":"c","name":"read"}"#;
    let [a, b] = ["anthropic-messages", "openai-completions"].map(|api| line("2", "1", &reply(api, bare)));
    let ask = line("1", "", &user("go"));
    let result = line("3", "2", RESULT);
    assert!(messages(&read(&[HEAD, &ask, &a, &result])).contains(r#""name":"read","input":{}}"#));
    assert!(messages(&read(&[HEAD, &ask, &b, &result])).contains(r#""name":"read","arguments":"{}"}"#));
}
