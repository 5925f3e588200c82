//! Rule L5 a second time: slow, obvious, sentence by sentence from the retention study. Shares no code with the engine.

use liveset_engine::plan::passages::Passage;
use liveset_engine::plan::score::{ChainText, ResultText, Score};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// A word and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

/// Eight words.
pub(crate) type Shingle<'a> = [&'a str; 8];

/// A shingle and its place in the text.
pub(crate) struct Placed<'a> {
    pub(crate) words: Shingle<'a>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The study's patterns, with its words for `\w`: Unicode letters, digits and `_`.
pub(crate) struct Slow {
    line_number: Regex,
    grep_place: Regex,
    word: Regex,
    plain_start: Regex,
}

impl Slow {
    pub(crate) fn new() -> Self {
        Self {
            line_number: Regex::new(r"^\s*\d+\s*[→\t|:]\s?").unwrap(),
            grep_place: Regex::new(r"^[\p{L}\p{N}_./@+-]*[./][\p{L}\p{N}_./@+-]*[:-]\d+[:-]").unwrap(),
            word: Regex::new(r"[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]").unwrap(),
            plain_start: Regex::new(r"^[\p{L}\p{N}_]").unwrap(),
        }
    }

    /// The words of each line, the line's start and end beside them.
    pub(crate) fn lines<'a>(&self, text: &'a str) -> Vec<(usize, usize, Vec<Word<'a>>)> {
        let is_patch = text.contains("Begin Patch") || text.starts_with("diff --git");
        let mut lines = Vec::new();
        let mut start = 0;
        for with_ending in text.split_inclusive('\n') {
            let end = start + with_ending.len();
            let mut line = with_ending.strip_suffix('\n').unwrap_or(with_ending);
            if is_patch && line.starts_with(['+', '-', ' ']) {
                line = &line[1..];
            }
            if let Some(found) = self.line_number.find(line).or_else(|| self.grep_place.find(line)) {
                line = &line[found.end()..];
            }
            let place = line.as_ptr() as usize - text.as_ptr() as usize;
            let words =
                self.word.find_iter(line).map(|found| Word { text: found.as_str(), start: place + found.start() });
            lines.push((start, end, words.collect()));
            start = end;
        }
        lines
    }

    /// All shingles of one text, in order.
    pub(crate) fn shingles<'a>(&self, text: &'a str) -> Vec<Placed<'a>> {
        let words: Vec<Word<'a>> = self.lines(text).into_iter().flat_map(|(_, _, words)| words).collect();
        let plain = |word: &&Word<'_>| self.plain_start.is_match(word.text);
        words
            .windows(8)
            .filter(|window| window.iter().filter(plain).count() >= 4)
            .map(|window| {
                let words: Shingle<'a> = std::array::from_fn(|k| window[k].text);
                Placed { words, start: window[0].start, end: window[7].start + window[7].text.len() }
            })
            .collect()
    }

    /// A block is closed after the line that brings it to 120 words or more.
    pub(crate) fn passages(&self, text: &str) -> Vec<Passage> {
        let mut all: Vec<Passage> = Vec::new();
        let mut is_open = false;
        for (number, (start, end, words)) in self.lines(text).into_iter().enumerate() {
            if !is_open {
                all.push(Passage {
                    start: start as u32,
                    end: start as u32,
                    first_line: number as u32,
                    lines: 0,
                    words: 0,
                });
            }
            let block = all.last_mut().unwrap();
            block.lines += 1;
            block.end = end as u32;
            block.words += words.len() as u32;
            is_open = block.words < 120;
        }
        all
    }

    pub(crate) fn score(&self, c: u32, chain: &[ChainText<'_>], results: &[ResultText<'_>]) -> Vec<Vec<Vec<Score>>> {
        let mut texts_with: BTreeMap<Shingle<'_>, BTreeSet<u32>> = BTreeMap::new();
        for text in chain {
            for shingle in self.shingles(text.text) {
                texts_with.entry(shingle.words).or_default().insert(text.number);
            }
        }
        let mut results_with: BTreeMap<Shingle<'_>, BTreeSet<usize>> = BTreeMap::new();
        let mut results_showing: BTreeMap<Shingle<'_>, BTreeSet<usize>> = BTreeMap::new();
        for (i, result) in results.iter().enumerate() {
            for part in &result.parts {
                for shingle in self.shingles(part.text) {
                    let touches =
                        |block: &Passage| (block.start as usize) < shingle.end && shingle.start < block.end as usize;
                    let mut blocks = part.passages.iter().zip(part.in_view).filter(|(block, _)| touches(block));
                    if blocks.all(|(_, in_view)| *in_view) {
                        results_showing.entry(shingle.words).or_default().insert(i);
                    }
                    results_with.entry(shingle.words).or_default().insert(i);
                }
            }
        }

        let mut scores = Vec::new();
        for (i, result) in results.iter().enumerate() {
            let n = result.number;
            let age = c.saturating_sub(n);
            let in_view = result
                .parts
                .iter()
                .flat_map(|part| part.passages.iter().zip(part.in_view))
                .filter(|(_, in_view)| **in_view);
            let size: u32 = in_view.map(|(block, _)| block.words).sum();
            let bulk = ((128.0 + f64::from(size)).log2().floor() as u32 - 7).min(8);

            let mut said = Vec::new();
            let mut stale = Vec::new();
            let mut refs = Vec::new();
            for part in &result.parts {
                let shingles = self.shingles(part.text);
                for block in part.passages {
                    let starting: Vec<&Placed<'_>> = shingles
                        .iter()
                        .filter(|s| (block.start as usize..block.end as usize).contains(&s.start))
                        .collect();
                    let share =
                        |count: usize| !starting.is_empty() && count as f64 / starting.len() as f64 >= 0.9 - 1e-9;
                    said.push(share(starting.iter().filter(|s| texts_with.contains_key(&s.words)).count()));
                    let is_newer = |s: &&&Placed<'_>| {
                        results_showing.get(&s.words).is_some_and(|with| with.iter().any(|j| *j > i))
                    };
                    stale.push(share(starting.iter().filter(is_newer).count()));
                    let rare = starting.iter().filter(|s| results_with[&s.words].len() <= 3);
                    let numbers = rare.filter_map(|s| texts_with.get(&s.words)).flatten();
                    refs.push(numbers.copied().filter(|m| n < *m && *m <= c).max());
                }
            }

            let mut k: usize = 0;
            let mut of_result = Vec::new();
            for part in &result.parts {
                let mut of_part = Vec::new();
                for idx in 0..part.passages.len() {
                    let around = &refs[k.saturating_sub(1)..(k + 2).min(refs.len())];
                    let reference = around.iter().copied().flatten().max();
                    let near = reference.map_or(0, |m| (7 - lg(c - m)).max(0));
                    let value =
                        near - 5 * lg(age) - 2 * bulk as i32 - 40 * i32::from(stale[k]) - 60 * i32::from(said[k]);
                    let score = Score { value, said: said[k], stale: stale[k], age, reference };
                    of_part.push(if part.in_view[idx] { score } else { Score::default() });
                    k += 1;
                }
                of_result.push(of_part);
            }
            scores.push(of_result);
        }
        scores
    }
}

fn lg(x: u32) -> i32 {
    (1.0 + f64::from(x)).log2().floor() as i32
}
