//! Is what is generated what a client could send, and does it hold every kind of trouble?
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

use liveset_testkit::laws::defects;
use liveset_testkit::{ArbitraryBody, Conversation, Format, arbitrary_bodies, budgets, conversations};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const SAMPLE: usize = 400;

fn sample<S: Strategy>(strategy: S) -> Vec<S::Value> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    (0..SAMPLE).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn bodies(format: Format) -> Vec<String> {
    sample(conversations()).iter().map(|conversation| String::from_utf8(conversation.body(format)).unwrap()).collect()
}

fn holding(bodies: &[String], text: &str) -> usize {
    bodies.iter().filter(|body| body.contains(text)).count()
}

#[test]
fn every_body_is_json_and_strict_readers_refuse_only_lone_surrogates() {
    for format in Format::ALL {
        for body in bodies(format) {
            assert!(defects(format, body.as_bytes()).is_ok(), "{body}");
            if let Err(error) = serde_json::from_str::<serde_json::Value>(&body) {
                assert!(
                    error.to_string().contains("surrogate") || error.to_string().contains("hex escape"),
                    "{error}: {body}"
                );
            }
        }
    }
}

#[test]
fn the_same_conversation_gives_the_same_bytes() {
    for conversation in sample(conversations()) {
        for format in Format::ALL {
            assert_eq!(conversation.body(format), conversation.clone().body(format));
        }
    }
}

#[test]
fn requests_of_a_conversation_are_appends_up_to_moved_marks() {
    let plain = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).ok().map(without_marks);
    let mut moved = 0;
    for conversation in sample(conversations()).into_iter().take(SAMPLE / 4) {
        for format in Format::ALL {
            let bodies = conversation.prefix_bodies(format);
            assert_eq!(bodies.last(), Some(&conversation.body(format)));
            for pair in bodies.windows(2) {
                let (Some(short), Some(long)) = (plain(&pair[0]), plain(&pair[1])) else { continue };
                let history = |body: &serde_json::Value| body[format.history_field()].as_array().unwrap().clone();
                assert!(history(&long).starts_with(&history(&short)));
                moved += usize::from(pair[0].windows(13).any(|window| window == b"cache_control"));
            }
        }
    }
    assert!(moved > 25, "{moved} requests carry marks");
}

fn without_marks(mut value: serde_json::Value) -> serde_json::Value {
    match &mut value {
        serde_json::Value::Object(members) => {
            members.remove("cache_control");
            members.values_mut().for_each(|member| *member = without_marks(member.take()));
        }
        serde_json::Value::Array(elements) => {
            elements.iter_mut().for_each(|element| *element = without_marks(element.take()))
        }
        _ => {}
    }
    value
}

#[test]
fn no_body_carries_more_than_four_marks_or_one_on_a_bad_block() {
    for body in bodies(Format::Anthropic) {
        let found = defects(Format::Anthropic, body.as_bytes()).unwrap();
        assert!(!found.iter().any(|defect| defect.contains("mark")), "{found:?} {body}");
    }
}

#[test]
fn most_conversations_are_valid_and_some_are_not() {
    for format in Format::ALL {
        let clean = bodies(format).iter().filter(|body| defects(format, body.as_bytes()).unwrap().is_empty()).count();
        assert!((SAMPLE / 3..SAMPLE * 9 / 10).contains(&clean), "{}: {clean} of {SAMPLE}", format.name());
    }
}

#[test]
fn every_kind_of_trouble_occurs() {
    let all = bodies(Format::Anthropic);
    let troubles = [
        "\\ud83d ",
        "\\r\\n",
        "<|endoftext|>",
        "[pruned from context: ",
        "[folded from context: ",
        "[lines 3-9 of 40 left out]",
        "[liveset:pin]",
        "[exit code 2]",
        "is_error",
        "redacted_thinking",
        "\"signature\"",
        "future_thing_",
        "1e2",
        "123456789012345678901234567890",
        "TodoWrite",
        "recall",
        "Request interrupted",
        "image/png",
        "\\u2028",
        "日本",
        "cache_control",
    ];
    for trouble in troubles {
        assert!(holding(&all, trouble) >= 3, "{trouble:?} is in {} of {SAMPLE} bodies", holding(&all, trouble));
    }
}

#[test]
fn results_repeat_and_are_quoted() {
    let mut repeated = 0;
    for body in bodies(Format::OpenaiChat) {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&body) else { continue };
        let texts: Vec<_> =
            value["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_str()).collect();
        let lines: Vec<Vec<&str>> =
            texts.iter().map(|text| text.lines().filter(|line| line.len() > 40).collect()).collect();
        let again =
            (1..lines.len()).any(|newer| lines[newer].iter().any(|line| lines[..newer].concat().contains(line)));
        repeated += usize::from(again);
    }
    assert!(repeated > SAMPLE / 10, "{repeated} bodies say a long line twice");
}

#[test]
fn appending_events_keeps_the_front() {
    let all: Vec<Conversation> = sample(conversations());
    for pair in all.windows(2) {
        let longer = pair[0].appended(&pair[1].events);
        assert_eq!(longer.events.len(), pair[0].events.len() + pair[1].events.len());
        assert_eq!(longer.first(pair[0].events.len()).body(Format::OpenaiChat), pair[0].body(Format::OpenaiChat));
    }
}

#[test]
fn damaged_bodies_break_pairs_and_json_and_upset_no_reader() {
    let (mut unreadable, mut defective) = (0, 0);
    for ArbitraryBody { format, body } in sample(arbitrary_bodies()) {
        match defects(format, &body) {
            Err(_) => unreadable += 1,
            Ok(found) => defective += usize::from(!found.is_empty()),
        }
    }
    assert!(unreadable > SAMPLE / 10 && defective > SAMPLE / 10, "{unreadable} unreadable, {defective} defective");
}

#[test]
fn budgets_range_from_hopeless_to_roomy() {
    let all = sample(budgets());
    assert!(
        all.iter().any(|budget| budget.window_tokens(1_000) < 150)
            && all.iter().any(|budget| budget.window_tokens(1_000) > 1_000)
    );
    for budget in all {
        assert!(
            budget.target_percent <= budget.trigger_percent
                && budget.reserve_tokens(1_000) < budget.window_tokens(1_000)
        );
    }
}
