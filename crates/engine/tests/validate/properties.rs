//! Does the validator end, in bounds, on anything that is JSON?

use liveset_engine::json::Outline;
use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{self, Code, Epoch, MAX_DEFECTS_PER_CODE};
use proptest::prelude::*;
use serde_json::Value;

/// Words that mean something to some rule.
const WORDS: &str = "|a|b| |user|assistant|system|developer|tool|text|thinking|tool_use|tool_result|server_tool_use|\
    web_search_tool_result|web_search_result|document|compaction|compaction_trigger|item_reference|reasoning|\
    function_call|function_call_output|message|mcp_approval_request|mcp_approval_response|tool_reference|\
    tool_addition|tool_search_call|client|1h|ephemeral|{}|char_location|output_text|input_text|function|\\ud83d";

/// Keys that some rule asks for.
const KEYS: &str = "messages|input|role|type|content|text|id|call_id|tool_use_id|tool_call_id|tool_calls|function|\
    custom|name|arguments|output|tools|system|cache_control|ttl|citations|url|document_index|is_error|signature|store|\
    caller|tool_id|encrypted_content|approval_request_id|reasoning_content|execution|previous_response_id|\
    prompt_cache_breakpoint|instructions|reasoning";

fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words.split('|').collect::<Vec<_>>())
}

fn json() -> impl Strategy<Value = String> {
    let word = one_of(WORDS).prop_map(|word| format!("\"{word}\""));
    let leaf =
        prop_oneof![4 => word, 1 => one_of("null|true|false|0|-1e9|18446744073709551616").prop_map(str::to_owned)];
    leaf.prop_recursive(6, 96, 8, |inner| {
        let member = (one_of(KEYS), inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            3 => prop::collection::vec(member, 0..8).prop_map(|members| format!("{{{}}}", members.join(","))),
            2 => prop::collection::vec(inner, 0..8).prop_map(|elements| format!("[{}]", elements.join(","))),
        ]
    })
}

fn list(inner: impl Strategy<Value = String>, most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(inner, 0..most).prop_map(|elements| format!("[{}]", elements.join(",")))
}

/// A list of messages whose fields are more often of the right kind.
fn messages() -> impl Strategy<Value = String> {
    let id = || one_of("a|b|c");
    let block = prop_oneof![
        id().prop_map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#)),
        id().prop_map(|id| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}"#)),
        (one_of(WORDS), one_of(WORDS)).prop_map(|(kind, text)| format!(r#"{{"type":"{kind}","text":"{text}"}}"#)),
        id().prop_map(|id| format!(r#"{{"type":"thinking","thinking":"","signature":"{id}"}}"#)),
        json(),
    ];
    let call = id().prop_map(|id| format!(r#"{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}"#));
    let message = prop_oneof![
        (one_of(WORDS), list(block, 4), list(call, 3)).prop_map(|(role, content, calls)| {
            format!(r#"{{"role":"{role}","content":{content},"tool_calls":{calls}}}"#)
        }),
        id().prop_map(|id| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#)),
        (one_of(WORDS), id(), one_of(WORDS)).prop_map(|(kind, id, text)| {
            format!(
                r#"{{"type":"{kind}","call_id":"{id}","id":"{id}","encrypted_content":"{text}","output":"{text}"}}"#
            )
        }),
        json(),
    ];
    list(message, 10)
}

fn body() -> impl Strategy<Value = String> {
    let request = (messages(), json()).prop_map(|(list, tools)| {
        format!(r#"{{"tools":{tools},"messages":{list},"input":{list},"cache_control":{{"ttl":"1h"}}}}"#)
    });
    prop_oneof![json(), messages(), request]
}

fn is_in_order(defects: &[validate::Defect], len: usize) -> bool {
    defects.is_sorted() && defects.iter().all(|defect| defect.offset < len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_two_bodies_end_with_few_defects_in_order(original in body(), output in body()) {
        let (before, after) = (Outline::read(original.as_bytes()).unwrap(), Outline::read(output.as_bytes()).unwrap());
        for format in WireFormat::ALL {
            let defects = validate::check(format, &after);
            prop_assert!(is_in_order(&defects, output.len()));
            for epoch in [Epoch::Declared, Epoch::Undeclared] {
                let changed = validate::check_against(format, &before, &after, epoch);
                prop_assert!(is_in_order(&changed, output.len()));
                prop_assert!(changed.len() <= 2 * Code::ALL.len() * MAX_DEFECTS_PER_CODE);
                // A change has all defects that its output has.
                let same = |defect: &validate::Defect| {
                    changed.iter().any(|other| (other.code, &other.path) == (defect.code, &defect.path))
                };
                prop_assert!(defects.iter().all(same));
            }
        }
    }

    #[test]
    fn a_body_held_against_itself_has_nothing_more(body in body()) {
        let outline = Outline::read(body.as_bytes()).unwrap();
        for format in WireFormat::ALL {
            let defects = validate::check(format, &outline);
            let again = validate::check_against(format, &outline, &outline, Epoch::Undeclared);
            prop_assert_eq!(&defects, &again);
            prop_assert!(validate::new_defects(&defects, &again).is_empty());
        }
    }

    /// Spacing, escapes and the form of numbers mean nothing to a provider; serde_json writes them anew.
    #[test]
    fn a_body_written_anew_has_the_same_defects(body in body()) {
        let Ok(value) = serde_json::from_str::<Value>(&body) else { return Ok(()) };
        let anew = serde_json::to_string_pretty(&value).unwrap();
        for format in WireFormat::ALL {
            let places = |text: &str| {
                let defects = validate::check(format, &Outline::read(text.as_bytes()).unwrap());
                let mut places: Vec<_> = defects.into_iter().map(|defect| (defect.code, defect.path)).collect();
                places.sort();
                places
            };
            prop_assert_eq!(places(&body), places(&anew));
        }
    }
}

#[test]
fn nesting_as_deep_as_is_read_ends() {
    for (open, close) in [("[", "]"), (r#"{"content":"#, "}"), (r#"{"content":["#, "]}")] {
        let depth = liveset_engine::json::MAX_DEPTH / open.matches(['[', '{']).count() - 2;
        let inner = format!("{}\"\\ud83d\"{}", open.repeat(depth), close.repeat(depth));
        let body = format!(r#"{{"messages":[{inner}],"input":[{inner}]}}"#);
        let outline = Outline::read(body.as_bytes()).unwrap();
        for format in WireFormat::ALL {
            let defects = validate::check_against(format, &outline, &outline, Epoch::Undeclared);
            assert!(defects.iter().any(|defect| defect.code == Code::LoneSurrogate));
        }
    }
}
