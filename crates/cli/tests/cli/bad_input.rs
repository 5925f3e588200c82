//! Input that cannot be used: one line says what and where, exit 2, nothing on standard output.

use std::fs::File;

use expect_test::{Expect, expect};

use crate::program::Place;

fn check_words(place: &Place, words: &str, expected: Expect) {
    expected.assert_eq(&place.run(words).shown());
}

/// Every command that reads a body says the same of a bad one.
fn check(bytes: impl AsRef<[u8]>, expected: Expect) {
    let place = Place::with("body.json", bytes);
    let compact = place.run("compact body.json").shown();
    for command in ["inspect", "explain", "count", "check"] {
        assert_eq!(place.run(&format!("{command} body.json")).shown(), compact, "{command}");
    }
    assert_eq!(place.files(), ["body.json"]);
    expected.assert_eq(&compact);
}

#[test]
fn a_file_that_is_not_there() {
    check_words(
        &Place::new(),
        "compact none.json",
        expect![[r#"
        exit 2
        err | liveset: cannot read `none.json`: no such file or directory
    "#]],
    );
}

#[test]
fn a_folder() {
    check_words(
        &Place::new(),
        "compact .",
        expect![[r#"
        exit 2
        err | liveset: `.` is a folder
        err | hint: name one file in it
    "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "",
        expect![[r#"
        exit 2
        err | liveset: body.json: the input is empty
    "#]],
    );
}

#[test]
fn a_file_of_white_space() {
    check(
        " \n\t\n",
        expect![[r#"
        exit 2
        err | liveset: body.json: the input is empty
    "#]],
    );
}

#[test]
fn an_empty_pipe() {
    expect![[r#"
        exit 2
        err | liveset: standard input: the input is empty
    "#]]
    .assert_eq(&Place::new().pipe("compact -", b"").shown());
}

#[test]
fn a_file_over_the_limit_is_refused_by_its_size() {
    let place = Place::new();
    // Takes no room on the disk; reading it would take seconds and its size in memory.
    File::create(place.path("huge.json")).unwrap().set_len(2 << 30).unwrap();
    check_words(
        &place,
        "compact huge.json",
        expect![[r#"
        exit 2
        err | liveset: huge.json: the input has 2147483648 bytes, the limit is 1073741824
        err | hint: a request body has at most 268435456 bytes; cut a trace into sessions
    "#]],
    );
}

#[test]
fn text_that_is_no_json() {
    check(
        "once upon a time",
        expect![[r#"
        exit 2
        err | liveset: body.json: invalid JSON at byte 0: expected a value
        err | hint: the input is no JSON; is it a trace? `--format` names the formats that are known
    "#]],
    );
}

#[test]
fn a_byte_that_is_no_utf8() {
    check(
        b"{\"model\":\"gpt-4.1\",\"messages\":[{\"role\":\"user\",\"content\":\"a\xff\"}]}",
        expect![[r#"
        exit 2
        err | liveset: body.json: invalid UTF-8 at byte 58
    "#]],
    );
}

#[test]
fn json_that_is_cut_off() {
    check(
        "{\"model\":\"gpt-4.1\",\"messages\":[{\"role\":\"user\",\"con\n",
        expect![[r#"
        exit 2
        err | liveset: body.json: invalid JSON at byte 50: expected an escape instead of a control character
        err | hint: the input ends too early: is it whole?
    "#]],
    );
}

#[test]
fn json_that_is_wrong_in_the_middle() {
    check(
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":hi}]}"#,
        expect![[r#"
        exit 2
        err | liveset: body.json: invalid JSON at byte 56: expected a value
        err | hint: the input is no JSON; is it a trace? `--format` names the formats that are known
    "#]],
    );
}

#[test]
fn json_that_is_nested_without_end() {
    check(
        format!("{{\"messages\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        expect![[r#"
        exit 2
        err | liveset: body.json: depth of nesting at byte 523 is over the limit of 512
    "#]],
    );
    check(
        format!("{{\"messages\":{}", "[{\"a\":".repeat(100_000)),
        expect![[r#"
        exit 2
        err | liveset: body.json: depth of nesting at byte 1543 is over the limit of 512
    "#]],
    );
}

#[test]
fn a_body_that_fits_two_formats() {
    check(
        r#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}"#,
        expect![[r#"
            exit 2
            err | liveset: body.json: the body's wire format is unclear: plain messages fit both `anthropic` and `openai-chat`
            err | hint: say which it is with --format: anthropic, openai-chat, openai-responses, claude-code, codex, swe-agent, pi, tau2, gemini, openhands, inspect, langchain, intercode, anthropic-messages, openai-chat-messages, openai-responses-items
        "#]],
    );
}

#[test]
fn json_that_is_no_body() {
    check(
        r#"{"name":"liveset","version":1}"#,
        expect![[r#"
            exit 2
            err | liveset: body.json: the body's wire format is unclear: it holds neither `messages` nor `input`
            err | hint: say which it is with --format: anthropic, openai-chat, openai-responses, claude-code, codex, swe-agent, pi, tau2, gemini, openhands, inspect, langchain, intercode, anthropic-messages, openai-chat-messages, openai-responses-items
        "#]],
    );
    check(
        "[1,2,3]",
        expect![[r#"
            exit 2
            err | liveset: body.json: the body's wire format is unclear: plain messages fit both `anthropic` and `openai-chat`
            err | hint: say which it is with --format: anthropic, openai-chat, openai-responses, claude-code, codex, swe-agent, pi, tau2, gemini, openhands, inspect, langchain, intercode, anthropic-messages, openai-chat-messages, openai-responses-items
        "#]],
    );
    check(
        "null",
        expect![[r#"
            exit 2
            err | liveset: body.json: the body's wire format is unclear: it is neither an object nor a list of messages
            err | hint: say which it is with --format: anthropic, openai-chat, openai-responses, claude-code, codex, swe-agent, pi, tau2, gemini, openhands, inspect, langchain, intercode, anthropic-messages, openai-chat-messages, openai-responses-items
        "#]],
    );
}

#[test]
fn a_format_that_the_body_does_not_have() {
    let place = Place::with("body.json", r#"{"model":"gpt-4.1","messages":"hi"}"#);
    check_words(
        &place,
        "compact body.json --format openai-chat",
        expect![[r#"
        exit 2
        err | liveset: body.json: `messages` at byte 30 is a string, expected an array
        err | hint: is `--format` the right one?
    "#]],
    );
    check_words(
        &place,
        "compact body.json --format openai-responses",
        expect![[r#"
        exit 2
        err | liveset: body.json: `input` is missing from the object at byte 0
        err | hint: is `--format` the right one?
    "#]],
    );
    check_words(
        &place,
        "compact body.json --format claude-code",
        expect![[r#"
        exit 2
        err | liveset: body.json: no conversation found, expected lines of type `user` or `assistant` with a `message`
    "#]],
    );
}

#[test]
fn a_model_that_nobody_knows() {
    let place = Place::with("body.json", r#"{"model":"nobody-7b","messages":[{"role":"user","content":"hi"}]}"#);
    check_words(
        &place,
        "compact body.json --format openai-chat",
        expect![[r#"
        exit 2
        err | liveset: body.json: model `nobody-7b` is not in the model table and no window is set
        err | hint: name a window with --window TOKENS, or a known model with --model NAME
    "#]],
    );
    assert_eq!(place.run("compact body.json --format openai-chat --window 1000").code, 0);
    assert_eq!(place.run("compact body.json --format openai-chat --default-window 1000").code, 0);
    assert_eq!(place.run("compact body.json --format openai-chat --model gpt-4.1").code, 0);
}

#[test]
fn a_file_name_moves_no_cursor() {
    const NAME: &str = "a\nb\u{1b}[2J";
    const SHOWN: &str = r"a\nb\u{1b}[2J";
    let says = |place: &Place, words: &[&str]| {
        let (first, rest) = words.split_first().unwrap();
        let run = place.command(first).args(rest).output().unwrap();
        String::from_utf8([run.stdout, run.stderr].concat()).unwrap()
    };
    let missing = says(&Place::new(), &["compact", NAME]);
    assert_eq!(missing, format!("liveset: cannot read `{SHOWN}`: no such file or directory\n"));
    let body = r#"{"model":"gpt-4.1","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}"#;
    let text = "trigger = 90\n";
    for (content, words) in [
        (body, vec!["check", NAME, "--format", "openai-chat"]),
        (body, vec!["restore", "other.json", "--archive", NAME]),
        (body, vec!["doctor", "--archive", NAME]),
        (body, vec!["diff", NAME, "other.json"]),
        (text, vec!["doctor", "--policy", NAME]),
        (text, vec!["policy", "show", "--policy", NAME]),
        (body, vec!["policy", "check", NAME]),
        ("", vec!["inspect", NAME]),
    ] {
        let place = Place::with(NAME, content);
        place.write("other.json", body.replace(r#""x""#, r#""y""#));
        let said = says(&place, &words);
        assert!(said.contains(SHOWN) && !said.contains('\u{1b}') && !said.contains("a\nb"), "{words:?}: {said}");
    }
}

#[test]
fn a_model_that_nobody_names() {
    let line = r#"{"type":"user","uuid":"1","parentUuid":null,"message":{"role":"user","content":"hi"}}"#;
    let place = Place::with("trace.jsonl", format!("{line}\n"));
    check_words(
        &place,
        "compact trace.jsonl --format claude-code",
        expect![[r#"
        exit 2
        err | liveset: trace.jsonl: no model is named and no window is set
        err | hint: name a window with --window TOKENS, or a known model with --model NAME
    "#]],
    );
}
