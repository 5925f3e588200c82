#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "tests stop where something is wrong, and say what they skip; the helpers serve several tests"
)]

//! The shared traces of every format with a folder of its own but Claude Code: laws of their bodies, models, warnings.

mod shared;

use std::fs;
use std::path::PathBuf;

use liveset_traces::{Fidelity, Trace, TraceFormat, Warning};

/// Folder, format, wire format of the bodies.
const FOLDERS: [(&str, TraceFormat, &str); 9] = [
    ("codex", TraceFormat::Codex, "openai-responses"),
    ("pi", TraceFormat::Pi, "anthropic"),
    ("swe-agent", TraceFormat::SweAgent, "openai-chat"),
    ("tau2", TraceFormat::Tau2, "openai-chat"),
    ("gemini", TraceFormat::Gemini, "openai-chat"),
    ("openhands", TraceFormat::Openhands, "openai-chat"),
    ("inspect", TraceFormat::Inspect, "openai-chat"),
    ("langchain", TraceFormat::Langchain, "anthropic"),
    ("intercode", TraceFormat::Intercode, "openai-chat"),
];

/// The models that the traces name; a replay and the oldest trajectories name none.
const MODELS: [(&str, Option<&str>); 11] = [
    ("rollout-long.jsonl", Some("gpt-5-codex")),
    ("rollout-medium.jsonl", Some("gpt-5-codex")),
    ("large-session.jsonl", Some("claude-sonnet-4-5")),
    ("swe-smith-pandas-53856.traj", Some("claude-3-7-sonnet-20250219")),
    ("marshmallow-1867-function-calling.traj", None),
    ("pydicom-1458-gpt4.traj", None),
    ("ctf-web-i-got-id.traj", None),
    ("airline-gpt-4.1.json", Some("gpt-4.1")),
    ("retail-gpt-4.1.json", Some("gpt-4.1")),
    ("entire-cli.json", Some("gemini-2.5-flash")),
    ("agentcmd.json", Some("gemini-2.5-pro")),
];

/// Upstream put a placeholder for every value of this file: it has the structure of a session and no sense.
const TRIMMED: &str = "agent-sessions-fixture.jsonl";

/// Most pairs of neighbouring bodies that are compared in one conversation.
const MOST_POINTS: usize = 40;

fn each(mut check: impl FnMut(&str, TraceFormat, &str, &[u8], &Trace)) {
    let Some(folder) = shared::traces() else { return };
    for (name, format, wire) in FOLDERS {
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let trace = Trace::read(format, &bytes).expect("the trace reads");
            check(file.file_name().unwrap().to_str().unwrap(), format, wire, &bytes, &trace);
        }
    }
}

#[test]
fn bodies_keep_the_laws() {
    each(|name, _, wire, _, trace| {
        for conversation in trace.conversations() {
            assert_eq!((conversation.wire_format(), conversation.fidelity()), (wire, Fidelity::ModelVisible), "{name}");
            shared::check_any(name, conversation, MOST_POINTS);
            if wire == "anthropic" {
                shared::check_anthropic(name, conversation);
            }
            if name != TRIMMED {
                shared::check_refusals(name, conversation);
            }
        }
    });
}

#[test]
fn models_are_those_of_the_trace() {
    each(|name, _, _, _, trace| {
        if let Some((_, model)) = MODELS.iter().find(|(file, _)| *file == name) {
            assert!(trace.conversations().iter().all(|one| one.model() == *model), "{name}");
        }
    });
}

#[test]
fn items_of_codex_are_slices_of_the_file() {
    each(|name, format, _, bytes, trace| {
        let text = std::str::from_utf8(bytes).unwrap();
        for conversation in trace.conversations().iter().filter(|_| format == TraceFormat::Codex) {
            let body = conversation.history(0).unwrap();
            assert!(shared::elements(&body).iter().all(|block| text.contains(&block.raw)), "{name}");
        }
    });
}

#[test]
fn nothing_is_lost_without_a_warning_and_real_files_hold_nothing_unknown() {
    each(|name, _, _, _, trace| {
        for warning in trace.conversations().iter().flat_map(|one| one.warnings()) {
            let is_unknown = matches!(warning, Warning::UnknownRecords { .. } | Warning::UnknownItems { .. });
            assert!(!is_unknown, "{name}: {warning}");
        }
    });
}
