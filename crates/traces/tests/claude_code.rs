#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip"
)]

//! The shared Claude Code traces at every request point. They lie outside the repository; see `LIVESET_TRACES`.

mod shared;

use std::collections::BTreeSet;
use std::fs;

use liveset_traces::{Conversation, Detection, Fidelity, Trace, TraceFormat, detect};

const NAMES: [&str; 8] = [
    "agentcmd-session-four",
    "entire-cli-a",
    "entire-cli-b",
    "entire-cli-compacted-bash-heavy",
    "entire-cli-compacted-twice",
    "kimi-cli-dev-images",
    "kimi-cli-dev-tasks",
    "vscode-copilot-chat-fixture",
];

fn bytes_of(name: &str) -> Option<Vec<u8>> {
    let path = shared::traces()?.join("claude-code").join(format!("{name}.jsonl"));
    Some(fs::read(path).expect("the trace is there"))
}

fn read(name: &str) -> Option<Trace> {
    let bytes = bytes_of(name)?;
    assert_eq!(detect(&bytes), Detection::Trace(TraceFormat::ClaudeCode), "{name}");
    Some(Trace::read(TraceFormat::ClaudeCode, &bytes).expect("the trace reads"))
}

fn all_blocks(conversation: &Conversation) -> Vec<shared::Block> {
    (0..conversation.histories()).flat_map(|at| shared::blocks(&conversation.history(at).unwrap())).collect()
}

#[test]
fn bodies_keep_the_laws_at_every_request_point() {
    for name in NAMES {
        let Some(trace) = read(name) else { return };
        for conversation in trace.conversations() {
            shared::check_anthropic(name, conversation);
            assert_eq!(conversation.fidelity(), Fidelity::ModelVisible);
            assert!(conversation.model().is_some_and(|model| model.starts_with("claude")), "{name}");
        }
    }
}

#[test]
fn every_block_is_a_slice_of_the_file() {
    for name in NAMES {
        let (Some(bytes), Some(trace)) = (bytes_of(name), read(name)) else { return };
        let mut known: BTreeSet<String> = BTreeSet::new();
        for line in std::str::from_utf8(&bytes).unwrap().lines() {
            let relayed = shared::member(line, "data").and_then(|data| shared::member(&data, "message"));
            let holder = relayed.as_deref().unwrap_or(line);
            let Some(content) =
                shared::member(holder, "message").and_then(|message| shared::member(&message, "content"))
            else {
                continue;
            };
            let blocks = if content.starts_with('[') { shared::list(&content) } else { vec![content] };
            known.extend(blocks);
        }
        for block in trace.conversations().iter().flat_map(all_blocks) {
            let plain = shared::member(&block.raw, "text").is_some_and(|text| known.contains(&text));
            assert!(plain || known.contains(&block.raw), "{name}: a block of message {}", block.message);
        }
    }
}

#[test]
fn a_compaction_by_the_client_opens_a_history_with_its_summary() {
    for (name, compactions) in [("entire-cli-compacted-twice", 2), ("entire-cli-compacted-bash-heavy", 1)] {
        let Some(trace) = read(name) else { return };
        let main = trace.agent("main").unwrap();
        assert_eq!((main.histories(), main.boundaries().len()), (compactions + 1, compactions), "{name}");
        for point in main.boundaries() {
            let blocks = shared::blocks(&main.body_at(point).unwrap());
            assert!(blocks.len() == 1 && blocks[0].raw.contains("This session is being continued"), "{name} {point}");
        }
    }
}

#[test]
fn side_chains_carried_by_progress_lines_are_conversations() {
    for (name, agents) in [("entire-cli-compacted-bash-heavy", 2), ("kimi-cli-dev-images", 3)] {
        let Some(trace) = read(name) else { return };
        let side: Vec<&Conversation> = trace.conversations().iter().filter(|side| side.agent() != "main").collect();
        assert_eq!(side.len(), agents, "{name}");
        assert!(side.iter().all(|side| side.request_points() > 1 && side.warnings().is_empty()), "{name}");
    }
}
