//! What was missing at the moment it was wanted? The study's replay score: a window in words, swept when it is full.

use std::collections::BTreeSet;

use super::evidence::Evidence;
use super::keep::{Keeping, Situation};
use super::occurrences::Occurrences;
use super::tally::Tally;
use super::uses::Use;
use super::view::View;
use crate::prng::Prng;

/// Share of the window that a sweep leaves, in percent.
const TARGET_PERCENT: u64 = 60;
/// Fewest shingles of a result that may be a re-read.
const FEWEST_REREAD: usize = 20;
/// Share of shingles that makes a result a re-read, in percent.
const REREAD_PERCENT: usize = 80;

/// How a trajectory is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaying {
    /// Words of results over which a sweep is due.
    pub window_words: u64,
    /// Seed of policies that draw.
    pub seed: u64,
}

/// Results that repeat what an earlier one held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rereads {
    /// Of text that had been dropped.
    pub of_dropped: u32,
    /// Of text that was still in view: the agent made them anyway.
    pub in_view: u32,
}

/// What one replay showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReplayScore {
    /// Share of shingles in view when they were said.
    pub quoted: Option<f64>,
    /// Share of messages all of whose quoted shingles and values were in view.
    pub messages: Option<f64>,
    /// Share of values in view when they were said.
    pub values: Option<f64>,
    /// Share of messages with edits all of whose old text was in view.
    pub edits: Option<f64>,
    /// Sweeps.
    pub sweeps: u32,
    /// Words that each sweep left behind its first change, the chain included.
    pub rewritten_words: u64,
    /// Results that repeat earlier ones.
    pub rereads: Rereads,
}

/// Replays a trajectory; `None` if its results never fill the window.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::{Evidence, Keeping, Replaying, Trajectory, replay};
/// let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
/// let evidence = Evidence::of(Trajectory::read(WireFormat::OpenaiChat, body)?);
/// assert!(replay(&evidence, Keeping::L5, Replaying { window_words: 15_000, seed: 1 }).is_none());
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn replay(evidence: &Evidence, keeping: Keeping, replaying: Replaying) -> Option<ReplayScore> {
    let (trajectory, uses) = (evidence.trajectory(), evidence.uses());
    let mut numbers = Prng::new(replaying.seed);
    let mut view = View::default();
    let mut score = ReplayScore::default();
    let (mut shingles, mut values, mut old) = (Tally::default(), Tally::default(), Tally::default());
    for message in 1..=trajectory.messages() {
        let now = message - 1;
        deliver(evidence, &mut view, now, &mut score);
        if view.words(trajectory) > replaying.window_words {
            let budget = replaying.window_words * TARGET_PERCENT / 100;
            let swept = keeping.keep(&Situation { evidence, view: &view, now, budget }, &mut numbers);
            if let Some(first) = swept.first_less(&view) {
                score.sweeps += 1;
                let behind: u64 = (first..swept.delivered()).map(|at| swept.words_of(trajectory, at)).sum();
                score.rewritten_words += behind + evidence.chain_behind(first, now);
            }
            view = swept;
        }
        if score.sweeps > 0 {
            let served =
                |copies: &Occurrences, one: &Use| copies.copies(one.id).iter().any(|copy| view.holds(trajectory, copy));
            for (all, copies, count) in [
                (uses.shingles(), &uses.shingle_copies, &mut shingles),
                (uses.values(), &uses.value_copies, &mut values),
                (uses.old_text(), &uses.shingle_copies, &mut old),
            ] {
                let from = all.partition_point(|one| one.message < message);
                for one in all.iter().skip(from).take_while(|one| one.message == message) {
                    count.add(message, served(copies, one));
                }
            }
        }
    }
    deliver(evidence, &mut view, trajectory.messages(), &mut score);
    if score.sweeps == 0 {
        return None;
    }
    score.quoted = shingles.share();
    score.messages = shingles.joined(&values).messages();
    score.values = values.share();
    score.edits = old.messages();
    Some(score)
}

/// Lets results up to a number come in, and counts those behind the first sweep that repeat earlier ones.
fn deliver(evidence: &Evidence, view: &mut View, number: u32, score: &mut ReplayScore) {
    let trajectory = evidence.trajectory();
    let copies = &evidence.uses().shingle_copies;
    for at in view.delivered()..trajectory.delivered(number) {
        let Some(result) = trajectory.results.get(at) else { continue };
        let ids: BTreeSet<u32> = result.text.shingles.iter().map(|(id, _)| *id).collect();
        if score.sweeps > 0 && ids.len() >= FEWEST_REREAD {
            let earlier = |id: &&u32| evidence.is_earlier(**id, at);
            let repeated: Vec<&u32> = ids.iter().filter(earlier).collect();
            if repeated.len() * 100 >= ids.len() * REREAD_PERCENT {
                let in_view = |id: &&&u32| {
                    let before = copies.copies(***id).iter().take_while(|copy| (copy.result as usize) < at);
                    before.into_iter().any(|copy| view.holds(trajectory, copy))
                };
                let still = repeated.iter().filter(in_view).count();
                match still * 100 >= repeated.len() * REREAD_PERCENT {
                    true => score.rereads.in_view += 1,
                    false => score.rereads.of_dropped += 1,
                }
            }
        }
        view.deliver(trajectory, at + 1);
    }
}
