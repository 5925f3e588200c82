//! Kind 6: signed or opaque blocks are altered.

use liveset::{Preset, ReasoningGuard};
use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::{
    bench::size,
    case::{Case, policy},
    view::history,
};

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
    let case = Case::read(Format::Anthropic, "F31");
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
    let case = Case::read(Format::Anthropic, "F33");
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
    let case = Case::read(Format::OpenaiChat, "F34");
    let body = case.value();
    let out = case.at(500);
    assert!(!out.is_input() && !out.cannot_fit);
    assert_eq!(out.value()["messages"][1], body["messages"][1]);
    assert_eq!(out.value()["messages"][3], body["messages"][3]);
}

#[test]
fn f84_a_signed_block_is_never_shortened_whatever_its_size() {
    let case = Case::read(Format::Anthropic, "F84");
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

/// Blocks that are gone by an edit of their own, and how many signed ones left with a dropped batch is for the laws.
fn declared(report: &Value, kind: &str) -> usize {
    report["edits"].as_array().map_or(0, |edits| edits.iter().filter(|edit| edit["kind"] == kind).count())
}

/// The same conversation one turn on: the model answers, and the user goes on at length.
fn next_turn(case: &Case) -> Case {
    let mut body = case.value();
    let words = "Now look at the other importer, line by line. ".repeat(20);
    let added = [json!({"role": "assistant", "content": "Found."}), json!({"role": "user", "content": words})];
    body[case.format.history_field()].as_array_mut().expect("a list").extend(added);
    Case::of(case.format, &body)
}

#[test]
fn sealed_blocks_leave_whole_and_declared_or_stay_as_they_came_under_every_preset_and_mode() {
    let cases = [
        (Format::Anthropic, "F30"),
        (Format::Anthropic, "F31"),
        (Format::Anthropic, "F33"),
        (Format::Anthropic, "F84"),
        (Format::OpenaiChat, "F34"),
        (Format::OpenaiResponses, "F32"),
    ];
    let mut removed = 0;
    let cases = cases.into_iter().flat_map(|(format, number)| {
        let case = Case::read(format, number);
        let next = next_turn(&case);
        // Where the second turn begins, the body is over the window for the first time.
        let fits = size(format, &case.body) + 50;
        [(number, case, vec![300, 500, 900, 1_500, 4_000]), (number, next, vec![fits])]
    });
    for (number, case, windows) in cases {
        let (format, before) = (case.format, sealed(&case.body));
        for preset in Preset::ALL {
            for reasoning in [ReasoningGuard::Respect, ReasoningGuard::Keep, ReasoningGuard::Drop] {
                for &window in &windows {
                    let mut policy = policy(window);
                    policy.preset = preset;
                    policy.reasoning = reasoning;
                    let out = case.by_law(policy);
                    let after = sealed(&out.body);
                    let mut rest = before.iter();
                    let is_rest = after.iter().all(|block| rest.any(|was| was == block));
                    assert!(is_rest, "{number} {preset:?} {reasoning:?} {window}: byte for byte, in order");
                    let gone = declared(&out.report, "reasoning");
                    let drops = declared(&out.report, "drop");
                    assert!(drops > 0 || before.len() - after.len() == gone, "{number} {preset:?} {reasoning:?}");
                    assert!(gone == 0 || (format == Format::Anthropic && reasoning != ReasoningGuard::Keep));
                    removed += gone;
                }
            }
        }
    }
    assert!(removed > 0, "some block leaves by itself");
}
