//! Does what was sent stay as it was sent? Real traces, request by request.
//!
//! Reads traces where they lie and writes a table; decides nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use liveset::{Liveset, Policy, Preset, Session, WireFormat};
use liveset_engine::{json::Outline, transcript::Side, wire};
use liveset_traces::{Conversation, Detection, Trace, TraceFormat, detect};

use crate::repository;

/// Windows at which each trace is replayed, in tokens.
const WINDOWS: [u64; 2] = [50_000, 100_000];
/// Shares of a trace's largest request, in percent, at which presets are compared.
const SHARES: [u64; 2] = [60, 30];
/// No request comes near this window.
const UNLIMITED: u64 = 1 << 40;
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
    /// Requests over window less reserve that were not said to be.
    over: usize,
    sent: u64,
    plain: u64,
    /// The largest request as it came.
    largest: u64,
    /// The last request as it left.
    last: u64,
    /// Edits of the last request by step.
    steps: BTreeMap<String, usize>,
}

/// Presets side by side on every trace that ends long, at shares of its largest request.
pub(crate) fn run_presets() -> Result<ExitCode> {
    println!(
        "{:<48} {:>8} {:>7} {:<9} {:>8} {:>6} {:>8} {:>10} {:>10}  edits by step in the last request",
        "trace", "largest", "window", "preset", "last", "sweeps", "declared", "undeclared", "cannot fit"
    );
    let mut faults = 0;
    for file in long_files(&traces())? {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let Detection::Trace(format) = detect(&bytes) else { continue };
        let Ok(trace) = Trace::read(format, &bytes) else { continue };
        let Some(conversation) = trace.agent("main").or(trace.conversations().first()) else { continue };
        let largest = replay(conversation, Preset::Balanced, UNLIMITED)?.largest;
        if largest < LONG_TOKENS / 2 {
            continue;
        }
        for share in SHARES {
            for preset in Preset::ALL {
                let window = largest * share / 100;
                let tally = replay(conversation, preset, window)?;
                let steps: Vec<String> = tally.steps.iter().map(|(step, edits)| format!("{step}: {edits}")).collect();
                println!(
                    "{:<48} {largest:>8} {window:>7} {:<9} {:>8} {:>6} {:>8} {:>10} {:>10}  {}",
                    name(&file),
                    format!("{preset:?}").to_lowercase(),
                    tally.last,
                    tally.sweeps,
                    tally.declared,
                    tally.undeclared,
                    tally.cannot_fit,
                    steps.join(", ")
                );
                faults += tally.undeclared + tally.over;
            }
        }
    }
    println!("undeclared changes, and requests over the window that were not said to be: {faults}");
    Ok(if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every file under the folder of traces, in order.
pub(crate) fn long_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("no traces at {}; set LIVESET_TRACES", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { files.extend(long_files(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).unwrap_or_default()
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
                let tally = replay(conversation, Preset::Balanced, window)?;
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
    let name = name(file);
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

pub(crate) fn traces() -> PathBuf {
    std::env::var("LIVESET_TRACES").map_or_else(|_| repository::root().join("../shared/traces"), PathBuf::from)
}

fn replay(conversation: &Conversation, preset: Preset, window: u64) -> Result<Tally> {
    let mut formats = WireFormat::ALL.into_iter();
    let format =
        formats.find(|format| format.name() == conversation.wire_format()).context("an unknown wire format")?;
    let mut policy = Policy::default();
    policy.preset = preset;
    policy.window = Some(window);
    let room = window.saturating_sub(policy.reserve.unwrap_or(0));
    let mut session: Session = Liveset::new(policy).with_format(format).session();
    let mut tally = Tally::default();
    let mut last: Option<Vec<Vec<u8>>> = None;
    let mut sweeps_before = 0;
    for point in conversation.requests() {
        let body = conversation.body_at(point)?;
        let compaction = session.compact(&body)?;
        let report = compaction.report();
        let items = items(format, compaction.body())?;
        tally.requests += 1;
        tally.plain += report.tokens.before;
        tally.sent += report.tokens.after;
        tally.cannot_fit += usize::from(!compaction.fits());
        tally.over += usize::from(compaction.fits() && report.tokens.after > room);
        tally.largest = tally.largest.max(report.tokens.before);
        tally.last = report.tokens.after;
        tally.steps.clear();
        for edit in &report.edits {
            // Intake, moved marks and reasoning belong to no step.
            let step = edit.step.map_or_else(|| edit.kind.name().to_owned(), |step| step.to_string());
            *tally.steps.entry(step).or_default() += 1;
        }
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
fn items(format: WireFormat, body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let outline = Outline::read(body)?;
    let transcript = wire::read(format, &outline)?;
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
