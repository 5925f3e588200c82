//! What do the readers make of bodies that are unusual or broken?

#![expect(clippy::expect_used, reason = "tests stop where something is wrong")]

use liveset_engine::{
    json::Outline,
    transcript::{ArgumentsForm, Editing, Item, ItemKind, Transcript, Weight, WireFormat},
    wire,
};

fn check(format: WireFormat, body: &str, look: impl Fn(&Transcript<'_>)) {
    let outline = Outline::read(body.as_bytes()).expect("it is JSON");
    look(&wire::read(format, &outline).expect("it is read"));
}

fn only(transcript: &Transcript<'_>, kind: ItemKind) -> Item {
    let mut found = transcript.items.iter().filter(|item| item.kind == kind);
    let item = found.next().cloned().expect("it is there");
    assert!(found.next().is_none(), "there is one of its kind");
    item
}

/// A body with one call of these arguments, in a format's own shape.
fn body_with_arguments(format: WireFormat, arguments: &str) -> String {
    match format {
        WireFormat::Anthropic => format!(
            r#"{{"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{arguments}}}]}}]}}"#
        ),
        WireFormat::OpenaiChat => format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":{arguments}}}}}]}}]}}"#
        ),
        WireFormat::OpenaiResponses => {
            format!(r#"{{"input":[{{"type":"function_call","call_id":"a","name":"f","arguments":{arguments}}}]}}"#)
        }
    }
}

#[test]
fn arguments_are_read_as_what_they_are() {
    for format in WireFormat::ALL {
        for arguments in [r#"{"q":1}"#, "null", "7", "[1]", "true"] {
            check(format, &body_with_arguments(format, arguments), |transcript| {
                let item = only(transcript, ItemKind::ToolCall);
                let call = item.call().expect("a call");
                assert_eq!(call.form, ArgumentsForm::Object, "{format:?} {arguments}");
                let span = call.arguments.expect("it has some");
                assert_eq!(span.of(transcript.body), arguments.as_bytes());
            });
        }
    }
}

#[test]
fn an_unknown_output_answers_its_call_and_is_never_edited() {
    let output = r#"{"type":"future_thing_output","call_id":"c","output":[{"type":"input_text","text":"long"},{"type":"input_image","image_url":"data:"}]}"#;
    let body =
        format!(r#"{{"input":[{{"type":"function_call","call_id":"c","name":"f","arguments":"{{}}"}},{output}]}}"#);
    check(WireFormat::OpenaiResponses, &body, |transcript| {
        let item = only(transcript, ItemKind::ToolResult);
        let answer = item.answer().expect("a result");
        assert_eq!((answer.editing, answer.call.is_some()), (Editing::Fixed, true));
        assert!(item.texts.is_empty() && item.weight == Weight::Raw(item.span), "counted as it stands");
        assert_eq!(item.span.of(transcript.body), output.as_bytes());
        assert_eq!(transcript.items.len(), 2, "nothing in it is an item of its own");
    });
}

#[test]
fn a_known_output_may_be_edited() {
    for kind in
        ["function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output"]
    {
        let body = format!(r#"{{"input":[{{"type":"{kind}","call_id":"c","output":"long"}}]}}"#);
        check(WireFormat::OpenaiResponses, &body, |transcript| {
            let item = only(transcript, ItemKind::ToolResult);
            assert_eq!(item.answer().map(|answer| answer.editing), Some(Editing::Free), "{kind}");
            assert_eq!(item.texts.len(), 1);
        });
    }
}

#[test]
fn an_unknown_kind_of_call_keeps_its_result_and_none_of_its_arguments_are_known() {
    let call = r#"{"id":"a","type":"future","function":{"name":"write_file","arguments":"{\"content\":\"long\"}"}}"#;
    let body = format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{call}]}},{{"role":"tool","tool_call_id":"a","content":"ok"}}]}}"#
    );
    check(WireFormat::OpenaiChat, &body, |transcript| {
        let item = only(transcript, ItemKind::ToolCall);
        let found = item.call().expect("a call");
        assert_eq!((found.name, found.arguments, found.result.is_some()), (None, None, true));
        assert_eq!(item.weight, Weight::Raw(item.span), "counted as it stands");
    });
}
