//! Law 5 where more changes than the end: tools, system text, the history itself, a broken request in between.

use liveset::Preset;
use liveset_testkit::{Conversation, Event, Format, Part, System, UserMessage, budgets, conversations};
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    bench::Bench,
    fitted::presets,
    generated::{cases, runner},
};

/// Runs a shorter body, then `changed`, then `changed` again; gives the second report.
fn after_change(
    format: Format,
    before: &[u8],
    changed: &[u8],
    budget: &liveset_testkit::Budget,
    preset: Preset,
) -> Result<Value, String> {
    let bench = Bench::of_budget(format, changed, budget, preset);
    let mut session = bench.liveset.session();
    bench.turn(&mut session, before);
    let turn = bench.turn(&mut session, changed);
    if turn.body != bench.run(changed).body {
        return Err("a session's turn after a change differs from a fresh call".to_owned());
    }
    let again = bench.turn(&mut session, changed);
    if again.body != turn.body || !is_quiet(&again.report) {
        return Err("the turn after a change does not stand on it".to_owned());
    }
    Ok(turn.report)
}

fn is_quiet(report: &Value) -> bool {
    report["rebase"].is_null() && report["client_rewrote"].is_null()
}

/// A change to a conversation, and what the report must say of it.
fn check_change(of: impl Fn(&Conversation) -> Option<Conversation>, said: impl Fn(&Value) -> bool) {
    let changes = std::cell::Cell::new(0_u32);
    let outcome =
        runner(cases() / 8 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            let Some(changed) = of(&conversation) else { return Ok(()) };
            for format in Format::ALL {
                let points = conversation.request_points();
                let Some(&point) = points.get(points.len() / 2) else { return Ok(()) };
                let before = conversation.first(point).body(format);
                let report = after_change(format, &before, &changed.body(format), &budget, preset)
                    .map_err(TestCaseError::fail)?;
                prop_assert!(said(&report), "rebase {}, client_rewrote {}", report["rebase"], report["client_rewrote"]);
                changes.set(changes.get() + 1);
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(changes.get() > cases() / 8, "changes that were looked at: {}", changes.get());
}

#[test]
fn changed_tools_are_a_declared_rebase() {
    let with_other_tools = |conversation: &Conversation| {
        let mut changed = conversation.clone();
        changed.tools =
            if changed.tools.len() == 1 { Vec::new() } else { changed.tools.first().copied().into_iter().collect() };
        (changed.tools != conversation.tools).then_some(changed)
    };
    check_change(with_other_tools, |report| report["rebase"]["cause"] == "tools" && report["client_rewrote"].is_null());
}

#[test]
fn a_changed_system_text_is_a_declared_rebase() {
    let with_other_system = |conversation: &Conversation| {
        let mut changed = conversation.clone();
        match &mut changed.system {
            System::Absent => return None,
            System::Text(text) => text.push_str(" Today is another day."),
            System::Blocks(texts) => texts.last_mut()?.push_str(" Today is another day."),
        }
        Some(changed)
    };
    check_change(with_other_system, |report| {
        report["rebase"]["cause"] == "system" && report["client_rewrote"].is_null()
    });
}

#[test]
fn a_rewritten_history_is_said_with_its_place() {
    let with_other_words = |conversation: &Conversation| {
        let mut changed = conversation.clone();
        let Some(Event::User(UserMessage { parts, .. })) = changed.events.first_mut() else { return None };
        let Some(Part::Text(text)) = parts.first_mut() else { return None };
        text.insert_str(0, "Said otherwise: ");
        Some(changed)
    };
    check_change(with_other_words, |report| {
        let rewrote = &report["client_rewrote"];
        report["rebase"].is_null()
            && rewrote["first_changed"].as_u64() <= rewrote["item"].as_u64()
            && rewrote["item"].is_u64()
    });
}

#[test]
fn a_broken_request_leaves_a_session_where_it_stood() {
    let outcome =
        runner(cases() / 8 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            for format in Format::ALL {
                let bodies = conversation.prefix_bodies(format);
                let (Some(first), Some(last)) = (bodies.first(), bodies.last()) else { return Ok(()) };
                let bench = Bench::of_budget(format, last, &budget, preset);
                let mut session = bench.liveset.session();
                bench.turn(&mut session, first);
                prop_assert!(session.compact(&last[..last.len() / 2]).is_err());
                let turn = bench.turn(&mut session, last);
                prop_assert!(is_quiet(&turn.report) && turn.body == bench.run(last).body);
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
