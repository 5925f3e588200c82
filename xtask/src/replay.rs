//! Does what was sent stay as it was sent? The long Claude Code traces, request by request.
//!
//! Reads traces where they lie and writes a table; decides nothing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use liveset::{Liveset, Policy, Session, WireFormat};
use liveset_engine::{json::Outline, transcript::Side, wire};
use liveset_traces::{Conversation, Trace, TraceFormat};

use crate::repository;

/// Windows at which each trace is replayed, in tokens.
const WINDOWS: [u64; 2] = [50_000, 100_000];
/// Traces with a smaller last request than this never sweep at either window.
const LONG_TOKENS: u64 = 30_000;

/// What one replay found.
#[derive(Default)]
struct Tally {
    requests: usize,
    /// Requests whose earlier items left as in the request before.
    extend: usize,
    /// Others, where the report declares a sweep, a rebase or a rewritten history.
    declared: usize,
    /// Others, undeclared: each one is a fault.
    undeclared: usize,
    sweeps: usize,
    cannot_fit: usize,
    sent: u64,
    plain: u64,
}

/// Replays every long trace at every window.
pub(crate) fn run() -> Result<ExitCode> {
    let folder = traces().join("claude-code");
    let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => {
            println!("NOT RUN: no traces at {}; set LIVESET_TRACES", folder.display());
            return Ok(ExitCode::FAILURE);
        }
    };
    files.sort();
    println!(
        "{:<38} {:>7} {:>8} {:>14} {:>8} {:>10} {:>6} {:>11} {:>11} {:>6}",
        "trace", "window", "requests", "extend exactly", "declared", "undeclared", "sweeps", "sent", "plain", "share"
    );
    let mut faults = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "jsonl")) {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let trace = Trace::read(TraceFormat::ClaudeCode, &bytes)?;
        for conversation in trace.conversations().iter().filter(|conversation| conversation.agent() == "main") {
            for window in WINDOWS {
                let tally = replay(conversation, window)?;
                if tally.plain / (tally.requests.max(1) as u64) * 2 < LONG_TOKENS {
                    continue;
                }
                print_row(file, window, &tally);
                faults += tally.undeclared;
            }
        }
    }
    println!("undeclared changes: {faults}");
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_row(file: &Path, window: u64, tally: &Tally) {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    println!(
        "{name:<38} {window:>7} {:>8} {:>12.1} % {:>8} {:>10} {:>6} {:>11} {:>11} {:>4.0} %{}",
        tally.requests,
        percent(tally.extend as u64, tally.requests as u64),
        tally.declared,
        tally.undeclared,
        tally.sweeps,
        tally.sent,
        tally.plain,
        percent(tally.sent, tally.plain),
        if tally.cannot_fit > 0 { format!("   cannot fit: {}", tally.cannot_fit) } else { String::new() }
    );
}

fn traces() -> PathBuf {
    std::env::var("LIVESET_TRACES").map_or_else(|_| repository::root().join("../shared/traces"), PathBuf::from)
}

fn replay(conversation: &Conversation, window: u64) -> Result<Tally> {
    let mut policy = Policy::default();
    policy.window = Some(window);
    let mut session: Session = Liveset::new(policy).with_format(WireFormat::Anthropic).session();
    let mut tally = Tally::default();
    let mut last: Option<Vec<Vec<u8>>> = None;
    let mut sweeps_before = 0;
    for point in conversation.requests() {
        let body = conversation.body_at(point)?;
        let compaction = session.compact(&body)?;
        let report = compaction.report();
        let items = items(compaction.body())?;
        tally.requests += 1;
        tally.plain += report.tokens.before;
        tally.sent += report.tokens.after;
        tally.cannot_fit += usize::from(!compaction.fits());
        let swept = report.sweeps.len() > sweeps_before || report.client_rewrote.is_some() || report.rebase.is_some();
        tally.sweeps += report.sweeps.len().saturating_sub(sweeps_before);
        let extends = last.as_ref().is_none_or(|last| items.len() >= last.len() && items.starts_with(last));
        match (extends, swept) {
            (true, _) => tally.extend += 1,
            (false, true) => tally.declared += 1,
            (false, false) => tally.undeclared += 1,
        }
        sweeps_before = report.sweeps.len();
        last = Some(items);
    }
    Ok(tally)
}

/// The items of a body as they leave, byte for byte.
fn items(body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let outline = Outline::read(body)?;
    let transcript = wire::read(WireFormat::Anthropic, &outline)?;
    let side = |side| if side == Side::Assistant { b'a' } else { b'o' };
    let item = |item: &liveset_engine::transcript::Item| {
        // A text may stand alone or as the only block of its message: its literal is what the model reads.
        let span = if item.texts.len() == 1 && item.call().is_none() && item.answer().is_none() {
            item.texts.first().copied().unwrap_or(item.span)
        } else {
            item.span
        };
        let mut bytes = vec![side(item.side)];
        bytes.extend_from_slice(span.of(body));
        bytes
    };
    Ok(transcript.items.iter().map(item).collect())
}
