//! What does a plain list of messages say? Importer for lists in a wire format, alone, in an object, or one per line.
//!
//! Messages are taken as they stand; only fields that Anthropic refuses (ids, times, prices of a log) are left behind.

mod dialect;

use std::sync::Arc;

use self::dialect::Evidence;
use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{History, Message, Side};
use crate::json::{self, Object};
use crate::sample::{Fit, Sample};
use crate::source::{Source, Tail};
use crate::swe_agent;
use crate::warning::Warning;
use crate::wire::Wire;

/// Keys under which known traces keep a list of messages.
const LIST_KEYS: [&str; 3] = ["messages", "input", "traj"];

/// Most conversations of one file; each becomes a conversation of its own in every report.
const MAX_CONVERSATIONS: usize = 100_000;

/// Fields that only a request has, beside the messages.
const REQUEST_KEYS: [&str; 6] =
    ["model", "max_tokens", "max_completion_tokens", "max_output_tokens", "anthropic_version", "stream"];

/// Fields that make an object a log entry, whatever else it holds.
const LOG_KEYS: [&str; 3] = ["response", "raw_response", "sessionId"];

/// A list of messages and the object it stands in.
struct Found<'a> {
    messages: Vec<&'a str>,
    frame: Option<Object<'a>>,
}

/// Says whether an object is a request body rather than a log of one.
pub(crate) fn is_request(object: &Object<'_>) -> bool {
    let holds = |key: &&str| object.get(key).is_some();
    ["messages", "input"].iter().any(holds) && REQUEST_KEYS.iter().any(holds) && !LOG_KEYS.iter().any(holds)
}

/// Looks at the first lists of a file.
pub(crate) fn fit(sample: &Sample<'_>, wire: Wire) -> Fit {
    let mut evidence = Evidence::default();
    for value in &sample.values {
        // It holds a list of messages and settings beside it that only its own importer reads.
        if Object::read(value).is_some_and(|object| swe_agent::is_mini(&object)) {
            continue;
        }
        for found in lists_in(value) {
            evidence.add(&found.messages);
        }
    }
    evidence.fit(wire)
}

/// Reads every list of a file as a conversation.
pub(crate) fn read(source: Source, wire: Wire) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let (values, warnings) = values_of(&source)?;
    let found: Vec<Found<'_>> = values.into_iter().flat_map(lists_in).take(MAX_CONVERSATIONS + 1).collect();
    if found.len() > MAX_CONVERSATIONS {
        return Err(Error::TooManyConversations { limit: MAX_CONVERSATIONS });
    }
    let many = found.len() > 1;
    let conversations = found.into_iter().enumerate().filter(|(_, found)| !found.messages.is_empty());
    let conversations: Vec<Conversation> = conversations
        .map(|(at, found)| {
            let agent = if many { (at + 1).to_string() } else { "main".to_owned() };
            let draft = draft_of(&source, &found, wire, agent, &warnings);
            Conversation::new(Arc::clone(&source), draft)
        })
        .collect();
    if conversations.is_empty() {
        return Err(Error::NoConversation { expected: "a list of messages, or `messages`, `input` or `traj`" });
    }
    Ok(conversations)
}

/// Takes the file as one value, or as one value per line.
fn values_of(source: &Source) -> Result<(Vec<&str>, Vec<Warning>), Error> {
    if let Some(value) = json::value(source.text()) {
        return Ok((vec![value], Vec::new()));
    }
    let mut values = Vec::new();
    let mut warnings = Vec::new();
    for line in source.lines() {
        match json::value(line.text) {
            Some(value) => values.push(value),
            None if line.unfinished && !values.is_empty() => {
                warnings.push(Warning::CutOffLine { line: line.number });
            }
            None => return Err(Error::Malformed { line: line.number, byte: line.byte, expected: "JSON" }),
        }
    }
    if let Tail::Cut(line) = source.tail() {
        warnings.push(Warning::CutOffLine { line });
    }
    Ok((values, warnings))
}

/// Finds the lists of messages in one value: the value itself, its elements, or a member of either.
fn lists_in(value: &str) -> Vec<Found<'_>> {
    let Some(elements) = json::list(value) else { return list_of_object(value).into_iter().collect() };
    let is_message = |raw: &&str| Object::read(raw).is_some_and(|object| dialect::is_message(&object));
    if elements.first().is_some_and(is_message) {
        return vec![Found { messages: elements, frame: None }];
    }
    let nested = elements.into_iter().filter_map(|element| match json::list(element) {
        Some(messages) => Some(Found { messages, frame: None }),
        None => list_of_object(element),
    });
    nested.collect()
}

fn list_of_object(value: &str) -> Option<Found<'_>> {
    let object = Object::read(value)?;
    let messages = LIST_KEYS.iter().find_map(|key| object.get(key).and_then(json::list))?;
    Some(Found { messages, frame: Some(object) })
}

fn draft_of(source: &Source, found: &Found<'_>, wire: Wire, agent: String, file_warnings: &[Warning]) -> Draft {
    let mut messages = Vec::with_capacity(found.messages.len());
    let mut frame = Frame::default();
    for raw in &found.messages {
        let object = Object::read(raw);
        let side = object.as_ref().map_or(Side::Other, |object| dialect::side_of(object, wire));
        let stray = object.filter(|object| wire == Wire::Anthropic && !object.has_only(&["role", "content"]));
        let model = stray.as_ref().and_then(|object| object.object("modelInfo")).and_then(|info| info.get("id"));
        let mut message = match stray.and_then(|object| object.get("content")) {
            Some(content) => Message::around(source, content, side),
            None => Message::verbatim(source, raw, side),
        };
        message.model = model.filter(|model| json::inside(model).is_some()).map(|model| source.range_of(model));
        messages.push(message);
    }
    let mut fidelity = Fidelity::ModelVisible;
    if let Some(object) = &found.frame {
        let range = |raw: &str| source.range_of(raw);
        frame.model = object.get("model").filter(|model| json::inside(model).is_some()).map(str::to_owned);
        let system = wire.system_key().and_then(|key| object.get(key));
        let system = system.or_else(|| object.get("system_prompt")).filter(|_| wire.system_key().is_some());
        frame.system = system.map(range);
        frame.tools = object.get("tools").map(range);
        if is_request(object) {
            fidelity = Fidelity::ExactWire;
        }
        // No request sent this reply back, so it stands in the history and in no body.
        messages.extend(reply_of(object).map(|raw| Message::verbatim(source, raw, Side::Assistant)));
    }
    let histories = vec![History { messages, carried_parts: 0 }];
    let id = found.frame.as_ref().and_then(|object| object.text("id")).filter(|_| agent != "main").map(str::to_owned);
    Draft { agent, id, wire, fidelity, frame, histories, warnings: file_warnings.to_vec() }
}

/// Finds the reply in a log of one Chat request and its response.
fn reply_of<'a>(object: &Object<'a>) -> Option<&'a str> {
    let choices = object.object("response")?.get("choices").and_then(json::list)?;
    choices.first().and_then(|choice| Object::read(choice))?.get("message")
}

#[cfg(test)]
mod tests;
