//! The large cases, written by the same small generator as the shared ones. Times are shown by the bench.

use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::{
    bench::Bench,
    case::{Case, policy},
    view::{answers, parse, shortened},
};

/// Small and fixed, so that the bodies never change.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn call(id: &str, command: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {"cmd": command}}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn body(messages: Vec<Value>) -> Case {
    let tool = |name: &str, key: &str, what: &str| {
        json!({"name": name, "description": what, "input_schema": {
            "type": "object", "properties": {key: {"type": "string"}}, "required": [key],
        }})
    };
    let body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1024,
        "system": "You are a careful coding agent.",
        "tools": [
            tool("run", "cmd", "Run a shell command"),
            tool("recall", "handle", "Get back text that was taken out of context"),
        ],
        "messages": messages,
    });
    Case::of(Format::Anthropic, &body)
}

fn one_result(text: &str) -> Case {
    body(vec![user("What is in the file?"), call("toolu_r1", "cat big"), result("toolu_r1", text)])
}

/// Runs a large body once: the laws cost several runs each, and are checked on the same shape at a tenth of its size.
fn run(case: &Case, window: u64) -> (Vec<u8>, u64) {
    let bench = Bench::new(case.format, policy(window));
    let out = bench.run(&case.body);
    assert!(
        !out.cannot_fit
            && out.report["warnings"]
                .as_array()
                .is_some_and(|all| all.iter().all(|one| one["code"] != "verify_failed"))
    );
    assert!(out.tokens_after <= window, "{} tokens", out.tokens_after);
    let restored = if out.body == case.body {
        case.body.clone()
    } else {
        bench.liveset.restore(&out.body).expect("it comes back")
    };
    assert_eq!(restored, case.body, "every character comes back");
    (out.body, out.tokens_after)
}

fn text_of(output: &[u8]) -> String {
    answers(Format::Anthropic, &parse(output)).last().expect("a result").text()
}

#[test]
fn f18_a_million_equal_characters_are_counted_and_cut() {
    for (name, character) in [("letter", 'A'), ("dash", '-'), ("caret", '^'), ("blank", ' '), ("tab", '\t')] {
        let run_of = |length: usize| character.to_string().repeat(length);
        let (output, _) = run(&one_result(&run_of(1_000_000)), 8_000);
        let blank = character.is_whitespace();
        assert!(!text_of(&output).trim().is_empty() || blank, "{name}");
        one_result(&run_of(90_000)).at(600);
    }
}

#[test]
fn f18_a_million_blanks_before_a_letter_are_counted_and_cut() {
    run(&one_result(&format!("{}x", " ".repeat(1_000_000))), 8_000);
    one_result(&format!("{}x", " ".repeat(90_000))).at(600);
}

fn weights(count: u32) -> String {
    let mut rng = Rng(22);
    let all: Vec<_> = (0..count).map(|at| format!("\"w{at}\":{}.{:04}", rng.below(9), rng.below(10_000))).collect();
    format!("weights.json:1:{{{}}}\nsrc/main.rs:88: println!(\"Output is missing\");", all.join(","))
}

fn grep(text: &str) -> Case {
    body(vec![
        user("Where is 'Output is missing' printed?"),
        call("toolu_s1", "grep -rn 'output.*missing' ."),
        result("toolu_s1", text),
    ])
}

#[test]
fn f22_one_line_of_three_megabytes_keeps_its_ends_and_its_neighbour() {
    for (text, output) in [
        (weights(190_000), run(&grep(&weights(190_000)), 100_000).0),
        (weights(4_000), grep(&weights(4_000)).about(8_000).body),
    ] {
        let shortened = text_of(&output);
        assert!(shortened.len() < text.len());
        assert!(shortened.lines().any(|line| line == "src/main.rs:88: println!(\"Output is missing\");"));
        assert!(shortened.starts_with("weights.json:1:{\"w0\":"), "its beginning");
        let giant = text.lines().next().expect("a line");
        assert!(shortened.contains(&giant[giant.len() - 40..]), "its end");
    }
}

fn shards(turns: u32) -> Case {
    let mut rng = Rng(21);
    let mut messages = vec![user(
        "Go through the 400 shards, one after the other, and keep a list of the broken ones. Never touch shard 7.",
    )];
    for turn in 0..turns {
        let rows: Vec<_> = (0..9)
            .map(|row| {
                let (hash, lag) = (rng.below(1 << 31), rng.below(900));
                let state = if rng.below(97) == 0 { "BROKEN" } else { "ok" };
                format!("shard {turn} row {row} hash {hash:08x} lag {lag} ms state {state}")
            })
            .collect();
        let id = format!("toolu_t{turn}");
        messages.push(call(&id, &format!("inspect {turn}")));
        messages.push(result(&id, &rows.join("\n")));
    }
    messages.push(user("Stop here. Which ones are broken so far?"));
    body(messages)
}

#[test]
fn f21_four_hundred_turns_need_no_model() {
    let case = shards(400);
    let (output, _) = run(&case, 32_000);
    let (before, after) = (case.value(), parse(&output));
    let all = before["messages"].as_array().expect("messages").len();
    assert_eq!(before["messages"][0], after["messages"][0], "the task");
    assert_eq!(before["messages"][all - 1], after["messages"][all - 1], "the last word");
    assert_eq!(before["messages"][all - 2], after["messages"][all - 2], "the newest result");
    let defects = liveset_testkit::laws::defects(case.format, &output).expect("it is read");
    // The body ends in two user messages, which the provider merges.
    assert!(defects.iter().all(|defect| defect.starts_with("role_order")), "{defects:?}");
    let cut = answers(case.format, &after)
        .iter()
        .filter(|answer| shortened(&answer.text()).gaps > 0 || answer.text().starts_with("[pruned"))
        .count();
    assert!(cut > 200, "{cut} results were shortened");
    shards(40).at(4_000);
}
