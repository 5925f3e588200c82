//! Session events: what one request told is replayed to the same bytes, and changes nothing that was sent before.

use liveset::{Session, SessionEvent};
use liveset_testkit::{Budget, Format, budgets, conversations, laws};
use proptest::prelude::*;

use crate::{
    bench::Bench,
    fitted::presets,
    generated::{cases, runner},
};

/// A turn whose request told something, counted from 0, and what.
#[derive(Clone, Copy, Debug)]
struct Told {
    turn: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The model refused the body, and took three quarters of the window.
    TooLong,
    /// The cache was cold when the request came.
    Cold,
}

fn event(bench: &Bench, budget: &Budget, tokens: u64, body: &[u8], kind: Kind) -> Option<SessionEvent> {
    let items = bench.liveset.inspect(body).ok()?.items.len();
    let newest = u32::try_from(items.checked_sub(1)?).ok()?;
    Some(match kind {
        Kind::TooLong => SessionEvent::too_long(newest, (budget.window_tokens(tokens) * 3 / 4).max(2)),
        Kind::Cold => SessionEvent::cache_cold(newest),
    })
}

/// A turn of the session is what a call without memory gives that is handed the same events.
fn turn(bench: &Bench, session: &mut Session, body: &[u8]) -> Result<laws::Outcome, String> {
    let mut anew = bench.clone();
    anew.liveset = anew.liveset.with_events(session.events().to_vec());
    let (fresh, turn) = (anew.run(body), bench.turn(session, body));
    if fresh.body != turn.body || fresh.report["edits"] != turn.report["edits"] {
        return Err(format!("events are not replayed: {} for {}", turn.report, fresh.report));
    }
    Ok(turn)
}

/// Runs a conversation turn by turn; gives how many sweeps an event brought about.
fn check(format: Format, bodies: &[Vec<u8>], bench: &Bench, told: Told, budget: &Budget) -> Result<u32, String> {
    let tokens = bodies.last().map_or(0, |last| crate::bench::size(format, last));
    let mut session = bench.liveset.session();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut brought = 0;
    for (at, body) in bodies.iter().enumerate() {
        if at != told.turn {
            let list = if at < told.turn { &mut before } else { &mut after };
            list.push((body.clone(), turn(bench, &mut session, body)?));
            continue;
        }
        let told_nothing = match told.kind {
            // The request went out, came back, and goes out again.
            Kind::TooLong => turn(bench, &mut session, body)?,
            Kind::Cold => bench.run(body),
        };
        if let Some(event) = event(bench, budget, tokens, body, told.kind) {
            session.note(event);
        }
        let now = turn(bench, &mut session, body)?;
        let sweeps = |outcome: &laws::Outcome| outcome.report["sweeps"].as_array().map_or(0, Vec::len);
        brought += u32::from(sweeps(&now) > sweeps(&told_nothing));
        before.push((body.clone(), told_nothing));
        after.push((body.clone(), now));
    }
    for part in [before, after] {
        let (bodies, outcomes): (Vec<Vec<u8>>, Vec<laws::Outcome>) = part.into_iter().unzip();
        match laws::law_prefix_stability(format, &bodies, &outcomes) {
            Err(error) if !error.contains("the bodies are no appends") => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(brought)
}

#[test]
fn what_a_request_told_is_replayed_to_the_same_bytes() {
    let kinds = prop::sample::select(vec![Kind::TooLong, Kind::Cold]);
    let told = (0_usize..12, kinds).prop_map(|(turn, kind)| Told { turn, kind });
    let strategy = (conversations(), budgets(), presets(), prop::sample::select(Format::ALL.to_vec()), told);
    let brought = std::cell::Cell::new(0_u32);
    let outcome = runner(cases() / 2 + 1).run(&strategy, |(conversation, budget, preset, format, told)| {
        let bodies = conversation.prefix_bodies(format);
        let Some(last) = bodies.last() else { return Ok(()) };
        let bench = Bench::of_budget(format, last, &budget, preset);
        let sweeps = check(format, &bodies, &bench, told, &budget).map_err(TestCaseError::fail)?;
        brought.set(brought.get() + sweeps);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(brought.get() > 0, "some event brings about a sweep");
}
