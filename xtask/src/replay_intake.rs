//! What does intake keep of the results of real traces, by kind of content, and would both ends alone have kept more?
//!
//! Reads traces where they lie and writes a table; decides nothing.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    process::ExitCode,
};

use anyhow::{Context, Result};
use liveset::{Liveset, Policy, ShapeRequest, ToolOutcome, WireFormat};
use liveset_engine::{
    json::{self, Outline},
    shingles::for_each_shingle,
    transcript::{ArgumentsForm, ErrorFlag, Item, ItemKind, Transcript},
    wire,
};
use liveset_tokens::o200k;
use liveset_traces::{Conversation, Detection, Trace, detect};

use crate::replay::{long_files, traces};

/// Results of more characters are shaped, to as many.
const LIMIT: u64 = 2_000;
/// Steps in which a rival's length is fitted to as many tokens.
const FITTING_STEPS: u32 = 7;
/// Characters of each line of a sample.
const SAMPLE_CHARS: usize = 100;

/// One result and what the chain says of it later.
struct Found {
    request: ShapeRequest,
    /// Shingles of it that a later chain text holds.
    quoted: BTreeSet<u64>,
}

/// One line of the table.
#[derive(Default)]
struct Row {
    results: usize,
    before: u64,
    after: u64,
    quoted: usize,
    by_type: usize,
    both_ends: usize,
    layered: usize,
    samples: Vec<String>,
}

/// Prints the table; with `samples` also how the first results of each kind begin, so that a person can check the kinds.
pub(crate) fn run(samples: usize) -> Result<ExitCode> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut seen = HashSet::new();
    for file in long_files(&traces())? {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let Detection::Trace(format) = detect(&bytes) else { continue };
        let Ok(trace) = Trace::read(format, &bytes) else { continue };
        for conversation in trace.conversations() {
            for history in 0..conversation.histories() {
                for found in results(conversation, history)? {
                    if seen.insert(found.request.text.clone()) {
                        measure(&found, &mut rows, samples)?;
                    }
                }
            }
        }
    }
    print(&rows);
    Ok(ExitCode::SUCCESS)
}

fn measure(found: &Found, rows: &mut BTreeMap<String, Row>, samples: usize) -> Result<()> {
    let shaped = compactor("by_type", LIMIT)?.shape_result(&found.request)?;
    let Some(edit) = shaped.edit() else {
        rows.entry("left as it is".to_owned()).or_default().results += 1;
        return Ok(());
    };
    let kind = edit.reason.split(" over a limit").next().unwrap_or_default().to_owned();
    let row = rows.entry(kind).or_default();
    row.results += 1;
    row.before += edit.tokens_before;
    row.after += edit.tokens_after;
    let layered = fitted(edit.tokens_after, |chars| {
        Ok(compactor("layered", chars.max(500))?.shape_result(&found.request)?.text)
    })?;
    let ends = fitted(edit.tokens_after, |chars| Ok(both_ends(&found.request.text, chars as usize)))?;
    row.quoted += found.quoted.len();
    row.by_type += kept(&found.quoted, &shaped.text);
    row.layered += kept(&found.quoted, &layered);
    row.both_ends += kept(&found.quoted, &ends);
    if row.samples.len() < samples {
        let line = |line: &str| line.chars().take(SAMPLE_CHARS).collect::<String>();
        let lines: Vec<String> =
            found.request.text.lines().filter(|line| !line.trim().is_empty()).take(4).map(line).collect();
        row.samples.push(format!("{}: {}", found.request.tool, lines.join(" | ")));
    }
    Ok(())
}

fn compactor(strategy: &str, chars: u64) -> Result<Liveset> {
    let text = format!("[intake]\nstrategy = \"{strategy}\"\nmax_chars = {chars}\n");
    Ok(Liveset::new(Policy::from_toml(&text)?).with_model("gpt-4.1"))
}

/// Finds the longest text of a rival that has no more tokens.
fn fitted(tokens: u64, text: impl Fn(u64) -> Result<String>) -> Result<String> {
    let (mut low, mut high) = (0, LIMIT * 2);
    let mut best = String::new();
    for _ in 0..FITTING_STEPS {
        let middle = (low + high) / 2;
        let tried = text(middle)?;
        if o200k().count(&tried).0 <= tokens {
            low = middle;
            best = tried;
        } else {
            high = middle;
        }
    }
    Ok(best)
}

/// Both ends of a text, by whole lines where they fit, else by characters.
fn both_ends(text: &str, chars: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    let half = chars / 2;
    let head: String = all.iter().take(half).collect();
    let tail: String = all.iter().skip(all.len().saturating_sub(half)).collect();
    let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(&head);
    let tail = tail.find('\n').and_then(|end| tail.get(end + 1..)).unwrap_or(&tail);
    let gap = "[lines 100-900 of 1000 left out; run the call again to see it]\n";
    format!("{head}{gap}{tail}")
}

fn kept(quoted: &BTreeSet<u64>, text: &str) -> usize {
    let mut held = BTreeSet::new();
    for_each_shingle(text, |shingle| {
        if quoted.contains(&shingle.hash) {
            held.insert(shingle.hash);
        }
    });
    held.len()
}

/// Every long result of a stretch between two compactions of the client, with what the chain behind it says of it.
fn results(conversation: &Conversation, history: usize) -> Result<Vec<Found>> {
    let format = WireFormat::ALL.into_iter().find(|format| format.name() == conversation.wire_format());
    let body = conversation.history(history)?;
    let outline = Outline::read(&body)?;
    let transcript = wire::read(format.context("an unknown wire format")?, &outline)?;
    let mut later: HashSet<u64> = HashSet::new();
    let mut found = Vec::new();
    for item in transcript.items.iter().rev() {
        if item.kind == ItemKind::ToolResult {
            found.extend(result(&transcript, item, &later));
            continue;
        }
        for text in chain_texts(&transcript, item) {
            for_each_shingle(&text, |shingle| {
                later.insert(shingle.hash);
            });
        }
    }
    Ok(found)
}

fn result(transcript: &Transcript<'_>, item: &Item, later: &HashSet<u64>) -> Option<Found> {
    let answer = item.answer()?;
    let [literal] = item.texts.as_slice() else { return None };
    let text = said(transcript, *literal);
    if text.chars().count() as u64 <= LIMIT {
        return None;
    }
    let call = answer.call.and_then(|call| transcript.items.get(call.at())).and_then(Item::call);
    let name = call.and_then(|call| call.name).map(|name| said(transcript, name));
    let mut request = ShapeRequest::new(name.unwrap_or_else(|| "tool".to_owned()), text);
    request.arguments = call.and_then(|call| match call.form {
        ArgumentsForm::Object => Some(String::from_utf8_lossy(call.arguments?.of(transcript.body)).into_owned()),
        ArgumentsForm::JsonString => Some(said(transcript, call.arguments?)),
        ArgumentsForm::Text => None,
    });
    request.arguments = request.arguments.filter(|text| serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok());
    request.outcome = match answer.error {
        ErrorFlag::Set => ToolOutcome::Failed,
        ErrorFlag::Unset => ToolOutcome::Unsaid,
    };
    let mut quoted = BTreeSet::new();
    for_each_shingle(&request.text, |shingle| {
        if later.contains(&shingle.hash) {
            quoted.insert(shingle.hash);
        }
    });
    Some(Found { request, quoted })
}

fn said(transcript: &Transcript<'_>, literal: liveset_engine::Span) -> String {
    json::decode(literal.of(transcript.body)).map(|text| text.into_text().into_owned()).unwrap_or_default()
}

/// What an item adds to the chain: texts, and the strings of a call's arguments.
fn chain_texts(transcript: &Transcript<'_>, item: &Item) -> Vec<String> {
    let Some(call) = item.call() else {
        let is_chain = matches!(item.kind, ItemKind::User | ItemKind::Assistant | ItemKind::Reasoning);
        let texts = item.texts.iter().filter(|_| is_chain);
        return texts.map(|literal| said(transcript, *literal)).collect();
    };
    let Some(raw) = call.arguments else { return Vec::new() };
    let object = match call.form {
        ArgumentsForm::Object => String::from_utf8_lossy(raw.of(transcript.body)).into_owned(),
        ArgumentsForm::JsonString | ArgumentsForm::Text => said(transcript, raw),
    };
    let leaves = json::string_leaves(object.as_bytes());
    leaves.map_or_else(|| vec![object.clone()], |leaves| leaves.into_iter().map(|leaf| leaf.text).collect())
}

fn print(rows: &BTreeMap<String, Row>) {
    println!(
        "results of more than {LIMIT} characters, shaped to as many; later-quoted text kept at equal tokens, in percent"
    );
    println!(
        "{:<22} {:>7} {:>10} {:>9} {:>9} {:>8} {:>13} {:>20}",
        "kind", "results", "before", "after", "quoted", "by_type", "head and tail", "beginning-middle-end"
    );
    let mut all = Row::default();
    for (kind, row) in rows {
        print_row(kind, row);
        all.results += row.results;
        all.before += row.before;
        all.after += row.after;
        all.quoted += row.quoted;
        all.by_type += row.by_type;
        all.both_ends += row.both_ends;
        all.layered += row.layered;
    }
    print_row("all", &all);
    for (kind, row) in rows.iter().filter(|(_, row)| !row.samples.is_empty()) {
        println!("\n{kind}");
        row.samples.iter().for_each(|sample| println!("  {sample}"));
    }
}

fn print_row(kind: &str, row: &Row) {
    let percent = |kept: usize| 100.0 * kept as f64 / row.quoted.max(1) as f64;
    println!(
        "{kind:<22} {:>7} {:>10} {:>9} {:>9} {:>8.1} {:>13.1} {:>20.1}",
        row.results,
        row.before,
        row.after,
        row.quoted,
        percent(row.by_type),
        percent(row.both_ends),
        percent(row.layered)
    );
}
