#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip; the helpers serve several tests"
)]

//! The shared traces that are plain lists of messages, and what the other files are taken for.

mod shared;

use std::fs;

use liveset_traces::{Conversation, Detection, Trace, TraceFormat, detect};

/// File, format, conversations and calls as the shared manifest counts them.
const LISTS: [(&str, TraceFormat, usize, usize); 5] = [
    ("cline/session.messages.json", TraceFormat::AnthropicMessages, 1, 11),
    ("openai-chat/openhands-sdk-sonnet-log.json", TraceFormat::OpenaiChat, 1, 6),
    ("openai-chat/openhands-sdk-deepseek-log.json", TraceFormat::OpenaiChat, 1, 1),
    ("openai-chat/swe-smith-xml-tools.jsonl", TraceFormat::OpenaiChat, 3, 0),
    ("openai-chat/tau-bench-airline-gpt-4o-first-50.json", TraceFormat::OpenaiChat, 50, 282),
];

fn calls(conversation: &Conversation) -> usize {
    let body = String::from_utf8(conversation.history(0).unwrap()).unwrap();
    let messages = shared::list(&shared::member(&body, "messages").unwrap());
    let of_message = |message: &String| match shared::member(message, "tool_calls") {
        Some(calls) if calls != "null" => shared::list(&calls).len(),
        _ => message.matches("\"type\": \"tool_use\"").count(),
    };
    messages.iter().map(of_message).sum()
}

#[test]
fn lists_are_recognised_and_hold_what_the_manifest_counts() {
    let Some(folder) = shared::traces() else { return };
    for (name, format, conversations, expected) in LISTS {
        let bytes = fs::read(folder.join(name)).expect("the trace is there");
        assert_eq!(detect(&bytes), Detection::Trace(format), "{name}");
        let trace = Trace::read(format, &bytes).expect("the trace reads");
        assert_eq!(trace.conversations().len(), conversations, "{name}");
        assert_eq!(trace.conversations().iter().map(calls).sum::<usize>(), expected, "{name}");
        assert!(trace.conversations().iter().all(|conversation| conversation.warnings().is_empty()), "{name}");
    }
}

#[test]
fn bodies_of_lists_extend_each_other_and_hold_messages_as_they_stand() {
    let Some(folder) = shared::traces() else { return };
    for (name, format, ..) in LISTS {
        let bytes = fs::read(folder.join(name)).expect("the trace is there");
        let text = std::str::from_utf8(&bytes).unwrap();
        for conversation in Trace::read(format, &bytes).unwrap().conversations() {
            let mut before: Vec<shared::Block> = Vec::new();
            for point in 0..conversation.request_points() {
                let now = shared::blocks(&conversation.body_at(point).unwrap());
                assert!(now.starts_with(&before) && now.len() > before.len(), "{name} {point}");
                before = now;
            }
            assert!(before.iter().all(|block| text.contains(&block.raw)), "{name}");
        }
    }
}

#[test]
fn other_files_are_never_taken_for_a_format_they_are_not() {
    let Some(folder) = shared::traces() else { return };
    let mut formats = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    formats.retain(|path| path.is_dir());
    for format in formats {
        let read = [
            "claude-code",
            "cline",
            "codex",
            "gemini",
            "inspect",
            "intercode",
            "langchain",
            "openai-chat",
            "openhands",
            "pi",
            "swe-agent",
            "tau2",
        ];
        let ours = read.iter().any(|name| format.ends_with(name));
        for file in fs::read_dir(&format).unwrap().map(|entry| entry.unwrap().path()).filter(|_| !ours) {
            let found = detect(&fs::read(&file).unwrap());
            assert_eq!(found, Detection::Unknown, "{}", file.display());
        }
    }
}
