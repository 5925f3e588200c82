//! Does any body under any policy make a compaction panic, or hand out what is unlawful, larger, or has no way back?
//!
//! An input is a body, then perhaps [`BORDER`] and the bytes that choose the settings. One that opens with [`GENERATED`]
//! holds no body: the bytes up to the border are the seed of the test kit's generator, and more of its checks apply.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use liveset::{Compaction, Liveset, MemoryArchive, Policy, Thoroughness, WireFormat};
use liveset_engine::json::Outline;
use liveset_engine::validate::{self, Epoch};
use liveset_testkit::laws::{Outcome, law_fidelity, law_no_invention, law_validity};
use liveset_testkit::{Conversation, Format, conversations};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Stands before the settings; no valid UTF-8 holds it.
const BORDER: u8 = 0xff;
/// Opens an input that is made into a body by the generator; no valid UTF-8 holds it.
const GENERATED: u8 = 0xfe;
/// A window that nothing passes.
const NO_LIMIT: u64 = u64::MAX >> 8;
/// Counted exactly, so that a recount is the same in any surroundings.
const EXACT: &str = "gpt-4.1";
/// Counted by an estimator.
const ESTIMATED: &str = "claude-sonnet-4-5";

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == BORDER);
    let (body, settings) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut choices = Choices(settings);
    let format = choices.format();
    match body.split_first() {
        Some((&GENERATED, seed)) => {
            let Some(conversation) = generated(seed) else { return };
            let format = Format::ALL[(choices.next() % 3) as usize];
            let body = conversation.body(format);
            if let Some(outcome) = check(Some(wire(format)), &body, choices) {
                law_fidelity(format, &body, &outcome).expect("fidelity");
                law_no_invention(format, &body, &outcome).expect("no invention");
            }
        }
        // The test kit reads fewer kinds of item than the engine, so the laws that ask which they are stay away.
        _ => drop(check(format, body, choices)),
    }
});

/// Settings by the bytes of the input; where there are none left, zero.
struct Choices<'i>(&'i [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u64 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        u64::from(first)
    }

    /// The format, or none where it is to be found by shape.
    fn format(&mut self) -> Option<WireFormat> {
        WireFormat::ALL.get((self.next() % 4).wrapping_sub(1) as usize).copied()
    }

    /// A policy whose window is about a share of `tokens`: half of it where nothing is chosen.
    fn policy(&mut self, tokens: u64) -> Policy {
        let mut policy = Policy::default();
        // A window of 2 to 130 percent of the body.
        let window = (tokens * ((self.next() + 124) % 256 + 4) / 256).max(1);
        policy.window = Some(window);
        policy.reserve = Some(window * (self.next() % 64) / 100);
        policy.trigger = 92 - (self.next() % 92) as u32;
        policy.target = (60 - (self.next() % 60) as u32).min(policy.trigger);
        policy.min_gain = [32, 0, 1, 200][(self.next() % 4) as usize];
        policy.min_sweep_gain = [5, 0, 50][(self.next() % 3) as usize];
        policy.keep_media = [2, 0, 1][(self.next() % 3) as usize];
        policy.max_result_chars = [100_000, 2_000][(self.next() % 2) as usize];
        policy.pins = String::from_utf8(self.0.to_vec()).ok().filter(|id| !id.is_empty()).into_iter().collect();
        policy
    }
}

/// Makes a conversation from a seed. (A generator that draws the bytes themselves stops for good where they end.)
fn generated(seed: &[u8]) -> Option<Conversation> {
    let mut key = [0; 32];
    for (place, byte) in seed.iter().enumerate() {
        key[place % key.len()] ^= byte.rotate_left((place / key.len()) as u32);
    }
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    conversations().new_tree(&mut runner).ok().map(|tree| tree.current())
}

fn wire(format: Format) -> WireFormat {
    WireFormat::ALL.into_iter().find(|wire| wire.name() == format.name()).expect("both name the same formats")
}

fn compactor(policy: Policy, format: Option<WireFormat>, model: &str) -> Liveset {
    let liveset = Liveset::new(policy).with_model(model).with_thoroughness(Thoroughness::Whole);
    format.into_iter().fold(liveset, Liveset::with_format)
}

/// Runs a body; gives what came out where it differs.
fn check(format: Option<WireFormat>, body: &[u8], mut choices: Choices<'_>) -> Option<Outcome> {
    let model = [EXACT, ESTIMATED][(choices.next() % 2) as usize];
    let mut unlimited = Policy::default();
    unlimited.window = Some(NO_LIMIT);
    unlimited.max_result_chars_unarchived = u64::MAX;
    let counter = compactor(unlimited, format, model);
    let tokens = match counter.compact(body) {
        Ok(same) => {
            assert_eq!(same.body(), body, "nothing is over a limit");
            same.report().tokens.before
        }
        Err(error) => {
            assert!(!error.to_string().contains('\n'));
            return None;
        }
    };
    let liveset = compactor(choices.policy(tokens), format, model).with_archive(Arc::new(MemoryArchive::new()));
    let compaction = liveset.compact(body).expect("the same body was read before");
    let warnings = &compaction.report().warnings;
    assert!(warnings.iter().all(|warning| warning.code != "verify_failed"), "{warnings:?}");
    let recount = |body: &[u8]| counter.compact(body).expect("an output reads").report().tokens.before;
    assert_eq!(compaction.report().tokens.after, recount(compaction.body()), "honest size");
    assert!(compaction.report().tokens.after <= tokens, "never worse");
    let in_session = liveset.session().compact(body).expect("a session reads what a call reads").into_body();
    assert!(in_session == compaction.body(), "a session decides nothing");
    if compaction.body() == body {
        return None;
    }
    assert!(liveset.restore(compaction.body()).expect("the archive holds it") == body, "restore");
    comes_to_rest(&liveset, &compaction);
    Some(lawful(body, &compaction))
}

/// Both readings of the provider's rules, which share nothing, find no new defect.
fn lawful(body: &[u8], compaction: &Compaction<'_>) -> Outcome {
    let report = compaction.report();
    let (before, after) = (Outline::read(body), Outline::read(compaction.body()));
    let (before, after) = (before.expect("it was read before"), after.expect("an output is JSON"));
    let found = validate::check_against(report.format, &before, &after, Epoch::Declared);
    let new = validate::new_defects(&validate::check(report.format, &before), &found);
    assert!(new.is_empty(), "new defects: {new:?}");
    let format = Format::ALL.into_iter().find(|format| format.name() == report.format.name());
    let format = format.expect("both name the same formats");
    let report = serde_json::from_str(&report.to_json()).expect("a report is JSON");
    let outcome = Outcome::from_report(compaction.body().to_vec(), report);
    law_validity(format, body, &outcome).expect("validity");
    outcome
}

/// A body that leaves at or under the trigger is compacted to itself.
fn comes_to_rest(liveset: &Liveset, compaction: &Compaction<'_>) {
    let tokens = &compaction.report().tokens;
    if compaction.fits() && tokens.after <= tokens.trigger {
        let again = liveset.compact(compaction.body()).expect("an output reads").into_body();
        assert!(again == compaction.body(), "the second run changes the body");
    }
}
