//! Does the fast score equal rule L5 written down plainly? On generated conversations and on real ones.

#![expect(clippy::unwrap_used, reason = "a trace that cannot be read fails the test")]
#![expect(clippy::print_stderr, reason = "a test that could not run says so")]

mod conversation;
mod slow;
mod trace;

use conversation::{Dropped, Event, Seen, compare};
use liveset_engine::plan::passages::passages;
use liveset_engine::shingles::{for_each_shingle, word_count};
use proptest::prelude::*;
use slow::{Shingle, Slow};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Built once, since its patterns take longer to build than to run.
static SLOW: LazyLock<Slow> = LazyLock::new(Slow::new);

/// Pieces that make prefixes, marks, borders and words meet in every way.
const PIECES: [&str; 32] = [
    "a",
    "b1",
    "x_y",
    "12",
    "7",
    "٣",
    "é",
    "日本",
    "e\u{301}",
    "Ⓐ",
    ".",
    "/",
    "-",
    ":",
    "|",
    "→",
    "\t",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\u{a0}",
    "+",
    "@",
    "{",
    "}",
    "(",
    "*** Begin Patch\n",
    "diff --git a/b",
    "\u{0}",
    "a.b/c:3:",
];

/// Sentences that results and chain share, with and without the prefixes that do not count.
const SENTENCES: [&str; 9] = [
    "the quick brown fox jumps over the lazy dog and runs home\n",
    "let total = price * count + tax;\n",
    "fn area(w: u32, h: u32) -> u32 { w * h }\n",
    "  12\tfn area(w: u32, h: u32) -> u32 { w * h }\n",
    "src/a.rs:7:let total = price * count + tax;\n",
    "+the quick brown fox jumps over the lazy dog and runs home\n",
    "日本語 の テキスト 。 また 次 の 行 です\n",
    "---- [] {} () ---- !! ?? ..\n",
    "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n",
];

fn raw_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..120).prop_map(|pieces| pieces.concat())
}

/// Short lines that begin, or nearly begin, with a line number or a grep place, and go on with words enough for shingles.
fn prefixed_text() -> impl Strategy<Value = String> {
    const STARTS: [&str; 16] = ["1", "12", "٣", "a", "é", ".", "/", "-", ":", "\t", " ", "|", "→", "\r", "+", "a.b"];
    let line =
        prop::collection::vec(prop::sample::select(&STARTS[..]), 0..10).prop_map(|start| start.concat() + "w x y z\n");
    prop::collection::vec(line, 1..40).prop_map(|lines| lines.concat())
}

/// Repetitive text of up to four passages; numbers make some lines unlike any other.
fn told_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => prop::sample::select(&SENTENCES[..]).prop_map(str::to_owned),
        1 => (0..4u32).prop_map(|n| format!("line {n} of a log that says {n} and again {n} and no more\n")),
        1 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
    ];
    let lines = (prop::collection::vec(line, 0..5), 1..10usize);
    let block = lines.prop_map(|(lines, times)| lines.concat().repeat(times));
    (prop::collection::vec(block, 0..3), any::<bool>()).prop_map(|(blocks, is_patch)| {
        let head = if is_patch && blocks.len() == 2 { "*** Begin Patch\n" } else { "" };
        format!("{head}{}", blocks.concat())
    })
}

/// A few texts, said and delivered again and again: what makes passages said, stale and referred to.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let texts = prop::collection::vec(told_text(), 1..5);
    let picks = prop::collection::vec((0..8u32, 0..5usize, 0..5usize), 0..24);
    (texts, picks).prop_map(|(texts, picks)| {
        let text = |idx: usize| texts[idx % texts.len()].clone();
        let event = |(kind, first, second): (u32, usize, usize)| match kind {
            0 => Event::User(text(first)),
            1 | 2 => Event::Assistant(text(first)),
            3 => Event::Assistant(SENTENCES[first].repeat(2)),
            4 => Event::Result(vec![text(first), text(second)]),
            5 => Event::Result(vec![format!("{}{}", text(first), text(second))]),
            _ => Event::Result(vec![text(first)]),
        };
        picks.into_iter().map(event).collect()
    })
}

fn dropped() -> impl Strategy<Value = Dropped> {
    prop_oneof![Just(Dropped::None), (2..6u64).prop_map(Dropped::OneOf)]
}

/// Compares words, passages and shingles of one text; equal words must have equal hashes, and others must not.
fn compare_text<'a>(slow: &Slow, text: &'a str, known: &mut BTreeMap<u64, Shingle<'a>>) {
    let mut fast = Vec::new();
    for_each_shingle(text, |shingle| fast.push(shingle));
    let plain = slow.shingles(text);
    let places = |start: usize, end: usize| (start as u32, end as u32);
    let expected: Vec<(u32, u32)> = plain.iter().map(|shingle| places(shingle.start, shingle.end)).collect();
    assert_eq!(fast.iter().map(|shingle| (shingle.start, shingle.end)).collect::<Vec<_>>(), expected, "{text:?}");
    for (fast, plain) in fast.iter().zip(plain) {
        assert_eq!(*known.entry(fast.hash).or_insert(plain.words), plain.words, "two shingles, one hash");
    }
    assert_eq!(passages(text), slow.passages(text), "{text:?}");
    let words: usize = slow.lines(text).iter().map(|(_, _, words)| words.len()).sum();
    assert_eq!(word_count(text) as usize, words, "{text:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_shingles_and_passages_of_any_text_equal_the_plain_ones(raw in raw_text(), lines in prefixed_text(), told in told_text()) {
            let mut known = BTreeMap::new();
        compare_text(&SLOW, &raw, &mut known);
        compare_text(&SLOW, &lines, &mut known);
        compare_text(&SLOW, &told, &mut known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_of_any_conversation_equal_the_plain_ones(events in events(), dropped in dropped(), behind in 0..4u32) {
        compare(&SLOW, &events, dropped, behind);
    }
}

/// The generator is of use only while it makes every signal fire.
#[test]
fn generated_conversations_hold_what_the_rule_looks_for() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = Seen::default();
    for _ in 0..100 {
        seen += compare(&SLOW, &events().new_tree(&mut runner).unwrap().current(), Dropped::OneOf(5), 0);
    }
    assert!([seen.said, seen.stale, seen.referred].iter().all(|count| count * 20 > seen.passages), "{seen:?}");
    assert!(seen.said < seen.passages && seen.stale < seen.passages, "{seen:?}");
}

/// Compares at four points of a conversation, whole and thinned out.
fn compare_cuts(slow: &Slow, events: &[Event]) -> Seen {
    let mut seen = Seen::default();
    let cuts = [(3, Dropped::None), (6, Dropped::OneOf(4)), (9, Dropped::OneOf(9)), (10, Dropped::None)];
    for (tenths, dropped) in cuts {
        seen += compare(slow, &events[..events.len() * tenths / 10], dropped, 0);
    }
    seen
}

fn finish(what: &str, seen: Seen) {
    eprintln!("{what}: {seen:?}");
    assert!(seen.passages > 0);
}

#[test]
fn scores_of_claude_code_sessions_equal_the_plain_ones() {
    let Some(folder) = trace::folder() else { return };
    let mut seen = Seen::default();
    for name in [
        "entire-cli-a",
        "entire-cli-b",
        "entire-cli-compacted-twice",
        "kimi-cli-dev-images",
        "kimi-cli-dev-tasks",
        "agentcmd-session-four",
    ] {
        seen += compare_cuts(&SLOW, &trace::claude_code(&folder.join(format!("claude-code/{name}.jsonl"))));
    }
    finish("Claude Code", seen);
}

#[test]
fn scores_of_codex_sessions_equal_the_plain_ones() {
    let Some(folder) = trace::folder() else { return };
    let mut seen = Seen::default();
    for name in ["rollout-long", "rollout-medium"] {
        seen += compare_cuts(&SLOW, &trace::codex(&folder.join(format!("codex/{name}.jsonl"))));
    }
    finish("Codex", seen);
}

#[test]
fn scores_of_customer_service_conversations_equal_the_plain_ones() {
    let Some(folder) = trace::folder() else { return };
    let mut seen = Seen::default();
    for events in trace::tau_bench(&folder.join("openai-chat/tau-bench-airline-gpt-4o-first-50.json")) {
        seen += compare_cuts(&SLOW, &events);
    }
    finish("tau-bench", seen);
}

#[test]
fn shingles_of_real_texts_equal_the_plain_ones() {
    let Some(folder) = trace::folder() else { return };
    let events = trace::claude_code(&folder.join("claude-code/entire-cli-compacted-bash-heavy.jsonl"));
    let mut known = BTreeMap::new();
    for event in &events {
        match event {
            Event::Assistant(text) | Event::User(text) => compare_text(&SLOW, text, &mut known),
            Event::Result(parts) => parts.iter().for_each(|text| compare_text(&SLOW, text, &mut known)),
        }
    }
    assert!(known.len() > 1_000, "{}", known.len());
}
