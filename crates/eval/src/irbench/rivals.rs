//! What do simple rules leave that others ship? Clearing all but the newest results, masking, protect and minimum, and any
//! command.
//!
//! Calls and texts stay; a result that goes leaves one constant line.

use std::{
    io::{self, Write as _},
    process::{Command, Stdio},
};

use super::{
    body,
    condition::Ratio,
    operator::Moment,
    trajectory::{Call, Unit, messages_tokens},
};

/// What is left of a cleared result.
const CLEARED: &str = "[Old tool result content cleared]";

/// Keeps the newest results that fit, with all calls and texts.
pub(super) fn keep_last(moment: Moment<'_>, ratio: Ratio) -> Vec<Unit> {
    let (units, budget) = (moment.trajectory.units(), ratio.of(moment.trajectory.tokens()));
    let results: usize = units.iter().map(|unit| unit.calls.len()).sum();
    let size = |kept: usize| cleared(moment, kept).iter().map(|unit| unit.tokens).sum::<u64>();
    // The newest unit's results always stay, as with every other operator.
    let least = units.last().map_or(0, |unit| unit.calls.len());
    let (mut fits, mut over) = (least, results + 1);
    while over - fits > 1 {
        let middle = usize::midpoint(fits, over);
        if size(middle) <= budget { fits = middle } else { over = middle }
    }
    cleared(moment, fits)
}

/// Clears all but so many of the newest results.
pub(super) fn cleared(moment: Moment<'_>, kept: usize) -> Vec<Unit> {
    let mut left = kept;
    let mut units: Vec<Unit> = Vec::new();
    for unit in moment.trajectory.units().iter().rev() {
        let stay = left.min(unit.calls.len());
        left -= stay;
        let first_kept = unit.calls.len() - stay;
        units.push(with_cleared(moment, unit, |at| at < first_kept));
    }
    units.reverse();
    units
}

/// Clears the results of all but so many of the newest units.
pub(super) fn masked(moment: Moment<'_>, kept: usize) -> Vec<Unit> {
    let units = moment.trajectory.units();
    let first_kept = units.len().saturating_sub(kept);
    let of = |(at, unit): (usize, &Unit)| with_cleared(moment, unit, |_| at < first_kept);
    units.iter().enumerate().map(of).collect()
}

/// Clears results behind as many of the newest tokens as the budget, where half as many more are to be had.
pub(super) fn protected(moment: Moment<'_>, ratio: Ratio) -> Vec<Unit> {
    let budget = ratio.of(moment.trajectory.tokens());
    let (mut seen, mut to_clear) = (0, 0);
    let mut kept = 0;
    for call in moment.trajectory.units().iter().rev().flat_map(|unit| unit.calls.iter().rev()) {
        let tokens = messages_tokens(moment.trajectory.format(), &body::message("user", &call.answer));
        seen += tokens;
        if seen <= budget { kept += 1 } else { to_clear += tokens }
    }
    if to_clear < budget / 2 {
        return moment.trajectory.units().to_vec();
    }
    cleared(moment, kept)
}

fn with_cleared(moment: Moment<'_>, unit: &Unit, is_cleared: impl Fn(usize) -> bool) -> Unit {
    let clear = |(at, call): (usize, &Call)| match is_cleared(at) {
        true => Call { answer: CLEARED.to_owned(), ..call.clone() },
        false => call.clone(),
    };
    let calls: Vec<Call> = unit.calls.iter().enumerate().map(clear).collect();
    if calls == unit.calls {
        return unit.clone();
    }
    let format = moment.trajectory.format();
    let wire = body::unit(format, unit.turn, &unit.prose, &calls);
    let tokens = messages_tokens(format, &wire);
    Unit { turn: unit.turn, prose: unit.prose.clone(), calls, wire, tokens }
}

/// Hands a body to a command and takes what it writes; the budget stands in its environment.
pub(super) fn command(line: &str, body: &[u8], budget: u64) -> io::Result<Vec<u8>> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("LIVESET_EVAL_BUDGET_TOKENS", budget.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let body = body.to_vec();
        // Written beside the reading: a body may be larger than a pipe.
        std::thread::spawn(move || stdin.write_all(&body));
    }
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(output.stdout) } else { Err(io::Error::other("the command failed")) }
}
