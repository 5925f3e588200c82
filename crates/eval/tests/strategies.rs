#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop where something is wrong, and say what they skip"
)]

//! Does each strategy keep calls and results paired, and does a replay show what the strategy is known for?

use std::fs;
use std::path::PathBuf;

use liveset::WireFormat;
use liveset_engine::json::Outline;
use liveset_engine::validate::{self, Code};
use liveset_eval::money::Prices;
use liveset_eval::replay::{Plan, Replay, evidence, run};
use liveset_eval::retention::Keeping;
use liveset_eval::strategies::{Choice, Setting};
use liveset_traces::{Conversation, Detection, Trace, detect};

/// One trace of each dialect that is long enough to be swept.
const FILES: [&str; 3] =
    ["claude-code/entire-cli-b.jsonl", "codex/rollout-long.jsonl", "swe-agent/swe-smith-pandas-53856.traj"];

fn each(mut check: impl FnMut(&str, &Conversation)) {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", folder.display());
        return;
    }
    for name in FILES {
        let bytes = fs::read(folder.join(name)).unwrap();
        let Detection::Trace(format) = detect(&bytes) else { panic!("{name}: not known") };
        let trace = Trace::read(format, &bytes).unwrap();
        check(name, trace.agent("main").unwrap());
    }
}

/// Half of the largest request.
fn window(conversation: &Conversation) -> u64 {
    let plain = replayed(conversation, &Choice::Trace, u64::MAX);
    plain.requests.iter().map(|request| request.before_tokens).max().unwrap() / 2
}

fn replayed(conversation: &Conversation, strategy: &Choice, window_tokens: u64) -> Replay {
    let histories = evidence(conversation).unwrap();
    let prices = Prices::of(None, None);
    run(conversation, &Plan { strategy, window_tokens, histories: &histories, prices: &prices }, |_, _| ()).unwrap()
}

#[test]
fn no_strategy_breaks_a_body() {
    each(|name, conversation| {
        let window_tokens = window(conversation);
        let format = WireFormat::ALL.into_iter().find(|format| format.name() == conversation.wire_format()).unwrap();
        let histories = evidence(conversation).unwrap();
        let setting = Setting { format, window_tokens, histories, seed: 1 };
        for choice in Choice::all() {
            let mut strategy = choice.start(&setting);
            for point in conversation.requests() {
                let body = conversation.body_at(point).unwrap();
                let sent = strategy.send(&body).unwrap();
                let defects = |body: &[u8]| -> Vec<Code> {
                    let outline = Outline::read(body).unwrap();
                    validate::check(format, &outline).into_iter().map(|defect| defect.code).collect()
                };
                let before = defects(&body);
                let mut new = defects(&sent.body).into_iter().filter(|code| !before.contains(code));
                assert_eq!(new.next(), None, "{name}, {}, point {point}", choice.name());
            }
        }
    });
}

#[test]
fn a_replay_shows_what_a_strategy_is_known_for() {
    each(|name, conversation| {
        let window = window(conversation);
        let of = |choice: &Choice| replayed(conversation, choice, window);
        let trace = of(&Choice::Trace);
        assert_eq!((trace.sent_tokens, trace.extending), (trace.before_tokens, trace.requests.len()), "{name}");
        assert_eq!(trace.served.quoted, None, "{name}: nothing was cut");
        for choice in Choice::all() {
            let replay = of(&choice);
            assert!(replay.sent_tokens <= trace.sent_tokens, "{name}, {}", replay.strategy);
            assert_eq!(replay.read_tokens + replay.written_tokens, replay.sent_tokens, "{name}, {}", replay.strategy);
            if let Choice::Preset(_) = choice {
                let undeclared = replay.requests.len() - replay.extending - replay.declared;
                assert_eq!(undeclared, 0, "{name}, {}", replay.strategy);
            }
        }
        // A window that slides rewrites what it sent again and again, a batch once in a while.
        let changes = |replay: &Replay| replay.requests.iter().filter(|request| request.is_change).count();
        let (sliding, batched) = (of(&Choice::SlidingWindow), of(&Choice::DropOldest));
        assert!(changes(&sliding) > changes(&batched), "{name}");
        let hindsight = of(&Choice::Keeping(Keeping::HindsightBlocks)).served.quoted.unwrap();
        let newest = of(&Choice::Keeping(Keeping::NewestFirst)).served.quoted.unwrap();
        assert!(hindsight >= newest, "{name}: {hindsight} {newest}");
    });
}

#[test]
fn a_command_is_a_strategy_and_its_failure_is_an_error() {
    each(|name, conversation| {
        let plain = replayed(conversation, &Choice::Command("cat".to_owned()), 1_000);
        assert_eq!(plain.sent_tokens, plain.before_tokens, "{name}");
        let histories = evidence(conversation).unwrap();
        let (strategy, prices) = (Choice::Command("exit 3".to_owned()), Prices::of(None, None));
        let plan = Plan { strategy: &strategy, window_tokens: 1_000, histories: &histories, prices: &prices };
        let error = run(conversation, &plan, |_, _| ()).unwrap_err();
        assert!(error.to_string().contains("ended with"), "{name}: {error}");
    });
}
