//! Conversations for the oracle: chain texts and results in order, cut and thinned out as sweeps would leave them.

use crate::slow::Slow;
use liveset_engine::plan::passages::{Passage, passages};
use liveset_engine::plan::score::{ChainText, Part, ResultText, score};

/// One thing said or delivered.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Assistant text, reasoning, or a string of a call's arguments.
    Assistant(String),
    User(String),
    Result(Vec<String>),
}

/// Which passages earlier sweeps dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    None,
    /// About one of so many passages, and of results as many whole ones.
    OneOf(u64),
}

impl Dropped {
    fn drops(self, result: usize, part: usize, passage: usize) -> bool {
        let Self::OneOf(share) = self else { return false };
        let pick = |seed: usize| ((seed as u64).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).is_multiple_of(share);
        pick(result + 1) || pick(result * 1009 + part * 31 + passage * 7 + 5)
    }
}

/// How the fast and the slow way agreed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) passages: usize,
    pub(crate) said: usize,
    pub(crate) stale: usize,
    pub(crate) referred: usize,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.passages += other.passages;
        self.said += other.said;
        self.stale += other.stale;
        self.referred += other.referred;
    }
}

/// Scores `events` both ways and compares everything. The current message is `behind` before the newest, so that with
/// any but 0 there are chain texts which are said already and yet too new to refer.
pub(crate) fn compare(slow: &Slow, events: &[Event], dropped: Dropped, behind: u32) -> Seen {
    let mut number = 0;
    let mut is_assistant = false;
    let mut chain = Vec::new();
    let mut results: Vec<(u32, &[String])> = Vec::new();
    for event in events {
        if matches!(event, Event::Assistant(_)) && !is_assistant {
            number += 1;
        }
        is_assistant = matches!(event, Event::Assistant(_));
        match event {
            Event::Assistant(text) | Event::User(text) => chain.push(ChainText { number, text }),
            Event::Result(parts) => results.push((number, parts)),
        }
    }
    let borders: Vec<Vec<Vec<Passage>>> =
        results.iter().map(|(_, parts)| parts.iter().map(|text| passages(text)).collect()).collect();
    let views: Vec<Vec<Vec<bool>>> = borders.iter().enumerate().map(|(i, parts)| view_of(i, parts, dropped)).collect();
    let results: Vec<ResultText<'_>> = results
        .iter()
        .zip(borders.iter().zip(&views))
        .map(|((number, texts), (borders, views))| {
            let parts = texts.iter().zip(borders.iter().zip(views));
            let parts = parts.map(|(text, (passages, in_view))| Part { text, passages, in_view });
            ResultText { number: *number, parts: parts.collect() }
        })
        .collect();
    for part in results.iter().flat_map(|result| &result.parts) {
        assert_eq!(part.passages, slow.passages(part.text));
    }
    let current = u32::saturating_sub(number, behind);
    let fast = score(current, &chain, &results);
    assert_eq!(fast, slow.score(current, &chain, &results), "current {current}");
    let mut seen = Seen::default();
    for score in fast.iter().flatten().flatten() {
        seen += Seen {
            passages: 1,
            said: score.said.into(),
            stale: score.stale.into(),
            referred: score.reference.is_some().into(),
        };
    }
    seen
}

fn view_of(result: usize, parts: &[Vec<Passage>], dropped: Dropped) -> Vec<Vec<bool>> {
    let of_part = |part: usize, len: usize| (0..len).map(|passage| !dropped.drops(result, part, passage)).collect();
    parts.iter().enumerate().map(|(part, passages)| of_part(part, passages.len())).collect()
}
