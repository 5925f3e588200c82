use super::*;
use crate::wire;

fn codes(format: WireFormat, body: &str) -> Vec<&'static str> {
    let outline = Outline::read(body.as_bytes()).unwrap();
    check(&wire::read(format, &outline).unwrap()).into_iter().map(|defect| defect.code.name()).collect()
}

fn anthropic(messages: &str) -> Vec<&'static str> {
    codes(WireFormat::Anthropic, &format!(r#"{{"messages":[{messages}]}}"#))
}

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}"#;
const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;

#[test]
fn a_whole_exchange_has_no_defect() {
    assert!(anthropic(&format!("{ASK},{CALL},{RESULT}")).is_empty());
    assert!(anthropic(&format!("{ASK},{CALL}")).is_empty(), "the newest call may be open");
}

#[test]
fn each_defect_has_its_code() {
    assert_eq!(anthropic(&format!("{ASK},{CALL},{ASK}")), ["unpaired_call"]);
    assert_eq!(anthropic(&format!("{ASK},{RESULT}")), ["orphan_result"]);
    assert_eq!(anthropic(&format!("{ASK},{CALL},{RESULT},{RESULT}")), ["duplicate_result"]);
    assert_eq!(anthropic(&format!("{CALL},{RESULT}")), ["first_role"]);
    assert_eq!(anthropic(&format!("{ASK},{CALL},{ASK},{RESULT}")), ["result_not_adjacent"]);
    assert_eq!(anthropic(r#"{"role":"user","content":[{"type":"text","text":" \n"}]}"#), ["empty_text"]);
    let late = RESULT.replace(r#"[{"type":"tool"#, r#"[{"type":"text","text":"x"},{"type":"tool"#);
    assert_eq!(anthropic(&format!("{ASK},{CALL},{late}")), ["results_not_first"]);
    let picture = RESULT.replace(r#""content":"x""#, r#""is_error":true,"content":[{"type":"image","source":{}}]"#);
    assert_eq!(anthropic(&format!("{ASK},{CALL},{picture}")), ["media_inside_is_error"]);
}

#[test]
fn openai_bodies_have_limits_of_their_own() {
    let id = "x".repeat(41);
    let chat = format!(
        r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"t","arguments":"[1]"}}}}]}},{{"role":"tool","tool_call_id":"{id}","content":"x"}}]}}"#
    );
    assert_eq!(codes(WireFormat::OpenaiChat, &chat), ["arguments_not_an_object", "id_too_long"]);
    let responses = r#"{"input":[{"type":"reasoning","id":"r"},{"role":"user","content":"x"}]}"#;
    assert_eq!(codes(WireFormat::OpenaiResponses, responses), ["reasoning_without_follower"]);
}

#[test]
fn a_broken_body_gets_no_new_defect_by_being_the_same() {
    let body = format!(r#"{{"messages":[{ASK},{RESULT}]}}"#);
    let outline = Outline::read(body.as_bytes()).unwrap();
    let defects = check(&wire::read(WireFormat::Anthropic, &outline).unwrap());
    assert!(new_defects(&defects, &defects).is_empty());
    assert_eq!(new_defects(&[], &defects).len(), 1);
}
