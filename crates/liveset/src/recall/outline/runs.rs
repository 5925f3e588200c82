//! What did a run say? Tests and their verdicts, or a log's levels and what it complains of.

use std::collections::BTreeMap;

use liveset_engine::content::{
    log::{LEVELS, level},
    tests::{is_summary, verdict},
};

use super::Entry;

/// Levels whose lines are shown one by one.
const SHOWN_LEVELS: usize = 5;

/// One line in so many must state a level for a text to be a log.
const LOG_ONE_IN: usize = 3;

/// Tests that a text must name to be the results of tests.
const MIN_TESTS: usize = 2;

pub(super) fn tests(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let told: Vec<(usize, &str, bool)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, *line, verdict(line)?))).collect();
    let summaries = lines.iter().enumerate().filter(|(_, line)| is_summary(line));
    let summaries: Vec<Entry> = summaries.map(|(at, line)| Entry::at(at + 1, 0, line.trim())).collect();
    if told.len() < MIN_TESTS || told.len() * 50 < lines.len() {
        return None;
    }
    let failed = told.iter().filter(|(.., failed)| *failed).count();
    let mut entries = vec![Entry::at(0, 0, format!("{} tests named, {failed} failed", told.len()))];
    entries.extend(summaries);
    let one = |failed: bool, depth| {
        let of_verdict = told.iter().filter(move |(.., verdict)| *verdict == failed);
        of_verdict.map(move |(at, line, _)| Entry::at(at + 1, depth, line.trim()))
    };
    entries.extend(one(true, 1));
    entries.extend(one(false, 2));
    Some(entries)
}

pub(super) fn log(_: &str, lines: &[&str]) -> Option<Vec<Entry>> {
    let levels: Vec<(usize, usize)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, level(line)?))).collect();
    if levels.len() < 3 || levels.len() * LOG_ONE_IN < lines.len() {
        return None;
    }
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    levels.iter().for_each(|(_, level)| *counts.entry(*level).or_default() += 1);
    let told: Vec<String> =
        counts.iter().filter_map(|(level, count)| Some(format!("{count} {}", LEVELS.get(*level)?))).collect();
    let mut entries = vec![Entry::at(0, 0, told.join(", "))];
    // Each complaint once, where it first stands: the same with other numbers is the same.
    let mut seen: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for (at, level) in levels.iter().filter(|(_, level)| *level < SHOWN_LEVELS) {
        let line = lines.get(*at).copied().unwrap_or_default();
        let shape: String = line.chars().filter(|c| c.is_alphabetic()).collect();
        seen.entry(shape).or_insert((*at, *level, 0)).2 += 1;
    }
    let mut complaints: Vec<(usize, usize, usize)> = seen.into_values().collect();
    complaints.sort_unstable();
    entries.extend(complaints.into_iter().map(|(at, level, count)| {
        let times = if count > 1 { format!(" [{count} times]") } else { String::new() };
        Entry::at(at + 1, level, lines.get(at).copied().unwrap_or_default().trim().to_owned() + &times)
    }));
    for (at, word) in [levels.first(), levels.last()].into_iter().flatten().zip(["first", "last"]) {
        entries.push(Entry::at(
            at.0 + 1,
            0,
            format!("{word}: {}", lines.get(at.0).copied().unwrap_or_default().trim()),
        ));
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::super::of;

    #[test]
    fn failed_tests_come_before_those_that_passed() {
        let text = "running 3 tests\ntest a::one ... ok\ntest a::two ... FAILED\ntest a::three ... ok\n\ntest result: FAILED. 2 passed; 1 failed\n";
        assert_eq!(
            of(text).text,
            "3 tests named, 1 failed\n6: test result: FAILED. 2 passed; 1 failed\n3: test a::two ... FAILED\n2: test a::one ... ok\n4: test a::three ... ok\n"
        );
        let go = "=== RUN TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\n";
        assert_eq!(of(go).text, "2 tests named, 1 failed\n3: --- FAIL: TestB (0.01s)\n2: --- PASS: TestA (0.00s)\n");
    }

    #[test]
    fn a_log_is_levels_and_complaints() {
        let text = "10:00 INFO start\n10:01 WARN slow 12 ms\n10:02 ERROR lost peer 7\n10:03 ERROR lost peer 9\n10:04 INFO end\n";
        let outline = of(text);
        assert_eq!(outline.kind, "a log");
        assert_eq!(
            outline.text,
            "2 ERROR, 1 WARN, 2 INFO\n2: 10:01 WARN slow 12 ms\n3: 10:02 ERROR lost peer 7 [2 times]\n1: first: 10:00 INFO start\n5: last: 10:04 INFO end\n"
        );
    }
}
