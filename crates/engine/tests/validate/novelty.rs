//! Is a defect that was there before told apart from a new one?

use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{Code, Defect, Epoch, MAX_DEFECTS_PER_CODE, new_defects};

use super::{check, check_against};

fn defects(paths: &[&str]) -> Vec<Defect> {
    let defect = |(place, path): (usize, &&str)| Defect {
        offset: place,
        code: Code::EmptyText,
        path: (*path).to_owned(),
        message: "a block of blank text",
    };
    paths.iter().enumerate().map(defect).collect()
}

fn new_paths(before: &[&str], after: &[&str]) -> Vec<String> {
    new_defects(&defects(before), &defects(after)).into_iter().map(|defect| defect.path).collect()
}

#[test]
fn a_defect_that_moved_is_not_new() {
    assert_eq!(new_paths(&["messages[7].content[1]"], &["messages[3].content[0]"]), [""; 0]);
    assert_eq!(new_paths(&["messages[7]", "messages[9]"], &["messages[3]"]), [""; 0]);
}

#[test]
fn one_more_is_new_where_the_body_was_sound() {
    assert_eq!(new_paths(&["messages[7]"], &["messages[3]", "messages[7]"]), ["messages[3]"]);
    assert_eq!(new_paths(&[], &["messages[3]"]), ["messages[3]"]);
}

#[test]
fn the_same_code_elsewhere_is_new() {
    assert_eq!(new_paths(&["messages[7]"], &["system[7]"]), ["system[7]"]);
    let mut other = defects(&["messages[7]"]);
    other[0].code = Code::OrphanResult;
    assert_eq!(new_defects(&other, &defects(&["messages[7]"])).len(), 1);
}

#[test]
fn a_second_answer_whose_call_is_gone_is_no_new_defect_and_a_first_one_is() {
    let of = |code: Code, paths: &[&str]| -> Vec<Defect> {
        defects(paths).into_iter().map(|defect| Defect { code, ..defect }).collect()
    };
    for loose in [Code::DuplicateResult, Code::ResultNotAdjacent] {
        let before = of(loose, &["messages[7]"]);
        assert_eq!(new_defects(&before, &of(Code::OrphanResult, &["messages[3]"])), []);
        assert_eq!(new_defects(&before, &of(Code::OrphanResult, &["messages[3]", "messages[5]"])).len(), 1);
        // One that still is what it was explains no other.
        let after = [of(loose, &["messages[3]"]), of(Code::OrphanResult, &["messages[5]"])].concat();
        assert_eq!(new_defects(&before, &after).len(), 1);
    }
    assert_eq!(
        new_defects(&of(Code::OrphanResult, &["messages[7]"]), &of(Code::DuplicateResult, &["messages[3]"])).len(),
        1
    );
}

#[test]
fn a_code_at_its_limit_explains_any_number() {
    let full = vec!["messages[1]"; MAX_DEFECTS_PER_CODE];
    assert_eq!(new_paths(&full, &["system[7]"]), [""; 0]);
    assert_eq!(new_paths(&full[1..], &["system[7]"]), ["system[7]"]);
}

/// Many halves of pairs in one text, or many marks in `tools`, must not push a later one out of the list of what was there.
#[test]
fn a_value_full_of_one_fault_hides_no_other() {
    let many = 2 * MAX_DEFECTS_PER_CODE;
    let halves = r"\ud83d ".repeat(many);
    let tool = |ttl: &str| format!(r#"{{"name":"f","input_schema":{{}},"cache_control":{{"ttl":"{ttl}"}}}}"#);
    let tools = [vec![tool("5m")], vec![tool("1h"); many]].concat().join(",");
    let body = |result: &str| {
        format!(
            r#"{{"tools":[{tools}],"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"{result}"}},{{"type":"text","text":"half \ud83d","cache_control":{{"ttl":"1h"}}}}]}}]}}"#
        )
    };
    let (original, output) = (body(&halves), body("[cut]"));
    let before = check(WireFormat::Anthropic, &original);
    let count = |code| before.iter().filter(|defect| defect.code == code).count();
    assert_eq!((count(Code::LoneSurrogate), count(Code::TtlOrder)), (2, 2));
    let after = check_against(WireFormat::Anthropic, &original, &output, Epoch::Declared);
    assert_eq!(new_defects(&before, &after), []);
}

#[test]
fn a_path_shows_no_key_that_a_client_made_up() {
    let body = r#"{"messages":[{"role":"user","content":"a","two\nlines":"\ud83d","a.b[0]":["\ud83d"]}]}"#;
    let paths: Vec<String> = check(WireFormat::OpenaiChat, body).into_iter().map(|defect| defect.path).collect();
    assert_eq!(paths, ["messages[0].?2", "messages[0].?3"]);
}
