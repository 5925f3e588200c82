//! What follows from the mechanism, whatever the worlds: the orderings that the study says may be claimed.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use liveset_eval::irbench::{CallClass, MatrixOptions, Played, Profile, Regime, Run, play};

const SEEDS: u64 = 60;

/// Means of a cell: completion, look-ups, executions.
struct Means {
    completion: f64,
    retrieval: f64,
    execution: f64,
    within_budget: usize,
}

fn played(profile: Profile, conditions: &[&str]) -> Vec<Played> {
    let mut options = MatrixOptions::default();
    options.seeds = SEEDS;
    options.threads = 2;
    options.run.profile = profile;
    options.conditions = conditions.iter().map(|name| name.parse().unwrap()).collect();
    play(&options, &|_, _| ()).unwrap()
}

fn means(played: &[Played], regime: Regime, condition: &str) -> Means {
    let is_it = |played: &&Played| played.cell.regime == regime && played.cell.condition.to_string() == condition;
    let runs: &[Run] = &played.iter().find(is_it).unwrap().runs;
    let mean = |value: &dyn Fn(&Run) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    Means {
        completion: mean(&Run::completion),
        retrieval: mean(&|run| run.calls(CallClass::Retrieval) as f64),
        execution: mean(&|run| run.calls(CallClass::Execution) as f64),
        within_budget: runs.iter().filter(|run| run.is_within_budget()).count(),
    }
}

#[test]
fn look_ups_rise_with_the_ratio_and_executions_do_not() {
    let sweep = ["full", "sliding 1.7", "sliding 2.5", "sliding 5", "sliding 10"];
    let played = played(Profile::STANDARD, &sweep);
    for regime in Regime::ALL {
        let all = sweep.map(|condition| means(&played, regime, condition));
        assert!(all.is_sorted_by(|a, b| a.retrieval < b.retrieval), "{}", regime.name());
        assert!(all.is_sorted_by(|a, b| a.execution >= b.execution - 0.1), "{}", regime.name());
        assert!(all[3].retrieval > 2.0 * all[0].retrieval, "{}", regime.name());
    }
    let (full, five) = (means(&played, Regime::High, "full"), means(&played, Regime::High, "sliding 5"));
    assert_eq!((full.within_budget, five.within_budget), (SEEDS as usize, 0), "the tool budget tells them apart");
    let low = means(&played, Regime::Low, "sliding 5");
    assert!(low.completion > 95.0, "the low regime completes while it pays: {}", low.completion);
}

#[test]
fn restored_d_takes_calls_away_and_restored_r_gives_completion_back() {
    let played = played(Profile::STANDARD, &["sliding 5", "sliding 5 + D*", "sliding 5 + R*", "sliding 5 + DR*"]);
    let of = |condition: &str| means(&played, Regime::High, condition);
    let (sliding, d, r, both) = (of("sliding 5"), of("sliding 5 + D*"), of("sliding 5 + R*"), of("sliding 5 + DR*"));
    let calls = |means: &Means| means.retrieval + means.execution;
    assert!(calls(&d) < 0.6 * calls(&sliding), "{} of {}", calls(&d), calls(&sliding));
    assert!(calls(&r) > 0.88 * calls(&sliding), "{} of {}", calls(&r), calls(&sliding));
    assert!(r.completion > sliding.completion + 3.0 && both.completion > d.completion, "R matters to completion");
}

#[test]
fn content_matters_and_strangers_cost_only_who_looks_them_up() {
    let names = ["once B=265 sliding", "once B=265 typeaware", "once B=265 rar-r", "once B=265 d-irrelevant"];
    let (verifying, trusting) = (played(Profile::STANDARD, &names), played(Profile::TRUSTING, &names));
    let [sliding, aware, rules, strange] = names.map(|name| means(&verifying, Regime::High, name).retrieval);
    assert!(aware < 0.85 * sliding, "{aware} of {sliding}");
    assert!((rules - sliding).abs() < 0.06 * sliding, "rules alone save nothing: {rules} of {sliding}");
    assert!(strange > 1.2 * sliding, "{strange} of {sliding}");
    let [sliding, _, _, strange] = names.map(|name| means(&trusting, Regime::High, name).retrieval);
    assert!((strange - sliding).abs() < 0.06 * sliding, "without the trait: {strange} of {sliding}");
}

#[test]
fn cost_turns_into_failure_by_how_many_calls_a_turn_has() {
    let lost = |profile: Profile| {
        let played = played(profile, &["sliding 5"]);
        means(&played, Regime::High, "full").completion - means(&played, Regime::High, "sliding 5").completion
    };
    assert!(lost(Profile::NARROW) > lost(Profile::STANDARD) + 10.0);
}

#[test]
fn a_digest_of_dated_facts_pays_no_more_than_full_context_and_one_without_dates_does() {
    let played = played(Profile::STANDARD, &["dated-summary 5", "summary 5"]);
    let of = |condition: &str| means(&played, Regime::High, condition);
    let (full, dated, undated) = (of("full"), of("dated-summary 5"), of("summary 5"));
    assert!(dated.retrieval <= 1.05 * full.retrieval, "{} of {}", dated.retrieval, full.retrieval);
    assert!(dated.completion >= full.completion - 2.0, "{} of {}", dated.completion, full.completion);
    assert!(undated.retrieval > dated.retrieval, "{} of {}", undated.retrieval, dated.retrieval);
}
