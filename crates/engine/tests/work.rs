//! How much work does a plan do? Bytes of text counted and sweeps run, never a clock (law 12).
//!
//! A body twice as long may cost about twice as much, whatever its shape and however small the window is beside it.

#![expect(clippy::unwrap_used, reason = "a test stops where something is wrong")]

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use liveset_engine::{
    budget::Budget,
    counts::Counts,
    json::Outline,
    plan::{self, Fit, Inputs, Plan},
    policy::{Policy, Preset},
    report::EditKind,
    summary::SummaryAnswers,
    transcript::WireFormat,
    wire,
};
use liveset_tokens::{CountCache, Exactness, Price, TokenCounter, Tokens, o200k};

/// Adds up what is counted.
struct Meter {
    bytes: AtomicU64,
}

impl TokenCounter for Meter {
    fn count(&self, text: &str) -> Tokens {
        self.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        o200k().count(text)
    }

    fn name(&self) -> &str {
        o200k().name()
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One message with all the calls, and one with all the results.
    Wide,
    /// Call and result, over and over.
    Sequential,
    /// A file written, over and over.
    Writes,
    /// A file read and written back, over and over: no argument may go.
    WrittenBack,
    /// Call and result in one turn, with signed thinking before each call.
    Thinking,
    /// The same without thinking, and with results that are hardly longer than a tombstone: little but folding makes room.
    Small,
    /// The same, and the agent says a word between them: calls that look foldable one by one, and never are.
    Spoken,
    /// The same, and the agent says much: text that no preset but `liveness` lets go of.
    Told,
    /// A command with a large script, a word of the agent beside it: arguments that no rule knows.
    Scripts,
}

fn body(shape: Shape, results: usize) -> String {
    let call =
        |at: usize| format!(r#"{{"type":"tool_use","id":"c{at}","name":"Read","input":{{"file_path":"s/{at}.rs"}}}}"#);
    let text = |at: usize| {
        let mut text = String::new();
        let lines = match shape {
            Shape::Wide | Shape::Sequential | Shape::Thinking | Shape::Writes | Shape::WrittenBack => 8 + at % 5,
            Shape::Small | Shape::Spoken => 1,
            Shape::Told | Shape::Scripts => 3,
        };
        for line in 0..lines {
            let _ = write!(text, "line {line} of file {at} holds the value {} and some more words\\n", at * 31 + line);
        }
        text
    };
    let answer = |id: &str, text: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}"#);
    let result = |at: usize| answer(&format!("c{at}"), &text(at));
    let write = |at: usize| {
        let text = text(at);
        format!(
            r#"{{"type":"tool_use","id":"w{at}","name":"Write","input":{{"file_path":"s/{at}.rs","content":"{text}"}}}}"#
        )
    };
    let message = |role: &str, blocks: Vec<String>| format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","));
    let mut messages = vec![r#"{"role":"user","content":"Go."}"#.to_owned()];
    match shape {
        Shape::Wide => {
            messages.push(message("assistant", (0..results).map(call).collect()));
            messages.push(message("user", (0..results).map(result).collect()));
        }
        Shape::Thinking => {
            for at in 0..results {
                let thought = format!(r#"{{"type":"thinking","thinking":"Now file {at}.","signature":"Ev{at}"}}"#);
                messages.push(message("assistant", vec![thought, call(at)]));
                messages.push(message("user", vec![result(at)]));
            }
        }
        Shape::Sequential | Shape::Small | Shape::Spoken | Shape::Told | Shape::Scripts => {
            let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
            for at in 0..results {
                let said = match shape {
                    Shape::Spoken | Shape::Scripts => Some(block("Next.")),
                    Shape::Told => Some(block(&text(at).repeat(4))),
                    _ => None,
                };
                let script = || {
                    let text = text(at).repeat(4);
                    format!(r#"{{"type":"tool_use","id":"c{at}","name":"Bash","input":{{"command":"{text}"}}}}"#)
                };
                let call = if matches!(shape, Shape::Scripts) { script() } else { call(at) };
                messages.push(message("assistant", said.into_iter().chain([call]).collect()));
                messages.push(message("user", vec![result(at)]));
            }
        }
        Shape::Writes | Shape::WrittenBack => {
            for at in 0..results {
                if matches!(shape, Shape::WrittenBack) {
                    messages.push(message("assistant", vec![call(at)]));
                    messages.push(message("user", vec![result(at)]));
                }
                messages.push(message("assistant", vec![write(at)]));
                messages.push(message("user", vec![answer(&format!("w{at}"), "File written.")]));
            }
        }
    }
    format!(r#"{{"messages":[{}]}}"#, messages.join(","))
}

/// Plans a body under a window, and gives the plan and the bytes it counted.
fn plan_of(body: &str, window: u64) -> (Plan, u64) {
    plan_under(Preset::Balanced, body, window)
}

fn plan_under(preset: Preset, body: &str, window: u64) -> (Plan, u64) {
    let outline = Outline::read(body.as_bytes()).unwrap();
    let transcript = wire::read(WireFormat::Anthropic, &outline).unwrap();
    let counts = Counts::of(&transcript, o200k(), &mut CountCache::default()).unwrap();
    let mut policy = Policy::default();
    policy.preset = preset;
    policy.window = Some(window);
    policy.reserve = Some(0);
    let (budget, _) = Budget::of(&policy, None).unwrap();
    let meter = Meter { bytes: AtomicU64::new(0) };
    let inputs = Inputs {
        transcript: &transcript,
        counts: &counts,
        budget: &budget,
        events: &[],
        policy: &policy,
        counter: &meter,
        price: Price::DEFAULT,
        answers: &SummaryAnswers::default(),
    };
    let plan = plan::plan(&inputs).unwrap();
    (plan, meter.bytes.into_inner())
}

fn tokens(body: &str) -> u64 {
    plan_of(body, u64::from(u32::MAX)).0.tokens_after.0
}

const SHAPES: [Shape; 5] = [Shape::Wide, Shape::Sequential, Shape::Thinking, Shape::Writes, Shape::WrittenBack];

/// Windows that are tried, as shares of the body.
const WINDOWS: u64 = 40;
/// Results of the shorter body; the longer one has twice as many.
const RESULTS: usize = 250;

#[test]
fn twice_the_results_cost_about_twice_the_work() {
    for shape in SHAPES {
        let (short, long) = (body(shape, RESULTS), body(shape, 2 * RESULTS));
        for over in [2, 8] {
            let (few, counted) = plan_of(&short, tokens(&short) / over);
            let (many, counted_long) = plan_of(&long, tokens(&long) / over);
            assert!(!few.sweeps.is_empty(), "{shape:?}, 1/{over}: something is over the window");
            assert!(
                counted_long <= counted * 5 / 2,
                "{shape:?}, 1/{over}: {counted} bytes counted, then {counted_long}"
            );
            let (sweeps, sweeps_long) = (few.sweeps.len(), many.sweeps.len());
            assert!(sweeps_long <= sweeps * 3 / 2 + 2, "{shape:?}, 1/{over}: {sweeps} sweeps, then {sweeps_long}");
        }
    }
}

/// Calls of the shorter body whose results are small; the longer one has twice as many.
const SMALL: usize = 2_000;

#[test]
fn twice_the_small_calls_cost_about_twice_the_work() {
    for (shape, folds) in [(Shape::Small, true), (Shape::Spoken, false)] {
        let (short, long) = (body(shape, SMALL), body(shape, 2 * SMALL));
        for over in [2, 16] {
            let (few, counted) = plan_of(&short, tokens(&short) / over);
            let (many, counted_long) = plan_of(&long, tokens(&long) / over);
            let is_folded = few.edits.iter().any(|edit| edit.kind == EditKind::Fold);
            assert_eq!((is_folded, few.fit == Fit::Fits), (folds, folds), "{shape:?}, 1/{over}");
            assert!(
                counted_long <= counted * 5 / 2,
                "{shape:?}, 1/{over}: {counted} bytes counted, then {counted_long}"
            );
            let (sweeps, sweeps_long) = (few.sweeps.len(), many.sweeps.len());
            assert!(sweeps_long <= sweeps * 3 / 2 + 2, "{shape:?}, 1/{over}: {sweeps} sweeps, then {sweeps_long}");
            assert!(counted <= 12 * short.len() as u64, "{shape:?}: {counted} bytes counted of {}", short.len());
        }
    }
}

#[test]
fn what_no_rule_may_take_is_not_tried_for_at_each_request() {
    for shape in [Shape::Told, Shape::Scripts] {
        for preset in [Preset::Balanced, Preset::Rules, Preset::Dispatch] {
            // A result is too small for its tombstone to pay, so each try counts them all and takes none.
            let (short, long) = (body(shape, RESULTS), body(shape, 2 * RESULTS));
            for over in [2, 8] {
                let (plan, counted) = plan_under(preset, &short, tokens(&short) / over);
                let (_, counted_long) = plan_under(preset, &long, tokens(&long) / over);
                assert!(matches!(plan.fit, Fit::Over { .. }), "{shape:?}, {preset:?}: more goes than should");
                assert!(
                    counted_long <= counted * 5 / 2,
                    "{shape:?}, {preset:?}, 1/{over}: {counted} bytes counted, then {counted_long}"
                );
            }
        }
    }
}

#[test]
fn a_small_window_counts_each_text_a_few_times_at_most() {
    for shape in SHAPES {
        let body = body(shape, 2 * RESULTS);
        let (_, counted) = plan_of(&body, tokens(&body) / 8);
        assert!(counted <= 12 * body.len() as u64, "{shape:?}: {counted} bytes counted of {}", body.len());
    }
}

#[test]
fn what_is_written_goes_and_what_is_written_back_stays() {
    for (shape, goes) in [(Shape::Writes, true), (Shape::WrittenBack, false)] {
        let body = body(shape, RESULTS / 4);
        let (plan, _) = plan_of(&body, tokens(&body) / 2);
        assert_eq!(plan.edits.iter().any(|edit| edit.step == Some(2)), goes, "{shape:?}");
    }
}

#[test]
fn a_wide_batch_fits_wherever_its_gaps_do() {
    let body = body(Shape::Wide, RESULTS / 4);
    let all = tokens(&body);
    let fits = |share: u64| plan_of(&body, all * share / WINDOWS).0.fit == Fit::Fits;
    let smallest = (1..=WINDOWS).find(|&share| fits(share)).unwrap();
    assert!(smallest < WINDOWS * 2 / 5, "each result leaves a gap, and that is enough");
    assert!((smallest..=WINDOWS).all(fits), "more than the smallest window that is enough");
}
