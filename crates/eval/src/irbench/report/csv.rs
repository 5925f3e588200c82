//! How is a matrix handed to other programs? Rows, runs and turns as CSV.

use std::fmt::Write as _;

use super::rows::{Change, Report};
use crate::irbench::{matrix::Played, tool::CallClass};

/// Quotes a cell where a comma or a quote would break it.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.digits$}"))
}

/// Writes a line for each row.
#[must_use]
pub fn results_csv(report: &Report) -> String {
    let mut out = "agent,regime,condition,standing,n,completion,tools,retrieval,execution,recall,turns,max_turns,\
                   within_budget,delivered_share,baseline,retrieval_change,retrieval_low,retrieval_high,\
                   retrieval_low_percentile,retrieval_high_percentile,retrieval_p,retrieval_d,completion_change,\
                   completion_low,completion_high,completion_p,cov_d,cov_r,digest_tokens,dominance,\
                   completion_insensitive\n"
        .to_owned();
    for row in &report.rows {
        let low = |change: Option<Change>| change.and_then(|change| change.bca).map(|(low, _)| low);
        let high = |change: Option<Change>| change.and_then(|change| change.bca).map(|(_, high)| high);
        let (retrieval, completion) = (row.retrieval_change, row.completion_change);
        let percentile = retrieval.and_then(|change| change.percentile);
        let cells = [
            quoted(&row.agent),
            row.regime.to_owned(),
            quoted(&row.condition),
            row.standing.to_owned(),
            row.n.to_string(),
            number(Some(row.completion), 2),
            number(Some(row.tools), 2),
            number(Some(row.retrieval), 2),
            number(Some(row.execution), 2),
            number(Some(row.recall), 2),
            number(Some(row.turns), 2),
            row.max_turns.to_string(),
            row.within_budget.to_string(),
            number(Some(row.delivered_share), 4),
            quoted(row.baseline.as_deref().unwrap_or_default()),
            number(retrieval.map(|change| change.mean), 3),
            number(low(retrieval), 3),
            number(high(retrieval), 3),
            number(percentile.map(|(low, _)| low), 3),
            number(percentile.map(|(_, high)| high), 3),
            number(retrieval.map(|change| change.p), 6),
            number(retrieval.and_then(|change| change.cohen_d), 3),
            number(completion.map(|change| change.mean), 3),
            number(low(completion), 3),
            number(high(completion), 3),
            number(completion.map(|change| change.p), 6),
            number(row.cov_d, 3),
            number(row.cov_r, 3),
            number(row.digest_tokens, 1),
            row.dominance.unwrap_or_default().to_owned(),
            row.is_completion_insensitive.to_string(),
        ];
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

/// Writes a line for each run.
#[must_use]
pub fn runs_csv(played: &[Played]) -> String {
    let mut out = "agent,regime,condition,seed,done,retrieval,execution,recall,turns,end,tool_budget,delivered_share\n"
        .to_owned();
    for Played { cell, runs } in played {
        for run in runs {
            let end = serde_json::to_value(run.end).ok().and_then(|end| end.as_str().map(str::to_owned));
            let _ = writeln!(
                out,
                "reference agent ({}),{},{},{},{},{},{},{},{},{},{},{:.4}",
                cell.profile.name,
                cell.regime.name(),
                quoted(&run.condition),
                run.seed,
                run.done,
                run.calls(CallClass::Retrieval),
                run.calls(CallClass::Execution),
                run.calls(CallClass::Recall),
                run.turns.len(),
                end.unwrap_or_default(),
                run.tool_budget,
                run.delivered_share()
            );
        }
    }
    out
}

/// Writes a line for each turn of each run: the call log.
#[must_use]
pub fn turns_csv(played: &[Played]) -> String {
    let mut out = "agent,regime,condition,seed,turn,trajectory_tokens,delivered_tokens,calls\n".to_owned();
    for Played { cell, runs } in played {
        for (run, turn) in runs.iter().flat_map(|run| run.turns.iter().map(move |turn| (run, turn))) {
            let calls: Vec<String> = turn.calls.iter().map(|call| format!("{} {}", call.tool, call.argument)).collect();
            let _ = writeln!(
                out,
                "reference agent ({}),{},{},{},{},{},{},{}",
                cell.profile.name,
                cell.regime.name(),
                quoted(&run.condition),
                run.seed,
                turn.turn,
                turn.trajectory_tokens,
                turn.delivered_tokens,
                calls.join("; ")
            );
        }
    }
    out
}
