//! Kind 2: text is cut so that it is no longer valid.

use liveset_testkit::Format;
use serde_json::Value;

use crate::{
    case::{Case, policy},
    view::{calls, history, shortened},
};

#[test]
fn f10_long_arguments_stay_json() {
    let out = Case::read(Format::OpenaiChat, "F10").at(550);
    let arguments: Vec<Value> = calls(out.format, &out.value())
        .iter()
        .map(|asked| serde_json::from_str(asked.arguments.as_str().expect("a string")).expect("arguments are JSON"))
        .collect();
    assert!(arguments.iter().all(Value::is_object));
    assert_eq!((&arguments[0]["path"], &arguments[0]["mode"]), (&Value::from("docs/setup.md"), &Value::from(420)));
    assert_eq!(arguments[0]["content"], "[Content saved to file]");
    assert!(!out.cannot_fit && out.tokens_after <= 550, "nearly all of it was in the arguments");
    assert!(out.cut_calls()[0].2.starts_with("# Setup notes\n\n1. Copy `conf/part_1.toml`"));
}

#[test]
fn f11_no_budget_tears_a_character() {
    let case = Case::read(Format::Anthropic, "F11");
    let family = "👩\u{200d}👩\u{200d}👧";
    let source = case.at(100_000).result("toolu_41").0;
    assert!(source.contains(family) && !source.contains('\u{fffd}'));
    let mut shapes = std::collections::BTreeSet::new();
    for window in 150..=900 {
        // Every law at each tenth; at the others the same text must come out whole.
        let text = if window % 10 == 0 {
            case.at(window).result("toolu_41").1
        } else {
            let bench = crate::bench::Bench::new(case.format, policy(window));
            let out = bench.run(&case.body);
            let body = String::from_utf8(out.body).expect("the output is UTF-8");
            crate::view::answers(case.format, &crate::view::parse(body.as_bytes())).remove(0).text()
        };
        assert!(!text.contains('\u{fffd}'));
        if shapes.insert(text.clone()) && !text.starts_with("[pruned") {
            let lines: Vec<_> = source.split_inclusive('\n').collect();
            let short = shortened(&text);
            assert!(short.kept.iter().all(|line| lines.contains(&line.as_str())), "{text}");
            assert_eq!(text.matches('\u{200d}').count(), 2 * text.matches(family).count());
        }
    }
    assert!(shapes.len() > 3, "the budgets cut at different places");
}

#[test]
fn f12_a_lone_surrogate_is_forwarded_as_it_came_and_never_written() {
    let case = Case::read(Format::Anthropic, "F12");
    let escape = br"\ud83d ";
    let count = |body: &[u8]| body.windows(escape.len()).filter(|window| window == escape).count();
    assert_eq!(count(&case.body), 1);
    assert!(case.at(8_000).is_input());
    let mut seen = [false; 2];
    for window in (300..=900).step_by(25) {
        let out = case.at(window);
        assert!(!out.has_warning("verify_failed"));
        // Only the escape that was there may be there.
        let kept = count(&out.body);
        assert_eq!(out.body.windows(5).filter(|window| window.starts_with(br"\ud8")).count(), kept);
        seen[usize::from(!out.is_input())] = true;
    }
    assert_eq!(seen, [true; 2], "some budgets cut, some do not");
}

#[test]
fn f13_no_blank_text_is_made_and_blank_ones_stay() {
    let out = Case::read(Format::Anthropic, "F13").about(450);
    assert!(!out.is_input());
    assert_eq!(out.result("toolu_61"), (String::new(), String::new()));
    assert!(!out.result("toolu_62").1.trim().is_empty());
    for message in history(out.format, &out.value()) {
        if let Some(blocks) = message["content"].as_array() {
            assert!(!blocks.is_empty());
            assert!(blocks.iter().all(|block| block["text"].as_str().is_none_or(|text| !text.trim().is_empty())));
        }
    }
}
