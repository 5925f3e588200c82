//! What would be wanted after a cut, and was it kept? The study's static score.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::keep::{Keeping, Situation};
use super::occurrences::Occurrences;
use super::uses::Use;
use super::view::View;
use crate::prng::Prng;

/// Where trajectories are cut, in percent of their messages.
pub const CUTS: [u32; 3] = [40, 60, 80];
/// Fewest counted shingles, values and messages of a cut that gives a figure.
const FEWEST_SHINGLES: usize = 20;
const FEWEST_VALUES: usize = 5;
const FEWEST_MESSAGES: usize = 3;

/// Shares of what was wanted later that a policy kept, each a mean over the cuts that give one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StaticScore {
    /// Share of quoted shingles.
    pub quoted: Option<f64>,
    /// Share of messages all of whose quoted shingles were kept.
    pub messages: Option<f64>,
    /// Share of values.
    pub values: Option<f64>,
    /// Share of messages with edits all of whose old text was kept.
    pub edits: Option<f64>,
}

/// Scores a policy that may keep some percent of the result words at each cut.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::{Evidence, Keeping, Trajectory, score};
/// let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
/// let evidence = Evidence::of(Trajectory::read(WireFormat::OpenaiChat, body)?);
/// assert_eq!(score(&evidence, Keeping::L5, 20).quoted, None);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn score(evidence: &Evidence, keeping: Keeping, keep_percent: u64) -> StaticScore {
    let cuts: Vec<StaticScore> = CUTS.iter().filter_map(|cut| at_cut(evidence, keeping, keep_percent, *cut)).collect();
    let mean = |of: fn(&StaticScore) -> Option<f64>| {
        let values: Vec<f64> = cuts.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    StaticScore {
        quoted: mean(|score| score.quoted),
        messages: mean(|score| score.messages),
        values: mean(|score| score.values),
        edits: mean(|score| score.edits),
    }
}

fn at_cut(evidence: &Evidence, keeping: Keeping, keep_percent: u64, cut_percent: u32) -> Option<StaticScore> {
    let trajectory = evidence.trajectory();
    let cut = trajectory.messages() * cut_percent / 100;
    let mut view = View::default();
    view.deliver(trajectory, trajectory.delivered(cut));
    let uses = evidence.uses();
    let counted = |all: &[Use]| -> Vec<Use> {
        all.iter().filter(|one| one.newest <= cut && one.message > cut).copied().collect()
    };
    let (shingles, values, old) = (counted(uses.shingles()), counted(uses.values()), counted(uses.old_text()));
    if shingles.len() < FEWEST_SHINGLES && values.len() < FEWEST_VALUES && old.is_empty() {
        return None;
    }
    let budget = view.words(trajectory) * keep_percent / 100;
    let situation = Situation { evidence, view: &view, now: cut, budget };
    let kept = keeping.keep(&situation, &mut Prng::new(u64::from(cut_percent)));
    let served =
        |copies: &Occurrences, one: &Use| copies.copies(one.id).iter().any(|copy| kept.holds(trajectory, copy));
    let share = |copies: &Occurrences, uses: &[Use], fewest: usize| {
        let count = uses.iter().filter(|one| served(copies, one)).count();
        (uses.len() >= fewest).then(|| count as f64 / uses.len() as f64)
    };
    let messages = |wanted: &[Use], fewest: usize| {
        let mut all: BTreeMap<u32, bool> = BTreeMap::new();
        for one in wanted {
            *all.entry(one.message).or_insert(true) &= served(&uses.shingle_copies, one);
        }
        let count = all.values().filter(|served| **served).count();
        (all.len() >= fewest).then(|| count as f64 / all.len() as f64)
    };
    Some(StaticScore {
        quoted: share(&uses.shingle_copies, &shingles, FEWEST_SHINGLES),
        messages: messages(&shingles, FEWEST_MESSAGES),
        values: share(&uses.value_copies, &values, FEWEST_VALUES),
        edits: messages(&old, 1),
    })
}
