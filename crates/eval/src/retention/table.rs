//! How do policies differ on the same traces? Means with intervals, drawn by session and paired by trace.

use std::collections::BTreeMap;

use crate::prng::Prng;

/// Draws of sessions.
const DRAWS: usize = 1_000;
/// Seed of the draws.
const SEED: u64 = 20_260_817;

/// A mean difference to another policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean over traces.
    pub mean: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
}

impl Difference {
    /// Says whether the interval leaves out 0.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Mean over the traces that give a figure.
    pub mean: f64,
    /// Difference to the base, by trace.
    pub difference: Difference,
    /// Traces that give a figure under both.
    pub traces: usize,
    /// Sessions that they come from.
    pub sessions: usize,
}

/// Compares figures of one policy with those of a base, trace by trace; `None` where no trace has both.
///
/// Each figure comes as session, base and policy.
///
/// ```
/// use liveset_eval::retention::compare;
/// let row = compare(&[(0, Some(0.5), Some(0.7)), (1, Some(0.4), Some(0.6)), (2, None, Some(0.1))]).unwrap();
/// assert_eq!((row.traces, row.sessions, row.difference.is_real()), (2, 2, true));
/// ```
#[must_use]
pub fn compare(figures: &[(usize, Option<f64>, Option<f64>)]) -> Option<Row> {
    let mut sessions: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for (session, base, policy) in figures {
        if let (Some(base), Some(policy)) = (base, policy) {
            sessions.entry(*session).or_default().push((*base, *policy));
        }
    }
    let traces: usize = sessions.values().map(Vec::len).sum();
    if traces == 0 {
        return None;
    }
    let all = || sessions.values().flatten();
    let mean = all().map(|(_, policy)| policy).sum::<f64>() / traces as f64;
    let difference = all().map(|(base, policy)| policy - base).sum::<f64>() / traces as f64;
    let groups: Vec<(f64, usize)> =
        sessions.values().map(|pairs| (pairs.iter().map(|(base, policy)| policy - base).sum(), pairs.len())).collect();
    let (low, high) = interval(&groups);
    let difference = Difference { mean: difference, low, high };
    Some(Row { mean, difference, traces, sessions: sessions.len() })
}

/// Draws sessions with repetition and gives the middle 95 % of the means over their traces.
fn interval(groups: &[(f64, usize)]) -> (f64, f64) {
    let mut numbers = Prng::new(SEED);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let (mut sum, mut count) = (0.0, 0);
            for _ in 0..groups.len() {
                // A place in a slice fits both types.
                let drawn = groups.get(numbers.below(groups.len() as u64) as usize).copied().unwrap_or_default();
                sum += drawn.0;
                count += drawn.1;
            }
            sum / count.max(1) as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: usize| means.get(means.len().saturating_sub(1) * share / 1_000).copied().unwrap_or(0.0);
    (at(25), at(975))
}
