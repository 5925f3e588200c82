//! How does a matrix stand in a document? Tables in Markdown, verdicts first.

use std::fmt::Write as _;

use super::rows::{Change, Report};

/// Writes the report as Markdown.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut out = "# IRBench, reference agent\n\n".to_owned();
    let _ = writeln!(out, "Plan, hashed before the first run: `{}`\n", report.plan.sha256);
    out.push_str("| question | verdict | figures |\n|---|---|---|\n");
    for verdict in &report.verdicts {
        let mark = if verdict.is_met { "met" } else { "missed" };
        let _ = writeln!(out, "| {} | {mark} | {} |", verdict.name, verdict.told);
    }
    let mut last: Option<(&str, &str)> = None;
    for row in &report.rows {
        let head = (row.agent.as_str(), row.regime);
        if last != Some(head) {
            let _ = writeln!(out, "\n## {}, {} regime, {} seeds\n", row.agent, row.regime, row.n);
            out.push_str(HEADER);
            last = Some(head);
        }
        let _ = writeln!(
            out,
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} % | {} | {} | {} | {} | {} |",
            row.agent,
            row.condition,
            row.completion,
            row.tools,
            row.retrieval,
            row.execution,
            row.recall,
            row.delivered_share * 100.0,
            row.within_budget,
            row.baseline.as_deref().unwrap_or("-"),
            changed(row.retrieval_change),
            changed(row.completion_change),
            row.standing
        );
    }
    out.push_str("\n## Limits\n\n");
    for limit in &report.limits {
        let _ = writeln!(out, "- {limit}");
    }
    out
}

const HEADER: &str = "\
| agent | condition | completion % | tool calls | retrieval | execution | recall | delivered | within tool budget | against | retrieval change | completion change | standing |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

fn changed(change: Option<Change>) -> String {
    change.map_or_else(
        || "-".to_owned(),
        |change| {
            let interval = change.bca.map_or_else(String::new, |(low, high)| format!(" [{low:+.1}, {high:+.1}]"));
            format!("{:+.1}{interval}, p {:.1e}", change.mean, change.p)
        },
    )
}
