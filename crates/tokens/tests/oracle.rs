//! Is the fast count the true one?
//!
//! Compares the built-in counters with `tiktoken-rs`, token for token, on generated text and on the shared traces;
//! `bpe-openai` stands in on runs of blanks so long that `tiktoken-rs` panics.
#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure, this test reads traces from where the environment says"
)]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use liveset_tokens::{Exactness, Family, LineMarks, TokenCounter, counter};
use proptest::prelude::*;
use serde_json::Value;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// One of our counters beside its two oracles.
struct Pair {
    ours: &'static dyn TokenCounter,
    tiktoken: &'static CoreBPE,
    bpe: &'static bpe_openai::Tokenizer,
}

fn pairs() -> [Pair; 2] {
    [
        Pair { ours: counter(Family::O200k), tiktoken: o200k_base_singleton(), bpe: bpe_openai::o200k_base() },
        Pair { ours: counter(Family::Cl100k), tiktoken: cl100k_base_singleton(), bpe: bpe_openai::cl100k_base() },
    ]
}

fn start(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Compares with tiktoken.
fn check(text: &str) {
    for pair in pairs() {
        let truth = pair.tiktoken.encode_ordinary(text).len() as u64;
        assert_eq!(pair.ours.count(text).0, truth, "{} on {:?}", pair.ours.name(), start(text));
        check_marks(pair.ours, text);
    }
}

/// Compares what was noted between lines with a count of those lines alone: of each stretch, and of the text up to there.
fn check_marks(counter: &dyn TokenCounter, text: &str) {
    let mut marks = LineMarks::default();
    assert_eq!(counter.count_marked(text, &mut marks), counter.count(text), "{}", counter.name());
    let ends = text.match_indices('\n').map(|(at, _)| at + 1).chain([text.len()]);
    let (mut from, mut skipped) = (0, 0);
    for end in ends.filter(|&end| end > 0) {
        let Some(noted) = marks.between(from, end) else { continue };
        let alone = |from: usize| counter.count(&text[from..end]);
        assert_eq!(noted, alone(from), "{} on {:?}", counter.name(), start(&text[from..end]));
        // Some longer stretches too, each from where the one before began.
        if skipped != from {
            assert_eq!(marks.between(skipped, end), Some(alone(skipped)), "{}", counter.name());
        }
        (skipped, from) = (from, end);
    }
    assert_eq!(marks.between(0, text.len()).unwrap_or_default(), counter.count(text));
}

/// Compares with the other oracle, for texts on which tiktoken fails.
fn check_hard(text: &str) {
    for pair in pairs() {
        let truth = pair.bpe.count(text) as u64;
        assert_eq!(pair.ours.count(text).0, truth, "{} on {:?}", pair.ours.name(), start(text));
    }
}

/// Pieces that pretokenizers treat apart from their neighbours.
fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "the",
        "Read",
        "HTTPServer",
        "camelCase",
        "x",
        "I'll",
        "we'VE",
        "it's",
        "'s",
        "'",
        "l'été",
        "naïve",
        "straße",
        "ǅungla",
        "ſharp",
        "İstanbul",
        "亚洲",
        "AV",
        "日本語",
        "カタカナ",
        "한국어",
        "ไทย",
        "हिन्दी",
        "עברית",
        "العربية",
        "Ωmega",
        "Привет",
    ]);
    let marks = prop::sample::select(vec![
        "<|endoftext|>",
        "<|im_start|>",
        "<|fim_prefix|>",
        "<|endofprompt|>",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "🚀",
        "e\u{301}",
        "\u{301}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{feff}",
        "\u{378}",
        "\u{e000}",
        "\u{10ffff}",
        "\u{0}",
        "\u{7f}",
        "\u{85}",
        "²",
        "Ⅷ",
        "٣",
        "½",
    ]);
    let blanks = prop::sample::select(vec![
        " ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", " \n", "\n ", "\u{a0}", "\u{2028}", "\u{3000}", "\u{b}", "\u{c}",
        "\u{1680}",
    ]);
    let signs =
        prop::sample::select(vec!["/", "//", "...", "--", "{\"", "\":", "\\n", "_", "#", "=>", "&&", "\"", "。", "—"]);
    prop_oneof![
        4 => words.prop_map(str::to_owned),
        2 => marks.prop_map(str::to_owned),
        4 => blanks.prop_map(str::to_owned),
        2 => signs.prop_map(str::to_owned),
        1 => "[0-9]{1,12}",
        1 => "[0-9a-f]{1,40}",
        1 => "[A-Za-z0-9+/]{1,60}",
        1 => any::<char>().prop_map(|c| c.to_string()),
        1 => (any::<char>(), 1..300_usize).prop_map(|(c, times)| c.to_string().repeat(times)),
        1 => (prop::sample::select(vec![" ", "\t", "\n", "a", "A", "-", "^", "0", "\r\n", " \n", "é", "字", "🚀", "\u{301}"]), 1..600_usize)
            .prop_map(|(run, times)| run.repeat(times)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mixed_pieces_count_as_tiktoken_counts_them(pieces in prop::collection::vec(piece(), 0..24)) {
        check(&pieces.concat());
    }

    #[test]
    fn any_text_counts_as_tiktoken_counts_it(text in any::<String>()) {
        check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_of_many_parts_counts_as_one(pieces in prop::collection::vec(piece(), 1..12), pad in 0..40_usize) {
        // Long enough for several parts, with borders at shifting places.
        let line = format!("{}{}", pieces.concat(), "x".repeat(pad));
        let times = (100_000 / line.len().max(1)).clamp(1, 20_000);
        check_hard(&format!("{line}\n").repeat(times));
        check_hard(&line.repeat(times));
    }
}

/// The classes of characters decide where pieces end; each character meets a word, a number, blanks and line ends.
#[test]
fn every_character_counts_as_tiktoken_counts_it() {
    // Planes 4 to 13, 15 and 16 hold nothing but unassigned and private characters: a sample of them is enough.
    let may_be_assigned = |c: char| c < '\u{40000}' || ('\u{e0000}'..'\u{e1000}').contains(&c);
    for c in (char::MIN..=char::MAX).filter(|&c| may_be_assigned(c) || u32::from(c) % 251 == 0) {
        check(&format!("{c}a{c}B {c}{c}1\n{c} '{c}  {c}'s"));
    }
}

#[test]
fn public_vocabularies_are_exact() {
    for pair in pairs() {
        assert_eq!(pair.ours.exactness(), Exactness::Exact);
    }
}

#[test]
fn both_oracles_agree_where_both_work() {
    for text in ["", "plain words", "  \n\tmixed\r\n", "亚洲AV 👩‍👩‍👧‍👦", "<|endoftext|>"] {
        check(text);
        check_hard(text);
    }
}

/// A megabyte of one thing, and of the things that agents really meet.
#[test]
fn a_megabyte_of_anything_is_counted_exactly() {
    const MEGABYTE: usize = 1_000_000;
    let run = |text: &str| text.repeat(MEGABYTE / text.len());
    let mixed = |alphabet: &[u8]| -> String {
        let mut state = 7_u32;
        let draw = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 16) as usize % alphabet.len()])
        };
        (0..MEGABYTE).map(draw).collect()
    };
    let base64 = mixed(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    let texts = [
        run("a"),
        run("A"),
        run("-"),
        run("^"),
        run("0"),
        run(" "),
        run("\t"),
        run("\n"),
        run("\r\n"),
        run("字"),
        run("🚀"),
        run("\u{301}"),
        run("é"),
        run("À"),
        run(" \t"),
        run(" \n"),
        run("aA"),
        run("亚A"),
        run("a1"),
        run("'s"),
        run("/"),
        run(".\n"),
        run("\u{a0}"),
        format!("{}a", run(" ")),
        format!("{}a", run("\t")),
        format!("{}1", run(" ")),
        format!("{}字", run(" ")),
        format!("{} a", run("\n")),
        format!("a{}", run(" ")),
        format!("{}字", run("A")),
        format!("{}é", run("-")),
        mixed(b"0123456789abcdef"),
        mixed(b"01"),
        mixed(b" \t"),
        mixed(b" \n"),
        base64,
    ];
    for text in texts {
        check_hard(&text);
    }
}

fn traces() -> Option<PathBuf> {
    let folder = std::env::var_os("LIVESET_TRACES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

fn files_under(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_under(&path, into) } else { into.push(path) }
    }
}

fn strings_of(value: Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            into.insert(text);
        }
        Value::Array(values) => values.into_iter().for_each(|value| strings_of(value, into)),
        Value::Object(fields) => {
            for (key, value) in fields {
                into.insert(key);
                strings_of(value, into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn every_text_of_the_shared_traces_counts_as_tiktoken_counts_it() {
    let Some(folder) = traces() else {
        eprintln!("SKIPPED: no shared traces; set LIVESET_TRACES to their folder to compare counts on real texts");
        return;
    };
    let mut files = Vec::new();
    files_under(&folder, &mut files);
    let mut texts = BTreeSet::new();
    for file in &files {
        let Ok(body) = std::fs::read_to_string(file) else { continue };
        let values = serde_json::Deserializer::from_str(&body).into_iter::<Value>();
        values.map_while(Result::ok).for_each(|value| strings_of(value, &mut texts));
        // The file itself is a text too: JSON and YAML as a tool prints them.
        texts.insert(body.chars().take(200_000).collect());
    }
    assert!(texts.len() > 1_000, "{} texts found in {} files", texts.len(), files.len());
    texts.iter().for_each(|text| check(text));
}
