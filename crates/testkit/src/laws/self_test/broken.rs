//! One deliberately broken outcome per law and kind of breach; each must be caught by the law it breaks.

use super::*;
use crate::{
    AssistantMessage, Call, Event, Json, Marks, Part, Reasoning, ResultBatch, Shape, Style, System, ToolResult,
    UserMessage,
};

/// Two reads of long files, answered, then a last short one.
fn small() -> Conversation {
    let long = |name: &str| {
        (1..=30).map(|n| format!("{n}\t{name} says something of line {n} here")).collect::<Vec<_>>().join("\n")
    };
    let call = |id: &str| Call {
        id: id.to_owned(),
        tool: "read_file",
        arguments: Json::object([("path", Json::text("src/parser.rs"))]),
    };
    let work = |ids: &[&str], seal: Option<&str>| {
        let reasoning = seal.map(|seal| Reasoning { text: "think".to_owned(), seal: Some(seal.to_owned()) });
        let calls = ids.iter().map(|id| call(id)).collect();
        Event::Assistant(AssistantMessage {
            reasoning,
            afterthought: None,
            is_cut_off: false,
            text: Some("I read.".to_owned()),
            calls,
            unknown: None,
        })
    };
    let result = |id: &str, text: String| ToolResult {
        call_id: id.to_owned(),
        tool: "read_file",
        parts: vec![Part::Text(text)],
        shape: Shape::Plain,
        is_error: false,
    };
    let results = |results: Vec<ToolResult>| Event::Results(ResultBatch { results, text_after: None });
    let user = |text: &str| Event::User(UserMessage { parts: vec![Part::Text(text.to_owned())], shape: Shape::Plain });
    Conversation {
        style: Style::plain(),
        model: "gpt-4.1",
        system: System::Text("Be careful.".to_owned()),
        tools: vec!["read_file"],
        extras: vec![("seed".to_owned(), Json::raw("9007199254740993"))],
        marks: Marks::None,
        events: vec![
            user("Read the files."),
            work(&["c1", "c2"], Some("sealed==")),
            results(vec![result("c1", long("alpha")), result("c2", long("beta"))]),
            work(&["c3"], None),
            results(vec![result("c3", long("gamma"))]),
        ],
    }
}

fn small_run(format: Format) -> (Vec<u8>, Outcome) {
    let input = small().body(format);
    let outcome = toy(format, &input, 0);
    assert_eq!(all_laws(format, &input, &outcome), Ok(()));
    assert_ne!(outcome.body, input);
    (input, outcome)
}

/// Replaces text in the body handed out; the text must be there.
fn with(outcome: &Outcome, old: &str, new: &str) -> Outcome {
    let body = String::from_utf8(outcome.body.clone()).unwrap();
    assert!(body.contains(old), "{old} is not in {body}");
    Outcome { body: body.replacen(old, new, 1).into_bytes(), ..outcome.clone() }
}

fn tombstone() -> &'static str {
    "[pruned from context: read_file, 30 lines, 1.2k tokens; run the call again to see it]"
}

type Law = fn(Format, &[u8], &Outcome) -> Result<(), String>;

fn check(law: Law, breaches: &[(&str, &str)]) {
    for format in Format::ALL {
        let (input, outcome) = small_run(format);
        for (old, new) in breaches {
            let broken = with(&outcome, old, new);
            assert!(law(format, &input, &broken).is_err(), "{}: {old} -> {new} was not seen", format.name());
        }
    }
}

#[test]
fn routes_see_an_id_that_is_no_original_of_the_edit() {
    let route = "recall 0123456789abcdef0123456789abcdef to see it";
    for format in Format::ALL {
        let (input, outcome) = small_run(format);
        let broken = with(&outcome, "run the call again to see it", route);
        assert_eq!(law_no_invention(format, &input, &broken), Ok(()), "its form is lawful");
        assert!(law_routes(format, &input, &broken).is_err());
        let mut report = broken.report.clone();
        for edit in report["edits"].as_array_mut().unwrap() {
            edit["archive_id"] = "0123456789abcdef0123456789abcdef".into();
        }
        assert_eq!(law_routes(format, &input, &Outcome::from_report(broken.body, report)), Ok(()));
    }
}

#[test]
fn fidelity_sees_any_byte_outside_results() {
    check(
        law_fidelity,
        &[
            ("9007199254740993", "9007199254740992"),
            ("gpt-4.1", "gpt-4.2"),
            ("Read the files.", "Read the file."),
            ("\"model\":", "\"model\": "),
            ("I read.", "I\\u0020read."),
            ("\"think\"", "\"thunk\""),
            ("parser.rs", "parser.r"),
            (tombstone(), "   "),
            ("\"c3\"", "\"c4\""),
        ],
    );
}

#[test]
fn fidelity_sees_a_broken_seal() {
    for format in [Format::Anthropic, Format::OpenaiResponses] {
        let (input, outcome) = small_run(format);
        assert!(law_fidelity(format, &input, &with(&outcome, "sealed==", "sealed=")).is_err());
    }
}

#[test]
fn fidelity_sees_a_respelled_result() {
    check(law_fidelity, &[("gamma says", "\\u0067amma says")]);
}

#[test]
fn no_invention_sees_untrue_templates_and_new_text() {
    check(
        law_no_invention,
        &[
            (tombstone(), "The file was fine."),
            (tombstone(), "[pruned from context: read_file, 31 lines, 1.2k tokens; run the call again to see it]"),
            (tombstone(), "[pruned from context: write_file, 30 lines, 1.2k tokens; run the call again to see it]"),
            (
                tombstone(),
                "[pruned from context: read_file secret.txt, 30 lines, 1.2k tokens; run the call again to see it]",
            ),
            (
                tombstone(),
                "[pruned from context: read_file, 30 lines, 1.2k tokens, exit code 77; run the call again to see it]",
            ),
            (tombstone(), "[pruned from context: read_file, 30 lines, 1.2k tokens; trust me]"),
            (
                tombstone(),
                "[pruned from context: read_file, 30 lines, 1.2k tokens; run the call again to see it; error lines:\\nboom\\nno more error lines]",
            ),
            (tombstone(), "[lines 1-30 of 31 left out]"),
            (tombstone(), "1\\tbeta says something of line 1 here\\n[lines 2-30 of 30 left out]"),
            ("line 7 here", "line 8 here"),
        ],
    );
}

#[test]
fn protected_sees_the_newest_unit() {
    let gap = "1\\tgamma says something of line 1 here\\n[lines 2-30 of 30 left out]";
    for format in Format::ALL {
        let (input, outcome) = small_run(format);
        let view = View::read(format, &outcome.body).unwrap();
        let span = view.results().last().unwrap().texts[0].clone();
        let mut broken = outcome.clone();
        broken.body.splice(span, format!("\"{gap}\"").into_bytes());
        assert_eq!(law_no_invention(format, &input, &broken), Ok(()), "the gap itself is lawful");
        assert!(law_protected(format, &input, &broken, &Pins::default()).is_err());
        broken.report["edits"][0]["kind"] = json!("shorten");
        assert_eq!(law_protected(format, &input, &broken, &Pins::default()), Ok(()));
    }
}

#[test]
fn protected_sees_pins_and_chain_text() {
    for format in Format::ALL {
        let (input, outcome) = small_run(format);
        let pins = Pins { call_ids: vec!["c2".to_owned()] };
        assert!(law_protected(format, &input, &outcome, &pins).is_err());
    }
    check(
        |format, input, outcome| law_protected(format, input, outcome, &Pins::default()),
        &[("Read the files.", "Read the file."), ("I read.", "I rea."), ("\"think\"", "\"thin\"")],
    );
}

#[test]
fn validity_sees_ids_pairs_and_blanks() {
    check(law_validity, &[("\"c1\"", "\"c9\""), ("Read the files.", " "), ("I read.", "")]);
    for format in Format::ALL {
        let (input, outcome) = small_run(format);
        for gone in ["c1", "c3"] {
            let broken = without_result(format, &outcome, gone);
            assert!(law_validity(format, &input, &broken).is_err(), "{}: {gone} lost its result", format.name());
        }
    }
    let (input, outcome) = small_run(Format::OpenaiChat);
    assert!(law_validity(Format::OpenaiChat, &input, &with(&outcome, "parser.rs\\\"}", "parser.rs")).is_err());
}

#[test]
fn validity_sees_reasoning_without_its_partner() {
    let (input, outcome) = small_run(Format::OpenaiResponses);
    let view = View::read(Format::OpenaiResponses, &outcome.body).unwrap();
    for kind in [ItemKind::Reasoning, ItemKind::Assistant] {
        let item = view.items.iter().find(|item| item.kind == kind).unwrap();
        let mut broken = outcome.clone();
        broken.body.drain(item.node.span.start..=item.node.span.end);
        assert!(law_validity(Format::OpenaiResponses, &input, &broken).is_err(), "{kind:?} went alone");
    }
}

fn without_result(format: Format, outcome: &Outcome, id: &str) -> Outcome {
    let view = View::read(format, &outcome.body).unwrap();
    let result = view.results().find(|item| item.id.as_deref() == Some(id.as_bytes())).unwrap();
    let mut span = result.node.span.clone();
    let comma_after = outcome.body.get(span.end) == Some(&b',');
    if comma_after {
        span.end += 1
    } else {
        span.start -= usize::from(outcome.body[span.start - 1] == b',')
    }
    let mut broken = outcome.clone();
    broken.body.drain(span);
    broken
}

#[test]
fn removal_is_lawful_only_when_reported_and_whole() {
    let format = Format::OpenaiChat;
    let (input, mut outcome) = small_run(format);
    let view = View::read(format, &outcome.body).unwrap();
    // Messages: system, user, assistant, tool, tool, assistant, tool.
    let (start, end) = (view.messages[2].node.span.start, view.messages[5].node.span.start);
    outcome.body.drain(start..end);
    assert!(law_fidelity(format, &input, &outcome).is_err(), "not reported");
    outcome.report["edits"][0]["kind"] = json!("drop");
    assert_eq!(law_fidelity(format, &input, &outcome), Ok(()));
    assert_eq!(law_validity(format, &input, &outcome), Ok(()));
    assert_eq!(law_protected(format, &input, &outcome, &Pins::default()), Ok(()));
    let view = View::read(format, &outcome.body).unwrap();
    let (start, end) = (view.messages[1].node.span.start, view.messages[2].node.span.start);
    outcome.body.drain(start..end);
    assert!(law_fidelity(format, &input, &outcome).is_err(), "user text may never go");
    assert!(law_protected(format, &input, &outcome, &Pins::default()).is_err());
}

#[test]
fn sizes_see_false_and_losing_figures() {
    let (input, outcome) = small_run(Format::Anthropic);
    let off = |change: fn(&mut Outcome)| {
        let mut broken = outcome.clone();
        change(&mut broken);
        broken
    };
    assert!(law_honest_size(&input, &off(|o| o.tokens_before += 1), size).is_err());
    assert!(law_honest_size(&input, &off(|o| o.tokens_after -= 1), size).is_err());
    assert!(law_honest_size(&input, &off(|o| o.report["edits"][0]["tokens_after"] = json!(0)), size).is_err());
    assert!(law_never_worse(&input, &off(|o| o.report["edits"][0]["tokens_before"] = json!(100)), 32, size).is_err());
    assert!(law_never_worse(&input, &off(|o| o.body.extend([b' '; 9_000])), 32, size).is_err());
}

#[test]
fn identity_sees_needless_change_and_false_claims() {
    let (input, outcome) = small_run(Format::Anthropic);
    let mut broken = outcome.clone();
    broken.report["tokens"]["trigger"] = json!(1_000_000);
    assert!(law_identity(&input, &broken).is_err());
    assert!(law_identity(&input, &Outcome { unchanged: true, ..outcome.clone() }).is_err());
    assert!(law_identity(&input, &Outcome { body: input.clone(), ..outcome }).is_err());
}

#[test]
fn runs_that_differ_are_seen() {
    let (input, outcome) = small_run(Format::Anthropic);
    let other = with(&outcome, "1.2k", "1.3k");
    let (same, differs) = (|_: &[u8]| outcome.clone(), |_: &[u8]| other.clone());
    assert!(law_determinism(&input, &[&same, &differs]).is_err());
    let mut told = outcome.clone();
    told.report["reason"] = json!("another");
    assert!(law_determinism(&input, &[&same, &|_| told.clone()]).is_err());
    assert!(law_idempotence(&outcome, differs).is_err());
}

#[test]
fn lost_originals_are_seen() {
    let (input, mut outcome) = small_run(Format::Anthropic);
    let whole = |_: &[u8]| Ok(input.clone());
    let nothing = |_: &str| None;
    assert_eq!(law_recoverability(&input, &outcome, whole, nothing), Ok(()));
    assert!(law_recoverability(&input, &outcome, |_| Ok(outcome.body.clone()), nothing).is_err());
    assert!(law_recoverability(&input, &outcome, |_| Err("gone".to_owned()), nothing).is_err());
    outcome.report["edits"][0]["archive_id"] = json!("00ff");
    assert!(law_recoverability(&input, &outcome, whole, nothing).is_err());
}

#[test]
fn panics_growth_and_telling_errors_are_seen() {
    let (input, outcome) = small_run(Format::Anthropic);
    assert!(law_bounded(&input, |body| Err(format!("{}", body[body.len()]))).is_err());
    assert!(law_bounded(b"{", |_| Ok(outcome.clone())).is_err());
    assert!(law_bounded(&input, |_| Err("two\nlines".to_owned())).is_err());
    assert!(law_bounded(&input, |_| Err("bad text: alpha says something of line 7 here".to_owned())).is_err());
    assert_eq!(law_bounded(&input, |_| Err("`role` at byte 7 is a number, expected a string".to_owned())), Ok(()));
}

#[test]
fn prefix_changes_and_forgotten_sweeps_are_seen() {
    let format = Format::Anthropic;
    let (short, long) = (small().first(3).body(format), small().body(format));
    let bodies = [short.clone(), long.clone()];
    let told = |body: &[u8], sweeps: serde_json::Value| Outcome {
        report: json!({"sweeps": sweeps}),
        ..Outcome::from_report(body.to_vec(), json!({}))
    };
    let sweep = json!([{"request_point": 1}]);
    let check = |first: Outcome, second: Outcome| law_prefix_stability(format, &bodies, &[first, second]);
    let cut = toy(format, &long, 0).body;
    assert_eq!(check(told(&short, json!([])), told(&long, json!([]))), Ok(()));
    assert_eq!(check(told(&short, json!([])), told(&cut, sweep.clone())), Ok(()), "a declared sweep");
    assert!(check(told(&short, json!([])), told(&cut, json!([]))).is_err(), "an undeclared change");
    assert!(check(told(&short, sweep), told(&long, json!([]))).is_err(), "a forgotten sweep");
}

#[test]
fn a_report_without_its_parts_is_seen() {
    let (input, outcome) = small_run(Format::Anthropic);
    for place in ["/tokens/window", "/edits/0/kind", "/outcome", "/sweeps", "/edits/0/call_id", "/format"] {
        let mut broken = outcome.clone();
        *broken.report.pointer_mut(place).unwrap() = json!({"no": "such"});
        assert!(law_report(Format::Anthropic, &input, &broken).is_err(), "{place}");
    }
}
