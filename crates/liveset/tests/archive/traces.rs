//! Law 7 over real traces: each conversation grows as a session, and after 1, 3 and 10 sweeps, and at its end, every body
//! that was handed out comes back from the file. The traces lie outside the repository; see `LIVESET_TRACES`.

use std::{fs, path::PathBuf};

use liveset::{Preset, WireFormat};
use liveset_traces::{Conversation, Detection, Trace, detect};

use crate::growing::{Growth, grow};

/// Conversations of list files that are looked at, and request points of each; `LIVESET_ALL_POINTS` lifts both.
const MAX_CONVERSATIONS: usize = 2;
const MAX_POINTS: usize = 14;

/// The window as a share of the last body, so that a conversation is swept many times over.
const WINDOWS_IN_BODY: u64 = 6;

fn conversations() -> Vec<(String, Conversation)> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let root = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    let Ok(folders) = fs::read_dir(&root) else {
        eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", root.display());
        return Vec::new();
    };
    let limit = if std::env::var_os("LIVESET_ALL_POINTS").is_some() { usize::MAX } else { MAX_CONVERSATIONS };
    let mut found = Vec::new();
    let folders = folders.flatten().filter_map(|folder| fs::read_dir(folder.path()).ok());
    let mut files: Vec<PathBuf> = folders.flat_map(|files| files.flatten().map(|file| file.path())).collect();
    files.sort();
    for file in files {
        let Ok(bytes) = fs::read(&file) else { continue };
        let Detection::Trace(format) = detect(&bytes) else { continue };
        let trace = Trace::read(format, &bytes).expect("the trace is read");
        let long = trace.conversations().iter().filter(|conversation| conversation.request_points() > 2);
        found.extend(long.take(limit).map(|conversation| (file.display().to_string(), conversation.clone())));
    }
    assert!(!found.is_empty(), "no trace is read");
    found
}

fn format_of(conversation: &Conversation) -> WireFormat {
    match conversation.wire_format() {
        "anthropic" => WireFormat::Anthropic,
        "openai-chat" => WireFormat::OpenaiChat,
        _ => WireFormat::OpenaiResponses,
    }
}

fn points(conversation: &Conversation) -> Vec<usize> {
    let all = conversation.request_points();
    let wanted = if std::env::var_os("LIVESET_ALL_POINTS").is_some() { all } else { MAX_POINTS };
    let mut points: Vec<usize> = (0..all).rev().step_by(all.div_ceil(wanted).max(1)).collect();
    points.reverse();
    points
}

fn grown(name: &str, conversation: &Conversation, preset: Preset) -> usize {
    let points = points(conversation);
    let body_at = |point: usize| conversation.body_at(point).expect("the point exists");
    let last = body_at(*points.last().expect("it has points"));
    let growth = Growth { format: format_of(conversation), last: &last, windows_in_body: WINDOWS_IN_BODY, preset };
    grow(name, &growth, points.iter().map(|point| body_at(*point)))
}

#[test]
fn every_body_of_every_trace_comes_back_after_many_sweeps() {
    let conversations = conversations();
    let mut most = 0;
    for (name, conversation) in &conversations {
        for preset in [Preset::Balanced, Preset::Liveness] {
            most = most.max(grown(name, conversation, preset));
        }
    }
    eprintln!("{} conversations, at most {most} sweeps", conversations.len());
    assert!(conversations.is_empty() || most >= 10, "some conversation is swept ten times: {most}");
}
