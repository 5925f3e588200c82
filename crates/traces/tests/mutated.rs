#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip; the helpers serve several tests"
)]

//! Sessions that no client would write: random trees, and real ones cut and damaged. Nothing panics, and every body
//! that comes out keeps the laws.

mod shared;

use std::fs;

use liveset_traces::{Trace, TraceFormat, detect};
use proptest::prelude::*;

/// One line of a made-up session. Ids come from small pools, so that they collide, repeat and miss.
#[derive(Clone, Debug)]
enum MadeUp {
    Text { parent: usize, summary: bool },
    Blank { parent: usize },
    Reply { parent: usize, id: u8, text: bool },
    Call { parent: usize, id: u8, call: u8 },
    Result { parent: usize, call: u8, and_text: bool },
    Boundary { head: usize, tail: usize },
    Progress { parent: usize },
}

fn made_up() -> impl Strategy<Value = MadeUp> {
    let line = 0..12_usize;
    prop_oneof![
        (line.clone(), prop::bool::weighted(0.2)).prop_map(|(parent, summary)| MadeUp::Text { parent, summary }),
        line.clone().prop_map(|parent| MadeUp::Blank { parent }),
        (line.clone(), 0..4_u8, any::<bool>()).prop_map(|(parent, id, text)| MadeUp::Reply { parent, id, text }),
        (line.clone(), 0..4_u8, 0..6_u8).prop_map(|(parent, id, call)| MadeUp::Call { parent, id, call }),
        (line.clone(), 0..4_u8, 0..6_u8).prop_map(|(parent, id, call)| MadeUp::Call { parent, id, call }),
        (line.clone(), 0..6_u8, any::<bool>()).prop_map(|(parent, call, and_text)| MadeUp::Result {
            parent,
            call,
            and_text
        }),
        (line.clone(), 0..6_u8, any::<bool>()).prop_map(|(parent, call, and_text)| MadeUp::Result {
            parent,
            call,
            and_text
        }),
        (line.clone(), line.clone()).prop_map(|(head, tail)| MadeUp::Boundary { head, tail }),
        line.prop_map(|parent| MadeUp::Progress { parent }),
    ]
}

/// Writes a line. Its parent is most often the line before, else any, also one that comes later or never.
fn written(at: usize, line: &MadeUp) -> String {
    let parent = |parent: usize| match parent {
        0 => "null".to_owned(),
        1..=8 => format!("\"l{}\"", at.wrapping_sub(1)),
        other => format!("\"l{}\"", (other * 7) % 23),
    };
    let user = |from: usize, extra: &str, content: &str| {
        let parent = parent(from);
        format!(r#"{{"type":"user","uuid":"l{at}","parentUuid":{parent}{extra},"message":{{"content":{content}}}}}"#)
    };
    let assistant = |from: usize, id: u8, block: &str| {
        let parent = parent(from);
        format!(
            r#"{{"type":"assistant","uuid":"l{at}","parentUuid":{parent},"message":{{"id":"m{id}","model":"claude","content":[{block}]}}}}"#
        )
    };
    match line {
        MadeUp::Text { parent, summary: false } => user(*parent, "", &format!("\"text {at}\"")),
        MadeUp::Text { parent, summary: true } => {
            user(*parent, r#","isCompactSummary":true"#, &format!("\"sum {at}\""))
        }
        MadeUp::Blank { parent } => user(*parent, "", "\" \\n\""),
        MadeUp::Reply { parent, id, text: true } => {
            assistant(*parent, *id, &format!(r#"{{"type":"text","text":"reply {at}"}}"#))
        }
        MadeUp::Reply { parent, id, text: false } => {
            assistant(*parent, *id, &format!(r#"{{"type":"thinking","thinking":"","signature":"{at}"}}"#))
        }
        MadeUp::Call { parent, id, call } => {
            assistant(*parent, *id, &format!(r#"{{"type":"tool_use","id":"t{call}","name":"Read","input":{{}}}}"#))
        }
        MadeUp::Result { parent, call, and_text } => {
            let text = if *and_text { r#",{"type":"text","text":"and"}"# } else { "" };
            let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t{call}","content":"{at}"}}{text}]"#);
            user(*parent, "", &result)
        }
        MadeUp::Boundary { head, tail } => format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"l{at}","parentUuid":null,"logicalParentUuid":"l{}","compactMetadata":{{"preservedSegment":{{"headUuid":"l{head}","tailUuid":"l{tail}"}}}}}}"#,
            at.wrapping_sub(1)
        ),
        MadeUp::Progress { parent: from } => {
            format!(r#"{{"type":"progress","uuid":"l{at}","parentUuid":{}}}"#, parent(*from))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bodies_of_any_tree_of_lines_keep_the_laws(lines in prop::collection::vec(made_up(), 1..24)) {
        let file: Vec<String> = lines.iter().enumerate().map(|(at, line)| written(at, line)).collect();
        if let Ok(trace) = Trace::read(TraceFormat::ClaudeCode, file.join("\n").as_bytes()) {
            for conversation in trace.conversations() {
                shared::check_anthropic("made up", conversation);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_and_damaged_session_is_read_or_refused_in_one_line(
        file in 0..2_usize,
        cut in 0.0..1.0_f64,
        damage in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..3),
    ) {
        let name = ["agentcmd-session-four.jsonl", "vscode-copilot-chat-fixture.jsonl"][file];
        let Some(folder) = shared::traces() else { return Ok(()) };
        let mut bytes = fs::read(folder.join("claude-code").join(name)).expect("the trace is there");
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        for (place, byte) in damage {
            let place = (bytes.len() as f64 * place) as usize;
            if let Some(found) = bytes.get_mut(place) {
                *found = byte;
            }
        }
        let _ = detect(&bytes);
        for format in TraceFormat::ALL {
            match Trace::read(format, &bytes) {
                Ok(trace) => for conversation in trace.conversations() {
                    prop_assert!(conversation.body().is_ok() || conversation.request_points() == 0);
                    if format == TraceFormat::ClaudeCode {
                        shared::check_anthropic(name, conversation);
                    }
                },
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }
    }

    #[test]
    fn a_session_cut_inside_its_last_line_only_loses_that_line(cut in 0.0..1.0_f64) {
        let Some(folder) = shared::traces() else { return Ok(()) };
        let bytes = fs::read(folder.join("claude-code/agentcmd-session-four.jsonl")).expect("the trace is there");
        let cut = (bytes.len() as f64 * cut) as usize;
        let whole_lines = bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let torn = Trace::read(TraceFormat::ClaudeCode, &bytes[..cut]).map(|trace| trace.conversations()[0].history(0));
        let whole = Trace::read(TraceFormat::ClaudeCode, &bytes[..whole_lines])
            .map(|trace| trace.conversations()[0].history(0));
        // A cut right before a line break leaves the whole line.
        if bytes.get(cut) != Some(&b'\n') {
            prop_assert_eq!(torn, whole);
        }
    }
}
