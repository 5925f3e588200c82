//! Which runs belong together? Those of one name, with one horizon and an outcome each; the rest is refused by name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::cost::Cost;

/// A run: its name, what came of it, and what it cost.
#[derive(Clone, Debug)]
pub struct RunPoint {
    /// Task and seed, as the file is named.
    pub name: String,
    /// How much of the task is done, in percent, where that is known.
    pub completion: Option<f64>,
    /// The turns that it had, where that is known.
    pub horizon: Option<u64>,
    /// Its calls.
    pub cost: Cost,
}

/// Why a run is in no pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// A folder has no run of this name.
    NoPartner,
    /// A run has no outcome: cost alone says nothing.
    NoOutcome,
    /// The runs had different numbers of turns.
    OtherHorizon,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPartner => "has no partner",
            Self::NoOutcome => "has no outcome",
            Self::OtherHorizon => "had another number of turns",
        })
    }
}

/// Runs that belong together, in order of their names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Paired {
    /// One run of each folder, in the order of folders.
    pub groups: Vec<Vec<RunPoint>>,
    /// What was left out, and why.
    pub refused: Vec<(String, Refused)>,
}

/// Puts runs of several folders together by name.
///
/// ```
/// use liveset_eval::protocol::{Cost, Refused, RunPoint, pair};
/// let run = |name: &str| RunPoint { name: name.into(), completion: Some(100.0), horizon: None, cost: Cost::default() };
/// let paired = pair(vec![vec![run("t1"), run("t2")], vec![run("t1")]]);
/// assert_eq!((paired.groups.len(), &paired.refused[..]), (1, &[("t2".to_owned(), Refused::NoPartner)][..]));
/// ```
#[must_use]
pub fn pair(folders: Vec<Vec<RunPoint>>) -> Paired {
    let mut by_name: Vec<BTreeMap<String, RunPoint>> =
        folders.into_iter().map(|runs| runs.into_iter().map(|run| (run.name.clone(), run)).collect()).collect();
    let names: BTreeSet<String> = by_name.iter().flat_map(|runs| runs.keys().cloned()).collect();
    let mut paired = Paired::default();
    for name in names {
        let group: Vec<RunPoint> = by_name.iter_mut().filter_map(|runs| runs.remove(&name)).collect();
        let refused = if group.len() < by_name.len() {
            Some(Refused::NoPartner)
        } else if group.iter().any(|run| run.completion.is_none()) {
            Some(Refused::NoOutcome)
        } else if group.iter().any(|run| group.first().is_some_and(|first| first.horizon != run.horizon)) {
            Some(Refused::OtherHorizon)
        } else {
            None
        };
        match refused {
            Some(why) => paired.refused.push((name, why)),
            None => paired.groups.push(group),
        }
    }
    paired
}
