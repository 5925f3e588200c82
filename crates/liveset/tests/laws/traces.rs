//! The laws over bodies cut out of real traces. They lie outside the repository; see `LIVESET_TRACES`.

use std::{fs, path::PathBuf};

use liveset::{Policy, Preset, RecallRoute};
use liveset_testkit::{Budget, Format, laws};
use liveset_traces::{Conversation, Detection, Trace, detect};

use crate::bench::Bench;

/// Conversations of list files that are looked at; the rest are alike. `LIVESET_ALL_POINTS` lifts this and the next.
const MAX_CONVERSATIONS: usize = 6;
/// A window that the longest traces pass several times over.
const FIXED_WINDOW: u64 = 50_000;
/// Request points per conversation.
const MAX_POINTS: usize = 5;

fn files() -> Vec<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let root = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    let Ok(folders) = fs::read_dir(&root) else {
        eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", root.display());
        return Vec::new();
    };
    let folders = folders.flatten().filter_map(|folder| fs::read_dir(folder.path()).ok());
    let mut files: Vec<PathBuf> = folders.flat_map(|files| files.flatten().map(|file| file.path())).collect();
    files.sort();
    files
}

fn conversations() -> Vec<(String, Conversation)> {
    let limit = if std::env::var_os("LIVESET_ALL_POINTS").is_some() { usize::MAX } else { MAX_CONVERSATIONS };
    let mut found = Vec::new();
    let files = files();
    for file in &files {
        let Ok(bytes) = fs::read(file) else { continue };
        let Detection::Trace(format) = detect(&bytes) else { continue };
        let trace = Trace::read(format, &bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for conversation in
            trace.conversations().iter().filter(|conversation| conversation.request_points() > 0).take(limit)
        {
            found.push((format!("{} {}", file.display(), conversation.agent()), conversation.clone()));
        }
    }
    assert!(files.is_empty() || !found.is_empty(), "{} files, and none of them is read as a trace", files.len());
    found
}

fn format_of(conversation: &Conversation) -> Format {
    Format::ALL.into_iter().find(|format| format.name() == conversation.wire_format()).expect("a known wire format")
}

fn points(conversation: &Conversation) -> Vec<usize> {
    let all = conversation.request_points();
    let wanted = if std::env::var_os("LIVESET_ALL_POINTS").is_some() { all } else { MAX_POINTS };
    let step = all.div_ceil(wanted).max(1);
    (0..all).rev().step_by(step).collect()
}

#[test]
fn every_law_holds_at_many_request_points_of_every_trace() {
    for (name, conversation) in conversations() {
        let format = format_of(&conversation);
        for point in points(&conversation) {
            let body = conversation.body_at(point).expect("the point exists");
            for preset in Preset::ALL {
                let shares = [300, 600].map(|window_permille| Budget { window_permille, ..Budget::DEFAULT });
                let shares = shares.map(|budget| Bench::of_budget(format, &body, &budget, preset));
                let mut fixed = Policy::default();
                fixed.preset = preset;
                fixed.window = Some(FIXED_WINDOW);
                fixed.recall_route = RecallRoute::Shell;
                for bench in shares.into_iter().chain([Bench::new(format, fixed)]) {
                    let name = format!("{name} under {}", preset.name());
                    bench.check(&body).unwrap_or_else(|error| panic!("{name} point {point}: {error}"));
                }
            }
        }
    }
}

#[test]
fn a_growing_trace_stays_as_it_was_sent() {
    for (name, conversation) in conversations() {
        let format = format_of(&conversation);
        // Where a model was called the batch before is complete, so that each body appends whole messages.
        let requests = conversation.requests();
        let points: Vec<usize> =
            requests.iter().copied().step_by(requests.len().div_ceil(2 * MAX_POINTS).max(1)).collect();
        let bodies: Vec<Vec<u8>> =
            points.iter().map(|&point| conversation.body_at(point).expect("the point exists")).collect();
        let Some(last) = bodies.last() else { continue };
        let budget = Budget { window_permille: 500, route: "mcp", ..Budget::DEFAULT };
        for preset in Preset::ALL {
            let bench = Bench::of_budget(format, last, &budget, preset);
            stays_as_sent(&name, &conversation, (&points, &bodies), &bench);
        }
    }
}

fn stays_as_sent(name: &str, conversation: &Conversation, (points, bodies): (&[usize], &[Vec<u8>]), bench: &Bench) {
    let (format, boundaries) = (format_of(conversation), conversation.boundaries());
    let mut session = bench.liveset.session();
    let mut before: Option<(usize, Vec<u8>, laws::Outcome)> = None;
    for (&point, body) in points.iter().zip(bodies) {
        let turn = bench.turn(&mut session, body);
        assert_eq!(turn.body, bench.run(body).body, "{name}: a session's turn differs from a fresh call");
        if let Some((earlier, old, outcome)) = before.take() {
            let crosses = boundaries.iter().any(|&boundary| earlier < boundary && boundary <= point);
            if !crosses {
                laws::law_prefix_stability(format, &[old, body.clone()], &[outcome, turn.clone()])
                    .unwrap_or_else(|error| panic!("{name} from {earlier} to {point}: {error}"));
            }
        }
        before = Some((point, body.clone(), turn));
    }
}
