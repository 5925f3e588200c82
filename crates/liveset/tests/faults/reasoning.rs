//! Kind 6: signed or opaque blocks are altered.

use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::{case::Case, view::history};

/// Every reasoning block of a body as raw text, in order.
fn sealed(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8(body.to_vec()).expect("UTF-8");
    let starts = ["\"thinking\"", "\"redacted_thinking\"", "\"reasoning\""];
    let mut found = Vec::new();
    for (at, _) in text.match_indices("\"type\"") {
        let open = text[..at].rfind('{').expect("a block opens");
        let head = text[at..].get(..40).unwrap_or(&text[at..]);
        if starts.iter().any(|start| head.contains(start)) {
            found.push(text[open..].split_inclusive('}').next().unwrap_or_default().to_owned());
        }
    }
    found
}

fn log(name: &str) -> String {
    (0..60)
        .map(|at| {
            format!("2026-03-01T{:02}:00:00 INFO {name}: batch {at} accepted, lag {} ms\n", at % 24, at * 13 % 97)
        })
        .collect()
}

#[test]
fn f30_sealed_blocks_stay_also_when_a_sweep_is_forced() {
    let case = Case::read(Format::Anthropic, "F30");
    let out = case.about(900);
    assert!(!out.is_input());
    assert_eq!(sealed(&case.body), sealed(&out.body));
    assert_eq!(sealed(&case.body).len(), 3);
    let [before, after] = [history(case.format, &case.value()), history(out.format, &out.value())];
    assert_eq!(before.len(), after.len());
    let differs = before.iter().zip(&after).filter(|(old, new)| old != new);
    for (old, new) in differs {
        assert!(
            old["role"] == "user"
                && old["content"][0]["type"] == "tool_result"
                && new["content"][0]["type"] == "tool_result"
        );
    }
    assert_eq!(before[3], after[3], "the latest assistant message");
    let is_behind = !out.is_whole("toolu_71");
    assert_eq!(out.has_warning("reasoning_at_risk"), is_behind, "sealed reasoning follows an edit of the first result");
}

#[test]
fn f31_sealed_blocks_keep_their_spelling() {
    let thinking = r#"{"type":"thinking","thinking":"a \u2013 b\/c \ud83d\ude00 😀 \"x\"","signature":"Ev+Q/Dk\/=="}"#;
    let text = log("pool").replace('\n', "\\n");
    let call = |id: &str, seal: &str| {
        format!(
            r#"{{"role":"assistant","content":[{seal}{{"type":"tool_use","id":"{id}","name":"run","input":{{"cmd":"cat {id}"}}}}]}}"#
        )
    };
    let answer = |id: &str, text: &str| {
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#)
    };
    let body = format!(
        r#"{{"model":"claude-sonnet-4-5","max_tokens":1024,"messages":[{{"role":"user","content":"Find it."}},{},{},{},{}]}}"#,
        call("t1", &format!("{thinking},")),
        answer("t1", &text),
        call("t2", &format!("{thinking},")),
        answer("t2", "ok")
    );
    let case = Case { format: Format::Anthropic, body: body.into_bytes() };
    let out = case.at(700);
    assert!(!out.is_input() && !out.cannot_fit);
    assert_eq!(out.text().matches(thinking).count(), 2, "byte for byte");
}

#[test]
fn f32_reasoning_items_keep_their_partners() {
    let case = Case::read(Format::OpenaiResponses, "F32");
    let out = case.about(800);
    assert!(!out.is_input());
    let items = history(out.format, &out.value());
    let after = |id: &str| {
        let at = items.iter().position(|item| item["id"] == id)?;
        items.get(at + 1)?["id"].as_str().map(str::to_owned)
    };
    for (reasoning, partner) in [("rs_1", "fc_1"), ("rs_2", "msg_2"), ("rs_3", "fc_3")] {
        assert_eq!(after(reasoning).as_deref(), Some(partner));
    }
    let reasoning = |body: &Value| -> Vec<Value> {
        history(Format::OpenaiResponses, body).into_iter().filter(|item| item["type"] == "reasoning").collect()
    };
    assert_eq!(reasoning(&case.value()).len(), 3);
    assert_eq!(reasoning(&case.value()), reasoning(&out.value()), "encrypted content and ids");
}

#[test]
fn f33_no_assistant_message_is_left_with_reasoning_alone() {
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "The log first.", "signature": "EvQ="},
            {"type": "tool_use", "id": "t1", "name": "run", "input": {"cmd": "cat a.log"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": log("a")}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Nothing there."}]},
        {"role": "user", "content": "Look again."},
    ]});
    let case = Case::of(Format::Anthropic, &body);
    for window in [300, 400, 600] {
        let out = case.at(window);
        assert!(!out.is_input() && !out.cannot_fit, "{window}");
        for message in history(out.format, &out.value()).iter().filter(|message| message["role"] == "assistant") {
            let blocks = message["content"].as_array().expect("blocks");
            assert!(blocks.iter().any(|block| block["type"] != "thinking"));
        }
    }
}

#[test]
fn f34_reasoning_text_beside_a_kept_call_stays() {
    let said = "First the log, then the code. \u{2014} 100 %";
    let body = json!({"model": "gpt-4.1", "messages": [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": null, "reasoning_content": said, "x_provider": {"keep": 1}, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{\"cmd\": \"cat a.log\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": log("a")},
        {"role": "assistant", "content": null, "reasoning_content": "Now b.", "tool_calls": [
            {"id": "c2", "type": "function", "function": {"name": "run", "arguments": "{\"cmd\": \"cat b.log\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "c2", "content": "ok"},
        {"role": "user", "content": "And?"},
    ]});
    let out = Case::of(Format::OpenaiChat, &body).at(500);
    assert!(!out.is_input() && !out.cannot_fit);
    assert_eq!(out.value()["messages"][1], body["messages"][1]);
    assert_eq!(out.value()["messages"][3], body["messages"][3]);
}

#[test]
fn f84_a_signed_block_is_never_shortened_whatever_its_size() {
    let thought =
        "The pool is shared by both importers, and the second one never gives a slot back on its error path. "
            .repeat(20);
    let mut messages = vec![json!({"role": "user", "content": "Find the leak."})];
    for turn in 0..6 {
        let id = format!("t{turn}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("{turn}: {thought}"), "signature": format!("EvQ+{turn}/==")},
            {"type": "tool_use", "id": id, "name": "run", "input": {"cmd": format!("cat {turn}.log")}},
        ]}));
        messages.push(
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": log(&id)}]}),
        );
    }
    let case =
        Case::of(Format::Anthropic, &json!({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": messages}));
    for window in [1_500, 4_000, 6_000, 9_000] {
        let out = case.at(window);
        assert!(!out.is_input(), "{window}");
        let thoughts = |body: &Value| -> Vec<Value> {
            let all = history(Format::Anthropic, body);
            all.iter()
                .filter(|message| message["role"] == "assistant")
                .map(|message| message["content"][0].clone())
                .collect()
        };
        assert_eq!(thoughts(&case.value()), thoughts(&out.value()));
    }
}
