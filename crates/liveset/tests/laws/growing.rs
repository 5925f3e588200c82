//! Law 5: what was sent stays as it was sent, while a conversation grows, is interrupted, or is rewritten.

use liveset::Preset;
use liveset_testkit::{Conversation, Event, Format, budgets, conversations, laws};
use proptest::prelude::*;

use crate::{
    bench::Bench,
    fitted::presets,
    generated::{cases, runner},
};

fn stays_as_sent(format: Format) {
    let outcome =
        runner(cases() / 4 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            let bodies = conversation.prefix_bodies(format);
            let growth = check_growth(format, &bodies, &budget, preset).map_err(TestCaseError::fail)?;
            prop_assert!(growth == Growth::Checked || bodies.is_empty(), "generated bodies append");
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// A fresh call and a session give the same bytes at each turn, and each turn keeps what the one before sent.
fn check_growth(
    format: Format,
    bodies: &[Vec<u8>],
    budget: &liveset_testkit::Budget,
    preset: Preset,
) -> Result<Growth, String> {
    let Some(last) = bodies.last() else { return Ok(Growth::NoAppend) };
    let bench = Bench::of_budget(format, last, budget, preset);
    let mut session = bench.liveset.session();
    let mut outcomes = Vec::with_capacity(bodies.len());
    for body in bodies {
        let fresh = bench.run(body);
        let turn = bench.turn(&mut session, body);
        // An append is nothing to declare, also where cache marks moved along; so the whole reports are the same.
        if fresh.body != turn.body || fresh.report != turn.report {
            return Err(format!("a session's turn differs from a fresh call: {} for {}", turn.report, fresh.report));
        }
        // Each turn stores only what it cuts anew, and every turn comes back whole.
        if turn.body != *body && !bench.liveset.restore(&turn.body).is_ok_and(|input| input == *body) {
            return Err("a turn's output is not restored to its input".to_owned());
        }
        outcomes.push(turn);
    }
    match laws::law_prefix_stability(format, bodies, &outcomes) {
        // Some clients fold new words into the message before: then no message is appended, and nothing is claimed.
        Err(error) if error.contains("the bodies are no appends") => Ok(Growth::NoAppend),
        Err(error) => Err(error),
        Ok(()) => Ok(Growth::Checked),
    }
}

/// Whether a pair of bodies could be compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    Checked,
    NoAppend,
}

#[test]
fn appended_anthropic_items_leave_earlier_ones_alone() {
    stays_as_sent(Format::Anthropic);
}

#[test]
fn appended_openai_chat_items_leave_earlier_ones_alone() {
    stays_as_sent(Format::OpenaiChat);
}

#[test]
fn appended_openai_responses_items_leave_earlier_ones_alone() {
    stays_as_sent(Format::OpenaiResponses);
}

/// Cuts a conversation in its middle and goes on with the user's next words.
fn interrupted(conversation: &Conversation, at: usize) -> Option<Conversation> {
    let user = conversation.events.iter().find(|event| matches!(event, Event::User(_)))?.clone();
    Some(conversation.first(at).appended(&[user]))
}

#[test]
fn a_cancelled_reply_or_batch_followed_by_new_words_leaves_earlier_items_alone() {
    let strategy = (conversations(), budgets(), presets(), 0_usize..40);
    let checked = std::cell::Cell::new(0_u32);
    let outcome = runner(cases() / 4 + 1).run(&strategy, |(conversation, budget, preset, at)| {
        let at = at.min(conversation.events.len());
        let Some(later) = interrupted(&conversation, at) else { return Ok(()) };
        for format in Format::ALL {
            let bodies = [conversation.first(at).body(format), later.body(format)];
            let growth = check_growth(format, &bodies, &budget, preset).map_err(TestCaseError::fail)?;
            checked.set(checked.get() + u32::from(growth == Growth::Checked));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(checked.get() > cases() / 4, "most interruptions append");
}

#[test]
fn changed_tools_are_a_declared_rebase_and_a_changed_history_is_said_where() {
    let head = r#"{"model":"gpt-4.1","tools":[{"name":"TOOL","input_schema":{}}],"messages":["#;
    let body = |tool: &str, first: &str| {
        format!(
            r#"{}{{"role":"user","content":"{first}"}},{{"role":"assistant","content":"yes"}},{{"role":"user","content":"go on"}}]}}"#,
            head.replace("TOOL", tool)
        )
        .into_bytes()
    };
    let mut policy = liveset::Policy::default();
    policy.window = Some(10_000);
    let bench = Bench::new(Format::Anthropic, policy);
    let mut session = bench.liveset.session();
    bench.turn(&mut session, &body("a", "hi"));
    let same = bench.turn(&mut session, &body("a", "hi"));
    assert!(same.report["rebase"].is_null() && same.report["client_rewrote"].is_null());
    assert_eq!(bench.turn(&mut session, &body("b", "hi")).report["rebase"]["cause"], "tools");
    assert_eq!(bench.turn(&mut session, &body("b", "ho")).report["client_rewrote"]["item"], 0);
}
