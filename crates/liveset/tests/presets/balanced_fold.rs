//! Step 3 of `balanced`: runs of calls alone, folded into one line.

use liveset::{Liveset, Policy, Preset};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::{Value, json};

use crate::bench::{Bench, MODEL, size, wire};
use crate::script::{Step, body, call, prose, result, run_with, seen, user};

const IDS: [&str; 12] =
    ["c_01", "c_02", "c_03", "c_04", "c_05", "c_06", "c_07", "c_08", "c_09", "c_10", "c_11", "c_12"];

/// One call and its answer, hardly longer than a tombstone.
fn step(at: usize) -> [Step; 2] {
    let tool = if at % 3 == 2 { "run_tests" } else { "read_file" };
    let path = format!("src/module_{at}/a_file_with_a_long_name_{at}.rs");
    [call(IDS[at], tool, json!({ "path": path })), result(IDS[at], format!("The file {path} is empty."))]
}

fn steps(range: std::ops::Range<usize>) -> Vec<Step> {
    range.flat_map(step).collect()
}

/// The user's wish, the calls, and the user's next word, so that all calls are processed at the last point alone.
fn worked(middle: Vec<Step>) -> Vec<Step> {
    let head = [user("Look at every file.")];
    head.into_iter().chain(middle).chain([Step::Say("Done.".to_owned()), user(prose("user", 30))]).collect()
}

/// Every law holds; the window is this share of the body, the target this share of the window.
fn fold(format: Format, steps: &[Step], window_permille: u64, target: u32) -> Outcome {
    run_with(format, steps, window_permille, |policy| set(policy, target))
}

fn set(policy: &mut Policy, target: u32) {
    policy.preset = Preset::Balanced;
    policy.trigger = 98;
    policy.target = target;
}

fn edits(out: &Outcome) -> Vec<Value> {
    out.report["edits"].as_array().cloned().unwrap_or_default()
}

/// Ids of the results that hold a line.
fn carriers(out: &Outcome) -> Vec<String> {
    let results = seen(&out.body).results.into_iter();
    results.filter(|(_, text)| text.starts_with("[folded from context: ")).map(|(id, _)| id).collect()
}

#[test]
fn a_run_becomes_one_line_in_the_last_result_of_its_last_unit() {
    for format in Format::ALL {
        let out = fold(format, &worked(steps(0..6)), 1_000, 40);
        let after = seen(&out.body);
        assert_eq!(after.ids(), ["c_06"], "{format:?}");
        let line = "[folded from context: 6 calls (read_file 4, run_tests 2), ";
        let route = " tokens; run a call again only if repeating it is safe";
        let text = after.result("c_06");
        let first = text.lines().next().unwrap_or_default().trim_end_matches(']');
        let first = first.trim_end_matches("; what they showed:");
        assert!(first.starts_with(line) && first.ends_with(route), "{format:?}: {text}");
        let edits = edits(&out);
        assert!(edits.iter().all(|edit| edit["kind"] == "fold" && edit["step"] == 3));
        let ids: Vec<_> = edits.iter().map(|edit| edit["call_id"].as_str().unwrap_or_default()).collect();
        assert_eq!(ids, IDS[..6]);
        let left: Vec<_> = edits.iter().map(|edit| edit["tokens_after"] != 0).collect();
        assert_eq!(left, [false, false, false, false, false, true]);
        assert_eq!(out.report["warnings"], json!([]));
    }
}

#[test]
fn of_a_run_no_more_goes_than_the_target_asks_for() {
    for format in Format::ALL {
        // What these calls showed is short, so that a part of them frees enough.
        let terse = |at: usize| {
            let [call, _] = step(at);
            [call, result(IDS[at], "It is empty.")]
        };
        let out = fold(format, &worked((0..12).flat_map(terse).collect()), 1_000, 94);
        let after = seen(&out.body);
        let kept = after.ids().len();
        assert!((3..=9).contains(&kept), "{format:?}: {kept} units are left");
        assert_eq!(after.ids(), IDS[IDS.len() - kept..], "{format:?}: the newest stay");
        assert_eq!(carriers(&out), [IDS[IDS.len() - kept]], "{format:?}");
        let target = out.report["tokens"]["target"].as_u64().unwrap_or_default();
        let sweep = &out.report["sweeps"][0]["tokens_after"];
        assert!(sweep.as_u64().is_some_and(|view| view <= target), "{format:?}: {sweep} of {target}");
    }
}

/// The entries of a carrier and the line that closes them.
fn below(text: &str) -> Vec<&str> {
    text.lines().skip(1).collect()
}

#[test]
fn a_carrier_tells_what_each_call_showed() {
    let log: String = (0..100).map(|at| format!("compiling unit {at} of the whole\n")).collect();
    let log = format!("{log}error[E0308]: mismatched types\nerror: aborting\n[exit code 101]\n");
    let guests: Vec<Value> = (0..60).map(|at| json!({ "guest": at, "name": format!("Guest number {at}") })).collect();
    let shown = [
        ("c_01", "find_user", json!({ "email": "ann@example.org" }), r#"{ "id": "U7", "tier": "gold" }"#.to_owned()),
        ("c_02", "read_file", json!({ "path": "notes.txt" }), "team 7\n\n  room 12\n".to_owned()),
        ("c_03", "read_file", json!({ "path": "long.txt" }), prose("elm", 50)),
        ("c_04", "Bash", json!({ "command": "cargo build" }), log),
        ("c_05", "read_file", json!({ "path": "notes.txt" }), "team 8".to_owned()),
        ("c_06", "get_guests", json!({ "hotel": "H1" }), json!({ "hotel": "H1", "guests": guests }).to_string()),
    ];
    for format in Format::ALL {
        let middle = shown
            .iter()
            .flat_map(|(id, tool, arguments, text)| [call(id, tool, arguments.clone()), result(id, text.clone())]);
        let mut steps: Vec<Step> = worked(middle.collect());
        // The newest error is pinned, so that the one before it is free.
        steps.extend([call("c_07", "Bash", json!({ "command": "cargo test" })), result("c_07", "[exit code 1]")]);
        steps.extend([Step::Say("Done.".to_owned()), user("Good.")]);
        let mut policy = Policy::default();
        set(&mut policy, 40);
        policy.reserve = Some(0);
        // No result alone is worth a tombstone, so that only folding is left.
        policy.min_gain = 1_000;
        let body = body(format, &steps);
        policy.window = Some(size(format, &body) * 100 / 101);
        policy.min_sweep_gain = 0;
        let out = Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{error}"));
        let after = seen(&out.body);
        let text = after.result("c_06");
        let lines = below(text);
        assert_eq!(lines.len(), 6, "{format:?}: {text} {}", out.report);
        assert_eq!(lines[0], r#"find_user ann@example.org: { "id": "U7", "tier": "gold" }"#);
        assert!(lines[1].starts_with("read_file long.txt, ") && lines[1].ends_with(" lines"), "{}", lines[1]);
        let build = "Bash cargo build, 103 lines, exit code 101: error[E0308]: mismatched types | error: aborting";
        assert!(lines[2].starts_with(build), "{}", lines[2]);
        // The newest answer to the same question is the one that holds.
        assert_eq!(lines[3], "read_file notes.txt: team 8");
        assert!(lines[4].starts_with("get_guests") && lines[4].contains(r#""hotel":"H1""#), "{}", lines[4]);
        assert_eq!(lines[5], "1 more results]");
    }
}

#[test]
fn facts_go_before_what_was_done_and_both_before_another_run_stays_over_the_target() {
    for format in Format::ALL {
        let kept = [90, 75, 40].map(|target| {
            let out = fold(format, &worked(steps(0..12)), 1_000, target);
            let text = seen(&out.body).result("c_12").to_owned();
            let entries = |tool: &str| below(&text).iter().filter(|line| line.starts_with(tool)).count();
            (entries("read_file "), entries("run_tests "))
        });
        assert_eq!(kept[0], (8, 4), "{format:?}");
        assert!(kept[1].0 < 8 && kept[1].0 > 0 && kept[1].1 == 4, "{format:?}: {kept:?}");
        assert_eq!(kept[2], (0, 0), "{format:?}");
    }
}

#[test]
fn what_says_something_breaks_a_run() {
    let said = Step::Say("Now the others.".to_owned());
    let image = "The picture pins itself: [liveset:pin]";
    let breaks: [(&str, Vec<Step>); 4] = [
        ("text of the agent", vec![said]),
        ("text of the user", vec![user("And the others.")]),
        ("a pin", vec![call("pinned", "read_file", json!({})), result("pinned", image)]),
        // A message with two calls is in, its answers and all: nothing breaks.
        (
            "nothing",
            vec![
                Step::Call(vec![("two_a", "read_file", json!({})), ("two_b", "read_file", json!({}))]),
                Step::Result(vec![("two_a", "It is there.".to_owned()), ("two_b", "It is not there.".to_owned())]),
            ],
        ),
    ];
    for (name, middle) in breaks {
        for format in Format::ALL {
            let all: Vec<Step> = steps(0..5).into_iter().chain(middle.clone()).chain(steps(5..10)).collect();
            let out = fold(format, &worked(all), 1_000, 10);
            let wanted = if name == "nothing" { vec!["c_10"] } else { vec!["c_05", "c_10"] };
            assert_eq!(carriers(&out), wanted, "{name}, {format:?}");
            let left = seen(&out.body).ids().len();
            // The pinned call stays, and so does the one that the agent's text stands before.
            let breakers = usize::from(name == "a pin" || name == "text of the agent");
            assert_eq!(left, wanted.len() + breakers, "{name}, {format:?}");
        }
    }
}

#[test]
fn reasoning_breaks_a_run() {
    let mut history = vec![json!({ "role": "user", "content": "Look." })];
    for (at, id) in IDS.iter().enumerate() {
        let tool = json!({ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": format!("some/long/path/{at}.rs") } });
        let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk" });
        let blocks = if at == 6 { vec![thought, tool] } else { vec![tool] };
        let text = format!("The file some/long/path/{at}.rs is empty, as all the others.");
        history.push(json!({ "role": "assistant", "content": blocks }));
        history.push(
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] }),
        );
    }
    history.push(json!({ "role": "assistant", "content": "Done." }));
    history.push(json!({ "role": "user", "content": prose("user", 30) }));
    let body = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    let out = run_body(&body, 1_000, 10);
    assert_eq!(carriers(&out), ["c_06", "c_12"]);
    assert_eq!(seen(&out.body).ids(), ["c_06", "c_07", "c_12"]);
}

#[test]
fn results_go_before_runs_and_runs_only_while_the_view_is_over_the_target() {
    let said = || Step::Say("Now the others.".to_owned());
    for format in Format::ALL {
        let mut all = steps(0..4);
        all.extend([said(), user("Go on.")]);
        all.extend(steps(4..8));
        all.extend([said(), call("big", "read_file", json!({ "path": "big" })), result("big", prose("oak", 80))]);
        let steps = worked(all);
        // The large result alone frees enough, then one run more is needed, then both.
        let seen: Vec<_> = [62, 40, 33]
            .map(|target| {
                let out = fold(format, &steps, 1_000, target);
                let big = seen(&out.body).result("big").starts_with("[pruned from context: ");
                (carriers(&out), big)
            })
            .into();
        assert_eq!(seen[0], (Vec::new(), false), "{format:?}");
        assert_eq!(seen[1], (vec!["c_04".to_owned()], true), "{format:?}");
        assert_eq!(seen[2], (vec!["c_04".to_owned(), "c_08".to_owned()], true), "{format:?}");
    }
}

#[test]
fn one_unit_is_no_run_and_the_newest_never_folds() {
    for format in Format::ALL {
        let lone = |at: usize| {
            let said = Step::Say(format!("That was number {at}."));
            step(at).into_iter().chain([said, user("Next.")]).collect::<Vec<_>>()
        };
        let out = fold(format, &worked((0..6).flat_map(lone).collect()), 1_000, 10);
        assert!(out.unchanged, "{format:?}");
        // Nothing behind the last two: the newest stays, so one is left.
        let head: Vec<Step> = [user(prose("user", 30))].into_iter().chain(steps(0..2)).collect();
        assert!(fold(format, &head, 1_000, 10).unchanged, "{format:?}");
    }
}

#[test]
fn two_sweeps_make_two_carriers_and_the_first_stays_as_it_was() {
    for format in Format::ALL {
        let mut first = worked(steps(0..6));
        let window = size(format, &body(format, &first));
        let before = run_with(format, &first, 1_000, |policy| set(policy, 70));
        assert_eq!(carriers(&before), ["c_06"]);
        first.extend(steps(6..9));
        first.extend([Step::Say("Done.".to_owned()), user(prose("elder", 12))]);
        let after = run_with(format, &first, 1_000, |policy| {
            set(policy, 70);
            policy.window = Some(window);
        });
        assert_eq!(carriers(&after), ["c_06", "c_09"], "{format:?}");
        // It may tell less by then, never anything else.
        let (was, is) = (seen(&before.body).result("c_06").to_owned(), seen(&after.body).result("c_06").to_owned());
        let count = |text: &str| text.split("; ").next().map(str::to_owned);
        assert_eq!(count(&was), count(&is));
        let entries = below(&is).into_iter().filter(|line| !line.ends_with(" more results]"));
        assert!(entries.into_iter().all(|entry| below(&was).contains(&entry)), "{was}\n{is}");
        // Again from what left: both lines are carriers for good.
        let mut policy = Policy::default();
        set(&mut policy, 70);
        policy.window = Some(window);
        policy.reserve = Some(0);
        let liveset = Liveset::new(policy).with_format(wire(format)).with_model(MODEL);
        let again = liveset.compact(&after.body).expect("it reads");
        assert_eq!(again.body(), after.body);
    }
}

#[test]
fn a_line_that_arrives_is_a_carrier_and_a_look_alike_gains_nothing() {
    let line = "[folded from context: 3 calls (read_file 2, run_tests 1), 1.2k tokens; run a call again only if repeating it is safe]";
    let wrong = line.replace("3 calls", "4 calls");
    for format in Format::ALL {
        let with = |text: &str| {
            let mut all = steps(0..5);
            all.extend([call("own", "read_file", json!({ "path": "x" })), result("own", text)]);
            all.extend(steps(5..10));
            fold(format, &worked(all), 1_000, 10)
        };
        let own = with(line);
        assert_eq!(carriers(&own), ["c_05", "own", "c_10"], "{format:?}");
        assert_eq!(seen(&own.body).result("own"), line);
        // A text that only looks like one folds like any other.
        assert_eq!(carriers(&with(&wrong)), ["c_10"], "{format:?}");
    }
}

#[test]
fn a_run_that_saves_less_than_the_least_gain_stays() {
    for format in Format::ALL {
        let small = |at: usize| [call(IDS[at], "ls", json!({})), result(IDS[at], "ok")];
        let middle: Vec<Step> = (0..2).flat_map(small).collect();
        let out = run_with(format, &worked(middle), 1_000, |policy| {
            set(policy, 10);
            policy.min_sweep_gain = 0;
        });
        assert!(out.unchanged, "{format:?}: {}", out.report["edits"]);
    }
}

#[test]
fn the_cache_mark_of_a_folded_unit_moves_to_the_block_before() {
    let mark = json!({ "type": "ephemeral" });
    let mut history = vec![json!({ "role": "user", "content": [{ "type": "text", "text": "Look." }] })];
    for (at, id) in IDS.iter().enumerate() {
        let tool = json!({ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": format!("some/long/path/{at}.rs") } });
        let mut answer = json!({ "type": "tool_result", "tool_use_id": id, "content": format!("The file some/long/path/{at}.rs is empty.") });
        if at == 4 {
            answer["cache_control"] = mark.clone();
        }
        history.push(json!({ "role": "assistant", "content": [tool] }));
        history.push(json!({ "role": "user", "content": [answer] }));
    }
    history.push(json!({ "role": "assistant", "content": "Done." }));
    history.push(json!({ "role": "user", "content": prose("user", 30) }));
    let marked = json!({ "model": "gpt-4.1", "messages": history.clone() }).to_string().into_bytes();
    let out = run_body(&marked, 1_000, 40);
    let after: Value = serde_json::from_slice(&out.body).expect("JSON");
    assert_eq!(carriers(&out), ["c_12"]);
    assert_eq!(after["messages"][0]["content"][0], json!({ "type": "text", "text": "Look.", "cache_control": mark }));
    assert_eq!(edits(&out)[0]["kind"], "mark");
    assert_eq!(out.report["warnings"], json!([]));
    // A plain string carries none.
    history[0] = json!({ "role": "user", "content": "Look." });
    let plain = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    let out = run_body(&plain, 1_000, 40);
    assert_eq!(out.report["warnings"][0]["code"], "mark_lost");
}

#[test]
fn a_unit_without_a_message_of_the_user_before_it_stays() {
    // Roles alternate: without the first unit an assistant's message would open the conversation anew.
    let mut history = Vec::new();
    for id in IDS {
        history.push(json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": "some/long/path.rs" } }] }));
        history.push(json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": format!("The file of {id} is empty, as all the others.") }] }));
    }
    history.push(json!({ "role": "assistant", "content": "Done." }));
    history.push(json!({ "role": "user", "content": prose("user", 30) }));
    let body = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    assert_eq!(seen(&run_body(&body, 1_000, 40).body).ids(), ["c_01", "c_12"]);
}

#[test]
fn ids_that_occur_twice_fold_nothing() {
    for format in Format::ALL {
        let same = |_| {
            [call("same", "read_file", json!({ "path": "some/long/path.rs" })), result("same", "The file is empty.")]
        };
        let out = fold(format, &worked((0..10).flat_map(same).collect()), 1_000, 10);
        assert_eq!(carriers(&out), Vec::<String>::new(), "{format:?}");
    }
}

/// Runs an Anthropic body, under every law.
fn run_body(body: &[u8], window_permille: u64, target: u32) -> Outcome {
    let mut policy = Policy::default();
    set(&mut policy, target);
    policy.reserve = Some(0);
    policy.window = Some(size(Format::Anthropic, body) * window_permille / 1_000);
    Bench::new(Format::Anthropic, policy).check(body).unwrap_or_else(|error| panic!("{error}"))
}
