//! How fast is counting beside `tiktoken-rs`, on the same bytes, taking turns in one run? (P2 to P5)
//!
//! Every count is compared before a figure is printed. Absolute times differ between machines; the ratios hold. Texts are
//! the sources of this repository and, where they are present, the shared traces.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a bench needs a clock and texts from files")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use liveset_tokens::{CountCache, Tokens, o200k};
use tiktoken_rs::CoreBPE;

/// Rounds of P2; each has texts of its own, so that none has been seen before.
const ROUNDS: usize = 15;

/// Fresh processes per side of P4.
const LOADS: usize = 9;

/// Tokens of the body in P5, and bytes that are new in each of its rounds.
const BODY_TOKENS: u64 = 1_000_000;
const NEW_BYTES: usize = 10_000;

/// Argument with which the bench calls itself to load one counter in a fresh process.
const LOAD: &str = "--load";

/// Texts shorter than this say more about the clock than about counting.
const MIN_TEXT_BYTES: usize = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == LOAD) {
        return load(&arguments[at + 1]);
    }
    let texts = texts();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {:.1} MB; medians, in brackets the range", texts.len(), bytes as f64 / 1e6);
    let rate = unseen_text(&texts);
    worst_inputs(rate);
    loading();
    recount(&texts);
}

/// P2: each text is counted once by each side.
fn unseen_text(texts: &[String]) -> f64 {
    let (tiktoken, bpe) = (tiktoken_rs::o200k_base_singleton(), bpe_openai::o200k_base());
    let (mut ours_turns, mut bpe_turns, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    // All three are loaded before the clock runs.
    assert_eq!((o200k().count("a"), tiktoken.encode_ordinary("a").len(), bpe.count("a")), (Tokens(1), 1, 1));
    for round in 0..ROUNDS {
        let share: Vec<&str> = texts.iter().skip(round).step_by(ROUNDS).map(String::as_str).collect();
        let bytes: usize = share.iter().map(|text| text.len()).sum();
        let (theirs, truth) = time(|| counts(&share, |text| tiktoken.encode_ordinary(text).len() as u64));
        let (ours, found) = time(|| counts(&share, |text| o200k().count(text).0));
        let (other, _) = time(|| counts(&share, |text| bpe.count(text) as u64));
        assert_eq!(found, truth, "the same count on every text");
        ours_turns.push(theirs.as_secs_f64() / ours.as_secs_f64());
        bpe_turns.push(theirs.as_secs_f64() / other.as_secs_f64());
        rates.push(bytes as f64 / theirs.as_secs_f64());
    }
    println!(
        "P2 unseen text        {} x tiktoken-rs; moonshot >= 15: {}",
        spread(&ours_turns),
        verdict(median(&ours_turns) >= 15.0)
    );
    println!("   bpe-openai         {} x tiktoken-rs, for comparison", spread(&bpe_turns));
    median(&rates)
}

/// P3: one character a megabyte long and its like, against the rate that tiktoken-rs reaches on mixed text.
fn worst_inputs(mixed_rate: f64) {
    let mut worst: Option<(f64, String)> = None;
    for megabytes in [1, 10] {
        for (name, text) in bad_inputs(megabytes * 1_000_000) {
            let truth = bpe_openai::o200k_base().count(&text) as u64;
            assert_eq!(o200k().count(&text).0, truth, "{name}");
            let turns: Vec<f64> = (0..5)
                .map(|_| text.len() as f64 / time(|| black_box(o200k().count(&text))).0.as_secs_f64() / mixed_rate)
                .collect();
            let row = format!("{megabytes} MB of {name}");
            println!("   {row:<20} {} x the mixed rate", spread(&turns));
            let slowest = median(&turns);
            if worst.as_ref().is_none_or(|(least, _)| slowest < *least) {
                worst = Some((slowest, row));
            }
        }
    }
    let (ratio, name) = worst.unwrap();
    println!(
        "P3 worst input        {ratio:.2} x tiktoken-rs' mixed rate ({name}); hold >= 1: {}",
        verdict(ratio >= 1.0)
    );
}

fn bad_inputs(bytes: usize) -> Vec<(&'static str, String)> {
    let run = |text: &str| text.repeat(bytes / text.len());
    let mut state = 7_u32;
    let mut mixed = |alphabet: &[u8]| -> String {
        let draw = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 16) as usize % alphabet.len()])
        };
        (0..bytes).map(draw).collect()
    };
    vec![
        ("`a`", run("a")),
        ("`-`", run("-")),
        ("`^`", run("^")),
        ("blanks", run(" ")),
        ("tabs", run("\t")),
        ("line feeds", run("\n")),
        ("`0`", run("0")),
        ("CJK", run("字")),
        ("emoji", run("🚀")),
        ("blanks, letter", format!("{}a", run(" "))),
        ("base64", mixed(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
        ("hex", mixed(b"0123456789abcdef")),
        ("blanks and tabs", mixed(b" \t")),
    ]
}

/// P4: from nothing to the first count, each time in a process of its own.
fn loading() {
    let ours: Vec<f64> = (0..LOADS).map(|_| loaded("tiktoken-rs") / loaded("ours")).map(|ratio| 1.0 / ratio).collect();
    let bpe: Vec<f64> = (0..LOADS).map(|_| loaded("bpe-openai") / loaded("tiktoken-rs")).collect();
    println!(
        "P4 ready to count     {} x tiktoken-rs' load; hold <= 0.5: {}",
        spread(&ours),
        verdict(median(&ours) <= 0.5)
    );
    println!("   bpe-openai         {} x tiktoken-rs' load, for comparison", spread(&bpe));
}

fn loaded(which: &str) -> f64 {
    let output = Command::new(std::env::current_exe().unwrap()).args([LOAD, which]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Prints how many seconds one counter takes until its first count.
fn load(which: &str) {
    let (elapsed, tokens) = time(|| match which {
        "ours" => o200k().count("hello world").0,
        "bpe-openai" => bpe_openai::o200k_base().count("hello world") as u64,
        _ => tiktoken_rs::o200k_base_singleton().encode_ordinary("hello world").len() as u64,
    });
    assert_eq!(tokens, 2);
    println!("{}", elapsed.as_secs_f64());
}

/// P5: a body of a million tokens with 10 KB that were not there before, through the cache.
fn recount(texts: &[String]) {
    let tiktoken = tiktoken_rs::o200k_base_singleton();
    let mut cache = CountCache::default();
    let (mut body, mut total) = (Vec::new(), Tokens(0));
    let mut stock = texts.iter().map(String::as_str);
    while total.0 < BODY_TOKENS {
        // Too little text at hand is made up for by numbering what there is.
        let block =
            stock.next().map_or_else(|| format!("{} {}", body.len(), texts[body.len() % texts.len()]), str::to_owned);
        total += cache.count(o200k(), &block);
        body.push(block);
    }
    let (mut warm_turns, mut cold_turns) = (Vec::new(), Vec::new());
    for round in 0..14 {
        // Texts from the far end of the stock, with a number in front so that no block has been met before.
        let late = texts.iter().rev().skip(round * 50).flat_map(|text| text.chars());
        let new: String = format!("round {round}\n").chars().chain(late).take(NEW_BYTES).collect();
        body.push(new);
        let (theirs, truth) = time(|| full(tiktoken, &body));
        // A client sends the whole body anew with each request: it is counted just after it was written. In each other
        // round it is counted where it lies, which the full count has just pushed out of the processor's caches.
        let arrived = if round % 2 == 0 { Some(body.clone()) } else { None };
        let blocks = arrived.as_ref().unwrap_or(&body);
        let (ours, found) = time(|| blocks.iter().map(|block| cache.count(o200k(), block)).sum::<Tokens>());
        assert_eq!(found.0, truth, "a recount is exact");
        let turns = if arrived.is_some() { &mut warm_turns } else { &mut cold_turns };
        turns.push(theirs.as_secs_f64() / ours.as_secs_f64());
    }
    let name = format!("P5 recount, {} blocks", body.len());
    println!(
        "{name:<21} {} x faster than a full tiktoken-rs count; hold >= 500: {}",
        spread(&warm_turns),
        verdict(median(&warm_turns) >= 500.0)
    );
    println!("   out of the caches  {} x, for comparison", spread(&cold_turns));
}

fn full(tiktoken: &CoreBPE, body: &[String]) -> u64 {
    body.iter().map(|block| tiktoken.encode_ordinary(block).len() as u64).sum()
}

fn counts(texts: &[&str], count: impl Fn(&str) -> u64) -> Vec<u64> {
    texts.iter().map(|text| count(text)).collect()
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = black_box(work());
    (start.elapsed(), done)
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn spread(figures: &[f64]) -> String {
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(0.0, f64::max);
    format!("{:>7.2} [{least:.2} to {most:.2}]", median(figures))
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// Sources of this repository, and the strings in the shared traces where there are any.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "examples"] {
        files_under(&root.join(folder), &mut files);
    }
    let read = |file: &PathBuf| std::fs::read_to_string(file).ok();
    let mut texts: BTreeSet<String> = files.iter().filter_map(read).collect();
    let traces = std::env::var_os("LIVESET_TRACES").map_or_else(|| root.join("../shared/traces"), PathBuf::from);
    let mut files = Vec::new();
    files_under(&traces, &mut files);
    if files.is_empty() {
        println!("no shared traces: the texts are this repository's alone (set LIVESET_TRACES)");
    }
    for body in files.iter().filter_map(read) {
        let values = serde_json::Deserializer::from_str(&body).into_iter::<serde_json::Value>();
        values.map_while(Result::ok).for_each(|value| strings_of(value, &mut texts));
    }
    texts.into_iter().filter(|text| text.len() >= MIN_TEXT_BYTES).collect()
}

fn files_under(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files_under(&path, into) } else { into.push(path) }
    }
}

fn strings_of(value: serde_json::Value, into: &mut BTreeSet<String>) {
    use serde_json::Value::{Array, Object, String};
    match value {
        String(text) => drop(into.insert(text)),
        Array(values) => values.into_iter().for_each(|value| strings_of(value, into)),
        Object(fields) => fields.into_iter().for_each(|(_, value)| strings_of(value, into)),
        _ => {}
    }
}
