//! Law 5: what left once leaves the same again, until a sweep is declared.

use super::outcome::Outcome;
use crate::format::Format;
use crate::oracle::view::{View, canonical};

/// Checks a growing conversation, request by request: `bodies` as the client sent them, `outcomes` as they left.
///
/// Pairs of which one cannot fit, or declares a rebase or a rewrite, are not comparable and are passed over.
///
/// # Errors
/// Says at which request which message changed without a sweep, or which sweep was forgotten.
pub fn law_prefix_stability(format: Format, bodies: &[Vec<u8>], outcomes: &[Outcome]) -> Result<(), String> {
    let pairs = bodies.windows(2).zip(outcomes.windows(2)).enumerate();
    for (place, (bodies, outcomes)) in pairs {
        let ([short, long], [first, second]) = (bodies, outcomes) else { continue };
        let at = |error: String| format!("prefix stability, request {}: {error}", place + 2);
        if !is_prefix(&history(format, short).map_err(at)?, &history(format, long).map_err(at)?) {
            return Err(at("the bodies are no appends, so the test itself is wrong".to_owned()));
        }
        if is_comparable(first) && is_comparable(second) {
            step(format, first, second).map_err(at)?;
        }
    }
    Ok(())
}

fn is_comparable(outcome: &Outcome) -> bool {
    !outcome.cannot_fit && outcome.report["rebase"].is_null() && outcome.report["client_rewrote"].is_null()
}

fn step(format: Format, first: &Outcome, second: &Outcome) -> Result<(), String> {
    let (old, new) = (first.sweep_points(), second.sweep_points());
    if !new.starts_with(&old) {
        return Err(format!("sweeps {old:?} became {new:?}: an earlier decision was forgotten"));
    }
    if new.len() > old.len() {
        return Ok(());
    }
    let (old, new) = (history(format, &first.body)?, history(format, &second.body)?);
    if is_prefix(&old, &new) {
        return Ok(());
    }
    let place = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    Err(format!("message {place} left with other bytes, and no sweep is declared since"))
}

fn is_prefix(short: &[Vec<u8>], long: &[Vec<u8>]) -> bool {
    long.starts_with(short)
}

fn history(format: Format, body: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let view = View::read(format, body)?;
    Ok(view.messages.iter().map(|message| canonical(body, &message.node)).collect())
}
