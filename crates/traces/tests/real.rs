#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop where something is wrong, and say what they skip"
)]

//! The shared Claude Code traces at every request point. They lie outside the repository; see `LIVESET_TRACES`.

use std::{collections::BTreeSet, fs, path::PathBuf};

use liveset_traces::{Conversation, Detection, Trace, TraceFormat, detect};
use serde_json::Value;

/// Items and calls that the shared manifest counts per file.
const MANIFEST: [(&str, i64, i64); 8] = [
    ("agentcmd-session-four", 82, 27),
    ("entire-cli-a", 390, 129),
    ("entire-cli-b", 260, 78),
    ("entire-cli-compacted-bash-heavy", 900, 247),
    ("entire-cli-compacted-twice", 771, 224),
    ("kimi-cli-dev-images", 211, 72),
    ("kimi-cli-dev-tasks", 98, 39),
    ("vscode-copilot-chat-fixture", 58, 25),
];

fn folder() -> Option<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    if folder.is_dir() {
        return Some(folder.join("claude-code"));
    }
    eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", folder.display());
    None
}

fn read(name: &str) -> Option<Trace> {
    let bytes = fs::read(folder()?.join(format!("{name}.jsonl"))).expect("the trace is there");
    assert_eq!(detect(&bytes), Detection::Trace(TraceFormat::ClaudeCode), "{name}");
    Some(Trace::read(TraceFormat::ClaudeCode, &bytes).expect("the trace reads"))
}

fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![text.clone()],
    }
}

#[test]
fn items_and_calls_are_those_of_the_manifest() {
    let mut differences = Vec::new();
    for (name, items, calls) in MANIFEST {
        let Some(trace) = read(name) else { return };
        let main = &trace.conversations()[0];
        let (mut found_items, mut found_calls) = (0_i64, 0_i64);
        for history in 0..main.histories() {
            let body: Value = serde_json::from_slice(&main.history(history).unwrap()).unwrap();
            for block in body["messages"].as_array().unwrap().iter().flat_map(blocks) {
                found_items += 1;
                found_calls += i64::from(block["type"] == "tool_use");
            }
        }
        let left_out: i64 = LEFT_OUT.iter().filter(|(file, ..)| *file == name).map(|(_, count, _)| count).sum();
        differences.push((name, items - found_items - left_out, calls - found_calls, main.warnings().to_vec()));
    }
    differences.retain(|(_, items, calls, _)| (*items, *calls) != (0, 0));
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Items that the manifest counts and a body leaves out (or, below zero, the other way round), with the reason.
const LEFT_OUT: [(&str, i64, &str); 9] = [
    ("agentcmd-session-four", 1, "a meta line"),
    ("entire-cli-a", 1, "a meta line"),
    ("entire-cli-a", 1, "a reply made up by the client"),
    ("entire-cli-b", 1, "a meta line"),
    ("entire-cli-compacted-bash-heavy", 4, "meta lines"),
    ("entire-cli-compacted-twice", 2, "a meta line and a reply made up by the client"),
    ("entire-cli-compacted-twice", 2, "user texts on abandoned branches"),
    ("kimi-cli-dev-images", -1, "a picture beside a text is an item of its own"),
    ("vscode-copilot-chat-fixture", 1, "a meta line"),
];

#[test]
fn bodies_are_what_a_provider_takes_and_extend_each_other() {
    for (name, ..) in MANIFEST {
        let Some(trace) = read(name) else { return };
        for conversation in trace.conversations() {
            check_bodies(name, conversation);
        }
    }
}

fn check_bodies(name: &str, conversation: &Conversation) {
    let boundaries: BTreeSet<usize> = conversation.boundaries().into_iter().collect();
    let mut before: Vec<Value> = Vec::new();
    for point in 0..conversation.request_points() {
        let body: Value = serde_json::from_slice(&conversation.body_at(point).unwrap()).expect("a body is JSON");
        let messages = body["messages"].as_array().unwrap();
        check_pairs(name, point, messages);
        let items: Vec<Value> = messages
            .iter()
            .flat_map(|message| {
                blocks(message).into_iter().map(|block| match block {
                    Value::String(text) => serde_json::json!({"type": "text", "text": text}),
                    other => other,
                })
            })
            .collect();
        if !boundaries.contains(&point) {
            assert!(items.starts_with(&before), "{name}: body {point} does not extend the one before");
        }
        before = items;
    }
}

fn check_pairs(name: &str, point: usize, messages: &[Value]) {
    assert_eq!(messages[0]["role"], "user", "{name} {point}");
    for pair in messages.windows(2) {
        assert_ne!(pair[0]["role"], pair[1]["role"], "{name} {point}: roles take turns");
        let ids = |message: &Value, kind: &str, key: &str| -> Vec<String> {
            let of_kind = blocks(message).into_iter().filter(|block| block["type"] == kind);
            of_kind.map(|block| block[key].as_str().unwrap().to_owned()).collect()
        };
        let calls: BTreeSet<String> = ids(&pair[0], "tool_use", "id").into_iter().collect();
        let results = ids(&pair[1], "tool_result", "tool_use_id");
        assert!(results.iter().all(|id| calls.contains(id)), "{name} {point}: a result without its call");
        let first_other = blocks(&pair[1]).iter().position(|block| block["type"] != "tool_result");
        let results_after = blocks(&pair[1]).iter().rposition(|block| block["type"] == "tool_result");
        if let (Some(other), Some(result)) = (first_other, results_after) {
            assert!(result < other, "{name} {point}: results come first");
        }
    }
}

#[test]
fn a_trace_cut_anywhere_is_read_or_refused_in_one_line() {
    let Some(folder) = folder() else { return };
    let bytes = fs::read(folder.join("agentcmd-session-four.jsonl")).expect("the trace is there");
    for cut in (0..bytes.len()).step_by(997) {
        match Trace::read(TraceFormat::ClaudeCode, &bytes[..cut]) {
            Ok(trace) => assert!(!trace.conversations().is_empty()),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
}
