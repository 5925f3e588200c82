//! What would a provider refuse in this body? Rules and codes: `wire-formats.md`, sections 1 to 3 and 6.
//!
//! Reads pairs by id and place on its own, changes nothing, and judges no content. Gemini's and server tools' codes
//! are not here yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    json::{self, Outline},
    span::Span,
    transcript::{ArgumentsForm, Item, ItemKind, Side, Transcript, WireFormat},
};

/// Most defects listed; a body with more is broken in one way over and over.
pub const MAX_DEFECTS: usize = 1_000;
/// Most cache marks in a request (Anthropic).
const MAX_MARKS: usize = 4;
/// Longest call id of Chat Completions, in characters.
const MAX_CHAT_ID: usize = 40;
/// Longest call id of Responses, in characters.
const MAX_RESPONSES_ID: usize = 64;

/// What kind of defect it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// A call without a result, although the conversation went on.
    UnpairedCall,
    /// A result without a call before it.
    OrphanResult,
    /// A second result for one call.
    DuplicateResult,
    /// A result that does not follow its call at once.
    ResultNotAdjacent,
    /// A result after other blocks of its message (Anthropic).
    ResultsNotFirst,
    /// A text block without a visible character.
    EmptyText,
    /// The first message is not the user's (Anthropic).
    FirstRole,
    /// Arguments that are no JSON object.
    ArgumentsNotAnObject,
    /// An id longer than the provider takes.
    IdTooLong,
    /// More than four cache marks (Anthropic).
    TooManyMarks,
    /// Reasoning with nothing after it that it belongs to (Responses).
    ReasoningWithoutFollower,
    /// A picture inside a result that is an error (Anthropic).
    MediaInsideIsError,
    /// Reasoning of the original is missing.
    ReasoningLost,
    /// Reasoning of the original is written otherwise.
    ReasoningEdited,
}

impl Code {
    /// Gives the code as reports and scripts use it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnpairedCall => "unpaired_call",
            Self::OrphanResult => "orphan_result",
            Self::DuplicateResult => "duplicate_result",
            Self::ResultNotAdjacent => "result_not_adjacent",
            Self::ResultsNotFirst => "results_not_first",
            Self::EmptyText => "empty_text",
            Self::FirstRole => "first_role",
            Self::ArgumentsNotAnObject => "arguments_not_an_object",
            Self::IdTooLong => "id_too_long",
            Self::TooManyMarks => "too_many_marks",
            Self::ReasoningWithoutFollower => "reasoning_without_follower",
            Self::MediaInsideIsError => "media_inside_is_error",
            Self::ReasoningLost => "reasoning_lost",
            Self::ReasoningEdited => "reasoning_edited",
        }
    }
}

/// One defect and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// What kind.
    pub code: Code,
    /// Byte of the body at which the item starts.
    pub offset: usize,
    /// The wire message that holds it, from 0; `None` for request fields.
    pub message: Option<u32>,
    /// One phrase, without content.
    pub what: &'static str,
}

/// Finds what a provider would refuse, in the order of the body.
///
/// ```
/// use liveset_engine::{json::Outline, transcript::WireFormat, validate, wire};
/// let body = br#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}"#;
/// let transcript = wire::read(WireFormat::Anthropic, &Outline::read(body)?)?;
/// assert_eq!(validate::check(&transcript)[0].code.name(), "orphan_result");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn check(transcript: &Transcript<'_>) -> Vec<Defect> {
    let mut found = Found { defects: Vec::new() };
    pairs(transcript, &mut found);
    texts(transcript, &mut found);
    arguments(transcript, &mut found);
    order(transcript, &mut found);
    marks(transcript, &mut found);
    found.defects.sort_by_key(|defect| (defect.offset, defect.code));
    found.defects.truncate(MAX_DEFECTS);
    found.defects
}

/// Finds what is not as it was in `original` and may not change: signed and encrypted reasoning.
#[must_use]
pub fn check_against(original: &Transcript<'_>, output: &Transcript<'_>) -> Vec<Defect> {
    let reasoning = |transcript: &Transcript<'_>| -> Vec<(Span, Vec<u8>)> {
        let items = transcript.items.iter().filter(|item| item.is_signed_reasoning());
        items.map(|item| (item.span, item.span.of(transcript.body).to_vec())).collect()
    };
    let (before, after) = (reasoning(original), reasoning(output));
    let mut found = Found { defects: Vec::new() };
    for (span, bytes) in &after {
        if !before.iter().any(|(_, was)| was == bytes) {
            let what = "reasoning is not what the model wrote";
            found.defects.push(Defect { code: Code::ReasoningEdited, offset: span.start(), message: None, what });
        }
    }
    if after.len() < before.len() {
        let what = "reasoning of the original is missing";
        found.defects.push(Defect { code: Code::ReasoningLost, offset: 0, message: None, what });
    }
    found.defects.truncate(MAX_DEFECTS);
    found.defects
}

/// Law 3: what a body has that it did not have before, by code and count.
#[must_use]
pub fn new_defects(before: &[Defect], after: &[Defect]) -> Vec<Defect> {
    let mut known: BTreeMap<Code, usize> = BTreeMap::new();
    for defect in before {
        *known.entry(defect.code).or_default() += 1;
    }
    let is_new = |defect: &&Defect| match known.get_mut(&defect.code) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        Some(_) | None => true,
    };
    after.iter().filter(is_new).cloned().collect()
}

struct Found {
    defects: Vec<Defect>,
}

impl Found {
    fn push(&mut self, code: Code, item: &Item, what: &'static str) {
        if self.defects.len() < MAX_DEFECTS {
            self.defects.push(Defect { code, offset: item.span.start(), message: item.message, what });
        }
    }
}

fn text_of(transcript: &Transcript<'_>, literal: Option<Span>) -> Option<String> {
    json::decode(literal?.of(transcript.body)).ok().map(|decoded| decoded.text().to_owned())
}

/// Calls and results by id and place, read anew: the transcript's own pairing is not trusted here.
fn pairs(transcript: &Transcript<'_>, found: &mut Found) {
    let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut answered: BTreeSet<String> = BTreeSet::new();
    for (at, item) in transcript.items.iter().enumerate() {
        if let Some(id) = item.call().and_then(|call| text_of(transcript, call.id)) {
            check_id(transcript, item, &id, found);
            open.entry(id).or_default().push(at);
        }
        let Some(answer) = item.answer() else { continue };
        let Some(id) = text_of(transcript, answer.id) else { continue };
        let Some(call) = open.get_mut(&id).filter(|calls| !calls.is_empty()).map(|calls| calls.remove(0)) else {
            match answered.contains(&id) {
                true => found.push(Code::DuplicateResult, item, "a second result for one call"),
                false => found.push(Code::OrphanResult, item, "a result without a call before it"),
            }
            continue;
        };
        answered.insert(id);
        if !is_adjacent(transcript, call, at) {
            found.push(Code::ResultNotAdjacent, item, "a result that does not follow its call at once");
        }
    }
    let last = transcript.items.iter().rposition(|item| item.side == Side::Other || item.kind == ItemKind::Assistant);
    for call in open.into_values().flatten() {
        let went_on = last.is_some_and(|last| last > call);
        if let Some(item) = transcript.items.get(call).filter(|_| went_on) {
            found.push(Code::UnpairedCall, item, "a call that never got a result");
        }
    }
}

/// Between a call and its result stand only items of the same reply and results.
fn is_adjacent(transcript: &Transcript<'_>, call: usize, result: usize) -> bool {
    if transcript.format == WireFormat::OpenaiResponses {
        return true;
    }
    let number = transcript.items.get(call).map(|item| item.number);
    let between = transcript.items.get(call + 1..result).unwrap_or_default();
    between.iter().all(|item| {
        let same_reply = item.side == Side::Assistant && Some(item.number) == number;
        same_reply
            || item.kind == ItemKind::ToolResult
            || item.within.is_some()
            || in_same_message(transcript, item, result)
    })
}

fn in_same_message(transcript: &Transcript<'_>, item: &Item, result: usize) -> bool {
    transcript.items.get(result).is_some_and(|result| result.message == item.message)
}

fn check_id(transcript: &Transcript<'_>, item: &Item, id: &str, found: &mut Found) {
    let limit = match transcript.format {
        WireFormat::Anthropic => return,
        WireFormat::OpenaiChat => MAX_CHAT_ID,
        WireFormat::OpenaiResponses => MAX_RESPONSES_ID,
    };
    if id.chars().count() > limit {
        found.push(Code::IdTooLong, item, "a call id longer than the provider takes");
    }
}

/// Anthropic refuses blank text blocks; a result may be empty.
fn texts(transcript: &Transcript<'_>, found: &mut Found) {
    if transcript.format != WireFormat::Anthropic {
        return;
    }
    for item in &transcript.items {
        let is_text = matches!(item.kind, ItemKind::System | ItemKind::User | ItemKind::Assistant);
        let blank = |text: &Span| text_of(transcript, Some(*text)).is_some_and(|text| text.trim().is_empty());
        if is_text && item.texts.iter().any(blank) {
            found.push(Code::EmptyText, item, "a text without a visible character");
        }
    }
}

fn arguments(transcript: &Transcript<'_>, found: &mut Found) {
    for item in &transcript.items {
        let Some(call) = item.call() else { continue };
        let Some(raw) = call.arguments.map(|span| span.of(transcript.body)) else { continue };
        let is_object = match call.form {
            ArgumentsForm::Text => true,
            ArgumentsForm::Object => raw.starts_with(b"{"),
            ArgumentsForm::JsonString => json::decode(raw).is_ok_and(|text| {
                let inner = text.text().as_bytes();
                Outline::read(inner).is_ok_and(|outline| outline.node(outline.root()).kind == json::NodeKind::Object)
            }),
        };
        if !is_object {
            found.push(Code::ArgumentsNotAnObject, item, "arguments that are no JSON object");
        }
    }
}

fn order(transcript: &Transcript<'_>, found: &mut Found) {
    match transcript.format {
        WireFormat::OpenaiChat => {}
        WireFormat::OpenaiResponses => {
            for (at, item) in transcript.items.iter().enumerate() {
                let next = transcript.items.get(at + 1);
                if item.kind == ItemKind::Reasoning && next.is_none_or(|next| next.side != Side::Assistant) {
                    found.push(Code::ReasoningWithoutFollower, item, "reasoning without the item it belongs to");
                }
            }
        }
        WireFormat::Anthropic => {
            let first = transcript.items.iter().find(|item| item.message.is_some());
            if let Some(first) = first.filter(|first| first.side == Side::Assistant && first.kind != ItemKind::Opaque) {
                found.push(Code::FirstRole, first, "the first message is not the user's");
            }
            for pair in transcript.items.windows(2) {
                let [before, item] = pair else { continue };
                let late = before.message == item.message && before.within.is_none();
                if late && item.kind == ItemKind::ToolResult && before.kind != ItemKind::ToolResult {
                    found.push(Code::ResultsNotFirst, item, "a result after other blocks of its message");
                }
            }
            for item in transcript.items.iter().filter(|item| item.kind == ItemKind::Media) {
                let result = item.within.and_then(|within| transcript.items.get(within.at())).and_then(Item::answer);
                if result.is_some_and(|result| result.error == crate::transcript::ErrorFlag::Set) {
                    found.push(Code::MediaInsideIsError, item, "a picture inside a result that is an error");
                }
            }
        }
    }
}

fn marks(transcript: &Transcript<'_>, found: &mut Found) {
    if transcript.format != WireFormat::Anthropic {
        return;
    }
    if let Some(item) = transcript.items.iter().filter(|item| item.cache_mark.is_some()).nth(MAX_MARKS) {
        found.push(Code::TooManyMarks, item, "more than four cache marks");
    }
}

#[cfg(test)]
mod tests;
