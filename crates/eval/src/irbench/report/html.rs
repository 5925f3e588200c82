//! How does a matrix look on a page? One file with its pictures and tables, for light and dark, and nothing fetched.

use std::fmt::Write as _;

use super::{
    picture::{Bar, Line, Point, bars, escaped, lines, points},
    rows::{Change, Report, Row},
};

const STYLE: &str = include_str!("page.css");
/// Ratios of the severity sweep, as conditions are named.
const SWEEP: [&str; 5] = ["full", "sliding 1.7", "sliding 2.5", "sliding 5", "sliding 10"];

/// Writes the report as one page.
#[must_use]
pub fn html(report: &Report) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><title>IRBench, reference agent</title><style>{STYLE}</style></head><body><main>\n\
         <h1>What did the cut cost?</h1><p class=\"lead\">IRBench with the <strong>reference agent</strong>: a fixed rule, no \
         model. Outcome and interaction cost stand side by side.</p>\n<p class=\"hash\">plan sha256 <code>{}</code></p>\n",
        report.plan.sha256
    );
    out.push_str("<h2>Verdicts</h2><ul class=\"verdicts\">");
    for verdict in &report.verdicts {
        let (class, mark) = if verdict.is_met { ("met", "met") } else { ("missed", "missed") };
        let _ = write!(
            out,
            "<li><span class=\"{class}\">{mark}</span> <strong>{}</strong> <span>{}</span></li>",
            escaped(&verdict.name),
            escaped(&verdict.told)
        );
    }
    out.push_str("</ul>\n<h2>Pictures</h2><div class=\"figures\">");
    for (title, picture) in pictures(report) {
        let _ = write!(out, "<figure><figcaption>{}</figcaption>{picture}</figure>", escaped(&title));
    }
    out.push_str("</div>\n<h2>Tables</h2>\n");
    tables(&mut out, report);
    out.push_str("<h2>Limits</h2><ul>");
    for limit in &report.limits {
        let _ = write!(out, "<li>{}</li>", escaped(limit));
    }
    let _ = write!(
        out,
        "</ul>\n<details><summary>The plan</summary><pre>{}</pre></details>\n</main></body></html>\n",
        escaped(&report.plan.text)
    );
    out
}

fn find<'r>(report: &'r Report, regime: &str, condition: &str) -> Option<&'r Row> {
    let is_it = |row: &&Row| row.regime == regime && row.condition == condition && row.agent.ends_with("(standard)");
    report.rows.iter().find(is_it)
}

/// Every picture whose rows were played, with its title.
fn pictures(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (title, value) in [
        ("Severity sweep: look-ups (reference agent)", (|row| row.retrieval) as fn(&Row) -> f64),
        ("Severity sweep: completion in percent (reference agent)", |row| row.completion),
    ] {
        let of = |regime: &str| -> Option<Line> {
            let values: Option<Vec<f64>> = SWEEP.iter().map(|name| find(report, regime, name).map(value)).collect();
            values.map(|values| Line { name: format!("{regime} regime"), values })
        };
        let series: Vec<Line> = ["high", "low"].into_iter().filter_map(of).collect();
        let places: Vec<String> = SWEEP.iter().map(|name| name.replace("sliding ", "") + " x").collect();
        let places: Vec<String> = places.into_iter().map(|name| name.replace("full x", "full")).collect();
        push(&mut all, title, !series.is_empty(), || lines(title, &places, &series));
    }
    all.extend(contrasts(report));
    all.extend(two_axes(report));
    all.extend(by_turn(report));
    all.extend(retention(report));
    all.extend(dose(report));
    all.extend(profiles(report));
    all
}

fn push(all: &mut Vec<(String, String)>, title: &str, is_there: bool, draw: impl FnOnce() -> String) {
    if is_there {
        all.push((title.to_owned(), draw()));
    }
}

/// Says whether a condition belongs to the retention family.
fn is_retention(row: &Row) -> bool {
    row.condition.contains(" B=")
}

fn contrasts(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for regime in ["high", "low"] {
        let rows = report
            .rows
            .iter()
            .filter(|row| row.regime == regime && row.agent.ends_with("(standard)") && !is_retention(row));
        let parts =
            |row: &Row| vec![("look-ups", row.retrieval), ("executions", row.execution), ("recalls", row.recall)];
        let found: Vec<Bar> = rows.map(|row| Bar { name: row.condition.clone(), parts: parts(row) }).collect();
        let mark = find(report, regime, "full").map(|row| ("full", row.tools));
        let title = format!("Calls by class, {regime} regime: look-ups, executions, recalls (reference agent)");
        push(&mut all, &title, found.len() > 1, || bars(&title, &found, mark));
    }
    all
}

fn two_axes(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let Some(full) = find(report, "high", "full") else { return all };
    let rows = report
        .rows
        .iter()
        .filter(|row| row.regime == "high" && row.agent.ends_with("(standard)") && !is_retention(row));
    let found: Vec<Point> = rows
        .map(|row| Point {
            name: row.condition.clone(),
            x: (row.retrieval - full.retrieval) * 100.0 / full.retrieval.max(1.0),
            y: row.completion - full.completion,
        })
        .collect();
    let title = "What it cost and what it did, high regime, against full (reference agent)";
    let axes = ("growth of look-ups, percent", "change of completion, points");
    push(&mut all, title, found.len() > 1, || points(title, axes, &found));
    all
}

fn by_turn(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let wanted = ["full", "sliding 5", "summary 5", "sliding 5 + D*", "balanced 5", "keep-last 5"];
    let series: Vec<Line> = wanted
        .into_iter()
        .filter_map(|name| find(report, "high", name))
        .map(|row| Line { name: row.condition.clone(), values: row.retrieval_by_turn.clone() })
        .collect();
    let turns = series.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let places: Vec<String> = (1..=turns).map(|turn| turn.to_string()).collect();
    let title = "Look-ups in each turn, high regime (reference agent)";
    push(&mut all, title, series.len() > 1, || lines(title, &places, &series));
    all
}

fn retention(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let base = find(report, "high", "once B=265 sliding").map(|row| ("sliding", row.retrieval));
    for budget in [265, 100, 50] {
        let start = format!("once B={budget} ");
        let rows = report.rows.iter().filter(|row| row.regime == "high" && row.condition.starts_with(&start));
        let found: Vec<Bar> = rows
            .map(|row| Bar { name: row.condition.replace(&start, ""), parts: vec![("look-ups", row.retrieval)] })
            .collect();
        let title = format!("Retention family, one digest of {budget} tokens, high regime: look-ups (reference agent)");
        push(&mut all, &title, found.len() > 1, || bars(&title, &found, base));
    }
    all
}

fn dose(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let rows = report.rows.iter().filter(|row| row.regime == "high" && row.condition.starts_with("once "));
    let found: Vec<Point> = rows
        .filter_map(|row| {
            let (cov_d, change) = (row.cov_d?, row.retrieval_change?);
            (row.standing != "post hoc" && !row.condition.ends_with(" sliding")).then(|| Point {
                name: row.condition.replace("once B=", ""),
                x: cov_d * 100.0,
                y: -change.mean,
            })
        })
        .collect();
    let title = "Look-ups saved by the share of D facts that a digest holds (reference agent)";
    push(&mut all, title, found.len() > 1, || points(title, ("cov_D, percent", "look-ups saved"), &found));
    all
}

fn profiles(report: &Report) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let rows = report.rows.iter().filter(|row| row.condition == "full" || row.condition == "sliding 5");
    let found: Vec<Bar> = rows
        .map(|row| {
            let profile = row.agent.replace("reference agent (", "").replace(')', "");
            Bar {
                name: format!("{profile}, {}, {}", row.regime, row.condition),
                parts: vec![("completion", row.completion)],
            }
        })
        .collect();
    let title = "Completion by profile and regime, percent (reference agent)";
    push(&mut all, title, found.len() > 4, || bars(title, &found, None));
    all
}

fn tables(out: &mut String, report: &Report) {
    let mut last: Option<(&str, &str)> = None;
    for row in &report.rows {
        let head = (row.agent.as_str(), row.regime);
        if last != Some(head) {
            if last.is_some() {
                out.push_str("</tbody></table></div>\n");
            }
            let _ = write!(
                out,
                "<h3>{}, {} regime, {} seeds</h3><div class=\"scroll\"><table><thead><tr>{HEADS}</tr></thead><tbody>",
                escaped(&row.agent),
                row.regime,
                row.n
            );
            last = Some(head);
        }
        let _ = write!(
            out,
            "<tr><th>{}</th><td>{}</td><td>{:.1}</td><td>{:.1}</td><td>{:.1}</td><td>{:.1}</td><td>{:.1}</td><td>{:.0} %</td>\
             <td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&row.condition),
            escaped(&row.agent),
            row.completion,
            row.tools,
            row.retrieval,
            row.execution,
            row.recall,
            row.delivered_share * 100.0,
            row.max_turns,
            row.within_budget,
            changed(row.retrieval_change),
            changed(row.completion_change),
            row.dominance.unwrap_or("-"),
            row.standing
        );
    }
    if last.is_some() {
        out.push_str("</tbody></table></div>\n");
    }
}

const HEADS: &str = "<th>condition</th><th>agent</th><th>done %</th><th>tool calls</th><th>look-ups</th><th>executions</th>\
<th>recalls</th><th>delivered</th><th>out of turns</th><th>in tool budget</th><th>change of look-ups</th>\
<th>change of completion</th><th>dominance</th><th>standing</th>";

fn changed(change: Option<Change>) -> String {
    change.map_or_else(
        || "-".to_owned(),
        |change| {
            let interval = change.bca.map_or_else(String::new, |(low, high)| format!(" [{low:+.1}, {high:+.1}]"));
            format!("{:+.1}{interval}, p {:.1e}", change.mean, change.p)
        },
    )
}
