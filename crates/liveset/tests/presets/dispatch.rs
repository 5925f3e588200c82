//! The preset `dispatch`, step by step: intake, then trimming in the older part, then history.

use liveset::{DispatchOrder, Policy, Preset};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::{Value, json};

use crate::script::{Step, call, prose, result, run, run_with, seen, user};

const PARTS: [(&str, &str); 8] = [
    ("p_1", "frame"),
    ("p_2", "wheel"),
    ("p_3", "brake"),
    ("p_4", "light"),
    ("p_5", "chain"),
    ("p_6", "saddle"),
    ("p_7", "pedal"),
    ("p_8", "bell"),
];

/// A command, a file that is written, and small calls one behind the other; then the agent speaks and goes on.
fn worked() -> Vec<Step> {
    let mut steps = vec![
        user("Build it."),
        call("old", "Bash", json!({ "command": "cargo build" })),
        result("old", prose("cedar", 60)),
        Step::Say("It builds.".to_owned()),
        user("Write the guide and look at the parts."),
        call("write", "Write", json!({ "file_path": "docs/guide.md", "content": prose("guide", 40) })),
        result("write", "File created."),
        Step::Say("Written.".to_owned()),
        user("Now the parts."),
    ];
    for (id, part) in PARTS {
        steps.push(call(id, "find_part", json!({ "name": part })));
        steps.push(result(id, format!("{part}: in stock, shelf 7")));
    }
    steps.push(Step::Say("All parts are there.".to_owned()));
    steps.push(user(prose("user", 40)));
    steps
}

fn dispatch(format: Format, steps: &[Step], window_permille: u64, set: impl FnOnce(&mut Policy)) -> Outcome {
    run_with(format, steps, window_permille, |policy| {
        policy.preset = Preset::Dispatch;
        // Results are small enough for intake, so that what a sweep does is all there is.
        policy.intake.max_chars = Some(9_000);
        set(policy);
    })
}

/// Steps and kinds of all edits, in order.
fn edits(out: &Outcome) -> Vec<(Value, String, String)> {
    let edits = out.report["edits"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    edits.iter().map(|edit| (edit["step"].clone(), text(&edit["kind"]), text(&edit["call_id"]))).collect()
}

/// What stands in the result that carries a folded run.
fn carrier(out: &Outcome) -> String {
    let results = seen(&out.body).results;
    let carrier = results.into_iter().find(|(_, text)| text.starts_with("[folded from context: "));
    carrier.map(|(_, text)| text).unwrap_or_default()
}

#[test]
fn a_result_is_shaped_to_two_thousand_characters_when_it_is_first_seen() {
    let long: String = (1..=300).map(|at| format!("row {at} of the list\n")).collect();
    for format in Format::ALL {
        let steps = [user("List."), call("c", "Bash", json!({ "command": "cat list" })), result("c", long.clone())];
        let out = run(format, &steps, Preset::Dispatch, 5_000);
        let text = seen(&out.body).result("c").to_owned();
        assert!(text.chars().count() <= 2_000 && text.chars().count() > 1_500, "{format:?}: {}", text.len());
        assert!(text.starts_with("row 1 of") && text.contains("of 300 left out"), "{format:?}: {text}");
        assert_eq!(edits(&out), [(Value::Null, "shorten".to_owned(), "c".to_owned())]);
        // Under any other preset it stays.
        assert!(run(format, &steps, Preset::Balanced, 5_000).unchanged);
    }
}

#[test]
fn tool_messages_of_the_older_part_go_first_oldest_first_and_no_more_than_the_target_asks_for() {
    for format in Format::ALL {
        // The command's result alone is enough, then the written file is needed too, then the runs.
        let seen: Vec<Vec<(Value, String, String)>> = [80, 55, 36]
            .map(|target| {
                edits(&dispatch(format, &worked(), 1_050, |policy| {
                    policy.target = target;
                    policy.dispatch.share = 90;
                }))
            })
            .into();
        let edit = |step: u8, kind: &str, id: &str| (json!(step), kind.to_owned(), id.to_owned());
        let result = edit(1, "tombstone", "old");
        assert_eq!(seen[0], std::slice::from_ref(&result), "{format:?}");
        assert_eq!(seen[1], [result.clone(), edit(1, "rule", "write")], "{format:?}");
        let fold = |id: &str| edit(3, "fold", id);
        assert_eq!(seen[2][..2], [result, edit(1, "rule", "write")], "{format:?}");
        let folds = seen[2].get(2..).unwrap_or_default();
        assert!(folds.len() > 2, "{format:?}: {folds:?}");
        assert_eq!(folds, &PARTS.map(|(id, _)| fold(id))[..folds.len()], "{format:?}");
    }
}

#[test]
fn history_first_folds_before_anything_is_trimmed() {
    for format in Format::ALL {
        let out = dispatch(format, &worked(), 1_000, |policy| {
            policy.trigger = 98;
            policy.target = 97;
            policy.min_sweep_gain = 1;
            policy.dispatch.order = DispatchOrder::HistoryFirst;
        });
        let kinds: Vec<String> = edits(&out).into_iter().map(|(_, kind, _)| kind).collect();
        assert!(kinds.iter().any(|kind| kind == "fold"), "{format:?}: {kinds:?}");
        let text = carrier(&out);
        assert!(text.contains("\nfind_part light: light: in stock, shelf 7\n"), "{format:?}: {text}");
        assert!(seen(&out.body).tombstones().is_empty());
    }
}

#[test]
fn what_is_newer_than_the_part_stays_whatever_it_holds() {
    let steps = |share: u32| {
        let mut steps = vec![user(prose("task", 60))];
        for id in ["c_1", "c_2", "c_3", "c_4"] {
            steps.extend([call(id, "Bash", json!({ "command": format!("run {id}") })), result(id, prose(id, 20))]);
            steps.push(Step::Say(format!("That was {id}.")));
            steps.push(user("Go on."));
        }
        (share, steps)
    };
    for format in Format::ALL {
        let gone = |(share, steps): (u32, Vec<Step>)| {
            let out = dispatch(format, &steps, 1_050, |policy| {
                policy.target = 10;
                policy.dispatch.share = share;
            });
            seen(&out.body).tombstones().into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let (few, all) = (gone(steps(70)), gone(steps(100)));
        assert!(!few.is_empty() && few.len() < all.len(), "{format:?}: {few:?} {all:?}");
        assert_eq!(few, ["c_1", "c_2", "c_3", "c_4"][..few.len()], "{format:?}");
    }
}

#[test]
fn a_sweep_is_due_before_the_reply_lacks_its_room() {
    for format in Format::ALL {
        // Most models keep a seventh or an eighth of the window for the reply.
        for part in [4, 8, 20] {
            let out = run_with(format, &worked(), 1_000, |policy| {
                policy.preset = Preset::Dispatch;
                policy.intake.max_chars = Some(9_000);
                // The body takes 95 of 100 parts of the room.
                let room = policy.window.unwrap_or_default() * 100 / 95;
                let window = room * part / (part - 1);
                (policy.window, policy.reserve) = (Some(window), Some(window - room));
            });
            let tokens = |name: &str| out.report["tokens"][name].as_u64().unwrap_or_default();
            let reserve = tokens("window") / part;
            let room = tokens("window") - reserve;
            assert!(tokens("trigger").abs_diff(room * 92 / 100) <= 2, "{format:?}: {}", out.report["tokens"]);
            assert!(tokens("target").abs_diff(room * 60 / 100) <= 2, "{format:?}: {}", out.report["tokens"]);
            assert!(tokens("before") <= room && !out.unchanged, "{format:?}: nothing forced the sweep");
        }
    }
}

#[test]
fn the_line_of_history_names_where_the_rest_of_it_is() {
    for format in Format::ALL {
        let out = dispatch(format, &worked(), 1_050, |policy| {
            policy.target = 36;
            policy.recall_route = "spill:context".parse().expect("a route");
        });
        let text = carrier(&out);
        assert!(text.contains("; search context to find a result"), "{format:?}: {text}");
    }
}
