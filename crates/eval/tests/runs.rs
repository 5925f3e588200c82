//! What must hold for each run, whatever the figures are.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fmt::Write as _;

use expect_test::expect_file;
use liveset_engine::transcript::WireFormat;
use liveset_eval::irbench::{CallClass, Condition, EndReason, Profile, Regime, Run, RunOptions, World, run};

/// One of each kind of condition.
const CONDITIONS: [&str; 17] = [
    "full",
    "full + R*",
    "sliding 5",
    "sliding 5 + D*",
    "sliding 5 + R*",
    "sliding 5 + DR*",
    "summary 5",
    "dated-summary 5",
    "newest-answers-hard 5",
    "once B=265 typeaware",
    "rolling B=100 d-irrelevant",
    "balanced 5 + recall",
    "liveness 5",
    "dispatch 5",
    "keep-last 5",
    "masking-5",
    "protect 5",
];

fn played(seed: u64, regime: Regime, condition: &str, options: &RunOptions) -> Run {
    run(&World::new(seed, regime), &condition.parse().unwrap(), options).unwrap()
}

fn log(run: &Run) -> String {
    let mut text = format!("{}, {} of 10 done\n", run.condition, run.done);
    for turn in &run.turns {
        let calls: Vec<String> = turn.calls.iter().map(|call| format!("{} {}", call.tool, call.argument)).collect();
        writeln!(text, "{:>2} {}", turn.turn, calls.join("; ")).unwrap();
    }
    text
}

#[test]
fn the_first_runs_are_what_they_were() {
    let mut text = String::new();
    for condition in ["full", "sliding 5", "summary 5", "sliding 5 + D*", "sliding 5 + R*"] {
        writeln!(text, "{}", log(&played(1, Regime::High, condition, &RunOptions::default()))).unwrap();
    }
    expect_file!["data/runs.txt"].assert_eq(&text);
}

#[test]
fn a_run_says_the_same_in_both_wire_formats() {
    let mut options = RunOptions::default();
    for condition in CONDITIONS.into_iter().filter(|name| !name.contains("keep-last") && !name.contains(" 5")) {
        options.format = WireFormat::OpenaiChat;
        let chat = log(&played(2, Regime::High, condition, &options));
        options.format = WireFormat::Anthropic;
        assert_eq!(log(&played(2, Regime::High, condition, &options)), chat, "{condition}");
    }
}

#[test]
fn every_condition_ends_lawfully_in_both_wire_formats() {
    let mut options = RunOptions::default();
    for format in [WireFormat::OpenaiChat, WireFormat::Anthropic] {
        options.format = format;
        for condition in CONDITIONS {
            let run = played(4, Regime::High, condition, &options);
            let is_complete = run.done == 10;
            assert_eq!(is_complete, run.end == EndReason::AllComplete, "{condition}");
            assert!(is_complete || run.turns.len() == 24, "{condition}");
            let logged: u64 = run.turns.iter().map(|turn| turn.calls.len() as u64).sum();
            assert_eq!(logged, run.tool_calls() + run.calls(CallClass::Recall), "{condition}");
        }
    }
}

#[test]
fn restoring_what_is_in_view_changes_nothing() {
    for seed in 1..=20 {
        let calls = |condition: &str| log(&played(seed, Regime::High, condition, &RunOptions::default()));
        let (full, restored) = (calls("full"), calls("full + R*"));
        assert_eq!(full.split_once('\n').unwrap().1, restored.split_once('\n').unwrap().1, "seed {seed}");
    }
}

#[test]
fn sliding_delivers_its_share_and_never_less_than_the_newest_unit() {
    let run = played(3, Regime::High, "sliding 5", &RunOptions::default());
    for turn in run.turns.iter().filter(|turn| turn.turn > 1) {
        assert!(turn.delivered_tokens > 0, "turn {}", turn.turn);
        assert!(turn.delivered_tokens <= turn.trajectory_tokens, "turn {}", turn.turn);
    }
    let late = run.turns.iter().filter(|turn| turn.turn > 16);
    assert!(late.into_iter().all(|turn| turn.delivered_tokens * 3 < turn.trajectory_tokens));
}

#[test]
fn a_digest_of_all_atoms_covers_all_and_one_of_other_worlds_none() {
    let coverage = |condition: &str| played(5, Regime::High, condition, &RunOptions::default()).coverage.unwrap();
    let all = coverage("once B=265 rar-all");
    assert_eq!((all.d, all.r), (1.0, 1.0));
    let strange = coverage("once B=265 d-irrelevant");
    assert_eq!((strange.d, strange.r), (0.0, 1.0));
    let tight = coverage("once B=100 typeaware");
    assert!(tight.d < 1.0 && tight.r == 1.0 && tight.digest_tokens <= 100, "{tight:?}");
    assert_eq!(coverage("once B=265 sliding").digest_tokens, 0);
}

#[test]
fn a_command_cuts_as_it_likes_and_a_failing_one_is_told() {
    let options = RunOptions::default();
    let kept = played(1, Regime::Low, "exec 5:cat", &options);
    let full = played(1, Regime::Low, "full", &options);
    assert_eq!(kept.turns, full.turns);
    let failing: Condition = "exec 5:exit 3".parse().unwrap();
    let error = run(&World::new(1, Regime::Low), &failing, &options).unwrap_err().to_string();
    assert!(error.contains("`exit 3` gave no body"), "{error}");
}

#[test]
fn the_mean_retrieval_keeps_its_order_on_seeds_that_nobody_looked_at() {
    let mean = |condition: &str| {
        let calls = (101..=200)
            .map(|seed| played(seed, Regime::High, condition, &RunOptions::default()).calls(CallClass::Retrieval));
        calls.sum::<u64>() as f64 / 100.0
    };
    let order = ["full", "summary 5", "sliding 5 + D*", "sliding 5"].map(|condition| (mean(condition), condition));
    assert!(order.is_sorted_by(|a, b| a.0 < b.0), "{order:?}");
}

#[test]
fn each_profile_answers_within_its_calls() {
    let mut options = RunOptions::default();
    for profile in Profile::ALL {
        options.profile = profile;
        let run = played(6, Regime::High, "sliding 5", &options);
        assert!(run.turns.iter().all(|turn| turn.calls.len() <= profile.calls), "{}", profile.name);
    }
}
