//! Bodies written by letters: one for each block (Anthropic), message (Chat) or item (Responses).

use liveset_engine::transcript::WireFormat::{self, Anthropic, OpenaiChat, OpenaiResponses};

/// Writes a body. In Anthropic bodies `U` and `A` open a message of the user and of the assistant.
pub(super) fn body(format: WireFormat, letters: &str) -> String {
    let Anthropic = format else {
        let elements: Vec<&str> = letters.chars().map(|letter| element(format, letter)).collect();
        return format!("[{}]", elements.join(","));
    };
    let mut messages: Vec<(&str, Vec<&str>)> = Vec::new();
    for letter in letters.chars() {
        match letter {
            'U' => messages.push(("user", Vec::new())),
            'A' => messages.push(("assistant", Vec::new())),
            _ => messages.last_mut().unwrap().1.push(element(format, letter)),
        }
    }
    let message =
        |(role, blocks): &(&str, Vec<&str>)| format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","));
    format!("[{}]", messages.iter().map(message).collect::<Vec<_>>().join(","))
}

fn element(format: WireFormat, letter: char) -> &'static str {
    let found = match format {
        Anthropic => anthropic(letter),
        OpenaiChat => chat(letter),
        OpenaiResponses => responses(letter),
    };
    assert!(found.is_some(), "no element `{letter}` in {format:?}");
    found.unwrap()
}

fn anthropic(letter: char) -> Option<&'static str> {
    Some(match letter {
        'g' => r#"{"type":"text","text":"go"}"#,
        'h' => r#"{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}"#,
        'o' => r#"{"type":"text","text":"ok"}"#,
        // Thinking; another text under its signature; two other blocks.
        't' => r#"{"type":"thinking","thinking":"t","signature":"s1"}"#,
        'x' => r#"{"type":"thinking","thinking":"x","signature":"s1"}"#,
        'v' => r#"{"type":"thinking","thinking":"v","signature":"s2"}"#,
        'y' => r#"{"type":"thinking","thinking":"y","signature":"s9"}"#,
        'c' => r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#,
        'd' => r#"{"type":"tool_use","id":"b","name":"f","input":{}}"#,
        // Results of `c`: whole, as another writer puts it, cut, blank, marked, loading a tool.
        'r' => r#"{"type":"tool_result","tool_use_id":"a","content":"long A"}"#,
        'q' => r#"{ "type": "tool_result", "tool_use_id": "\u0061", "content": "long \u0041" }"#,
        'k' => r#"{"type":"tool_result","tool_use_id":"a","content":"cut"}"#,
        'n' => r#"{"type":"tool_result","tool_use_id":"a","content":""}"#,
        'm' => r#"{"type":"tool_result","tool_use_id":"a","content":"long A","cache_control":{"type":"ephemeral"}}"#,
        'l' => r#"{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"g"}]}"#,
        // Results of `d`: whole, loading the same tool.
        'z' => r#"{"type":"tool_result","tool_use_id":"b","content":"long B"}"#,
        'j' => r#"{"type":"tool_result","tool_use_id":"b","content":[{"type":"tool_reference","tool_name":"g"}]}"#,
        'p' => r#"{"type":"compaction","content":"c","encrypted_content":"e"}"#,
        'e' => r#"{"type":"compaction","content":"d","encrypted_content":"e"}"#,
        // A server tool's call, its result, that result cut.
        'w' => r#"{"type":"server_tool_use","id":"w","name":"web_search","input":{}}"#,
        'f' => {
            r#"{"type":"web_search_tool_result","tool_use_id":"w","content":[{"type":"web_search_result","url":"u"}]}"#
        }
        'b' => r#"{"type":"web_search_tool_result","tool_use_id":"w","content":[]}"#,
        _ => return None,
    })
}

fn chat(letter: char) -> Option<&'static str> {
    Some(match letter {
        'g' => r#"{"role":"user","content":"go"}"#,
        'o' => r#"{"role":"assistant","content":"ok"}"#,
        'n' => r#"{"role":"assistant","content":""}"#,
        't' => r#"{"role":"assistant","reasoning_content":"t","content":"ok"}"#,
        'x' => r#"{"role":"assistant","reasoning_content":"x","content":"ok"}"#,
        'c' => {
            r#"{"role":"assistant","content":null,
                "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#
        }
        // Results: whole, cut, blank.
        'r' => r#"{"role":"tool","tool_call_id":"a","content":"long"}"#,
        'k' => r#"{"role":"tool","tool_call_id":"a","content":"cut"}"#,
        'b' => r#"{"role":"tool","tool_call_id":"a","content":" "}"#,
        _ => return None,
    })
}

fn responses(letter: char) -> Option<&'static str> {
    Some(match letter {
        'g' => r#"{"role":"user","content":"go"}"#,
        'o' => r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}"#,
        't' => r#"{"type":"reasoning","id":"r1","encrypted_content":"t"}"#,
        'x' => r#"{"type":"reasoning","id":"r1","encrypted_content":"t","summary":[]}"#,
        'v' => r#"{"type":"reasoning","id":"r2","encrypted_content":"v"}"#,
        'c' => r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#,
        'r' => r#"{"type":"function_call_output","call_id":"a","output":"long"}"#,
        'k' => r#"{"type":"function_call_output","call_id":"a","output":"cut"}"#,
        'p' => r#"{"type":"compaction","encrypted_content":"p"}"#,
        'e' => r#"{"type":"compaction","encrypted_content":"e"}"#,
        _ => return None,
    })
}
