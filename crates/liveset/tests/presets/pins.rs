//! What no step touches, under every preset: pins by id and marker, the newest plan, the newest failure, the task, and
//! what an "unchanged" leans on.

use std::sync::Arc;

use liveset::{Liveset, MemoryArchive, Policy, Preset};
use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::bench::{MODEL, size, wire};
use crate::script::{Step, body, by_sweeps, call, prose, result, run_with, seen, user};

const TREES: [&str; 7] = ["alder", "birch", "cedar", "elder", "fir", "hazel", "larch"];

/// Share of the body that fits: little enough that all which may go goes.
const TIGHT: u64 = 450;

/// `first`, and behind it searches that nothing pins.
fn before_searches(first: Vec<Step>) -> Vec<Step> {
    let mut steps = vec![user("Find the fault in the importer, and change nothing else.")];
    steps.extend(first);
    for tree in TREES {
        steps.push(call(tree, "search_web", json!({ "query": tree })));
        steps.push(result(tree, prose(tree, 40)));
    }
    steps.push(Step::Say("That is all.".to_owned()));
    steps.push(user("Go on."));
    steps
}

/// Says of each of `ids` whether its result left whole.
fn whole(format: Format, preset: Preset, steps: &[Step], pins: &[&str], ids: &[&str]) -> Vec<bool> {
    let out = run_with(format, steps, TIGHT, |policy| {
        by_sweeps(policy, preset);
        policy.pins = pins.iter().map(|pin| (*pin).to_owned()).collect();
    });
    let (old, new) = (seen(&body(format, steps)), seen(&out.body));
    ids.iter().map(|id| !new.result(id).is_empty() && old.result(id) == new.result(id)).collect()
}

fn each(check: impl Fn(Format, Preset)) {
    for format in Format::ALL {
        for preset in Preset::ALL {
            check(format, preset);
        }
    }
}

fn searched(id: &'static str, text: String) -> Vec<Step> {
    vec![call(id, "search_web", json!({ "query": id })), result(id, text)]
}

#[test]
fn an_id_pins_and_so_does_the_marker() {
    let plain = before_searches(searched("p", prose("pine", 40)));
    let marked = before_searches(searched("p", format!("{}[liveset:pin]\n", prose("pine", 40))));
    each(|format, preset| {
        assert_eq!(whole(format, preset, &plain, &[], &["p"]), [false], "{format:?} {preset:?}");
        assert_eq!(whole(format, preset, &plain, &["p"], &["p"]), [true], "{format:?} {preset:?}");
        assert_eq!(whole(format, preset, &marked, &[], &["p"]), [true], "{format:?} {preset:?}");
    });
}

#[test]
fn of_a_plan_tool_the_newest_call_and_result_stay() {
    let plan = |seed: &str| json!({ "todos": prose(seed, 30) });
    let steps = before_searches(vec![
        call("old", "TodoWrite", plan("ash")),
        result("old", prose("oak", 40)),
        call("new", "TodoWrite", plan("yew")),
        result("new", prose("elm", 40)),
    ]);
    each(|format, preset| {
        let [old, new] = whole(format, preset, &steps, &[], &["old", "new"])[..] else { panic!("two results") };
        // `rules` has no template for plans.
        assert_eq!((old, new), (preset == Preset::Rules, true), "{format:?} {preset:?}");
        let out = run_with(format, &steps, TIGHT, |policy| policy.preset = preset);
        assert_eq!(*seen(&out.body).arguments("new"), plan("yew"), "{format:?} {preset:?}");
    });
}

#[test]
fn a_plans_newest_call_keeps_its_result_also_where_results_come_in_another_order() {
    let plan = |seed: &str| json!({ "todos": [seed] });
    let steps = before_searches(vec![
        Step::Call(vec![("first", "TodoWrite", plan("ash")), ("second", "TodoWrite", plan("yew"))]),
        Step::Result(vec![("second", prose("elm", 40)), ("first", prose("oak", 40))]),
    ]);
    each(|format, preset| {
        assert_eq!(whole(format, preset, &steps, &[], &["first", "second"]), [true, true], "{format:?} {preset:?}");
    });
}

#[test]
fn arguments_stay_where_the_result_is_pinned() {
    let arguments = json!({ "path": "notes.md", "content": prose("ash", 40) });
    let steps = before_searches(vec![call("w", "write_file", arguments.clone()), result("w", "Written.")]);
    each(|format, preset| {
        let out = run_with(format, &steps, TIGHT, |policy| {
            by_sweeps(policy, preset);
            policy.pins = vec!["w".to_owned()];
        });
        assert_eq!(*seen(&out.body).arguments("w"), arguments, "{format:?} {preset:?}");
    });
}

#[test]
fn the_newest_failure_stays_and_an_older_one_goes() {
    let failed = |seed: &str| format!("{}Traceback (most recent call last):\nexit code 1\n", prose(seed, 40));
    let steps = before_searches(vec![
        call("old", "Bash", json!({ "command": "make old" })),
        Step::Failed("old", failed("oak")),
        call("new", "Bash", json!({ "command": "make new" })),
        Step::Failed("new", failed("elm")),
    ]);
    // Only this format has a flag for errors; `rules` has no template for shells.
    for preset in [Preset::Balanced, Preset::Liveness] {
        assert_eq!(whole(Format::Anthropic, preset, &steps, &[], &["old", "new"]), [false, true], "{preset:?}");
    }
    let [_, new] = whole(Format::Anthropic, Preset::Rules, &steps, &[], &["old", "new"])[..] else { panic!("two") };
    assert!(new);
}

#[test]
fn what_an_unchanged_leans_on_stays() {
    let read = |id: &'static str| call(id, "read_file", json!({ "path": "a.rs" }));
    let leaning = before_searches(vec![
        read("full"),
        result("full", prose("pine", 40)),
        read("stub"),
        result("stub", "File unchanged since last read."),
    ]);
    let alone = before_searches(vec![read("full"), result("full", prose("pine", 40))]);
    each(|format, preset| {
        assert_eq!(whole(format, preset, &alone, &[], &["full"]), [false], "{format:?} {preset:?}");
        assert_eq!(whole(format, preset, &leaning, &[], &["full"]), [true], "{format:?} {preset:?}");
    });
}

#[test]
fn the_task_stays_word_for_word() {
    let mut steps = before_searches(searched("p", prose("pine", 40)));
    let task = prose("task", 60);
    steps[0] = user(task.clone());
    each(|format, preset| {
        let out = run_with(format, &steps, 700, |policy| policy.preset = preset);
        let value: Value = serde_json::from_slice(&out.body).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(value[format.history_field()][0]["content"], json!(task), "{format:?} {preset:?}");
        assert_ne!(out.body, body(format, &steps));
    });
}

#[test]
fn pins_that_alone_do_not_fit_are_named() {
    let steps = before_searches([searched("p", prose("pine", 300)), searched("q", prose("yew", 200))].concat());
    each(|format, preset| {
        let out = run_with(format, &steps, TIGHT, |policy| {
            by_sweeps(policy, preset);
            policy.pins = vec!["p".to_owned(), "q".to_owned()];
        });
        let reason = out.report["reason"].as_str().unwrap_or_default();
        assert!(out.cannot_fit, "{format:?} {preset:?}");
        assert!(reason.starts_with("2 pinned results alone hold "), "{format:?} {preset:?}: {reason}");
        assert!(reason.contains("`p` of `search_web`, ") && reason.contains(" tokens (pinned by policy); `q` of"));
    });
}

#[test]
fn an_id_that_no_call_has_is_said() {
    let steps = before_searches(searched("p", prose("pine", 40)));
    each(|format, preset| {
        for (pins, said) in [(vec!["p"], false), (vec!["p", "nobody"], true)] {
            let out = run_with(format, &steps, 2_000, |policy| {
                policy.preset = preset;
                policy.pins = pins.iter().map(|pin| (*pin).to_owned()).collect();
            });
            let text = out.report["warnings"].to_string();
            assert_eq!(text.contains("no call of the body has the pinned id `nobody`"), said, "{text}");
            assert_eq!(text.contains("unknown_pin"), said, "{text}");
        }
    });
}

#[test]
fn a_result_over_the_hard_limit_stays_if_it_is_pinned() {
    let steps = before_searches(searched("p", prose("pine", 2_000)));
    each(|format, preset| {
        let out = run_with(format, &steps, 2_000, |policy| {
            by_sweeps(policy, preset);
            policy.pins = vec!["p".to_owned()];
        });
        assert_eq!(out.body, body(format, &steps), "{format:?} {preset:?}");
        let out = run_with(format, &steps, 2_000, |policy| by_sweeps(policy, preset));
        assert_ne!(out.body, body(format, &steps), "{format:?} {preset:?}: so the pin keeps it");
    });
}

/// A longer body that is over the room again.
fn longer(steps: &[Step], ids: [&'static str; 4]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    for (at, id) in ids.into_iter().enumerate() {
        let seed = if at == 0 { "rowan" } else { id };
        steps.extend(searched(id, prose(seed, 60)));
    }
    steps.push(Step::Say("And that.".to_owned()));
    steps.push(user("Once more."));
    steps
}

#[test]
fn a_pin_that_comes_later_holds_from_then_on_and_what_was_cut_stays_cut() {
    let first = before_searches(searched("p", prose("pine", 40)));
    let second = longer(&first, ["more1", "more2", "more3", "more4"]);
    let third = longer(&second, ["most1", "most2", "most3", "most4"]);
    each(|format, preset| {
        let mut policy = Policy::default();
        policy.preset = preset;
        policy.window = Some(size(format, &body(format, &first)) * 700 / 1_000);
        policy.reserve = Some(0);
        let archive = Arc::new(MemoryArchive::new());
        let liveset = Liveset::new(policy).with_format(wire(format)).with_model(MODEL).with_archive(archive);
        let mut session = liveset.session();
        let bodies = [&first, &second, &third].map(|steps| body(format, steps));
        let out = session.compact(&bodies[0]).unwrap_or_else(|error| panic!("{error}"));
        let before = seen(out.body());
        let late = TREES.iter().chain(&["p"]).find(|id| !before.result(id).contains("entry 39")).expect("one is cut");
        session.pin(*late);
        session.pin("more1");
        let out = session.compact(&bodies[1]).unwrap_or_else(|error| panic!("{error}"));
        let after = seen(out.body());
        let warning = out.report().warnings.iter().find(|warning| warning.code == "pinned_too_late");
        assert!(warning.is_some_and(|warning| warning.text.contains(&format!("`{late}`"))), "{format:?} {preset:?}");
        assert_eq!(after.result("more1"), prose("rowan", 60), "{format:?} {preset:?}");
        if before.ids().contains(late) {
            assert_eq!(after.result(late), before.result(late), "{format:?} {preset:?}: as it was sent");
        }
        let out = session.compact(&bodies[2]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(seen(out.body()).result("more1"), prose("rowan", 60), "{format:?} {preset:?}");
        assert_eq!(restored(&liveset, out.body()), bodies[2], "{format:?} {preset:?}");
    });
}

fn restored(liveset: &Liveset, output: &[u8]) -> Vec<u8> {
    liveset.restore(output).unwrap_or_else(|error| panic!("{error}"))
}
