//! How does a matrix look on a terminal? The rows of one agent by regime, and the verdicts.

use std::fmt::Write as _;

use super::rows::{Report, Row};

/// Characters of the longest condition that keeps its column.
const NAME_CHARS: usize = 28;

/// Writes the report for a terminal of 100 columns, without colour.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let mut last: Option<(&str, &str)> = None;
    for row in &report.rows {
        let head = (row.agent.as_str(), row.regime);
        if last != Some(head) {
            let blank = if last.is_some() { "\n" } else { "" };
            let _ = writeln!(out, "{blank}{}, {} regime, {} seeds", row.agent, row.regime, row.n);
            let _ = writeln!(out, "{HEADER}");
            last = Some(head);
        }
        let _ = writeln!(out, "{}", line(row));
    }
    let _ = writeln!(out, "\nplan sha256 {}", report.plan.sha256);
    for verdict in &report.verdicts {
        let mark = if verdict.is_met { "met   " } else { "missed" };
        let _ = writeln!(out, "  {mark}  {}: {}", verdict.name, verdict.told);
    }
    let _ = writeln!(out);
    for limit in &report.limits {
        let _ = writeln!(out, "limit: {limit}");
    }
    out
}

const HEADER: &str = "  condition                     done %  look-ups  execs  recalls  sent %  change of look-ups";

fn line(row: &Row) -> String {
    let change = row.retrieval_change.map_or_else(String::new, |change| {
        let interval = change.bca.map_or_else(String::new, |(low, high)| format!(" [{low:+.1}, {high:+.1}]"));
        format!("{:+.1}{interval}", change.mean)
    });
    format!(
        "  {:<NAME_CHARS$}  {:>6.1}  {:>8.1}  {:>5.1}  {:>7.1}  {:>6.0}  {change}",
        row.condition,
        row.completion,
        row.retrieval,
        row.execution,
        row.recall,
        row.delivered_share * 100.0
    )
    .trim_end()
    .to_owned()
}
