//! What do all conditions come to? Every run of a matrix, on as many threads as asked, in an order that never changes.
//!
//! Each run is a function of its own seed; threads only decide when it is played.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use super::{
    agent::Profile,
    condition::{Cap, Condition, DigestOf, Picks, PresetName, Ratio, Recalling, Restored, Timing},
    error::Result,
    run::{Run, RunOptions, run},
    world::{Regime, World},
};

/// Seeds of a matrix, unless said otherwise.
pub const SEEDS: u64 = 100;
/// Budgets of the retention family, in tokens.
const DIGEST_BUDGETS: [u64; 3] = [265, 100, 50];
/// The budget at which sliding stands for all: it writes no digest.
const SLIDING_BUDGET: u64 = 265;

/// What is played.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MatrixOptions {
    /// Seeds from 1 to this one.
    pub seeds: u64,
    /// Threads that play.
    pub threads: usize,
    /// Regimes.
    pub regimes: Vec<Regime>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// How each run is played; the profiles of the family come beside this one.
    pub run: RunOptions,
}

impl Default for MatrixOptions {
    fn default() -> Self {
        Self {
            seeds: SEEDS,
            threads: 1,
            regimes: Regime::ALL.to_vec(),
            conditions: every_condition(),
            run: RunOptions::default(),
        }
    }
}

/// One cell: a profile in a regime under a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The agent's profile.
    pub profile: Profile,
    /// The regime.
    pub regime: Regime,
    /// The condition.
    pub condition: Condition,
}

/// A cell with its runs, one a seed, in the order of seeds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Played {
    /// Which.
    pub cell: Cell,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// Gives every condition of the study and every strategy, in the order of tables.
#[must_use]
pub fn every_condition() -> Vec<Condition> {
    let five = Ratio::FIVE;
    let mut all = vec![Condition::Full, Condition::FullRestored];
    all.extend(Ratio::SWEEP.map(Condition::Sliding));
    all.extend([Restored::D, Restored::R, Restored::Both].map(|restored| Condition::Oracle(five, restored)));
    for of in [DigestOf::Facts, DigestOf::DatedFacts, DigestOf::Answers] {
        all.extend([Cap::Soft, Cap::Hard].map(|cap| Condition::Summary(five, of, cap)));
    }
    for preset in PresetName::all() {
        all.extend([Recalling::Absent, Recalling::Offered].map(|recalling| Condition::Preset(preset, five, recalling)));
    }
    all.extend([
        Condition::KeepLast(five),
        Condition::KeepLastCount(3),
        Condition::Masking(5),
        Condition::Protect(five),
    ]);
    for timing in [Timing::Once, Timing::Rolling] {
        all.push(Condition::Retention(timing, SLIDING_BUDGET, Picks::Sliding));
        for budget in DIGEST_BUDGETS {
            let digests = Picks::ALL.into_iter().filter(|picks| *picks != Picks::Sliding);
            all.extend(digests.map(|picks| Condition::Retention(timing, budget, picks)));
        }
    }
    all
}

/// Gives what a condition is compared with.
#[must_use]
pub fn baseline(condition: &Condition) -> Option<Condition> {
    match condition {
        Condition::Full => None,
        Condition::Oracle(ratio, _) => Some(Condition::Sliding(*ratio)),
        Condition::Retention(_, _, Picks::Sliding) => Some(Condition::Full),
        Condition::Retention(timing, _, _) => Some(Condition::Retention(*timing, SLIDING_BUDGET, Picks::Sliding)),
        Condition::FullRestored
        | Condition::Sliding(_)
        | Condition::Summary(..)
        | Condition::Preset(..)
        | Condition::KeepLast(_)
        | Condition::KeepLastCount(_)
        | Condition::Masking(_)
        | Condition::Protect(_)
        | Condition::Exec(..) => Some(Condition::Full),
    }
}

impl MatrixOptions {
    /// Gives the cells that are played: those asked for, their baselines, and the profiles of the planned family.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut add = |profile: Profile, regime: Regime, condition: Condition| {
            let cell = Cell { profile, regime, condition };
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        };
        for &regime in &self.regimes {
            for condition in &self.conditions {
                if let Some(baseline) = baseline(condition) {
                    add(self.run.profile, regime, baseline);
                }
                add(self.run.profile, regime, condition.clone());
            }
        }
        if self.conditions == every_condition() {
            for profile in Profile::FAMILY {
                for &regime in &self.regimes {
                    add(profile, regime, Condition::Full);
                    add(profile, regime, Condition::Sliding(Ratio::FIVE));
                }
            }
        }
        cells
    }
}

/// Plays a matrix; `progress` is told how many runs of how many are done.
///
/// ```
/// use liveset_eval::irbench::{Condition, MatrixOptions, play};
/// let mut options = MatrixOptions::default();
/// options.seeds = 2;
/// options.conditions = vec!["sliding 5".parse()?];
/// let played = play(&options, &|_, _| ())?;
/// assert_eq!(played.len(), 4, "full comes with it, in both regimes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first error of any run.
pub fn play(options: &MatrixOptions, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Vec<Played>> {
    let cells = options.cells();
    let seeds = usize::try_from(options.seeds).unwrap_or(usize::MAX);
    let total = cells.len() * seeds;
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Run>)>> = Mutex::new(Vec::with_capacity(total));
    let work = || {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(job / seeds.max(1)).filter(|_| job < total) else { return };
            let world = World::new((job % seeds) as u64 + 1, cell.regime);
            let options = RunOptions { profile: cell.profile, ..options.run.clone() };
            let played = run(&world, &cell.condition, &options);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((job, played));
            progress(done.len(), total);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(job, _)| *job);
    let mut runs = done.into_iter().map(|(_, run)| run);
    let of_cell = |cell: Cell| Ok(Played { cell, runs: runs.by_ref().take(seeds).collect::<Result<_>>()? });
    cells.into_iter().map(of_cell).collect()
}
