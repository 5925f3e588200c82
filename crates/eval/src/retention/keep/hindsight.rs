//! What would be kept by who knew the future? Greedy by later uses per word: a mark to aim at, not a bound.

use std::collections::HashMap;

use super::Situation;
use super::fill::{Candidate, all_lines, newest_unit};

/// Orders blocks by later uses per word.
pub(crate) fn blocks(situation: &Situation<'_>) -> Vec<Candidate> {
    let of = |result| situation.evidence.blocks(result).to_vec();
    order(situation, of)
}

/// Orders whole results by later uses per word.
pub(crate) fn whole(situation: &Situation<'_>) -> Vec<Candidate> {
    order(situation, |result| vec![all_lines(situation, result)])
}

fn order(situation: &Situation<'_>, parts: impl Fn(usize) -> Vec<std::ops::Range<usize>>) -> Vec<Candidate> {
    let evidence = situation.evidence;
    let results = 0..newest_unit(situation).start;
    let parts: Vec<Vec<std::ops::Range<usize>>> = results.clone().map(parts).collect();
    let part_of = |result: usize, line: u32| {
        parts.get(result).map_or(0, |parts| parts.partition_point(|lines| lines.end <= line as usize))
    };
    let mut wanted: HashMap<(usize, usize), u64> = HashMap::new();
    let later = evidence.uses().shingles().iter();
    for one in later.filter(|one| one.message > situation.now && one.newest <= situation.now) {
        let copies = evidence.uses().shingle_copies.copies(one.id).iter().rev();
        let mut in_view = copies.filter(|copy| situation.view.holds(evidence.trajectory(), copy));
        // The newest copy serves; one that the newest unit holds needs no help.
        let Some(copy) = in_view.next().filter(|copy| results.contains(&(copy.result as usize))) else { continue };
        let result = copy.result as usize;
        let (first, last) = (part_of(result, copy.place.first_line), part_of(result, copy.place.last_line));
        for part in first..=last {
            *wanted.entry((result, part)).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (result, parts) in results.clone().zip(&parts) {
        let Some(text) = evidence.trajectory().results.get(result).map(|result| &result.text) else { continue };
        for (part, lines) in parts.iter().enumerate() {
            let uses = wanted.get(&(result, part)).copied().unwrap_or(0);
            let words = text.words_in(lines).max(1);
            found.push((uses as f64 / words as f64, result, lines.clone()));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.start.cmp(&b.2.start)));
    found.into_iter().map(|(_, result, lines)| Candidate { result, lines }).collect()
}
