//! What does a condition come to? One row a cell, with what changed against its baseline.

use serde::Serialize;

use crate::{
    irbench::{
        matrix::{MatrixOptions, Played, baseline},
        plan::{Plan, Verdict, verdicts},
        run::{EndReason, Run},
        tool::CallClass,
    },
    stats::{Interval, Paired, mean},
};

/// What a reader must know before a figure is quoted.
pub const LIMITS: [&str; 6] = [
    "The agent is the reference agent: a fixed rule, no model. Its figures test the harness and the operators, not a model.",
    "It uses every fact that it gets; a model may not. It asks again strictly; a model carries facts in its own words.",
    "At B = 265 all observed facts fit, so interventions that choose among them are equal by arithmetic.",
    "That D-Irrelevant lies above plain sliding depends on a trait: the agent looks up names that it does not know.",
    "A run has no noise of its own: p values near 0.1 are those of worlds, not of repetitions.",
    "Retrieval results here are under 50 tokens: no rule that spares at least 32 tokens a result can cut much.",
];

/// A matrix, evaluated.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What was planned before it was played.
    pub plan: Plan,
    /// The verdict on each planned question.
    pub verdicts: Vec<Verdict>,
    /// A row for each cell.
    pub rows: Vec<Row>,
    /// What must be known before a figure is quoted.
    pub limits: Vec<&'static str>,
}

/// A difference from the baseline, pair by pair.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Mean difference.
    pub mean: f64,
    /// BCa interval, 95 %.
    pub bca: Option<(f64, f64)>,
    /// Percentile interval, 95 %.
    pub percentile: Option<(f64, f64)>,
    /// Exact two-sided p of the signed-rank test.
    pub p: f64,
    /// Cohen's d of the differences.
    pub cohen_d: Option<f64>,
}

/// A cell in figures: means over seeds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// Who played: always named.
    pub agent: String,
    /// The regime.
    pub regime: &'static str,
    /// The condition.
    pub condition: String,
    /// Runs.
    pub n: usize,
    /// Tasks done, in percent.
    pub completion: f64,
    /// Calls of the world's tools.
    pub tools: f64,
    /// Look-ups among them.
    pub retrieval: f64,
    /// Executions among them.
    pub execution: f64,
    /// Calls of the recall tool, a class of their own.
    pub recall: f64,
    /// Turns.
    pub turns: f64,
    /// Runs that no turn was left for.
    pub max_turns: usize,
    /// Runs within the tool budget.
    pub within_budget: usize,
    /// Share of the units' tokens that was delivered, mean over turns.
    pub delivered_share: f64,
    /// What the row is compared with.
    pub baseline: Option<String>,
    /// Change of look-ups.
    pub retrieval_change: Option<Change>,
    /// Change of completion, in points.
    pub completion_change: Option<Change>,
    /// Share of observed D facts in the digest of the retention family.
    pub cov_d: Option<f64>,
    /// The same of R facts.
    pub cov_r: Option<f64>,
    /// Size of that digest.
    pub digest_tokens: Option<f64>,
    /// Whether one dominates the other: `dominates`, `dominated`, or neither.
    pub dominance: Option<&'static str>,
    /// Whether the test finds the change of look-ups and not that of completion.
    pub is_completion_insensitive: bool,
    /// Look-ups in each turn, mean over runs.
    pub retrieval_by_turn: Vec<f64>,
    /// `planned`, `exploratory` or `post hoc`.
    pub standing: &'static str,
}

/// Level at which a test counts as finding something.
const ALPHA: f64 = 0.05;

impl Report {
    /// Evaluates what was played under a plan.
    #[must_use]
    pub fn of(options: &MatrixOptions, plan: Plan, played: &[Played]) -> Self {
        let rows = played.iter().map(|cell| row(options, played, cell)).collect();
        Self { plan, verdicts: verdicts(played), rows, limits: LIMITS.to_vec() }
    }
}

fn average(runs: &[Run], value: impl Fn(&Run) -> f64) -> f64 {
    mean(&runs.iter().map(value).collect::<Vec<f64>>()).unwrap_or(0.0)
}

fn row(options: &MatrixOptions, all: &[Played], Played { cell, runs }: &Played) -> Row {
    let class = |class: CallClass| move |run: &Run| run.calls(class) as f64;
    let baseline = baseline(&cell.condition);
    let before = baseline.as_ref().and_then(|condition| {
        let is_it = |other: &&Played| {
            other.cell.condition == *condition && other.cell.regime == cell.regime && other.cell.profile == cell.profile
        };
        all.iter().find(is_it).map(|played| played.runs.as_slice())
    });
    let retrieval_change = before.and_then(|before| change(runs, before, class(CallClass::Retrieval)));
    let completion_change = before.and_then(|before| change(runs, before, Run::completion));
    let coverage: Vec<_> = runs.iter().filter_map(|run| run.coverage).collect();
    let covered = |value: fn(&crate::irbench::Coverage) -> f64| mean(&coverage.iter().map(value).collect::<Vec<_>>());
    Row {
        agent: format!("reference agent ({})", cell.profile.name),
        regime: cell.regime.name(),
        condition: cell.condition.to_string(),
        n: runs.len(),
        completion: average(runs, Run::completion),
        tools: average(runs, |run| run.tool_calls() as f64),
        retrieval: average(runs, class(CallClass::Retrieval)),
        execution: average(runs, class(CallClass::Execution)),
        recall: average(runs, class(CallClass::Recall)),
        turns: average(runs, |run| run.turns.len() as f64),
        max_turns: runs.iter().filter(|run| run.end == EndReason::MaxTurns).count(),
        within_budget: runs.iter().filter(|run| run.is_within_budget()).count(),
        delivered_share: average(runs, Run::delivered_share),
        baseline: baseline.map(|condition| condition.to_string()),
        dominance: before.and_then(|before| dominance(runs, before)),
        is_completion_insensitive: is_insensitive(retrieval_change, completion_change),
        retrieval_change,
        completion_change,
        cov_d: covered(|coverage| coverage.d),
        cov_r: covered(|coverage| coverage.r),
        digest_tokens: covered(|coverage| coverage.digest_tokens as f64),
        retrieval_by_turn: (1..=options.run.turns).map(|turn| by_turn(runs, turn)).collect(),
        standing: standing(&cell.condition.to_string()),
    }
}

fn by_turn(runs: &[Run], turn: u64) -> f64 {
    let of = |run: &Run| {
        let turns = run.turns.iter().filter(|logged| logged.turn == turn);
        turns.flat_map(|logged| &logged.calls).filter(|call| call.class == CallClass::Retrieval).count() as f64
    };
    average(runs, of)
}

fn standing(condition: &str) -> &'static str {
    match condition {
        "full" | "sliding 5" | "once B=265 rar-d" | "once B=265 sliding" => "planned",
        name if name.ends_with("d-irrelevant") || name.ends_with("d-wrong") => "post hoc",
        _ => "exploratory",
    }
}

fn change(now: &[Run], before: &[Run], value: impl Fn(&Run) -> f64) -> Option<Change> {
    let of = |runs: &[Run]| runs.iter().map(&value).collect::<Vec<f64>>();
    let paired = Paired::of(&of(now), &of(before))?;
    let ends = |interval: Interval| (interval.low, interval.high);
    Some(Change {
        mean: paired.mean,
        bca: paired.bca.map(ends),
        percentile: paired.percentile.map(ends),
        p: paired.test.p,
        cohen_d: paired.cohen_d,
    })
}

/// Says whether one has no less outcome at no more cost, and more or less of one of them.
fn dominance(now: &[Run], before: &[Run]) -> Option<&'static str> {
    let of = |runs: &[Run]| (average(runs, Run::completion), average(runs, |run| run.tool_calls() as f64));
    let ((q, c), (q_before, c_before)) = (of(now), of(before));
    if q >= q_before && c <= c_before && (q > q_before || c < c_before) {
        return Some("dominates");
    }
    (q <= q_before && c >= c_before && (q < q_before || c > c_before)).then_some("dominated")
}

fn is_insensitive(retrieval: Option<Change>, completion: Option<Change>) -> bool {
    match (retrieval, completion) {
        (Some(retrieval), Some(completion)) => retrieval.p < ALPHA && completion.p >= ALPHA,
        (None, _) | (_, None) => false,
    }
}
