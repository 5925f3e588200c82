//! What becomes of the answers to recalls? Whole while they are new, later a tombstone with the id that was asked for.

use liveset::{Policy, Preset};
use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::script::{Step, body, call, prose, result, run_with, seen, user};

const ID: &str = "0123456789abcdef0123456789abcdef";

/// Every way to ask for an original: tool and arguments, and what the tombstone of the answer names.
fn asks() -> [(&'static str, Value, String); 5] {
    [
        ("recall", json!({ "id": ID }), format!("recall {ID}")),
        ("recall", json!({ "handle": "h-0001" }), "recall h-0001".to_owned()),
        ("mcp__liveset__recall", json!({ "id": ID }), format!("mcp__liveset__recall {ID}")),
        ("mcp__other__recall", json!({ "id": ID }), format!("mcp__other__recall {ID}")),
        ("Bash", json!({ "command": format!("cd x && liveset recall {ID}") }), format!("Bash liveset recall {ID}")),
    ]
}

/// A long search, the recall, and `behind` short units.
fn recalled(tool: &'static str, arguments: Value, behind: usize) -> Vec<Step> {
    const SHORT: [&str; 4] = ["s_1", "s_2", "s_3", "s_4"];
    let mut steps = vec![user("Find it.")];
    steps.extend([call("old", "search_web", json!({ "query": "alder" })), result("old", prose("alder", 60))]);
    steps.extend([Step::Say("There is more.".to_owned()), user("Get it.")]);
    steps.extend([call("asked", tool, arguments), result("asked", prose("birch", 60))]);
    for id in SHORT.into_iter().take(behind) {
        steps.extend([Step::Say(format!("Next {id}.")), user("Go on.")]);
    }
    steps
}

fn set(policy: &mut Policy, preset: Preset, route: &str) {
    policy.preset = preset;
    policy.recall_route = route.parse().expect("a route");
    policy.min_sweep_gain = 0;
    policy.target = 30;
}

#[test]
fn it_stays_whole_while_it_is_among_the_newest_three_units() {
    for (tool, arguments, _) in asks() {
        for format in Format::ALL {
            for preset in Preset::ALL {
                for behind in 0..3 {
                    let steps = recalled(tool, arguments.clone(), behind);
                    let out = run_with(format, &steps, 950, |policy| set(policy, preset, "mcp"));
                    let (old, new) = (seen(&body(format, &steps)), seen(&out.body));
                    assert_eq!(old.result("asked"), new.result("asked"), "{tool} {format:?} {preset:?} {behind}");
                    let goes = preset == Preset::Balanced || (preset == Preset::Liveness && behind > 1);
                    assert!(!goes || old.result("old") != new.result("old"), "{tool} {format:?} {preset:?} {behind}");
                }
            }
        }
    }
}

#[test]
fn behind_them_it_goes_whole_and_keeps_the_id_it_asked_for() {
    for (tool, arguments, named) in asks() {
        for format in Format::ALL {
            for route in ["none", "mcp", "shell", "spill:out"] {
                let mut steps = recalled(tool, arguments.clone(), 3);
                // The last word alone brings the view over the trigger.
                steps.extend([Step::Say("Well.".to_owned()), user(prose("user", 200))]);
                let out = run_with(format, &steps, 950, |policy| set(policy, Preset::Balanced, route));
                let text = seen(&out.body).result("asked").to_owned();
                let start = format!("[pruned from context: {named}, 60 lines, ");
                assert!(text.starts_with(&start), "{tool} {format:?} {route}: {text}");
                assert!(text.ends_with(" tokens; run the call again to see it]"), "{tool} {format:?} {route}: {text}");
            }
        }
    }
}

#[test]
fn one_that_is_over_every_limit_of_size_is_not_cut_in_part() {
    for format in Format::ALL {
        let steps = [
            user("Find it."),
            call("asked", "recall", json!({ "id": ID })),
            result("asked", prose("alder", 2_000)),
            call("other", "search_web", json!({ "query": "birch" })),
            result("other", prose("birch", 2_000)),
        ];
        let out = run_with(format, &steps, 1_500, |policy| set(policy, Preset::Balanced, "none"));
        let (old, new) = (seen(&body(format, &steps)), seen(&out.body));
        assert!(old.result("asked").len() > 100_000);
        assert_eq!(old.result("asked"), new.result("asked"), "{format:?}");
        assert_ne!(old.result("other"), new.result("other"), "{format:?}: intake cuts what nobody recalled");
    }
}

#[test]
fn one_that_is_larger_than_the_window_goes_whole_rather_than_hold_the_body_up() {
    for (tool, arguments, named) in asks() {
        for format in Format::ALL {
            for (preset, behind) in
                Preset::ALL.into_iter().flat_map(|preset| (0..3).map(move |behind| (preset, behind)))
            {
                let steps = recalled(tool, arguments.clone(), behind);
                let out = run_with(format, &steps, 350, |policy| set(policy, preset, "mcp"));
                let text = seen(&out.body).result("asked").to_owned();
                let goes = text.starts_with(&format!("[pruned from context: {named}, 60 "));
                assert!(!out.cannot_fit && goes, "{preset:?} {format:?} {behind}: {text}");
                let edits = out.report["edits"].as_array().expect("edits").iter();
                let steps: Vec<_> = edits.filter(|edit| edit["call_id"] == "asked").map(|edit| &edit["step"]).collect();
                assert_eq!(steps, [5], "{preset:?} {format:?} {behind}");
            }
        }
    }
}

#[test]
fn what_it_tells_of_some_old_run_is_no_new_failure() {
    for format in Format::ALL {
        let failed = |seed: &str| format!("{}error: no\n[exit code 2]\n", prose(seed, 60));
        let mut steps = vec![
            user("Mend it."),
            call("ran", "Bash", json!({ "command": "cargo test" })),
            result("ran", failed("alder")),
            call("asked", "Bash", json!({ "command": format!("liveset recall {ID}") })),
            result("asked", failed("birch")),
        ];
        for at in 0..4 {
            steps.extend([Step::Say(format!("Next {at}.")), user(prose("user", 10))]);
        }
        let out = run_with(format, &steps, 900, |policy| set(policy, Preset::Balanced, "shell"));
        let (old, new) = (seen(&body(format, &steps)), seen(&out.body));
        assert_eq!(new.result("ran"), old.result("ran"), "the newest failure stays");
        assert!(new.result("asked").starts_with("[pruned from context: Bash liveset recall "), "{format:?}");
    }
}

#[test]
fn a_spilled_file_that_is_read_is_a_recall_too() {
    // No label has room for it.
    let far = format!("/home/me{}", "/a-folder-of-some-length".repeat(5));
    for format in Format::ALL {
        for (route, is_own) in [("spill:out", true), ("spill:other", false), ("mcp", false)] {
            for (tool, arguments) in [
                ("Read", json!({ "file_path": format!("/home/me/out/{ID}.txt") })),
                ("Bash", json!({ "command": format!("head -80 out/{ID}.txt") })),
                ("Read", json!({ "file_path": format!("{far}/out/{ID}.txt") })),
                ("Read", json!({ "file_path": format!("/home/me/a folder/of mine/out/{ID}.txt") })),
                ("Bash", json!({ "command": format!("head -80 '{far}/out/{ID}.txt'") })),
                ("Bash", json!({ "command": format!("grep -n -i -w -C 2 -e a -e b \"out/{ID}.txt\"") })),
            ] {
                let mut steps = recalled(tool, arguments, 3);
                steps.extend([Step::Say("Well.".to_owned()), user(prose("user", 200))]);
                let out = run_with(format, &steps, 950, |policy| set(policy, Preset::Balanced, route));
                let text = seen(&out.body).result("asked").to_owned();
                assert!(text.starts_with("[pruned from context: "), "{format:?}: {text}");
                assert!(!is_own || text.contains(ID), "{format:?}: {text}");
                assert_eq!(text.ends_with("; run the call again to see it]"), is_own, "{route}, {tool}: {text}");
            }
        }
    }
}

#[test]
fn a_tool_of_others_that_is_called_recall_is_none() {
    for format in Format::ALL {
        let steps = recalled("recall", json!({ "query": "the port" }), 1);
        let out = run_with(format, &steps, 400, |policy| set(policy, Preset::Balanced, "none"));
        let text = seen(&out.body).result("asked").to_owned();
        assert!(text != prose("birch", 60) && text.contains("only if repeating it is safe"), "{format:?}: {text}");
    }
}
