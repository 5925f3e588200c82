//! Bodies of shapes that few clients send: broken arguments, kinds of a later day, words that only look like evidence.

use liveset_testkit::Format;
use serde_json::{Value, json};

use crate::{
    case::{Case, Outcome},
    view::{answers, history, parse},
};

/// Lines of which no two are alike.
fn log(seed: &str) -> String {
    (0..60).map(|at| format!("{seed} entry {at}: unit {} took {} ms\n", at * 31 % 97, at * 17 % 89)).collect()
}

/// A conversation of calls, each a tool, its arguments and its result; the newest unit is a short call.
fn body(format: Format, calls: &[(&str, Value, String)]) -> Value {
    let newest = ("look", json!({"at": "x"}), "fine".to_owned());
    let all = calls.iter().chain([&newest]).enumerate();
    let mut items = vec![json!({"role": "user", "content": "Go on."})];
    for (at, (tool, arguments, result)) in all {
        let id = format!("call_{at}");
        // Text stands for an object, as OpenAI's formats want it; everything else is sent as it is.
        let text = |object: &Value| if object.is_object() { json!(object.to_string()) } else { object.clone() };
        items.extend(match format {
            Format::Anthropic => [
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": arguments}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}),
            ],
            Format::OpenaiChat => [
                json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                       "function": {"name": tool, "arguments": text(arguments)}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": result}),
            ],
            Format::OpenaiResponses => [
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": text(arguments)}),
                json!({"type": "function_call_output", "call_id": id, "output": result}),
            ],
        });
    }
    let mut body = json!({"model": "gpt-4.1"});
    body[format.history_field()] = Value::Array(items);
    body
}

#[test]
fn arguments_of_any_kind_are_no_reason_to_refuse() {
    for format in Format::ALL {
        for arguments in
            [json!({"q": 1}), json!(null), json!(7), json!([1]), json!(true), json!("{\"q\":1}"), json!("{")]
        {
            let mut body = body(format, &[("f", json!("?"), log("one")), ("f", json!({"q": 2}), log("two"))]);
            // In its place as it is, an object too.
            let call = &mut body[format.history_field()][1];
            *match format {
                Format::Anthropic => &mut call["content"][0]["input"],
                Format::OpenaiChat => &mut call["tool_calls"][0]["function"]["arguments"],
                Format::OpenaiResponses => &mut call["arguments"],
            } = arguments.clone();
            let out = Case::of(format, &body).at(1_500);
            assert!(!out.is_input() && !out.cannot_fit, "{format:?} {arguments}");
        }
    }
}

#[test]
fn an_output_of_an_unknown_kind_is_never_touched() {
    let mut body =
        body(Format::OpenaiResponses, &[("f", json!({"q": 1}), log("one")), ("f", json!({"q": 2}), log("two"))]);
    let items = body["input"].as_array_mut().expect("items");
    let unknown = json!({"type": "future_thing_output", "call_id": "call_0", "output": log("one"), "more": [1]});
    items[2] = unknown.clone();
    let case = Case::of(Format::OpenaiResponses, &body);
    let mut cut = 0;
    for window in (200..=2_600).step_by(300) {
        let out = case.at(window);
        assert_eq!(history(out.format, &out.value())[2], unknown, "{window}");
        cut += usize::from(!out.is_input());
    }
    assert!(cut > 0, "something else gave way");
}

#[test]
fn a_file_that_speaks_of_a_failure_is_none() {
    for format in Format::ALL {
        let failed = format!("{}[exit code 3]", log("run"));
        let read = format!("{}The tool ends with exit code 1 and says:\nBUILD FAILED", log("file"));
        let case = Case::of(
            format,
            &body(
                format,
                &[("Bash", json!({"command": "make all"}), failed), ("Read", json!({"file_path": "a.md"}), read)],
            ),
        );
        for (at, window) in squeezed(&case) {
            assert_eq!((at[0], at[1]), (true, false), "the run is the newest failure: {format:?} at {window}");
        }
    }
}

#[test]
fn a_plan_tool_is_one_under_all_its_names() {
    for format in Format::ALL {
        let plans = ["todo__todo_write", "mcp__todo__todo_write", "todo_write"];
        let calls = plans.map(|tool| (tool, json!({"title": tool}), log(tool)));
        for (at, window) in squeezed(&Case::of(format, &body(format, &calls))) {
            assert_eq!((at[0] && at[1], at[2]), (false, true), "only the newest plan: {format:?} at {window}");
        }
    }
}

/// Says of each result of the input whether it is left, and whole.
fn whole(out: &Outcome) -> Vec<bool> {
    let left: Vec<String> =
        out.pairs().into_iter().filter(|(old, new)| old.texts == new.texts).map(|(old, _)| old.id).collect();
    let all = answers(out.format, &parse(out.input()));
    all.iter().map(|answer| left.contains(&answer.id)).collect()
}

/// Says at each of some windows that a case fits only when it is cut which of its results are whole.
fn squeezed(case: &Case) -> Vec<(Vec<bool>, u64)> {
    let runs = (1..20).map(|step| step * 200).map(|window| (case.at(window), window));
    let cut = runs.filter(|(out, _)| !out.is_input() && !out.cannot_fit);
    let whole = cut.map(|(out, window)| (whole(&out), window));
    let whole: Vec<_> = whole.collect();
    assert!(whole.len() > 2, "it is cut and fits");
    whole
}
