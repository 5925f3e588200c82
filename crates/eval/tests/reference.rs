//! Do our figures agree with those of the study's prototype? Row by row, within sampling error; the table is a document.
//!
//! Worlds and wording are our own, so a row is held against the other as two samples are: their 95 % intervals meet.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{collections::BTreeMap, fmt::Write as _};

use expect_test::expect_file;
use liveset_eval::{
    irbench::{CallClass, Condition, MatrixOptions, Played, Regime, Run, baseline, play},
    stats::Bootstrap,
};

const REFERENCE: &str = include_str!("data/reference-results.csv");
/// What each row is compared by.
const MEASURES: [&str; 4] = ["completion", "retrieval", "execution", "retrieval change"];
/// Of the rows of the severity sweep (100 seeds), the share of figures that must agree.
const LEAST_AGREEING: f64 = 0.8;

/// A row of the prototype.
struct Row {
    regime: Regime,
    condition: Condition,
    seeds: usize,
    values: BTreeMap<&'static str, f64>,
    /// Interval of the change of retrieval.
    interval: Option<(f64, f64)>,
}

fn reference() -> Vec<Row> {
    let mut lines = REFERENCE.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells: BTreeMap<&str, &str> = heads.iter().copied().zip(line.split(',')).collect();
        let number = |name: &str| cells[name].parse::<f64>().ok();
        let name = cells["condition"].split(" (against").next().unwrap();
        let measures = [("completion", "Q"), ("retrieval", "CR"), ("execution", "CE"), ("retrieval change", "dCR")];
        Row {
            regime: Regime::ALL.into_iter().find(|regime| regime.name() == cells["regime"]).unwrap(),
            condition: name.parse().unwrap(),
            seeds: cells["n"].parse().unwrap(),
            values: measures.into_iter().filter_map(|(ours, theirs)| Some((ours, number(theirs)?))).collect(),
            interval: number("dCR_lo").zip(number("dCR_hi")),
        }
    };
    lines.map(row).collect()
}

fn value(run: &Run, measure: &str) -> f64 {
    match measure {
        "completion" => run.completion(),
        "execution" => run.calls(CallClass::Execution) as f64,
        _ => run.calls(CallClass::Retrieval) as f64,
    }
}

/// One figure beside the prototype's.
struct Figure {
    ours: f64,
    theirs: f64,
    agrees: bool,
}

fn figure(row: &Row, measure: &'static str, runs: &[Run], before: &[Run]) -> Option<Figure> {
    let theirs = *row.values.get(measure)?;
    let of = |run: &Run| value(run, measure);
    let values: Vec<f64> = match measure {
        "retrieval change" => runs.iter().zip(before).map(|(now, before)| of(now) - of(before)).collect(),
        _ => runs.iter().map(of).collect(),
    };
    let ours = values.iter().sum::<f64>() / values.len() as f64;
    let interval = Bootstrap::new(&values).bca()?;
    let width = interval.high - interval.low;
    // Where the prototype states no interval, its sample is taken to spread as ours does.
    let (low, high) = match (measure, row.interval) {
        ("retrieval change", Some(interval)) => interval,
        _ => (theirs - width / 2.0, theirs + width / 2.0),
    };
    // Both are rounded to a tenth.
    let agrees = interval.low <= high + 0.1 && low <= interval.high + 0.1;
    Some(Figure { ours, theirs, agrees })
}

fn runs<'p>(played: &'p [Played], row: &Row, condition: &Condition) -> &'p [Run] {
    let is_it = |played: &&Played| played.cell.condition == *condition && played.cell.regime == row.regime;
    &played.iter().find(is_it).unwrap().runs[..row.seeds]
}

fn played(rows: &[Row], is_wanted: impl Fn(&Row) -> bool, seeds: u64) -> Vec<Played> {
    let mut options = MatrixOptions::default();
    options.seeds = seeds;
    options.threads = 2;
    options.conditions = rows.iter().filter(|row| is_wanted(row)).map(|row| row.condition.clone()).collect();
    play(&options, &|_, _| ()).unwrap()
}

#[test]
fn the_figures_agree_with_those_of_the_prototype_or_the_table_says_where_not() {
    let rows = reference();
    assert!(rows.len() > 100, "{}", rows.len());
    let is_sweep = |row: &Row| !matches!(row.condition, Condition::Retention(..));
    let (sweep, retention) = (played(&rows, is_sweep, 100), played(&rows, |row| !is_sweep(row), 20));
    let mut table = OPENING.to_owned();
    let mut agreeing = BTreeMap::new();
    for row in &rows {
        let played = if is_sweep(row) { &sweep } else { &retention };
        let now = runs(played, row, &row.condition);
        let before = baseline(&row.condition).map_or(now, |baseline| runs(played, row, &baseline));
        write!(table, "| {} | {} | {} |", row.regime.name(), row.condition, row.seeds).unwrap();
        for measure in MEASURES {
            let Some(figure) = figure(row, measure, now, before) else {
                table.push_str(" |");
                continue;
            };
            let mark = if figure.agrees { "" } else { " **apart**" };
            write!(table, " {:.1} ({:.1}){mark} |", figure.ours, figure.theirs).unwrap();
            let counts: &mut (u32, u32) = agreeing.entry((is_sweep(row), row.seeds)).or_default();
            counts.0 += u32::from(figure.agrees);
            counts.1 += 1;
        }
        table.push('\n');
    }
    let (agreed, all) = agreeing[&(true, 100)];
    assert!(f64::from(agreed) >= LEAST_AGREEING * f64::from(all), "{agreed} of {all} figures agree");
    for ((is_sweep, seeds), (agreed, all)) in agreeing {
        let family = if is_sweep { "sweep, summary and oracles" } else { "retention family" };
        write!(table, "\n{family}, {seeds} seeds: {agreed} of {all} figures agree.\n").unwrap();
    }
    expect_file!["../../../docs/irbench-reference.md"].assert_eq(&table);
}

const OPENING: &str = "\
# IRBench beside its prototype

Written by the tests of `crates/eval` (`tests/reference.rs`): ours, the prototype's in brackets; *reference agent*, profile
standard, in every row. **apart**: the 95 % intervals do not meet. What lies behind that stands in [irbench.md](irbench.md).

| regime | condition | seeds | completion % | retrieval | execution | retrieval change |
|---|---|---|---|---|---|---|
";
