//! What does an entry of a folded run say? A short result whole; of a longer one its counts and key lines.
//!
//! Reads results as they stand in view, and nothing else of them: a body that comes back compacted would say the same
//! (law 6).

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    content::{self, ContentKind},
    error::Result,
    intake,
    plan::{
        desk::Desk,
        digest::{Entry, Worth},
        form,
        state::State,
    },
    policy::{Shape, Strategy},
    tombstone::{self, MAX_KEY_LINES, MAX_SHOWN_CHARS},
    tools::{self, CallName, ToolClass},
    transcript::ErrorFlag,
};

/// Writes the entry of a result; `None` where it says nothing.
pub(crate) fn entry(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<Option<Entry>> {
    let texts = desk.texts(ordinal)?;
    let Some(result) = state.results.get(ordinal).filter(|_| !texts.is_blank) else { return Ok(None) };
    let parts = form::in_view(texts, &result.form, desk.o200k(ordinal, result.original)?);
    let parts: Vec<Cow<'_, str>> = parts.into_iter().filter(|text| !text.trim().is_empty()).collect();
    let is_error = desk.item(result.item)?.answer().is_some_and(|answer| answer.error == ErrorFlag::Set);
    let has_gaps = parts.iter().any(|part| tombstone::may_hold_mark(part));
    let has_halves = texts.parts.iter().any(|part| part.has_halves);
    let view = match parts.as_slice() {
        [one] => Cow::Borrowed(one.as_ref()),
        parts => Cow::Owned(parts.join("\n")),
    };
    let stated = parts.iter().find_map(|part| tombstone::tombstone_entry(&texts.name, part));
    let is_answer = stated.is_none() && !is_error && !texts.tells_failure;
    let text = if let Some(entry) = stated {
        Some(entry)
    } else if !has_gaps && !has_halves && view.chars().nth(MAX_SHOWN_CHARS).is_none() {
        tombstone::whole_entry(&texts.name, &view)
    } else {
        let lines = (!has_gaps).then_some(texts.lines);
        let says = |line: &str| texts.parts.iter().all(|part| part.says(line));
        Some(long_entry(&texts.name, &view, lines, is_error, says))
    };
    let worth = match texts.name.class {
        ToolClass::Retrieval => Worth::Fact,
        ToolClass::Volatile | ToolClass::Execution => Worth::Deed,
    };
    let item = result.item;
    Ok(text.map(|text| Entry { item, tokens: desk.counter.count(&text), text, worth, is_answer }))
}

/// `lines` are those of a result that stands there as it came; `says` which of its lines can be shown as what they are.
fn long_entry(call: &CallName, view: &str, lines: Option<u32>, failed: bool, says: impl Fn(&str) -> bool) -> String {
    let kind = content::recognise(view, None);
    let tells_of_a_run = failed || call.tells_of_a_run();
    if kind == ContentKind::Json && lines.is_some() && says(view) {
        let shape = Shape { strategy: Strategy::ByType, max_chars: MAX_SHOWN_CHARS as u64, max_lines: u64::MAX };
        let request = intake::Request { text: view, kind, shape, tells_of_a_run, route: "" };
        // JSON has line ends of its own between its values; of others it holds only such as belong to what it says.
        let is_whole = |text: &String| !text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
        let shaped = request.shaped().filter(|text| text.chars().nth(MAX_SHOWN_CHARS).is_none() && is_whole(text));
        if let Some(entry) = shaped.and_then(|text| tombstone::whole_entry(call, &text)) {
            return entry;
        }
    }
    let exit = call.tells_of_a_run().then(|| tools::first_exit(view).or_else(|| tools::last_exit(view))).flatten();
    let key_lines = intake::key_lines(view, kind, tells_of_a_run, MAX_KEY_LINES, says);
    tombstone::key_entry(call, lines, exit.map(|frame| frame.status).filter(|_| lines.is_some()), &key_lines)
}

/// The entries of a run, where of all calls that ask the same in the same words one is shown: the newest that gives an
/// answer, else the newest that says anything.
///
/// Only calls that ask are compared, since the arguments of others may have been cut.
#[derive(Default)]
pub(crate) struct Shown<'d> {
    /// By place of their result.
    entries: BTreeMap<usize, Entry>,
    /// The place that is shown for each question.
    asked: BTreeMap<Question<'d>, usize>,
    tokens: u64,
}

/// The tool and the arguments of a call, as they stand in the body.
type Question<'d> = (&'d str, &'d [u8]);

impl<'d> Shown<'d> {
    /// Adds the entry of a result; those of older ones are there already.
    pub(crate) fn add(&mut self, desk: &'d Desk<'_, '_>, ordinal: usize, entry: Option<&Entry>) -> Result<()> {
        let Some(entry) = entry else { return Ok(()) };
        let asks = desk.texts(ordinal)?.name.class != ToolClass::Execution;
        if let Some(question) = if asks { question(desk, ordinal)? } else { None } {
            if let Some(older) = self.asked.get(&question).copied() {
                let older_answers = self.entries.get(&older).is_some_and(|older| older.is_answer);
                if older_answers && !entry.is_answer {
                    return Ok(());
                }
                let gone = self.entries.remove(&older);
                self.tokens -= gone.map_or(0, |gone| gone.size());
            }
            self.asked.insert(question, ordinal);
        }
        self.tokens += entry.size();
        self.entries.insert(ordinal, entry.clone());
        Ok(())
    }

    /// Gives about what the entries take.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Gives the entries, oldest first.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries.into_values().collect()
    }
}

/// Gives what a result answers.
fn question<'d>(desk: &'d Desk<'_, '_>, ordinal: usize) -> Result<Option<Question<'d>>> {
    let Some(&item) = desk.results().get(ordinal) else { return Ok(None) };
    let call = desk.item(item)?.answer().and_then(|answer| answer.call);
    let call = call.map(|call| desk.item(call)).transpose()?.and_then(|item| item.call());
    let arguments = call.and_then(|call| call.arguments);
    let tool = &desk.texts(ordinal)?.name.tool;
    Ok(arguments.map(|arguments| (tool.as_str(), arguments.of(desk.transcript.body))))
}
