//! The smallest body with each defect, beside a neighbour that has none.

mod anthropic;
mod openai;
mod pairing;

use liveset_engine::transcript::WireFormat::{self, Anthropic, OpenaiChat};
use liveset_engine::validate::Code;

use super::{check, codes as codes_of};

/// A body that has just this defect at this path, and its sound neighbour.
struct Case {
    code: Code,
    format: WireFormat,
    path: &'static str,
    broken: String,
    sound: String,
}

fn case(code: Code, format: WireFormat, path: &'static str, broken: &str, sound: &str) -> Case {
    Case { code, format, path, broken: broken.to_owned(), sound: sound.to_owned() }
}

pub(crate) fn codes() -> Vec<Code> {
    cases().iter().map(|case| case.code).collect()
}

fn cases() -> Vec<Case> {
    let anthropic = [anthropic::messages(), anthropic::references(), anthropic::marks(), anthropic::limits()];
    let openai = [openai::chat(), openai::responses()];
    pairing::cases().into_iter().chain(anthropic.into_iter().flatten()).chain(openai.into_iter().flatten()).collect()
}

/// A user's word.
const ASK: &str = r#"{"role":"user","content":"go"}"#;
/// A reply without calls.
const SAY: &str = r#"{"role":"assistant","content":"ok"}"#;

/// An Anthropic message.
fn message(role: &str, blocks: &[&str]) -> String {
    format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
}

fn list(messages: &[&str]) -> String {
    format!("[{}]", messages.join(","))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn tool_use(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#)
}

fn tool_result(id: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}"#)
}

/// A Chat message with calls.
fn calls(ids: &[&str]) -> String {
    let call = |id: &&str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let calls: Vec<String> = ids.iter().map(call).collect();
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn tool(id: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#)
}

fn function_call(id: &str) -> String {
    format!(r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#)
}

fn output(id: &str) -> String {
    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"ok"}}"#)
}

#[test]
fn each_broken_body_has_its_one_defect_and_its_neighbour_none() {
    for case in cases() {
        let defects = check(case.format, &case.broken);
        let found: Vec<(Code, &str)> = defects.iter().map(|defect| (defect.code, defect.path.as_str())).collect();
        let shown: String = case.broken.chars().take(400).collect();
        assert_eq!(found, [(case.code, case.path)], "{shown}");
        let shown: String = case.sound.chars().take(400).collect();
        assert_eq!(codes_of(&check(case.format, &case.sound)), [], "{shown}");
    }
}

#[test]
fn the_offset_is_that_of_the_named_value() {
    let body = list(&[ASK, &message("assistant", &[&tool_use("a")]), ASK]);
    let defects = check(Anthropic, &body);
    assert_eq!(body.find(&tool_use("a")), Some(defects[0].offset));
}

#[test]
fn blank_marked_text_is_two_defects() {
    let block = r#"{"type":"text","text":"","cache_control":{"type":"ephemeral"}}"#;
    let defects = check(Anthropic, &list(&[&message("user", &[block, &text("go")])]));
    assert_eq!(codes_of(&defects), [Code::EmptyText, Code::MarkOnBadBlock]);
}

#[test]
fn a_pattern_is_shown_by_its_first_defects_only() {
    let orphan = tool("a");
    let body = list(&vec![orphan.as_str(); 1_000]);
    assert_eq!(check(OpenaiChat, &body).len(), liveset_engine::validate::MAX_DEFECTS_PER_CODE);
}
