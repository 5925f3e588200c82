//! What changed between paired runs? Outcome and cost in one table, with intervals, dominance, and what restoring removes.

use std::fmt::Write as _;

use super::{
    cost::CostClass,
    pairing::{Paired, RunPoint},
};
use crate::stats::{Bootstrap, Interval, Paired as Differences, mean};

/// Level at which a test counts as finding something.
const ALPHA: f64 = 0.05;
/// Refused runs that a text names; the rest is counted.
const MAX_NAMED: usize = 12;

/// One measure of both sides.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Mean of the first folder.
    pub before: f64,
    /// Mean of the second.
    pub now: f64,
    /// Their difference, pair by pair.
    pub change: Differences,
}

/// The second folder against the first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// Completion, all calls, and calls by class.
    pub measures: Vec<Measure>,
    /// Share of the added look-ups that restoring removes, with its interval, where a third folder was given.
    pub restored: Option<(f64, Option<Interval>)>,
    /// Look-ups in each turn, means of the first and the second folder.
    pub retrieval_by_turn: Vec<(f64, f64)>,
    /// Tools that no class is known of.
    pub unclassified: Vec<String>,
    /// Pairs.
    pub pairs: usize,
}

impl Comparison {
    /// Compares; `None` without a pair.
    #[must_use]
    pub fn of(paired: &Paired) -> Option<Self> {
        let side = |at: usize| -> Vec<&RunPoint> { paired.groups.iter().filter_map(|group| group.get(at)).collect() };
        let (before, now, restored) = (side(0), side(1), side(2));
        let values = |runs: &[&RunPoint], value: &dyn Fn(&RunPoint) -> f64| -> Vec<f64> {
            runs.iter().map(|run| value(run)).collect()
        };
        let measure = |name: &'static str, value: &dyn Fn(&RunPoint) -> f64| -> Option<Measure> {
            let (was, is) = (values(&before, value), values(&now, value));
            Some(Measure { name, before: mean(&was)?, now: mean(&is)?, change: Differences::of(&is, &was)? })
        };
        let mut measures = vec![
            measure("completion %", &|run| run.completion.unwrap_or(0.0))?,
            measure("all calls", &|run| run.cost.all() as f64)?,
        ];
        for class in CostClass::ALL {
            measures.extend(measure(class.name(), &|run| run.cost.of_class(class) as f64));
        }
        let retrieval = |run: &RunPoint| run.cost.of_class(CostClass::Retrieval) as f64;
        let restored = (!restored.is_empty()).then(|| {
            let all = [&before, &now, &restored].map(|runs| values(runs, &retrieval));
            removed_share(&all)
        });
        let turns = before.iter().chain(&now).map(|run| run.cost.retrieval_by_turn.len()).max().unwrap_or(0);
        let in_turn = |runs: &[&RunPoint], turn: usize| {
            let of = |run: &RunPoint| run.cost.retrieval_by_turn.get(turn).copied().unwrap_or(0) as f64;
            mean(&values(runs, &of)).unwrap_or(0.0)
        };
        let mut unclassified: Vec<String> =
            before.iter().chain(&now).flat_map(|run| run.cost.unclassified.iter().cloned()).collect();
        unclassified.sort_unstable();
        unclassified.dedup();
        Some(Self {
            measures,
            restored: restored.flatten(),
            retrieval_by_turn: (0..turns).map(|turn| (in_turn(&before, turn), in_turn(&now, turn))).collect(),
            unclassified,
            pairs: paired.groups.len(),
        })
    }

    fn find(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// Says which side has no less outcome at no more cost, if one has.
    #[must_use]
    pub fn dominance(&self) -> Option<&'static str> {
        let (outcome, cost) = (self.find("completion %")?, self.find("all calls")?);
        let (gain, price) = (outcome.change.mean, cost.change.mean);
        match (gain, price) {
            (gain, price) if gain >= 0.0 && price <= 0.0 && (gain > 0.0 || price < 0.0) => Some("the second dominates"),
            (gain, price) if gain <= 0.0 && price >= 0.0 && (gain < 0.0 || price > 0.0) => Some("the first dominates"),
            _ => None,
        }
    }

    /// Says whether the test finds the change of look-ups and not that of completion.
    #[must_use]
    pub fn is_completion_insensitive(&self) -> bool {
        let p = |name: &str| self.find(name).map_or(1.0, |measure| measure.change.test.p);
        p("retrieval") < ALPHA && p("completion %") >= ALPHA
    }

    /// Writes the table and what follows from it.
    #[must_use]
    pub fn text(&self, paired: &Paired) -> String {
        let mut out =
            format!("{} pairs\n  {:<14} {:>9} {:>9}  {}\n", self.pairs, "measure", "first", "second", "change");
        for measure in &self.measures {
            let interval =
                measure.change.bca.map_or_else(String::new, |bca| format!(" [{:+.2}, {:+.2}]", bca.low, bca.high));
            let _ = writeln!(
                out,
                "  {:<14} {:>9.2} {:>9.2}  {:+.2}{interval}, p {:.4}",
                measure.name, measure.before, measure.now, measure.change.mean, measure.change.test.p
            );
        }
        let _ = writeln!(out, "dominance: {}", self.dominance().unwrap_or("neither"));
        if self.is_completion_insensitive() {
            out.push_str("completion-insensitive: the change of look-ups is found, that of completion is not\n");
        }
        if let Some((share, interval)) = &self.restored {
            let interval = interval.map_or_else(String::new, |it| format!(" [{:.0}, {:.0}]", it.low, it.high));
            let _ = writeln!(out, "restoring removes {share:.0} %{interval} of the added look-ups");
        }
        let turns: Vec<String> =
            self.retrieval_by_turn.iter().map(|(before, now)| format!("{before:.1}/{now:.1}")).collect();
        let _ = writeln!(out, "look-ups by turn, first/second: {}", turns.join(" "));
        if !self.unclassified.is_empty() {
            let _ = writeln!(out, "unclassified, counted apart: {}", self.unclassified.join(", "));
        }
        for (name, why) in paired.refused.iter().take(MAX_NAMED) {
            let _ = writeln!(out, "refused: {name} {why}");
        }
        if let Some(more) = paired.refused.len().checked_sub(MAX_NAMED + 1) {
            let _ = writeln!(out, "refused: {} more", more + 1);
        }
        out
    }
}

/// Gives the share of added look-ups that restoring removes, in percent; `None` where none were added.
fn removed_share([before, now, restored]: &[Vec<f64>; 3]) -> Option<(f64, Option<Interval>)> {
    let added = mean(now)? - mean(before)?;
    if added <= 0.0 {
        return None;
    }
    let removed: Vec<f64> = now.iter().zip(restored).map(|(now, restored)| (now - restored) * 100.0 / added).collect();
    Some((mean(&removed)?, Bootstrap::new(&removed).bca()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Cost, pair};

    fn run(name: &str, completion: f64, retrieval: u64) -> RunPoint {
        let mut cost = Cost::default();
        cost.calls.insert(CostClass::Retrieval, retrieval);
        cost.retrieval_by_turn = vec![retrieval];
        RunPoint { name: name.to_owned(), completion: Some(completion), horizon: None, cost }
    }

    fn folder(retrieval: impl Fn(u64) -> u64) -> Vec<RunPoint> {
        (0..10).map(|seed| run(&format!("t1__{seed}"), 80.0, retrieval(seed))).collect()
    }

    #[test]
    fn added_look_ups_and_what_restoring_removes_are_told_together_with_the_outcome() {
        let paired = pair(vec![folder(|_| 10), folder(|seed| 30 + seed), folder(|seed| 15 + seed)]);
        let comparison = Comparison::of(&paired).unwrap();
        assert!(comparison.is_completion_insensitive());
        assert_eq!(comparison.dominance(), Some("the first dominates"));
        let (share, interval) = comparison.restored.unwrap();
        assert!((share - 15.0 * 100.0 / 24.5).abs() < 1e-9 && interval.is_some(), "{share}");
        let text = comparison.text(&paired);
        assert!(text.contains("completion %") && text.contains("retrieval"), "{text}");
        assert!(text.contains("restoring removes 61 %"), "{text}");
    }

    #[test]
    fn what_has_no_outcome_is_refused() {
        let mut silent = run("t2", 0.0, 1);
        silent.completion = None;
        let paired = pair(vec![vec![run("t2", 5.0, 1)], vec![silent]]);
        assert!(Comparison::of(&paired).is_none());
        assert_eq!(paired.refused[0].1.to_string(), "has no outcome");
    }
}
