//! The laws under other settings: estimated counts, pins by id, no archive.

use liveset::{ArgumentRules, Liveset, Preset, RecallRoute, SummaryKind};
use liveset_testkit::{Event, Format, budgets, conversations};
use proptest::prelude::*;

use crate::{
    bench::{Bench, MODEL, size, size_for, wire},
    fitted::{policy_of, presets},
    generated::{cases, runner},
};

/// A model whose vocabulary is not public.
const ESTIMATED: &str = "claude-sonnet-4-5";

#[test]
fn every_law_holds_where_sizes_are_estimated() {
    let outcome =
        runner(cases() / 4 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            for format in Format::ALL {
                let body = conversation.body(format);
                let policy = policy_of(size_for(ESTIMATED, format, &body), &budget, preset);
                let out = Bench::for_model(format, policy, ESTIMATED).check(&body).map_err(TestCaseError::fail)?;
                prop_assert_eq!(&out.report["tokens"]["exact"], false);
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_result_pinned_by_its_id_is_never_touched() {
    let held = std::cell::Cell::new(0_u32);
    let strategy = (conversations(), budgets(), presets(), any::<prop::sample::Index>());
    let outcome = runner(cases() / 4 + 1).run(&strategy, |(conversation, budget, preset, which)| {
        let results = conversation.events.iter().flat_map(|event| match event {
            Event::Results(batch) => batch.results.clone(),
            Event::User(_) | Event::Assistant(_) => Vec::new(),
        });
        let ids: Vec<String> = results.map(|result| result.call_id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for format in Format::ALL {
            let body = conversation.body(format);
            let mut policy = policy_of(size(format, &body), &budget, preset);
            policy.pins = vec![which.get(&ids).clone()];
            let out = Bench::new(format, policy).check(&body).map_err(TestCaseError::fail)?;
            held.set(held.get() + u32::from(out.body != body));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(held.get() > cases() / 8, "bodies that were cut around a pin: {}", held.get());
}

#[test]
fn without_argument_rules_no_argument_is_touched() {
    let outcome = runner(cases() / 4 + 1).run(&(conversations(), budgets()), |(conversation, budget)| {
        for format in Format::ALL {
            let body = conversation.body(format);
            let mut policy = policy_of(size(format, &body), &budget, Preset::Balanced);
            policy.args = ArgumentRules::Off;
            let out = Bench::new(format, policy).check(&body).map_err(TestCaseError::fail)?;
            let edits = out.report["edits"].as_array().cloned().unwrap_or_default();
            prop_assert!(edits.iter().all(|edit| edit["kind"] != "rule"));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn without_an_archive_the_same_bytes_leave() {
    // Only the hard limit of intake knows of the archive, and no generated result comes near it.
    let outcome =
        runner(cases() / 4 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            for format in Format::ALL {
                let body = conversation.body(format);
                let mut policy = policy_of(size(format, &body), &budget, preset);
                policy.recall_route = RecallRoute::None;
                // A model's words are kept in an archive, or not asked for.
                if policy.summary.kind == SummaryKind::Model {
                    policy.summary.kind = SummaryKind::Extractive;
                }
                let without = Liveset::new(policy.clone()).with_format(wire(format)).with_model(MODEL);
                let without = without.compact(&body).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert!(without.body() == Bench::new(format, policy).run(&body).body);
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
