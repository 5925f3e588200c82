//! `liveset replay`: strategies side by side over a trace, a report of every request, and what it refuses.

use std::fmt::Write as _;

use serde_json::Value;

use crate::program::Place;

/// A session that reads file after file and quotes each of them.
fn session() -> String {
    let mut messages = String::from(r#"{"role":"user","content":"Compare the parts."}"#);
    for part in 0..12 {
        let lines: Vec<String> = (0..40)
            .map(|line| format!("part {part} line {line} says alpha beta gamma delta number {}", part * 1_000 + line))
            .collect();
        let _ = write!(
            messages,
            r#",{{"role":"assistant","content":"I read {part}.","tool_calls":[{{"id":"c{part}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"{part}.txt\"}}"}}}}]}},{{"role":"tool","tool_call_id":"c{part}","content":"{}"}},{{"role":"assistant","content":"It holds: {}"}},{{"role":"user","content":"Go on with the next."}}"#,
            lines.join("\\n"),
            lines[part % 7],
        );
    }
    format!("[{messages}]")
}

#[test]
fn strategies_stand_side_by_side_and_the_report_holds_every_request() {
    let place = Place::with("session.json", session());
    let run = place.run("replay session.json --window 4000 --strategy trace --strategy balanced --strategy clear-keep-3 --report report.json");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let table = run.text();
    assert!(table.starts_with("25 requests, window 4,000 tokens"), "{table}");
    for name in ["trace", "balanced", "clear-keep-3"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name}: {table}");
    }
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let replays = report.as_array().unwrap();
    assert_eq!(replays.len(), 3);
    for replay in replays {
        assert_eq!(replay["requests"].as_array().map(Vec::len), Some(25));
    }
    let sent = |at: usize| replays[at]["sent_tokens"].as_u64().unwrap();
    assert!(sent(1) < sent(0) && sent(2) < sent(0), "{report}");
    assert_eq!(replays[1]["over_window"], 0);
}

#[test]
fn a_replay_without_a_window_takes_half_of_the_largest_request() {
    let place = Place::with("session.json", session());
    let run = place.run("replay session.json --strategy newest-first --strategy exec:cat --input-price 2");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.text().contains(", 2 $ a million tokens of plain input"), "{}", run.text());
}

#[test]
fn what_cannot_be_replayed_is_said_in_one_line() {
    let place = Place::with("session.json", session());
    let unknown = place.run("replay session.json --strategy lifo");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("exec:COMMAND"), "{}", unknown.err);
    place.write("text.txt", b"hello");
    let no_trace = place.run("replay text.txt");
    assert_eq!(no_trace.code, 2);
    assert!(no_trace.err.contains("no trace that any importer knows"), "{}", no_trace.err);
    let failed = place.run("replay session.json --strategy exec:false");
    assert_eq!(failed.code, 2);
    assert!(failed.err.contains("exit status: 1"), "{}", failed.err);
}
