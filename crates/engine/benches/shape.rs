//! How fast is a result recognised and shaped, beside counting its tokens? Ordinary texts, and those that cost most.
//!
//! Absolute speeds differ between machines; the ratios of things that take turns hold. No file is read. Words behind `--`
//! name the texts that are wanted.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]
#![expect(clippy::disallowed_types, reason = "a bench needs a clock")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use liveset_engine::{content::recognise, intake::Request, policy::Policy};
use liveset_tokens::o200k;

/// Rounds in which each takes its turn once.
const ROUNDS: usize = 15;
/// Bytes of each text.
const BYTES: usize = 400_000;

fn main() {
    println!(
        "recognition and shaping to 2000 characters beside the token counter; medians of {ROUNDS} rounds, texts of {BYTES} bytes"
    );
    println!("{:<28} {:<16} {:>10} {:>10} {:>8}", "text", "taken for", "shape MB/s", "count MB/s", "ratio");
    let policy = Policy::from_toml("[intake]\nstrategy = \"by_type\"\nmax_chars = 2000\n").unwrap();
    let shape = policy.shape(&["Bash"], None).unwrap();
    let mut slowest = f64::MAX;
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, text) in texts() {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let mut turns = Vec::new();
        for _ in 0..ROUNDS {
            let shaping = time(|| {
                let kind = recognise(black_box(&text), None);
                let route = "run the call again to see it";
                let request = Request { text: &text, kind, shape, tells_of_a_run: true, route };
                black_box(request.shaped());
            });
            let counting = time(|| {
                black_box(o200k().count(black_box(&text)));
            });
            turns.push((shaping, counting));
        }
        let megabytes = text.len() as f64 / 1e6;
        let shaping = median(turns.iter().map(|(shaping, _)| *shaping));
        let counting = median(turns.iter().map(|(_, counting)| *counting));
        let ratio = median(turns.iter().map(|(shaping, counting)| counting / shaping));
        slowest = slowest.min(ratio);
        println!(
            "{name:<28} {:<16} {:>10.0} {:>10.0} {ratio:>8.1}",
            recognise(&text, None).name(),
            megabytes / shaping,
            megabytes / counting
        );
    }
    println!("slowest: {slowest:.2} of the token counter's speed (to hold: 0.25)");
}

/// Ordinary texts first, then those that a careless pass would choke on.
fn texts() -> Vec<(&'static str, String)> {
    let of = |line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for at in 0.. {
            if text.len() >= BYTES {
                break;
            }
            text.push_str(&line(at));
        }
        text
    };
    let rows = of(&|at| format!("{{\"id\": {at}, \"name\": \"item {at}\", \"tags\": [\"a\", \"b\"]}},\n"));
    vec![
        ("code", of(&|at| format!("    let value_{at} = self.parse(input, {at})?;\n"))),
        ("log", of(&|at| format!("2024-01-02 10:00:01 INFO request {at} served in {} ms\n", at % 97))),
        ("build", of(&|at| format!("   Compiling crate_{at} v0.1.{at}\n"))),
        ("CSV", of(&|at| format!("{at},item {at},\"a, b\",{}\n", at * 7))),
        ("prose", of(&|at| format!("It was {at} o'clock, and the rain had not yet stopped.\n"))),
        ("JSON", format!("[{}]", rows.trim_end().trim_end_matches(','))),
        ("every line an error", of(&|at| format!("error[E{at}]: cannot find value\n"))),
        ("many marks in each line", of(&|_| "failed Error: failed panic: failed error: failed \n".to_owned())),
        ("one line without an end", "x".repeat(BYTES)),
        ("lines of nothing", "\n".repeat(BYTES)),
        ("quotes that never close", "\",".repeat(BYTES / 2)),
        ("open brackets", format!("{}{}", "[".repeat(400), "[1],".repeat(BYTES / 4))),
        ("one JSON string", format!("[\"{}\"]", "\\u00e9".repeat(BYTES / 6))),
        ("nested JSON", format!("[{}]", vec!["[[[[[[[[1]]]]]]]]"; BYTES / 18].join(","))),
        ("control sequences", "\u{1b}[1m".repeat(BYTES / 4)),
        ("colons and digits", "a:1:".repeat(BYTES / 4)),
        ("gaps of ours", of(&|at| format!("[lines {at}-{} of {at} left out]\n", at + 1))),
        ("emoji", "👨‍👩‍👧‍👦".repeat(BYTES / 25)),
    ]
}

/// Gives the seconds that one call takes.
fn time(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    Duration::as_secs_f64(&start.elapsed())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
