//! `liveset replay`: what would each strategy have sent, and what would that have cost?

use std::fmt::Write as _;

use liveset::Preset;
use liveset_engine::report::grouped;
use liveset_eval::{
    money::Prices,
    replay::{self, Plan},
    retention::Keeping,
    strategies::Choice,
};

use crate::{args::Replay, failure::Failure, input, output, picture::Paint};

/// What is compared where nobody says.
fn usual() -> Vec<Choice> {
    let ours = [Preset::Balanced, Preset::Liveness, Preset::Rules].map(Choice::Preset);
    let others = [
        Choice::Keeping(Keeping::NewestFirst),
        Choice::KeepLastThree,
        Choice::MaskAllButFive,
        Choice::ProtectAndPrune,
        Choice::SlidingWindow,
        Choice::DropOldest,
        Choice::Keeping(Keeping::HindsightBlocks),
    ];
    std::iter::once(Choice::Trace).chain(ours).chain(others).collect()
}

pub(crate) fn run(args: &Replay) -> Result<u8, Failure> {
    output::apart(&[("the trace", args.input.file.as_deref()), ("--report", args.report.as_deref())])?;
    let (name, trace) = input::trace(&args.input)?;
    let conversation = input::choose(&trace, &args.input).map_err(|failure| failure.in_file(&name))?;
    let broken = |error: &dyn std::fmt::Display| Failure::usage(error).in_file(&name);
    let histories = replay::evidence(conversation).map_err(|error| broken(&error))?;
    let prices = Prices::of(conversation.model(), args.input_price);
    let run = |strategy: &Choice, window_tokens: u64| {
        let plan = Plan { strategy, window_tokens, histories: &histories, prices: &prices };
        let told = |done: usize, all: usize| progress(&strategy.name(), done, all);
        let found = replay::run(conversation, &plan, told).map_err(|error| broken(&error));
        progress_ends();
        found
    };
    let window = match args.window {
        Some(window) => window,
        None => {
            let plain = run(&Choice::Trace, u64::MAX)?;
            plain.requests.iter().map(|request| request.before_tokens).max().unwrap_or(0) / 2
        }
    };
    let strategies = if args.strategy.is_empty() { usual() } else { args.strategy.clone() };
    let replays = strategies.iter().map(|strategy| run(strategy, window)).collect::<Result<Vec<_>, _>>()?;
    if let Some(report) = &args.report {
        let json = serde_json::to_string_pretty(&replays).map_err(Failure::usage)?;
        output::bytes(Some(report), (json + "\n").as_bytes())?;
    }
    let paint = Paint::of(output::colour(output::output_is_terminal()));
    output::text(&table(&replays, window, &prices, paint))?;
    Ok(0)
}

/// Says on a terminal how far a replay is.
fn progress(strategy: &str, done: usize, all: usize) {
    if output::error_is_terminal() {
        output::note(&format!("\r{strategy}: request {done} of {all}\x1b[K"));
    }
}

fn progress_ends() {
    if output::error_is_terminal() {
        output::note("\r\x1b[K");
    }
}

fn table(replays: &[replay::Replay], window: u64, prices: &Prices, paint: Paint) -> String {
    let requests = replays.first().map_or(0, |replay| replay.requests.len());
    let mut out = format!("{requests} requests, window {} tokens", grouped(window));
    let _ = match (prices.dollars, &prices.date) {
        (Some(dollars), Some(date)) => writeln!(out, ", {dollars} $ a million tokens of plain input on {date}\n"),
        (Some(dollars), None) => writeln!(out, ", {dollars} $ a million tokens of plain input\n"),
        (None, _) => writeln!(out, ", price in tokens of plain input\n"),
    };
    let head = format!(
        "{:<18} {:>11} {:>6} {:>7} {:>7} {:>6} {:>12} {:>6} {:>6} {:>6} {:>6} {:>9} {:>8}",
        "strategy",
        "sent",
        "of all",
        "extend",
        "changes",
        "over",
        "price",
        "quoted",
        "whole",
        "values",
        "at cut",
        "re-reads",
        "ms"
    );
    let _ = writeln!(out, "{}", paint.bold(&head));
    for replay in replays {
        let _ = writeln!(out, "{}", row(replay));
    }
    out.push_str(NOTES);
    out
}

const NOTES: &str = "\n\
    extend: requests that extend the one before; changes: the others that the trace's own client did not cause\n\
    over: requests over the window; price: with a warm cache\n\
    quoted, values: share of what the agent used that stood in its request; whole: messages with all of theirs\n\
    at cut: share of what was wanted after 40, 60 and 80 % of the messages that the request there held\n\
    re-reads: results that repeat what had been cut / what was still there\n";

fn row(replay: &replay::Replay) -> String {
    let share = |value: Option<f64>| value.map_or("-".to_owned(), |share| format!("{:.1}", share * 100.0));
    let percent = |part: u64, of: u64| format!("{:.0} %", 100.0 * part as f64 / of.max(1) as f64);
    let changes = replay.requests.iter().filter(|request| request.is_change).count();
    let price =
        replay.dollars.map_or_else(|| format!("{:.0}", replay.price_tokens), |dollars| format!("{dollars:.3} $"));
    let served = &replay.served;
    format!(
        "{:<18} {:>11} {:>6} {:>7} {changes:>7} {:>6} {price:>12} {:>6} {:>6} {:>6} {:>6} {:>9} {:>8.2}",
        replay.strategy,
        grouped(replay.sent_tokens),
        percent(replay.sent_tokens, replay.before_tokens),
        percent(replay.extending as u64, replay.requests.len() as u64),
        replay.over_window,
        share(served.quoted),
        share(served.messages),
        share(served.values),
        share(served.quoted_at_cuts),
        format!("{} / {}", served.rereads_of_cut, served.rereads_in_view),
        replay.latency_ms,
    )
}
