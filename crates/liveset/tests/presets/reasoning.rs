//! The reasoning guard, under every preset.

use liveset::{Policy, Preset, ReasoningGuard};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::{Value, json};

use crate::bench::{Bench, size};
use crate::script::by_sweeps;
use crate::script::prose;

fn thought(name: &str) -> Value {
    json!({ "type": "thinking", "thinking": format!("I think of {name}."), "signature": format!("EvQ{name}==") })
}

/// A search of the web, with what the model thought before it, and its result.
fn search(name: &str) -> [Value; 2] {
    let call = json!({ "type": "tool_use", "id": name, "name": "search_web", "input": { "query": name } });
    let result = json!({ "type": "tool_result", "tool_use_id": name, "content": prose(name, 60) });
    [json!({ "role": "assistant", "content": [thought(name), call] }), json!({ "role": "user", "content": [result] })]
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn say(text: &str) -> Value {
    json!({ "role": "assistant", "content": [thought(text), { "type": "text", "text": text }] })
}

/// Searches in a turn, and `rest` behind them.
fn history(names: &[&str], rest: Vec<Value>) -> Vec<Value> {
    let mut all = vec![user("Look for it.")];
    all.extend(names.iter().flat_map(|name| search(name)));
    all.extend(rest);
    all
}

fn bytes(messages: &[Value]) -> Vec<u8> {
    json!({ "model": "gpt-4.1", "messages": messages }).to_string().into_bytes()
}

/// Runs a body in a window of this share of its size, with every law.
fn run(messages: &[Value], preset: Preset, reasoning: ReasoningGuard, permille: u64) -> Outcome {
    let body = bytes(messages);
    let mut policy = Policy::default();
    by_sweeps(&mut policy, preset);
    policy.reasoning = reasoning;
    policy.window = Some(size(Format::Anthropic, &body) * permille / 1_000);
    policy.reserve = Some(0);
    Bench::new(Format::Anthropic, policy).check(&body).unwrap_or_else(|error| panic!("{preset:?}: {error}"))
}

/// Signatures of what is left, in order.
fn thoughts(out: &Outcome) -> Vec<String> {
    let body: Value = serde_json::from_slice(&out.body).expect("JSON");
    let messages = body["messages"].as_array().expect("a list");
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    blocks
        .filter_map(|block| Some(block["signature"].as_str()?.trim_matches(['E', 'v', 'Q', '=']).to_owned()))
        .collect()
}

fn warns(out: &Outcome, code: &str) -> Option<String> {
    let all = out.report["warnings"].as_array().expect("a list");
    all.iter().find(|one| one["code"] == code).map(|one| one["text"].as_str().unwrap_or_default().to_owned())
}

fn kinds(out: &Outcome) -> Vec<String> {
    let edits = out.report["edits"].as_array().expect("a list");
    edits.iter().map(|edit| edit["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Under the room by little: over the trigger, and not forced.
const OVER_TRIGGER: u64 = 1_040;

#[test]
fn a_sweep_waits_inside_a_turn_and_runs_at_the_users_next_text() {
    for preset in Preset::ALL {
        let turn = history(&["a", "b", "c", "d", "e"], Vec::new());
        for guard in [ReasoningGuard::Respect, ReasoningGuard::Keep] {
            let out = run(&turn, preset, guard, OVER_TRIGGER);
            assert_eq!(out.body, bytes(&turn), "{preset:?}");
            assert!(warns(&out, "waits_for_user").is_some(), "{preset:?}");
        }
        let next = history(&["a", "b", "c", "d", "e"], vec![say("z"), user("Go on.")]);
        let out = run(&next, preset, ReasoningGuard::Respect, OVER_TRIGGER);
        assert_eq!(thoughts(&out), ["a"], "{preset:?}: what stands before the first edit is as good as before");
        assert_eq!(kinds(&out).iter().filter(|kind| *kind == "reasoning").count(), 5, "{preset:?}");
        assert_eq!(warns(&out, "reasoning_at_risk"), None);
    }
}

#[test]
fn keep_removes_nothing_and_says_what_is_at_risk() {
    for preset in Preset::ALL {
        let next = history(&["a", "b", "c", "d", "e"], vec![say("z"), user("Go on.")]);
        let out = run(&next, preset, ReasoningGuard::Keep, OVER_TRIGGER);
        assert_eq!(thoughts(&out), ["a", "b", "c", "d", "e", "z"], "{preset:?}");
        let text = warns(&out, "reasoning_at_risk").expect("it is said");
        assert!(text.contains("up to item 16 follows an edit of item 3"), "{preset:?}: {text}");
    }
}

#[test]
fn past_the_room_it_sweeps_inside_a_turn_and_strips_nothing() {
    for preset in [Preset::Balanced, Preset::Rules] {
        let turn = history(&["a", "b", "c", "d", "e"], Vec::new());
        let out = run(&turn, preset, ReasoningGuard::Respect, 900);
        assert_ne!(out.body, bytes(&turn));
        assert_eq!(thoughts(&out), ["a", "b", "c", "d", "e"], "{preset:?}");
        assert!(warns(&out, "reasoning_at_risk").is_some(), "{preset:?}");
    }
}

#[test]
fn a_sweep_does_not_wait_where_all_it_takes_stands_behind_the_reasoning() {
    let call = |id: &str| {
        json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": id, "name": "search_web", "input": { "query": id } },
    ] })
    };
    let result = |id: &str| {
        json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": id, "content": prose(id, 60) },
    ] })
    };
    let mut turn = vec![user("Look."), say("z"), user("Go on.")];
    turn.extend(["a", "b", "c", "d", "e"].iter().flat_map(|id| [call(id), result(id)]));
    for preset in Preset::ALL {
        let out = run(&turn, preset, ReasoningGuard::Respect, OVER_TRIGGER);
        assert_ne!(out.body, bytes(&turn), "{preset:?}");
        assert_eq!((thoughts(&out), warns(&out, "reasoning_at_risk")), (vec!["z".to_owned()], None));
    }
}

#[test]
fn drop_waits_for_nobody_and_spares_the_turn_that_goes_on() {
    for preset in Preset::ALL {
        let mut turns = history(&["a", "b", "c"], vec![say("z"), user("Go on.")]);
        turns.extend(["d", "e", "f"].iter().flat_map(|name| search(name)));
        let out = run(&turns, preset, ReasoningGuard::Drop, OVER_TRIGGER);
        assert_eq!(thoughts(&out), ["a", "d", "e", "f"], "{preset:?}");
        assert!(warns(&out, "reasoning_at_risk").is_some(), "{preset:?}: those of the turn stay behind an edit");
    }
}

#[test]
fn text_beside_results_opens_no_turn() {
    let mut reminded = history(&["a", "b", "c", "d", "e"], Vec::new());
    let blocks = reminded.last_mut().and_then(|last| last["content"].as_array_mut()).expect("blocks");
    blocks.push(json!({ "type": "text", "text": "<system-reminder>The list is empty.</system-reminder>" }));
    for preset in Preset::ALL {
        let out = run(&reminded, preset, ReasoningGuard::Respect, OVER_TRIGGER);
        assert_eq!(out.body, bytes(&reminded), "{preset:?}");
    }
}

#[test]
fn one_block_that_must_stay_keeps_all_of_them() {
    let cut_off = json!({ "role": "assistant", "content": [thought("z")] });
    let next = history(&["a", "b", "c", "d", "e"], vec![cut_off, user("Go on.")]);
    for preset in Preset::ALL {
        let out = run(&next, preset, ReasoningGuard::Respect, OVER_TRIGGER);
        assert_ne!(out.body, bytes(&next));
        assert_eq!(thoughts(&out), ["a", "b", "c", "d", "e", "z"], "{preset:?}: no message becomes empty");
        assert!(warns(&out, "reasoning_at_risk").is_some());
    }
}

#[test]
fn blocks_leave_from_any_place_of_their_message_and_unsigned_ones_stay() {
    let (text, unsigned) = (
        |text: &str| json!({ "type": "text", "text": text }),
        json!({ "type": "thinking", "thinking": "Unsigned.", "signature": "" }),
    );
    let hidden = json!({ "type": "redacted_thinking", "data": "EvRedacted" });
    for blocks in [
        vec![thought("x"), hidden.clone(), text("So.")],
        vec![text("So."), thought("x"), hidden.clone()],
        vec![thought("x"), text("So."), hidden.clone()],
        vec![text("So."), hidden.clone(), unsigned.clone(), thought("x"), text("And.")],
    ] {
        let stays: Vec<Value> =
            blocks.iter().filter(|block| **block != hidden && **block != thought("x")).cloned().collect();
        let message = json!({ "role": "assistant", "content": blocks });
        let next = history(&["a", "b", "c", "d", "e"], vec![message, user("Go on.")]);
        let out = run(&next, Preset::Rules, ReasoningGuard::Respect, OVER_TRIGGER);
        let body: Value = serde_json::from_slice(&out.body).expect("JSON");
        assert_eq!(body["messages"][11]["content"], Value::Array(stays));
    }
}

#[test]
fn what_left_stays_away_in_later_requests() {
    let mut longer = history(&["a", "b", "c", "d", "e"], vec![say("z"), user("Go on.")]);
    let body = bytes(&longer);
    let mut policy = Policy::default();
    policy.window = Some(size(Format::Anthropic, &body) * OVER_TRIGGER / 1_000);
    policy.reserve = Some(0);
    let bench = Bench::new(Format::Anthropic, policy);
    let mut session = bench.liveset.session();
    let first = thoughts(&bench.turn(&mut session, &body));
    longer.extend(search("f"));
    let second = bench.turn(&mut session, &bytes(&longer));
    assert_eq!(thoughts(&second), [first, vec!["f".to_owned()]].concat());
    assert_eq!(second.body, bench.run(&bytes(&longer)).body);
}

#[test]
fn a_mark_on_removed_reasoning_moves_to_the_block_before() {
    let mut next = history(&["a", "b", "c", "d", "e"], vec![say("z"), user("Go on.")]);
    next[11]["content"][0]["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" });
    let out = run(&next, Preset::Balanced, ReasoningGuard::Respect, OVER_TRIGGER);
    let body: Value = serde_json::from_slice(&out.body).expect("JSON");
    assert_eq!(body["messages"][10]["content"][0]["cache_control"]["ttl"], "1h");
}

#[test]
fn other_formats_lose_no_reasoning() {
    let log = |name: &str| prose(name, 60);
    let responses = |name: &str| {
        [
        json!({ "type": "reasoning", "id": format!("rs_{name}"), "summary": [], "encrypted_content": "Zm9v" }),
        json!({ "type": "function_call", "id": format!("fc_{name}"), "call_id": name, "name": "search_web", "arguments": "{}" }),
        json!({ "type": "function_call_output", "call_id": name, "output": log(name) }),
    ].to_vec()
    };
    let chat = |name: &str| {
        [
        json!({ "role": "assistant", "content": null, "reasoning_content": format!("I think of {name}."), "tool_calls": [
            { "id": name, "type": "function", "function": { "name": "search_web", "arguments": "{}" } },
        ] }),
        json!({ "role": "tool", "tool_call_id": name, "content": log(name) }),
    ].to_vec()
    };
    for format in [Format::OpenaiChat, Format::OpenaiResponses] {
        let work = |name: &&str| if format == Format::OpenaiChat { chat(name) } else { responses(name) };
        let mut items = vec![user("Look.")];
        items.extend(["a", "b", "c", "d", "e"].iter().flat_map(work));
        items.extend([json!({ "role": "assistant", "content": "So. See a, b, c, d and e." }), user("Go on.")]);
        let mut body = json!({ "model": "gpt-4.1" });
        body[format.history_field()] = Value::Array(items);
        let body = body.to_string().into_bytes();
        for preset in Preset::ALL {
            for guard in [ReasoningGuard::Respect, ReasoningGuard::Keep, ReasoningGuard::Drop] {
                let mut policy = Policy::default();
                by_sweeps(&mut policy, preset);
                policy.reasoning = guard;
                policy.window = Some(size(format, &body) * 900 / 1_000);
                policy.reserve = Some(0);
                let out = Bench::new(format, policy).check(&body).unwrap_or_else(|error| panic!("{error}"));
                assert_ne!(out.body, body, "{format:?} {preset:?} {guard:?}");
                assert!(!kinds(&out).contains(&"reasoning".to_owned()));
                let is_signed = format == Format::OpenaiResponses;
                let drops = kinds(&out).contains(&"drop".to_owned());
                assert!(drops || warns(&out, "reasoning_at_risk").is_some() == is_signed, "{format:?} {preset:?}");
            }
        }
    }
}

/// Over many windows, since the first sweep must leave a result in part, and the second must be due and have to wait.
#[test]
fn what_waited_waits_again_when_it_comes_back_compacted() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "search_web", "input": { "query": id } });
    let result = |id: &str, lines| {
        json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": id, "content": prose(id, lines) },
    ] })
    };
    let mut turn = vec![user("Look.")];
    for id in ["a", "b", "c"] {
        turn.extend([json!({ "role": "assistant", "content": [call(id)] }), result(id, 60)]);
    }
    turn.push(json!({ "role": "assistant", "content": [thought("d"), call("d")] }));
    turn.push(result("d", 20));
    for id in ["e", "f", "g"] {
        turn.extend([json!({ "role": "assistant", "content": [call(id)] }), result(id, 20)]);
    }
    let body = bytes(&turn);
    let tokens = size(Format::Anthropic, &body);
    let mut waited = 0;
    for permille in (400..1_000).step_by(10) {
        let mut policy = Policy::default();
        (policy.trigger, policy.target, policy.min_sweep_gain) = (60, 55, 0);
        policy.window = Some(tokens * permille / 1_000);
        policy.reserve = Some(0);
        let out = Bench::new(Format::Anthropic, policy).check(&body);
        let out = out.unwrap_or_else(|error| panic!("at {permille}: {error}"));
        waited += u32::from(warns(&out, "waits_for_user").is_some() && kinds(&out).contains(&"gap".to_owned()));
    }
    assert!(waited > 0, "some sweep waits behind a gap");
}
