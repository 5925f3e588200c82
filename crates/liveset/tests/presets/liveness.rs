//! The preset `liveness`.

use liveset::{Policy, Preset};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::json;

use crate::bench::{Bench, size};
use crate::script::{Step, body, call, prose, result, run, run_with, seen, user};

/// Words that no other text of these tests holds.
const RUN: &str = "the frobnicator drops every third packet when its ledger is full of old marks";

const IDS: [&str; 8] = ["call_10", "call_11", "call_12", "call_13", "call_14", "call_15", "call_16", "call_17"];

/// Calls and results, one after the other, with what the agent says behind them; at last a long word of the user's, so
/// that only the last request is over the trigger.
fn worked(results: &[String], said: &str, user_lines: usize) -> Vec<Step> {
    let mut steps = vec![user("Find the fault.")];
    for (id, text) in IDS.into_iter().zip(results) {
        steps.push(call(id, "grep", json!({ "pattern": "fault" })));
        steps.push(result(id, text.clone()));
    }
    steps.push(Step::Say(said.to_owned()));
    steps.push(user(prose("user", user_lines)));
    steps
}

fn results(count: usize) -> Vec<String> {
    ["alder", "birch", "cedar", "elder", "fir", "hazel", "larch", "maple"]
        .into_iter()
        .take(count)
        .map(|tree| prose(tree, 40))
        .collect()
}

fn tombstones(format: Format, steps: &[Step]) -> Vec<String> {
    let out = run(format, steps, Preset::Liveness, 1_000);
    assert!(!out.cannot_fit, "{format:?}");
    seen(&out.body).tombstones().into_iter().map(str::to_owned).collect()
}

#[test]
fn what_nothing_points_at_becomes_a_tombstone_and_the_newest_three_stay() {
    for format in Format::ALL {
        let out = run(format, &worked(&results(6), "I see.", 60), Preset::Liveness, 1_000);
        let seen = seen(&out.body);
        assert_eq!(seen.tombstones(), ["call_10", "call_11", "call_12"], "{format:?}");
        let calls = seen.calls.iter().map(|(_, arguments)| arguments);
        assert!(seen.calls.len() == 6 && calls.into_iter().all(|call| *call == json!({ "pattern": "fault" })));
        let edit = &out.report["edits"][0];
        assert_eq!((&edit["kind"], &edit["step"]), (&json!("tombstone"), &json!(1)));
        assert_eq!(edit["reason"], "no later message names, quotes or paraphrases it");
    }
}

#[test]
fn a_result_that_is_named_is_live() {
    for format in Format::ALL {
        let steps = worked(&results(6), "As call_11 shows, and not call_101.", 60);
        assert_eq!(tombstones(format, &steps), ["call_10", "call_12"], "{format:?}");
    }
}

#[test]
fn a_result_that_is_quoted_is_live() {
    for format in Format::ALL {
        let mut results = results(6);
        results[0].push_str(RUN);
        let said = format!("It is clear: {RUN}.");
        assert_eq!(tombstones(format, &worked(&results, &said, 60)), ["call_11", "call_12"], "{format:?}");
        // Seven words of it are no distinctive run.
        let said = "It is clear: the frobnicator drops every third packet when.";
        assert_eq!(tombstones(format, &worked(&results, said, 60)), ["call_10", "call_11", "call_12"]);
    }
}

#[test]
fn a_run_that_many_results_hold_or_the_user_gave_is_no_quote() {
    for format in Format::ALL {
        let said = format!("It is clear: {RUN}.");
        let mut shared = results(6);
        shared.iter_mut().take(4).for_each(|text| text.push_str(RUN));
        assert_eq!(tombstones(format, &worked(&shared, &said, 60)), ["call_10", "call_11", "call_12"]);
        let mut given = results(6);
        given[0].push_str(RUN);
        let mut steps = worked(&given, &said, 60);
        steps[0] = user(format!("You told me that {RUN}; look again."));
        assert_eq!(tombstones(format, &steps), ["call_10", "call_11", "call_12"]);
    }
}

#[test]
fn what_was_said_before_a_result_does_not_quote_it() {
    for format in Format::ALL {
        let mut results = results(6);
        results[2].push_str(RUN);
        let mut steps = worked(&results, "I see.", 60);
        steps.splice(1..1, [Step::Say(format!("I think that {RUN}.")), user("Then look.")]);
        assert_eq!(tombstones(format, &steps), ["call_10", "call_11", "call_12"]);
    }
}

#[test]
fn a_result_that_is_paraphrased_is_live() {
    let facts = "src/pool/limits.rs: parse_header fails with E0308 at offset 48213\n";
    for format in Format::ALL {
        let mut results = results(6);
        results[1].push_str(facts);
        let said = "So parse_header is wrong, E0308, near 48213.";
        assert_eq!(tombstones(format, &worked(&results, said, 60)), ["call_10", "call_12"], "{format:?}");
        // Two shared terms may be chance, and plain words are no evidence.
        let said = "So parse_header is wrong near 48213: it fails at an offset, as the report says of everything.";
        assert_eq!(tombstones(format, &worked(&results, said, 60)), ["call_10", "call_11", "call_12"]);
        // What all results hold tells of none.
        let shared: Vec<_> = results.iter().map(|text| format!("{text}{facts}")).collect();
        let said = "So parse_header is wrong, E0308, near 48213.";
        assert_eq!(tombstones(format, &worked(&shared, said, 60)), ["call_10", "call_11", "call_12"]);
    }
}

#[test]
fn a_pin_is_live() {
    for format in Format::ALL {
        let out = run_with(format, &worked(&results(6), "I see.", 60), 1_000, |policy| {
            policy.preset = Preset::Liveness;
            policy.pins = vec!["call_10".to_owned()];
        });
        assert_eq!(seen(&out.body).tombstones(), ["call_11", "call_12"], "{format:?}");
    }
}

#[test]
fn still_over_the_trigger_fewer_of_the_newest_stay() {
    // The user's text grows: three, two, one and none of the newest fit beside it.
    for (permille, kept) in [(700, 3), (530, 2), (420, 1), (265, 0)] {
        for format in Format::ALL {
            let out = run(format, &worked(&results(6), "I see.", 10), Preset::Liveness, permille);
            let gone = seen(&out.body).tombstones().len();
            assert_eq!((gone, out.cannot_fit), (6 - kept, false), "{format:?} at {permille}");
            let last = out.report["edits"].as_array().and_then(|edits| edits.last()).cloned().unwrap_or_default();
            assert_eq!(last["step"], if kept == 3 { json!(1) } else { json!(2) });
        }
    }
}

#[test]
fn then_the_oldest_whole_batches_go() {
    for format in Format::ALL {
        let mut results = results(6);
        // Named, so that they stay while others go.
        let said = "See call_10, call_11, call_12, call_13, call_14 and call_15.";
        results[5] = "short".to_owned();
        let steps = worked(&results, said, 60);
        let out = run(format, &steps, Preset::Liveness, 900);
        let after = seen(&out.body);
        assert!(!out.cannot_fit);
        assert_eq!(after.ids(), ["call_12", "call_13", "call_14", "call_15"], "{format:?}");
        assert_eq!(after.tombstones(), Vec::<&str>::new());
        let edits = out.report["edits"].as_array().cloned().unwrap_or_default();
        assert_eq!(edits.len(), 2);
        for (edit, id) in edits.iter().zip(["call_10", "call_11"]) {
            assert_eq!((&edit["kind"], &edit["step"], &edit["call_id"]), (&json!("drop"), &json!(3), &json!(id)));
            assert_eq!(edit["tokens_after"], 0);
        }
        assert_eq!(after.results[0].1, results[2]);
    }
}

#[test]
fn a_batch_goes_with_all_its_calls_and_a_pinned_one_stays() {
    for format in Format::ALL {
        let batch = Step::Call(vec![
            ("call_a", "grep", json!({ "pattern": "a" })),
            ("call_b", "grep", json!({ "pattern": "b" })),
        ]);
        let answers = Step::Result(vec![("call_a", prose("oak", 40)), ("call_b", prose("yew", 40))]);
        let mut steps = worked(&results(3), "See call_a, call_b, call_10, call_11 and call_12.", 50);
        steps.splice(1..1, [batch, answers]);
        let gone = seen(&run(format, &steps, Preset::Liveness, 920).body);
        assert_eq!(gone.ids(), ["call_10", "call_11", "call_12"], "{format:?}");
        let pinned = run_with(format, &steps, 920, |policy| {
            policy.preset = Preset::Liveness;
            policy.pins = vec!["call_b".to_owned()];
        });
        assert_eq!(seen(&pinned.body).ids(), ["call_a", "call_b", "call_12"], "{format:?}");
    }
}

#[test]
fn an_unchanged_that_goes_with_its_batch_pins_nothing_any_more() {
    for format in Format::ALL {
        let read = |id| call(id, "read_file", json!({ "path": "a.rs" }));
        let mut steps = worked(&results(3), "See call_a, call_b, call_10, call_11 and call_12.", 20);
        let stub = result("call_b", "File unchanged since last read. ".repeat(4));
        steps.splice(1..1, [read("call_a"), result("call_a", prose("oak", 60)), read("call_b"), stub]);
        let ids = |share| seen(&run(format, &steps, Preset::Liveness, share).body).ids().join(" ");
        assert_eq!(ids(400), "call_a call_10 call_11 call_12", "{format:?}: the one that it leaned on stays");
        assert_eq!(ids(300), "", "{format:?}: until there is no room for it either");
    }
}

#[test]
fn a_tombstone_does_not_revive() {
    for format in Format::ALL {
        let mut steps = worked(&results(6), "I see.", 60);
        let policy = |policy: &mut Policy| policy.preset = Preset::Liveness;
        let window = 1_000;
        let before = run_with(format, &steps, window, policy);
        assert_eq!(seen(&before.body).tombstones(), ["call_10", "call_11", "call_12"]);
        steps.push(Step::Say("Back to call_10.".to_owned()));
        steps.push(user("Go on."));
        let after = run_with(format, &steps, window, policy);
        assert_eq!(seen(&after.body).tombstones(), ["call_10", "call_11", "call_12"], "{format:?}");
    }
}

#[test]
fn below_the_threshold_nothing_happens() {
    for format in Format::ALL {
        let steps = worked(&results(6), "I see.", 60);
        let out = run(format, &steps, Preset::Liveness, 1_200);
        assert!(out.unchanged && out.body == body(format, &steps));
    }
}

#[test]
fn what_cannot_be_dropped_cannot_fit() {
    for format in Format::ALL {
        let out = run(format, &worked(&results(2), "I see.", 200), Preset::Liveness, 300);
        assert!(out.cannot_fit, "the user's text alone is over the window");
    }
}

#[test]
fn signed_thoughts_of_the_turn_that_goes_on_stay() {
    // One turn: the model's thoughts before each call must come back, so no batch may go.
    let step = |id: &str, tree: &str| {
        [
            json!({ "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk" },
                { "type": "tool_use", "id": id, "name": "grep", "input": { "pattern": tree } },
            ] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": prose(tree, 40) }] }),
        ]
    };
    let turn = |user: &str| {
        let mut history = vec![json!({ "role": "user", "content": "Look." })];
        history.extend(
            ["call_10", "call_11", "call_12"].iter().zip(["oak", "yew", "fir"]).flat_map(|(id, tree)| step(id, tree)),
        );
        history.push(json!({ "role": "assistant", "content": "See call_10, call_11 and call_12." }));
        if !user.is_empty() {
            history.push(json!({ "role": "user", "content": user }));
            history.extend(step("call_13", "elm"));
            history.push(json!({ "role": "assistant", "content": "See call_13." }));
            history.push(json!({ "role": "user", "content": "Go on." }));
        } else {
            history.extend(step("call_13", "elm"));
        }
        json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes()
    };
    let ids = |body: &[u8]| {
        let out = run_body(body, 700);
        seen(&out.body).ids().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(ids(&turn("")), ["call_10", "call_11", "call_12", "call_13"]);
    assert_eq!(ids(&turn("Next.")), ["call_12", "call_13"]);
}

#[test]
fn the_cache_mark_of_a_dropped_batch_moves_to_the_block_before() {
    let block = |id: &str, tree: &str| {
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": prose(tree, 40), "cache_control": { "type": "ephemeral", "ttl": "1h" } }
        ] })
    };
    let ask = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "grep", "input": {} }] });
    let history = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Look." }, { "type": "text", "text": " " }] },
        ask("call_10"), block("call_10", "oak"),
        ask("call_11"), block("call_11", "yew"),
        { "role": "assistant", "content": "See call_10 and call_11." },
        { "role": "user", "content": prose("user", 40) },
    ]);
    let body = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    let out = run_body(&body, 770);
    assert_eq!(seen(&out.body).ids(), ["call_11"]);
    let after: serde_json::Value = serde_json::from_slice(&out.body).unwrap_or_default();
    let first = &after["messages"][0]["content"];
    assert_eq!(
        first[0],
        json!({ "type": "text", "text": "Look.", "cache_control": { "type": "ephemeral", "ttl": "1h" } })
    );
    assert_eq!(first[1], json!({ "type": "text", "text": " " }), "an empty text carries no mark");
    assert_eq!(out.report["edits"][0]["kind"], "mark");
    assert_eq!(out.report["warnings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_cache_mark_may_move_onto_a_tombstone() {
    // The text stands last in its block, so that the mark comes right behind it.
    let block = |id: &str, text: &str, mark: &str| {
        let text = json!(text);
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}"{mark},"content":{text}}}"#)
    };
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"grep","input":{{}}}}"#);
    let message = |role: &str, blocks: &[String]| format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","));
    let say = |role: &str, text: &str| json!({ "role": role, "content": text }).to_string();
    let pinned = block("call_10", "[liveset:pin]", "");
    let marked = block("call_12", &prose("yew", 40), r#","cache_control":{"type":"ephemeral"}"#);
    let messages = [
        say("user", "Look."),
        message("assistant", &[call("call_10"), call("call_11")]),
        message("user", &[pinned, block("call_11", &prose("oak", 40), "")]),
        message("assistant", &[call("call_12")]),
        message("user", &[marked]),
        say("assistant", "See call_12."),
        say("user", &prose("user", 150)),
    ];
    let body = format!(r#"{{"model":"gpt-4.1","messages":[{}]}}"#, messages.join(","));
    let out = run_body(body.as_bytes(), 770);
    let after = seen(&out.body);
    assert_eq!((after.ids(), after.tombstones()), (vec!["call_10", "call_11"], vec!["call_11"]));
    let after: serde_json::Value = serde_json::from_slice(&out.body).expect("JSON");
    assert_eq!(after["messages"][2]["content"][1]["cache_control"], json!({ "type": "ephemeral" }));
}

#[test]
fn a_cache_mark_that_no_earlier_block_may_carry_is_said_to_be_lost() {
    let marked = json!({ "type": "ephemeral" });
    let block = json!({ "type": "tool_use", "id": "call_10", "name": "grep", "input": {}, "cache_control": marked });
    let history = json!([
        { "role": "user", "content": "A plain string carries no mark." },
        { "role": "assistant", "content": [block] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "call_10", "content": prose("oak", 40) }] },
        { "role": "assistant", "content": "See call_10." },
        { "role": "user", "content": prose("user", 40) },
    ]);
    let body = json!({ "model": "gpt-4.1", "messages": history }).to_string().into_bytes();
    let out = run_body(&body, 770);
    assert_eq!(seen(&out.body).ids(), Vec::<&str>::new());
    assert_eq!(out.report["warnings"][0]["code"], "mark_lost");
}

/// Runs an Anthropic body in a window of this share of its size, under every law.
fn run_body(body: &[u8], window_permille: u64) -> Outcome {
    let mut policy = Policy::default();
    policy.preset = Preset::Liveness;
    policy.reserve = Some(0);
    policy.window = Some(size(Format::Anthropic, body) * window_permille / 1_000);
    Bench::new(Format::Anthropic, policy).check(body).unwrap_or_else(|error| panic!("{error}"))
}
