#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip; the helpers serve several tests"
)]

//! Files of Codex, pi, SWE-agent, tau2 and Gemini CLI that no client would write: random records with ids that
//! collide, repeat and miss, and real files cut and damaged. Nothing panics, and every body that comes out keeps the
//! laws.

mod shared;

use std::fs;

use liveset_traces::{Trace, TraceFormat, detect};
use proptest::prelude::*;
use shared::items::{Kind, items};

/// One record of a made-up conversation.
#[derive(Clone, Debug)]
enum MadeUp {
    Text,
    Blank,
    Reply { calls: Vec<u8> },
    Result { call: u8 },
    Failed { call: u8 },
    Compaction { kept: u8 },
    Back { turns: u8 },
    Unknown,
}

fn made_up() -> impl Strategy<Value = MadeUp> {
    prop_oneof![
        Just(MadeUp::Text),
        Just(MadeUp::Blank),
        prop::collection::vec(0..4_u8, 0..3).prop_map(|calls| MadeUp::Reply { calls }),
        prop::collection::vec(0..4_u8, 1..3).prop_map(|calls| MadeUp::Reply { calls }),
        (0..5_u8).prop_map(|call| MadeUp::Result { call }),
        (0..5_u8).prop_map(|call| MadeUp::Result { call }),
        (0..4_u8).prop_map(|call| MadeUp::Failed { call }),
        (0..12_u8).prop_map(|kept| MadeUp::Compaction { kept }),
        (0..4_u8).prop_map(|turns| MadeUp::Back { turns }),
        Just(MadeUp::Unknown),
    ]
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

fn codex(records: &[MadeUp]) -> String {
    let item = |item: String| format!(r#"{{"type":"response_item","payload":{item}}}"#);
    let text = |role: &str, kind: &str, text: &str| {
        item(format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#))
    };
    let call = |id: &u8| item(format!(r#"{{"type":"function_call","name":"f","arguments":"{{}}","call_id":"c{id}"}}"#));
    let line = |(at, record): (usize, &MadeUp)| match record {
        MadeUp::Text => text("user", "input_text", &format!("text {at}")),
        MadeUp::Blank => text("user", "input_text", ""),
        MadeUp::Reply { calls } if calls.is_empty() => text("assistant", "output_text", &format!("reply {at}")),
        MadeUp::Reply { calls } => joined(calls.iter().map(call), "\n"),
        MadeUp::Result { call } => {
            item(format!(r#"{{"type":"function_call_output","call_id":"c{call}","output":"{at}"}}"#))
        }
        MadeUp::Failed { call } => item(format!(r#"{{"type":"ghost_snapshot","call_id":"c{call}"}}"#)),
        MadeUp::Compaction { kept } if kept % 2 == 0 => {
            let kept: Vec<String> = (0..*kept).map(|at| text("user", "input_text", &format!("kept {at}"))).collect();
            let kept: Vec<&str> = kept.iter().map(|line| &line[33..line.len() - 1]).collect();
            format!(r#"{{"type":"compacted","payload":{{"message":"","replacement_history":[{}]}}}}"#, kept.join(","))
        }
        MadeUp::Compaction { .. } => format!(r#"{{"type":"compacted","payload":{{"message":"sum {at}"}}}}"#),
        MadeUp::Back { turns } => {
            format!(r#"{{"type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{turns}}}}}"#)
        }
        MadeUp::Unknown => item(r#"{"type":"hologram"}"#.to_owned()),
    };
    r#"{"type":"session_meta","payload":{"id":"s"}}"#.to_owned()
        + "\n"
        + &joined(records.iter().enumerate().map(line), "\n")
}

fn pi(records: &[MadeUp], api: &str) -> String {
    let line = |(at, record): (usize, &MadeUp)| {
        let tie = |parent: usize| format!(r#""id":"e{at}","parentId":"e{parent}""#);
        let before = at.wrapping_sub(1);
        let message = |message: String| format!(r#"{{"type":"message",{},"message":{message}}}"#, tie(before));
        // Some calls have no arguments.
        let arguments = |id: &u8| if id.is_multiple_of(2) { r#","arguments":{"a": 1}"# } else { "" };
        let call = |id: &u8| format!(r#"{{"type":"toolCall","id":"c{id}","name":"f"{}}}"#, arguments(id));
        let reply = |content: String, stop: &str| {
            message(format!(
                r#"{{"role":"assistant","content":[{content}],"api":"{api}","model":"m","stopReason":"{stop}"}}"#
            ))
        };
        match record {
            MadeUp::Text => message(format!(r#"{{"role":"user","content":[{{"type":"text","text":"text {at}"}}]}}"#)),
            MadeUp::Blank => message(r#"{"role":"user","content":" "}"#.to_owned()),
            MadeUp::Reply { calls } if calls.is_empty() => {
                reply(format!(r#"{{"type":"text","text":"reply {at}"}}"#), "stop")
            }
            MadeUp::Reply { calls } => reply(joined(calls.iter().map(call), ","), "toolUse"),
            MadeUp::Result { call } => message(format!(
                r#"{{"role":"toolResult","toolCallId":"c{call}","content":[{{"type":"text","text":"{at}"}},{{"type":"image","data":"AA","mimeType":"image/png"}}],"isError":false}}"#
            )),
            MadeUp::Failed { call: id } => reply(call(id), "aborted"),
            MadeUp::Compaction { kept } => {
                format!(r#"{{"type":"compaction",{},"summary":"sum {at}","firstKeptEntryId":"e{kept}"}}"#, tie(before))
            }
            MadeUp::Back { turns } => {
                format!(r#"{{"type":"branch_summary",{},"summary":"left {at}"}}"#, tie(usize::from(*turns) * 3))
            }
            MadeUp::Unknown => format!(r#"{{"type":"riddle",{}}}"#, tie(before)),
        }
    };
    r#"{"type":"session","id":"s","cwd":"/x"}"#.to_owned() + "\n" + &joined(records.iter().enumerate().map(line), "\n")
}

fn gemini(records: &[MadeUp]) -> String {
    let message = |(at, record): (usize, &MadeUp)| match record {
        MadeUp::Text => format!(r#"{{"type":"user","content":"text {at}"}}"#),
        MadeUp::Blank => r#"{"type":"user","content":" "}"#.to_owned(),
        MadeUp::Reply { calls } => {
            let call = |id: &u8| {
                format!(
                    r#"{{"id":"c{id}","name":"f","args":{{}},"result":[{{"functionResponse":{{"response":{{"output":"{at}"}}}}}}]}}"#
                )
            };
            format!(
                r#"{{"type":"gemini","content":"reply {at}","toolCalls":[{}]}}"#,
                joined(calls.iter().map(call), ",")
            )
        }
        MadeUp::Failed { call } | MadeUp::Result { call } => {
            format!(r#"{{"type":"gemini","content":"","toolCalls":[{{"id":"c{call}","name":"f"}}]}}"#)
        }
        MadeUp::Compaction { .. } | MadeUp::Back { .. } => r#"{"type":"info","content":"x"}"#.to_owned(),
        MadeUp::Unknown => r#"{"type":"psst","content":"x"}"#.to_owned(),
    };
    format!(r#"{{"sessionId":"s","messages":[{}]}}"#, joined(records.iter().enumerate().map(message), ","))
}

/// Messages of SWE-agent (arguments in a string) or tau2 (arguments as an object, another call shape).
fn chat(records: &[MadeUp], is_tau2: bool) -> String {
    let call = |id: &u8| match is_tau2 {
        true => format!(r#"{{"id":"c{id}","name":"f","arguments":{{"a": 1}},"requestor":"assistant"}}"#),
        false => format!(r#"{{"id":"c{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#),
    };
    let id_of = |call: &u8| match is_tau2 {
        true => format!(r#""id":"c{call}""#),
        false => format!(r#""tool_call_ids":["c{call}"]"#),
    };
    let message = |(at, record): (usize, &MadeUp)| match record {
        MadeUp::Text => format!(r#"{{"role":"user","content":"text {at}"}}"#),
        MadeUp::Blank => r#"{"role":"user","content":null}"#.to_owned(),
        MadeUp::Reply { calls } if calls.is_empty() => format!(r#"{{"role":"assistant","content":"reply {at}"}}"#),
        MadeUp::Reply { calls } => {
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, joined(calls.iter().map(call), ","))
        }
        MadeUp::Result { call } => format!(r#"{{"role":"tool","content":"{at}",{}}}"#, id_of(call)),
        MadeUp::Failed { call } => format!(r#"{{"role":"tool",{}}}"#, id_of(call)),
        MadeUp::Compaction { .. } => r#"{"role":"system","content":"s"}"#.to_owned(),
        MadeUp::Back { .. } => r#"{"role":"assistant","content":null}"#.to_owned(),
        MadeUp::Unknown => r#"{"role":"oracle"}"#.to_owned(),
    };
    let messages = joined(records.iter().enumerate().map(message), ",");
    match is_tau2 {
        true => format!(r#"{{"info":{{}},"simulations":[{{"messages":[{messages}]}}]}}"#),
        false => format!(r#"{{"trajectory":[],"history":[{messages}]}}"#),
    }
}

fn check(format: TraceFormat, file: &str) {
    let Ok(trace) = Trace::read(format, file.as_bytes()) else { return };
    for conversation in trace.conversations() {
        shared::check_any(format.name(), conversation, usize::MAX);
        if conversation.wire_format() == "anthropic" {
            shared::check_anthropic(format.name(), conversation);
        }
        for history in 0..conversation.histories() {
            let body = conversation.history(history).unwrap();
            let mut open: Vec<String> = Vec::new();
            for item in items(&body).into_iter().filter(|item| !item.id.is_empty()) {
                match item.kind {
                    Kind::Call => {
                        let arguments = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&item.text);
                        assert!(arguments.is_ok(), "{format:?}: arguments are no object: {file}");
                        open.push(item.id);
                    }
                    _ => {
                        let call = open.iter().rposition(|id| *id == item.id);
                        assert!(
                            call.map(|at| open.remove(at)).is_some(),
                            "{format:?}: a result without a call: {file}"
                        );
                    }
                }
            }
        }
    }
}

/// Real files, small enough to be damaged often.
const REAL: [(&str, TraceFormat); 5] = [
    ("codex/agent-sessions-fixture.jsonl", TraceFormat::Codex),
    ("gemini/entire-cli.json", TraceFormat::Gemini),
    ("gemini/agentcmd.json", TraceFormat::Gemini),
    ("swe-agent/ctf-crypto-katy.traj", TraceFormat::SweAgent),
    ("codex/rollout-medium.jsonl", TraceFormat::Codex),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bodies_of_any_records_keep_the_laws(records in prop::collection::vec(made_up(), 1..20)) {
        check(TraceFormat::Codex, &codex(&records));
        check(TraceFormat::Pi, &pi(&records, "anthropic-messages"));
        check(TraceFormat::Pi, &pi(&records, "openai-completions"));
        check(TraceFormat::Gemini, &gemini(&records));
        check(TraceFormat::SweAgent, &chat(&records, false));
        check(TraceFormat::Tau2, &chat(&records, true));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_and_damaged_file_is_read_or_refused_in_one_line(
        file in 0..REAL.len() + 1,
        cut in 0.3..1.3_f64,
        damage in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..3),
    ) {
        let Some(folder) = shared::traces() else { return Ok(()) };
        // The session of pi is long: its beginning has all that its rest has.
        let (name, format) = REAL.get(file).copied().unwrap_or(("pi/large-session.jsonl", TraceFormat::Pi));
        let mut bytes = fs::read(folder.join(name)).expect("the trace is there");
        bytes.truncate(if format == TraceFormat::Pi { 100_000 } else { bytes.len() });
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        for (place, byte) in damage {
            let place = (bytes.len() as f64 * place) as usize;
            if let Some(found) = bytes.get_mut(place) {
                *found = byte;
            }
        }
        let _ = detect(&bytes);
        for any_format in TraceFormat::ALL {
            match Trace::read(any_format, &bytes) {
                Ok(trace) => for conversation in trace.conversations() {
                    prop_assert!(conversation.body().is_ok() || conversation.request_points() == 0);
                    if any_format == format {
                        shared::check_any(name, conversation, 8);
                    }
                },
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }
    }
}
