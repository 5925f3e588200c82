//! Law 6 and 7 over many rounds: a client that sends back what it was handed, with more behind it.

use liveset_testkit::{Format, budgets, conversations};
use proptest::prelude::*;

use crate::{
    bench::Bench,
    fitted::presets,
    generated::{cases, runner},
};

/// Puts what `longer` appends to `shorter` behind `output`, which came of `shorter`; nothing if marks or edits stand in
/// the way.
fn continued(shorter: &[u8], longer: &[u8], output: &[u8]) -> Option<Vec<u8>> {
    let common = shorter.iter().zip(longer).take_while(|(old, new)| old == new).count();
    let kept = output.strip_suffix(&shorter[common..])?;
    Some([kept, &longer[common..]].concat())
}

#[test]
fn what_was_compacted_is_compacted_again_without_loss() {
    let rounds = std::cell::Cell::new(0_u32);
    let outcome =
        runner(cases() / 4 + 1).run(&(conversations(), budgets(), presets()), |(conversation, budget, preset)| {
            for format in Format::ALL {
                let bodies = conversation.prefix_bodies(format);
                let Some(last) = bodies.last() else { continue };
                let bench = Bench::of_budget(format, last, &budget, preset);
                let mut shorter = Vec::new();
                let mut output = Vec::new();
                for longer in &bodies {
                    let fed =
                        if shorter.is_empty() { Some(longer.clone()) } else { continued(&shorter, longer, &output) };
                    let Some(fed) = fed else { break };
                    let out = bench.check(&fed).map_err(TestCaseError::fail)?;
                    rounds.set(rounds.get() + u32::from(out.body != fed));
                    (shorter, output) = (fed, out.body);
                }
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(rounds.get() > cases() / 4, "rounds in which something was cut: {}", rounds.get());
}
