//! What is asked before anything is played? The planned tests, written down and hashed, and the verdict on each.
//!
//! Everything else that a report prints is exploratory, and labelled so.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{
    agent::Profile,
    condition::{Condition, Picks, Ratio, Timing},
    matrix::{MatrixOptions, Played},
    run::Run,
    tool::CallClass,
    world::Regime,
};
use crate::stats::{Paired, holm};

/// Level of every planned test.
const ALPHA: f64 = 0.05;
/// Change of retrieval that the planned digest of D facts is to reach, in percent.
const PLANNED_SAVING: f64 = -30.0;
/// Retrieval over full context that a preset may cost, in percent.
const GOAL_RETRIEVAL: f64 = 5.0;
/// Completion under full context that a preset may cost, in points.
const GOAL_COMPLETION: f64 = -2.0;

/// The plan of a matrix and its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// Its words.
    pub text: String,
    /// SHA-256 of the words.
    pub sha256: String,
}

impl Plan {
    /// Writes the plan of a matrix.
    ///
    /// ```
    /// use liveset_eval::irbench::{MatrixOptions, Plan};
    /// let plan = Plan::of(&MatrixOptions::default());
    /// assert!(plan.text.contains("seeds 1 to 100"));
    /// assert_eq!(plan.sha256.len(), 64);
    /// ```
    #[must_use]
    pub fn of(options: &MatrixOptions) -> Self {
        let regimes: Vec<&str> = options.regimes.iter().map(|regime| regime.name()).collect();
        let conditions: Vec<String> = options.conditions.iter().map(ToString::to_string).collect();
        let text = format!(
            "agent: reference agent, profile {}\nseeds 1 to {}, {} turns, regimes {}\nprompt sha256 {}\n\
             conditions:\n  {}\n{PLANNED}",
            options.run.profile.name,
            options.seeds,
            options.run.turns,
            regimes.join(", "),
            sha256(&(super::body::SYSTEM_PROMPT.to_owned() + super::body::TASK_STATEMENT)),
            conditions.join("\n  "),
        );
        Self { sha256: sha256(&text), text }
    }
}

/// The planned tests, in words.
const PLANNED: &str = "\
planned tests, two-sided, exact signed-rank, level 0.05, one pair a seed:
  P1 sliding 5 against full, high, completion falls
  P2 sliding 5 against full, high, tool calls rise
  P3 sliding 5 against full, high, retrieval rises
  P4 retrieval, sliding 5 against full, profiles narrow, standard and wide in both regimes: six tests under Holm
  P5 once B=265 rar-d against sliding: retrieval falls by 30 % or more, and the interval is below 0
goals, descriptive: at 5 x, high, a preset pays no more retrieval than full context within 5 %, and completes within 2 points;
  what delivers more than 35 % of the units' tokens does not count as 5 x
everything else is exploratory; d-irrelevant and d-wrong are post hoc
";

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What became of one planned question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Which question.
    pub name: String,
    /// Whether what was planned came true.
    pub is_met: bool,
    /// The figures.
    pub told: String,
}

/// Gives the verdict on each question whose cells were played.
#[must_use]
pub(super) fn verdicts(played: &[Played]) -> Vec<Verdict> {
    let mut all = Vec::new();
    all.extend(primary(played, "P1 completion falls", Run::completion, Direction::Down));
    all.extend(primary(played, "P2 tool calls rise", |run| run.tool_calls() as f64, Direction::Up));
    all.extend(primary(played, "P3 retrieval rises", retrieval, Direction::Up));
    all.extend(family(played));
    all.extend(planned_digest(played));
    all.extend(goals(played));
    all
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

fn retrieval(run: &Run) -> f64 {
    run.calls(CallClass::Retrieval) as f64
}

fn find<'p>(played: &'p [Played], profile: Profile, regime: Regime, condition: &Condition) -> Option<&'p [Run]> {
    let cell = played.iter().map(|played| (&played.cell, &played.runs));
    let mut found =
        cell.filter(|(cell, _)| cell.profile == profile && cell.regime == regime && cell.condition == *condition);
    found.next().map(|(_, runs)| runs.as_slice())
}

fn compare(now: &[Run], before: &[Run], value: impl Fn(&Run) -> f64) -> Option<Paired> {
    let of = |runs: &[Run]| runs.iter().map(&value).collect::<Vec<f64>>();
    Paired::of(&of(now), &of(before))
}

fn primary(played: &[Played], name: &str, value: impl Fn(&Run) -> f64, direction: Direction) -> Option<Verdict> {
    let (standard, high) = (Profile::STANDARD, Regime::High);
    let sliding = find(played, standard, high, &Condition::Sliding(Ratio::FIVE))?;
    let paired = compare(sliding, find(played, standard, high, &Condition::Full)?, value)?;
    let is_right_way = if direction == Direction::Up { paired.mean > 0.0 } else { paired.mean < 0.0 };
    Some(Verdict {
        name: name.to_owned(),
        is_met: is_right_way && paired.test.p < ALPHA,
        told: format!("sliding 5 against full, high: {}", told(&paired)),
    })
}

fn told(paired: &Paired) -> String {
    let interval = paired.bca.map_or_else(String::new, |bca| format!(" [{:+.1}, {:+.1}]", bca.low, bca.high));
    format!("{:+.1}{interval}, p {:.2e}, n {}", paired.mean, paired.test.p, paired.count)
}

fn family(played: &[Played]) -> Option<Verdict> {
    let mut tests = Vec::new();
    for profile in Profile::FAMILY {
        for regime in Regime::ALL {
            let sliding = find(played, profile, regime, &Condition::Sliding(Ratio::FIVE))?;
            let paired = compare(sliding, find(played, profile, regime, &Condition::Full)?, retrieval)?;
            tests.push((format!("{} {}", profile.name, regime.name()), paired));
        }
    }
    let corrected = holm(&tests.iter().map(|(_, paired)| paired.test.p).collect::<Vec<f64>>());
    let passed = corrected.iter().filter(|p| **p < ALPHA).count();
    let each: Vec<String> = tests
        .iter()
        .zip(&corrected)
        .map(|((name, paired), p)| format!("{name} {:+.1} (p {p:.2e})", paired.mean))
        .collect();
    Some(Verdict {
        name: "P4 six retrieval tests under Holm".to_owned(),
        is_met: passed == tests.len(),
        told: format!("{passed} of {} survive: {}", tests.len(), each.join(", ")),
    })
}

fn planned_digest(played: &[Played]) -> Option<Verdict> {
    let once = |picks| Condition::Retention(Timing::Once, 265, picks);
    let (standard, high) = (Profile::STANDARD, Regime::High);
    let sliding = find(played, standard, high, &once(Picks::Sliding))?;
    let paired = compare(find(played, standard, high, &once(Picks::RarD))?, sliding, retrieval)?;
    let base = mean(sliding, retrieval);
    let percent = paired.mean * 100.0 / base;
    let is_below = paired.bca.is_some_and(|bca| bca.high < 0.0);
    Some(Verdict {
        name: "P5 a digest of D facts saves 30 % of retrieval".to_owned(),
        is_met: percent <= PLANNED_SAVING && is_below,
        told: format!("{percent:+.1} % of {base:.1} calls: {}", told(&paired)),
    })
}

fn mean(runs: &[Run], value: impl Fn(&Run) -> f64) -> f64 {
    crate::stats::mean(&runs.iter().map(value).collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// Says of each strategy over real bodies whether it pays no more than full context.
fn goals(played: &[Played]) -> Vec<Verdict> {
    let mut all = Vec::new();
    let high = played.iter().filter(|played| played.cell.regime == Regime::High);
    for Played { cell, runs } in high {
        let is_asked = match &cell.condition {
            Condition::Preset(..) | Condition::KeepLast(_) | Condition::Summary(..) | Condition::Exec(..) => true,
            Condition::Full
            | Condition::FullRestored
            | Condition::Sliding(_)
            | Condition::Oracle(..)
            | Condition::Retention(..)
            | Condition::KeepLastCount(_)
            | Condition::Masking(_)
            | Condition::Protect(_) => false,
        };
        let Some(full) = find(played, cell.profile, Regime::High, &Condition::Full).filter(|_| is_asked) else {
            continue;
        };
        let (base, now) = (mean(full, retrieval), mean(runs, retrieval));
        let (percent, points) =
            ((now - base) * 100.0 / base, mean(runs, Run::completion) - mean(full, Run::completion));
        let share = mean(runs, Run::delivered_share);
        all.push(Verdict {
            name: format!("goal: {}", cell.condition),
            // What delivers more than twice its share was not compressed as asked.
            is_met: percent <= GOAL_RETRIEVAL && points >= GOAL_COMPLETION && share <= GOAL_SHARE,
            told: format!(
                "retrieval {percent:+.1} %, completion {points:+.1} points, recall {:.1} calls, delivers {:.0} % of the units",
                mean(runs, |run| run.calls(CallClass::Recall) as f64),
                share * 100.0
            ),
        });
    }
    all
}

/// Share of the units' tokens, over all turns, up to which a condition counts as compressing by 5 x: sliding and summary
/// deliver 0.23 to 0.31, since the newest unit always stays.
const GOAL_SHARE: f64 = 0.35;
