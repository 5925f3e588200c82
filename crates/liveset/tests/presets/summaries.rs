//! What stands for the oldest units where nothing else is left to take: an extract, or a model's words.

use expect_test::expect;
use liveset::{Policy, Preset, SummaryKind};
use liveset_testkit::{Format, laws::Outcome};
use serde_json::json;

use crate::script::{Step, body, call, prose, result, run_with, seen, user};

/// Work with a word of the agent beside each call, which no other step takes.
fn worked() -> Vec<Step> {
    let mut steps = vec![user("Make the build green. Keep the public API.")];
    for (at, id) in ["c_1", "c_2", "c_3", "c_4", "c_5", "c_6"].into_iter().enumerate() {
        steps.push(Step::Say(format!("Part {at} next.\n\n{}\nSo far no error.", prose("agent", 12))));
        steps.push(call(id, "Bash", json!({ "command": format!("make part{at}") })));
        steps.push(result(id, format!("part {at} built in {at}.5 s\n")));
        if at == 2 {
            steps.push(user("Mind the tests."));
        }
    }
    steps.push(Step::Say("All parts are built.".to_owned()));
    steps.push(user("Well?"));
    steps
}

fn set(policy: &mut Policy, kind: SummaryKind) {
    policy.summary.kind = kind;
    policy.summary.share = 50;
    (policy.trigger, policy.target) = (98, 90);
}

fn lines(out: &Outcome) -> Vec<String> {
    let texts = seen(&out.body).results.into_iter().map(|(_, text)| text);
    texts.filter(|text| text.starts_with("[summarised from context: ")).collect()
}

#[test]
fn an_extract_tells_of_every_call_and_text_that_went() {
    let out = run_with(Format::OpenaiChat, &worked(), 880, |policy| set(policy, SummaryKind::Extractive));
    expect![[r#"
        [summarised from context: 3 calls (Bash 3), 2 texts, 437 tokens; run a call again only if repeating it is safe; what they showed:
        said, 16 lines: Part 0 next. | So far no error.
        Bash make part0: part 0 built in 0.5 s
        said, 16 lines: Part 1 next. | So far no error.
        Bash make part1: part 1 built in 1.5 s
        Bash make part2: part 2 built in 2.5 s
        no more results]"#]]
    .assert_eq(&lines(&out).join("\n----\n"));
    let text = String::from_utf8_lossy(&out.body).into_owned();
    assert!(text.contains("Keep the public API.") && text.contains("Mind the tests."), "the user's words stay");
}

#[test]
fn every_preset_sums_up_in_every_format_and_none_does_unless_it_is_asked_to() {
    for format in Format::ALL {
        for preset in [Preset::Balanced, Preset::Rules, Preset::Dispatch] {
            let out = run_with(format, &worked(), 700, |policy| {
                policy.preset = preset;
                set(policy, SummaryKind::Extractive);
            });
            assert!(!lines(&out).is_empty(), "{format:?} {preset:?}");
            let none = run_with(format, &worked(), 700, |policy| policy.preset = preset);
            assert!(lines(&none).is_empty(), "{format:?} {preset:?}");
        }
    }
}

#[test]
fn what_is_pinned_is_lifted_out() {
    let out = run_with(Format::Anthropic, &worked(), 700, |policy| {
        set(policy, SummaryKind::Extractive);
        policy.pins.push("c_2".to_owned());
    });
    let kept = seen(&out.body).results;
    assert!(kept.iter().any(|(id, text)| id == "c_2" && text == "part 1 built in 1.5 s\n"), "{kept:?}");
    assert!(lines(&out).iter().all(|line| !line.contains("part1")), "{:?}", lines(&out));
}

#[test]
fn where_what_is_said_holds_the_space_the_report_recommends_a_summary() {
    let none = run_with(Format::OpenaiChat, &worked(), 700, |_| ());
    let codes = |out: &Outcome| -> Vec<String> {
        let warnings = out.report["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning["code"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert!(codes(&none).contains(&"summary_recommended".to_owned()), "{:?}", codes(&none));
    let some = run_with(Format::OpenaiChat, &worked(), 700, |policy| set(policy, SummaryKind::Extractive));
    assert!(!codes(&some).contains(&"summary_recommended".to_owned()), "{:?}", codes(&some));
    let roomy = run_with(Format::OpenaiChat, &worked(), 2_000, |_| ());
    assert!(codes(&roomy).is_empty() && roomy.body == body(Format::OpenaiChat, &worked()));
}
