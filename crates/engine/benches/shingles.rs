//! What do shingles, passages and a whole score cost, beside hashing each word of the same text once? (P9)
//!
//! Absolute times differ between machines; the ratios of things that take turns hold. No file is read.

#![expect(clippy::print_stdout, reason = "the table is what a bench is for")]
#![expect(clippy::disallowed_types, reason = "a bench needs a clock")]

use liveset_engine::plan::passages::{Passage, passages};
use liveset_engine::plan::score::{ChainText, Part, ResultText, Score, score};
use liveset_engine::shingles::{for_each_shingle, word_count};
use std::hint::black_box;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Sizes in bytes of chain and results together: a short, a long and a full conversation.
const SIZES: [(&str, usize); 3] = [("200 KB", 200_000), ("1 MB", 1_000_000), ("3.3 MB", 3_300_000)];

/// Rounds in which each takes its turn once.
const ROUNDS: usize = 31;

fn main() {
    println!("P9: shingles and score against hashing each word once; medians, in brackets 10th to 90th percentile");
    for (name, size) in SIZES {
        let conversation = Conversation::of(size);
        check(&conversation);
        report(name, &conversation);
    }
}

/// The yardstick must see the same words, but for those of line prefixes, and the score must find something to say.
fn check(conversation: &Conversation) {
    for text in conversation.chain.iter().map(|(_, text)| text) {
        assert_eq!(hash_words(text).0, word_count(text));
    }
    let borders = conversation.borders();
    let scores = conversation.score(&borders);
    let all: Vec<_> = scores.iter().flatten().flatten().collect();
    assert!(all.iter().any(|score| score.said), "nothing said");
    assert!(all.iter().any(|score| score.stale), "nothing stale");
    assert!(all.iter().any(|score| score.reference.is_some()), "nothing quoted");
}

fn report(name: &str, conversation: &Conversation) {
    let borders = conversation.borders();
    let mut turns = Vec::new();
    for _ in 0..ROUNDS {
        let words = time(|| conversation.texts().map(|text| hash_words(text).1).fold(0, u64::wrapping_add));
        let shingles = time(|| {
            let mut sum = 0_u64;
            conversation
                .texts()
                .for_each(|text| for_each_shingle(text, |shingle| sum = sum.wrapping_add(shingle.hash)));
            sum
        });
        let borders_time = time(|| conversation.borders().len());
        let score = time(|| conversation.score(&borders).len());
        turns.push([words, shingles, borders_time, score]);
    }
    let bytes: usize = conversation.texts().map(str::len).sum();
    let seconds = turns.iter().map(|turn| turn[0]).sum::<f64>() / turns.len() as f64;
    println!(
        "{name:>7}: shingles {}   passages {}   score {}   (words hashed at {:.2} GB/s)",
        ratio(&turns, 1),
        ratio(&turns, 2),
        ratio(&turns, 3),
        bytes as f64 / seconds / 1e9,
    );
}

fn time<T>(call: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(call());
    Duration::as_secs_f64(&start.elapsed())
}

fn ratio(turns: &[[f64; 4]], column: usize) -> String {
    let mut ratios: Vec<f64> = turns.iter().map(|turn| turn[column] / turn[0]).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |tenths: usize| ratios[(ratios.len() - 1) * tenths / 10];
    format!("{:.2} [{:.2} {:.2}]", at(5), at(1), at(9))
}

/// Counts the words of a text and hashes each once, the plain way.
fn hash_words(text: &str) -> (u32, u64) {
    let (mut count, mut sum) = (0, 0_u64);
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut end = start + c.len_utf8();
        if is_word(c) {
            while let Some((at, c)) = chars.next_if(|(_, c)| is_word(*c)) {
                end = at + c.len_utf8();
            }
        }
        count += 1;
        sum = sum.wrapping_add(xxh3_64(&text.as_bytes()[start..end]));
    }
    (count, sum)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Chain texts and results with their message numbers.
struct Conversation {
    chain: Vec<(u32, String)>,
    results: Vec<(u32, String)>,
}

impl Conversation {
    /// Makes about `size` bytes: three parts results to one part chain. Files are read again now and then, and the agent quotes and writes some.
    fn of(size: usize) -> Self {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let files: Vec<String> = (0..3 + size / 30_000).map(|_| code(&mut dice, 200)).collect();
        let (mut chain, mut results, mut len) = (Vec::new(), Vec::new(), 0);
        for number in 1.. {
            let file = &files[dice.roll(files.len() as u64)];
            let said = match dice.roll(6) {
                0 => file.clone(),
                1 | 2 => file.lines().skip(dice.roll(100)).take(20).collect::<Vec<_>>().join("\n"),
                _ => code(&mut dice, 30),
            };
            let result = match dice.roll(3) {
                0 => file.lines().enumerate().map(|(n, line)| format!("{:>6}\t{line}\n", n + 1)).collect(),
                _ => {
                    let lines = 20 + dice.roll(200);
                    code(&mut dice, lines)
                }
            };
            len += said.len() + result.len();
            chain.push((number, said));
            results.push((number, result));
            if len >= size {
                break;
            }
        }
        Self { chain, results }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.chain.iter().chain(&self.results).map(|(_, text)| text.as_str())
    }

    fn borders(&self) -> Vec<(Vec<Passage>, Vec<bool>)> {
        let borders = self.results.iter().map(|(_, text)| passages(text));
        borders.map(|passages| (passages.clone(), vec![true; passages.len()])).collect()
    }

    fn score(&self, borders: &[(Vec<Passage>, Vec<bool>)]) -> Vec<Vec<Vec<Score>>> {
        let chain: Vec<_> = self.chain.iter().map(|(number, text)| ChainText { number: *number, text }).collect();
        let results = self.results.iter().zip(borders).map(|((number, text), (passages, in_view))| ResultText {
            number: *number,
            parts: vec![Part { text, passages, in_view }],
        });
        score(self.chain.len() as u32, &chain, &results.collect::<Vec<_>>())
    }
}

/// Lines of made-up code with about 3,000 different names, short ones more often than long ones.
fn code(dice: &mut Dice, lines: usize) -> String {
    const SYLLABLES: [&str; 15] =
        ["re", "ad", "con", "fig", "to", "ken", "set", "user", "id", "log", "in", "de", "err", "or", "s"];
    const SIGNS: [&str; 14] = [" ", " ", " ", " ", ".", "(", ")", ", ", " = ", "::", "_", ";", " -> ", " {"];
    let mut text = String::new();
    for _ in 0..lines {
        text.push_str(["", "    ", "        ", "            "][dice.roll(4)]);
        for _ in 0..3 + dice.roll(7) {
            for _ in 0..=dice.roll(3) {
                text.push_str(SYLLABLES[dice.roll(15)]);
            }
            text.push_str(SIGNS[dice.roll(14)]);
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
