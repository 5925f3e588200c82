//! Laws over whole runs: identity, determinism, idempotence, recoverability, bounds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outcome::Outcome;

/// The largest step by which the fixed part may be charged too high for the trigger.
const MAX_CHARGE_STEP: u64 = 2_048;
/// The fixed part is charged in steps of this share of the window.
const CHARGE_STEPS_PER_WINDOW: u64 = 64;
/// Length that one line of an error stays under.
const MAX_ERROR_CHARS: usize = 400;

/// One way to run the product over a body.
pub type Run<'r> = dyn Fn(&[u8]) -> Outcome + 'r;

/// Checks law 1: nothing over a limit, so nothing changed; and the run's word for it is true.
///
/// # Errors
/// Says what changed, or where the report and the bytes disagree.
pub fn law_identity(input: &[u8], outcome: &Outcome) -> Result<(), String> {
    let is_same = outcome.body == input;
    let tokens = |name: &str| outcome.report["tokens"][name].as_u64().unwrap_or(0);
    let step = MAX_CHARGE_STEP.min(tokens("window") / CHARGE_STEPS_PER_WINDOW);
    let is_under = outcome.tokens_before.saturating_add(step) <= tokens("trigger");
    // A result over a limit of intake is over a limit too; intake's edits name no step of a sweep.
    let edits = outcome.report["edits"].as_array().filter(|edits| !edits.is_empty());
    let is_intake = input.len() > outcome.intake_chars
        && edits.is_some_and(|edits| edits.iter().all(|edit| edit["step"].is_null()));
    if is_under && !is_same && !is_intake {
        return Err(format!("identity: {} tokens are under the trigger, yet the body changed", outcome.tokens_before));
    }
    if outcome.unchanged && !is_same {
        return Err("identity: reported as unchanged, yet the body changed".to_owned());
    }
    let is_claimed = outcome.unchanged || outcome.cannot_fit;
    if is_same && !is_claimed { Err("identity: same bytes, yet reported as compacted".to_owned()) } else { Ok(()) }
}

/// Checks law 4: all the ways to run it (fresh, warm, in another thread) give the same.
///
/// # Errors
/// Says which run differs in body or report.
pub fn law_determinism(input: &[u8], runs: &[&Run<'_>]) -> Result<(), String> {
    let mut outcomes = runs.iter().map(|run| run(input));
    let Some(first) = outcomes.next() else { return Ok(()) };
    for (place, other) in outcomes.enumerate() {
        if other.body != first.body {
            return Err(format!("determinism: run {} gives other bytes than the first", place + 2));
        }
        if other.report != first.report {
            return Err(format!("determinism: run {} gives another report than the first", place + 2));
        }
    }
    Ok(())
}

/// Checks law 6: a second run over the output changes nothing.
///
/// # Errors
/// Says where the second output departs.
pub fn law_idempotence(outcome: &Outcome, run: impl Fn(&[u8]) -> Outcome) -> Result<(), String> {
    let again = run(&outcome.body).body;
    if again == outcome.body {
        return Ok(());
    }
    let at = again.iter().zip(&outcome.body).take_while(|(a, b)| a == b).count();
    Err(format!("idempotence: the second run differs from byte {at} on"))
}

/// Checks law 7: the output is restored to the input, and every archived original can be recalled.
///
/// `restore` reads the archive and gives the original body; `recall` gives the original of one archive id.
///
/// # Errors
/// Says which bytes or which id are lost.
pub fn law_recoverability(
    input: &[u8],
    outcome: &Outcome,
    restore: impl Fn(&[u8]) -> Result<Vec<u8>, String>,
    recall: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<(), String> {
    let restored = restore(&outcome.body).map_err(|error| format!("recoverability: restore failed: {error}"))?;
    if restored != input {
        let at = restored.iter().zip(input).take_while(|(a, b)| a == b).count();
        return Err(format!("recoverability: the restored body differs from byte {at} on"));
    }
    for id in outcome.edits().into_iter().filter_map(|edit| edit.archive_id) {
        if recall(&id).is_none_or(|original| original.is_empty()) {
            return Err(format!("recoverability: nothing comes back for archive id {id}"));
        }
    }
    Ok(())
}

/// Times its input's bytes that an output may have: a small multiple, as law 12 has it.
const MAX_GROWTH: usize = 2;

/// Checks law 12 as far as a test may: no panic on any bytes, and an error is one short line without the user's text.
///
/// # Errors
/// Says what went wrong; time and memory are measured by benchmarks.
pub fn law_bounded(input: &[u8], run: impl Fn(&[u8]) -> Result<Outcome, String>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(|| run(input))) {
        Err(_) => Err("bounded: it panicked".to_owned()),
        // Size is a matter of tokens (law 10): a tombstone may be longer in bytes than dense text worth more tokens.
        Ok(Ok(outcome)) if outcome.body.len() > input.len().saturating_mul(MAX_GROWTH) => {
            Err(format!("bounded: {} bytes became {}", input.len(), outcome.body.len()))
        }
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) if error.contains('\n') || error.chars().count() > MAX_ERROR_CHARS => {
            Err(format!("bounded: the error is not one short line: {error:?}"))
        }
        Ok(Err(error)) => no_user_text(input, &error),
    }
}

/// An error may name fields and places; a run of six words of the body is the user's content.
fn no_user_text(input: &[u8], error: &str) -> Result<(), String> {
    let body = String::from_utf8_lossy(input);
    let words: Vec<_> = error.split(' ').collect();
    let leak = words.windows(6).map(|run| run.join(" ")).find(|run| body.contains(run.as_str()));
    leak.map_or(Ok(()), |run| Err(format!("bounded: the error quotes the body: {run:?}")))
}
