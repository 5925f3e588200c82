//! Each statistic against the value that scipy or statsmodels gives (`data/statistics.py` wrote `data/statistics.csv`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

use liveset_eval::stats::{Bootstrap, Interval, cliff_delta, cohen_d, holm, signed_rank};

const VALUES: &str = include_str!("data/statistics.csv");
/// Kinds of rows, and how many of each there are at least.
const KINDS: [(&str, usize); 6] =
    [("wilcoxon_p", 9), ("cohen_d", 9), ("bca", 9), ("percentile", 9), ("holm", 4), ("cliff_delta", 3)];

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

fn ends(interval: Option<Interval>) -> Vec<f64> {
    interval.map(|interval| vec![interval.low, interval.high]).unwrap_or_default()
}

fn ours(kind: &str, input: &str) -> Vec<f64> {
    match kind {
        "wilcoxon_p" => vec![signed_rank(&numbers(input)).p],
        "cohen_d" => cohen_d(&numbers(input)).into_iter().collect(),
        "bca" => ends(Bootstrap::new(&numbers(input)).bca()),
        "percentile" => ends(Bootstrap::new(&numbers(input)).percentile()),
        "holm" => holm(&numbers(input)),
        "cliff_delta" => {
            let (a, b) = input.split_once(';').unwrap();
            cliff_delta(&numbers(a), &numbers(b)).into_iter().collect()
        }
        other => panic!("no statistic is called {other}"),
    }
}

#[test]
fn each_statistic_has_the_value_that_scipy_gives() {
    let mut seen: Vec<&str> = Vec::new();
    for row in VALUES.lines().skip(1) {
        let [kind, input, value] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (found, wanted) = (ours(kind, input), numbers(value));
        assert_eq!(found.len(), wanted.len(), "{row}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{row}: found {found}");
        }
        seen.push(kind);
    }
    for (kind, least) in KINDS {
        assert!(seen.iter().filter(|seen| **seen == kind).count() >= least, "{kind}");
    }
}
