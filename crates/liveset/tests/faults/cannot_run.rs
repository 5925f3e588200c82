//! Kinds 4 and 5: compaction cannot run when it is needed, or never ends.

use liveset_testkit::Format;
use serde_json::json;

use crate::{
    case::{Case, policy},
    view::shortened,
};

#[test]
fn f24_an_oversized_newest_result_keeps_both_ends() {
    let out = Case::read(Format::OpenaiChat, "F24").about(900);
    let (old, new) = out.result("call_q");
    let lines: Vec<_> = old.split_inclusive('\n').collect();
    let short = shortened(&new);
    assert_eq!(short.kept.first().map(String::as_str), lines.first().copied());
    assert_eq!(short.kept.last().map(String::as_str), lines.last().copied());
    assert_eq!((short.gaps, short.kept.len() + short.left_out), (1, lines.len()));
    assert!(short.kept.iter().all(|line| lines.contains(&line.as_str())));
}

#[test]
fn f25_a_pasted_log_in_the_task_is_named_and_never_cut() {
    let log: String =
        (0..900).map(|at| format!("2026-03-01T00:{:02}:00 INFO job {at} took {} ms\n", at % 60, at * 7)).collect();
    for case in [
        Case::of(
            Format::OpenaiChat,
            &json!({"model": "gpt-4.1", "messages": [
                {"role": "user", "content": format!("Why is job 7 slow?\n{log}")},
                {"role": "assistant", "content": "I will look."},
                {"role": "user", "content": "Well?"},
            ]}),
        ),
        Case::of(
            Format::Anthropic,
            &json!({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
                {"role": "user", "content": [{"type": "text", "text": format!("Why is job 7 slow?\n{log}")}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "u1", "name": "run", "input": {"cmd": "ls"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u1", "content": "a.log"}]},
            ]}),
        ),
    ] {
        let out = case.at(4_000);
        assert!(out.cannot_fit && out.is_input());
        let reason = out.report["reason"].as_str().expect("a reason");
        assert!(reason.contains("user text"), "{reason}");
        let again = case.at(4_000);
        assert_eq!((again.body, again.report), (out.body, out.report), "the same answer, no retry");
    }
}

#[test]
fn f26_a_fixed_part_over_the_budget_is_said_with_both_numbers() {
    let case = Case::read(Format::Anthropic, "F26");
    let out = case.at(600);
    assert!(out.cannot_fit && out.is_input());
    let reason = out.report["reason"].as_str().expect("a reason").to_owned();
    assert!(reason.contains("600") && reason.contains("tools and system"), "{reason}");
    let fixed = reason.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u64>().ok());
    assert!(fixed.into_iter().any(|number| (1_000..1_500).contains(&number)), "{reason}");
    let again = Case::new(out.format, out.body.clone()).at(600);
    assert!(again.is_input() && again.report == out.report);
}

#[test]
fn f28_no_marker_is_dearer_than_what_it_stands_for() {
    let case = Case::read(Format::OpenaiChat, "F28");
    let out = case.at(300);
    // One line for a whole run is what saves here: the run it stands for is dearer by `min_gain` (law 10, checked with
    // every case), and no result is replaced for itself.
    let (folded, kept): (Vec<_>, Vec<_>) =
        out.pairs().into_iter().partition(|(_, new)| new.text().starts_with("[folded from context: "));
    assert!(!folded.is_empty() && kept.iter().all(|(old, new)| old.texts == new.texts));
    let readable = out.text() + &out.archived();
    assert!(readable.contains("closed") && (8_000..8_016).all(|port| readable.contains(&port.to_string())));
    assert!(!out.is_input() || !out.report["reason"].as_str().unwrap_or_default().is_empty());
}

/// The case with a word of the agent's before `m2`: without one the two oldest are folded into one line.
fn spoken(mut body: serde_json::Value) -> serde_json::Value {
    body["messages"][3]["content"] = "Next.".into();
    body
}

#[test]
fn f77_every_item_is_looked_at_also_behind_our_own_marks() {
    let case = Case::read(Format::OpenaiChat, "F77");
    for route in ["none", "tool", "mcp", "shell", "spill:out"] {
        // A real own mark: the same body with a long `m2`, compacted.
        let log: String = (0..18)
            .map(|at| format!("2026-03-01T00:{at:02}:00 INFO ingest: batch {at} accepted, lag {at} ms\n"))
            .collect();
        let mut long = case.value();
        long["messages"][4]["content"] = log.clone().into();
        let mut tight = policy(600);
        tight.target = 40;
        tight.recall_route = route.parse().expect("a route");
        let made = Case::of(case.format, &spoken(long)).under(tight);
        let mark = made.result("m2").1;
        assert!(mark.starts_with("[pruned from context: "), "{mark}");
        let mut marked = spoken(case.value());
        marked["messages"][4]["content"] = mark.clone().into();
        let out = Case::of(case.format, &marked).by_route(route).about(500);
        assert!(!out.is_whole("m1") && !out.is_whole("m3"), "{route}");
        assert_eq!(out.result("m2").1, mark, "{route}");
        let source = made.handles().into_iter().find(|handle| made.original(handle).as_deref() == Some(&log));
        let source = source.expect("it still has its source");
        assert_eq!(mark.contains(&source), route != "none", "the mark itself says where: {mark}");
    }
    // A second run changes nothing: law 6, checked with every case.
}
