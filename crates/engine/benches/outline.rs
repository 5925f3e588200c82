//! How long does `Outline::read` take, beside a hot memcpy and a serde_json parse and write of the same bytes? (P1)
//!
//! Absolute times differ between machines; the ratios of things that take turns hold. No file is read.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]
#![expect(clippy::disallowed_types, reason = "a bench needs a clock")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

use liveset_engine::json::Outline;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Body sizes in bytes: a short, a long and a full conversation.
const SIZES: [(&str, usize); 3] = [("200 KB", 200_000), ("1 MB", 1_000_000), ("4 MB", 4_000_000)];

/// Rounds in which each takes its turn once.
const ROUNDS: usize = 41;

/// Bytes that one turn goes over at least, so that a turn is long beside the clock's step.
const BYTES_PER_TURN: usize = 8_000_000;

fn main() {
    println!(
        "P1: `Outline::read` against a hot memcpy and serde_json parse + write; medians, in brackets 10th to 90th percentile"
    );
    for (name, size) in SIZES {
        let body = body(size);
        check(&body);
        report(name, &body);
    }
}

/// Compares what the outline finds with serde_json's reading.
fn check(body: &[u8]) {
    let value: Value = serde_json::from_slice(body).unwrap();
    let outline = Outline::read(body).unwrap();
    let messages = outline.get(outline.root(), "messages").unwrap();
    let expected = value["messages"].as_array().unwrap();
    assert_eq!(outline.children(messages).count(), expected.len());
    for (message, expected) in outline.children(messages).zip(expected) {
        let content = outline.get(message, "content").unwrap();
        for (block, expected) in outline.children(content).zip(expected["content"].as_array().unwrap()) {
            let found: Value = serde_json::from_slice(outline.bytes(block)).unwrap();
            assert_eq!(&found, expected);
            if let Some(text) = outline.get(block, "content") {
                assert_eq!(outline.string(text).as_deref(), expected["content"].as_str());
            }
        }
    }
}

fn report(name: &str, body: &[u8]) {
    let repeats = (BYTES_PER_TURN / body.len()).max(1);
    let mut copy = vec![0; body.len()];
    let mut turns = Vec::new();
    for _ in 0..ROUNDS {
        let memcpy = time(repeats, || black_box(&mut copy[..]).copy_from_slice(black_box(body)));
        let read = time(repeats, || {
            black_box(Outline::read(black_box(body)).unwrap());
        });
        let serde = time(1, || {
            let value: Value = serde_json::from_slice(black_box(body)).unwrap();
            black_box(serde_json::to_vec(&value).unwrap());
        });
        turns.push((memcpy, read, serde));
    }
    let gigabytes = body.len() as f64 / median(turns.iter().map(|(_, read, _)| *read)) / 1e9;
    println!(
        "{name:>7}: read / memcpy {}   serde / read {}   read {gigabytes:.2} GB/s   ({} bytes)",
        spread(turns.iter().map(|(memcpy, read, _)| read / memcpy)),
        spread(turns.iter().map(|(_, read, serde)| serde / read)),
        body.len(),
    );
}

/// Gives the seconds that one call takes, the bytes being as near as the caches can hold them.
fn time(repeats: usize, mut call: impl FnMut()) -> f64 {
    call();
    let start = Instant::now();
    for _ in 0..repeats {
        call();
    }
    Duration::as_secs_f64(&start.elapsed()) / repeats as f64
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    values[values.len() / 2]
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let values = sorted(values);
    let at = |tenths: usize| values[(values.len() - 1) * tenths / 10];
    format!("{:.2} [{:.2} {:.2}]", at(5), at(1), at(9))
}

/// Writes a conversation of about `size` bytes: tool definitions, then calls and results of many lines.
fn body(size: usize) -> Vec<u8> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": lines(&mut dice, 10)}]})];
    let mut len = 0;
    for turn in 0.. {
        let id = format!("toolu_{turn:024}");
        let count = 5 + dice.roll(200);
        let result = lines(&mut dice, count);
        len += result.len() + result.len() / 20 + 500;
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": lines(&mut dice, 2)},
            {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": format!("src/part_{turn}.rs"), "offset": turn}},
        ]}));
        messages
            .push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}));
        if len >= size {
            break;
        }
    }
    let parameter = |name: &str| json!({"type": "object", "properties": {name: {"type": "string", "description": "what to use"}}, "required": [name]});
    let tools: Vec<Value> = ["path", "query", "command", "pattern"]
        .map(|name| json!({"name": name, "description": lines(&mut dice, 4), "input_schema": parameter(name)}))
        .to_vec();
    serde_json::to_vec(&json!({"model": "claude-opus-4", "max_tokens": 8192, "tools": tools, "messages": messages}))
        .unwrap()
}

/// Lines of about 40 bytes, as tools print them: quotes, paths, tabs and some letters beyond ASCII among them.
fn lines(dice: &mut Dice, count: usize) -> String {
    const WORDS: [&str; 16] = [
        "let",
        "value",
        "=",
        "self.parse(",
        "\"text\"",
        "error:",
        "src/json/reader.rs:12",
        "fn",
        "->",
        "42",
        "// because",
        "return",
        "C:\\tmp",
        "Ergebnis",
        "größer",
        "→",
    ];
    let mut text = String::new();
    for _ in 0..count {
        if dice.roll(4) == 0 {
            text.push('\t');
        }
        for _ in 0..3 + dice.roll(8) {
            // The last three are rare.
            let word = if dice.roll(30) == 0 { 8 + dice.roll(8) } else { dice.roll(12) };
            text.push_str(WORDS[word]);
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

/// Numbers that are the same in each run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides) as usize
    }
}
