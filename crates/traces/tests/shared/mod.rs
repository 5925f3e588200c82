//! Laws that every body of every trace keeps, and where the shared traces lie.

pub mod items;

use std::collections::BTreeSet;
use std::path::PathBuf;

use liveset_engine::json::Outline;
use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{self, Code};
use liveset_traces::{Conversation, Warning};
use serde_json::Value;
use serde_json::value::RawValue;

/// Finds the shared traces, or says that the test did not run.
pub fn traces() -> Option<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var("LIVESET_TRACES").map_or(default, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("NOT RUN: no shared traces at {}; set LIVESET_TRACES", folder.display());
    None
}

/// One content block with the side and the message it stands in, as raw text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub message: usize,
    pub is_assistant: bool,
    pub raw: String,
}

/// Reads the blocks of an Anthropic body; a string is one block.
pub fn blocks(body: &[u8]) -> Vec<Block> {
    let messages = member(std::str::from_utf8(body).unwrap(), "messages").expect("a body has messages");
    let mut found = Vec::new();
    for (at, message) in list(&messages).into_iter().enumerate() {
        let content = member(&message, "content").expect("a message has content");
        let is_assistant = member(&message, "role").as_deref() == Some("\"assistant\"");
        let raws = if content.starts_with('[') { list(&content) } else { vec![content] };
        found.extend(raws.into_iter().map(|raw| Block { message: at, is_assistant, raw }));
    }
    found
}

/// Reads the items of a body of any wire format: elements of user lists, whole messages otherwise.
pub fn elements(body: &[u8]) -> Vec<Block> {
    let text = std::str::from_utf8(body).expect("a body is text");
    let messages = member(text, "messages").or_else(|| member(text, "input")).expect("a body has messages");
    let mut found = Vec::new();
    for (at, message) in list(&messages).into_iter().enumerate() {
        let role = member(&message, "role").unwrap_or_default();
        let kind = member(&message, "type").unwrap_or_default();
        // An item that nobody knows is not assistant-side.
        let is_reply = kind.ends_with("_call\"") || ["\"reasoning\"", "\"compaction\""].contains(&kind.as_str());
        let is_assistant = role == "\"assistant\"" || role.is_empty() && is_reply;
        let content = member(&message, "content").filter(|raw| raw.starts_with('[') && role == "\"user\"");
        let raws = content.map_or_else(|| vec![message], |content| list(&content));
        found.extend(raws.into_iter().map(|raw| Block { message: at, is_assistant, raw }));
    }
    found
}

/// Holds a conversation of any wire format to the laws: bodies extend each other by whole items, a point follows what
/// is not assistant-side.
pub fn check_any(name: &str, conversation: &Conversation, most_points: usize) {
    let boundaries: BTreeSet<usize> = conversation.boundaries().into_iter().collect();
    let points = conversation.request_points();
    let step = points.div_ceil(most_points.max(1)).max(1);
    for point in (1..points).step_by(step) {
        let place = format!("{name}, {}, point {point}", conversation.agent());
        let before = elements(&conversation.body_at(point - 1).unwrap());
        let now = elements(&conversation.body_at(point).unwrap());
        if !boundaries.contains(&point) {
            assert!(now.starts_with(&before), "{place}: the body does not extend the one before");
            let given = now.iter().skip(before.len()).filter(|block| !block.is_assistant).count();
            // System texts may come along; they open no point.
            assert!(given >= 1, "{place}: nothing new was given");
        }
    }
    check_requests_of_any(name, conversation);
}

/// What a provider would refuse in every trace that lacks the declarations of tools, and in one whose client spoke a
/// dialect with other ids.
const LACKING: [Code; 2] = [Code::UndeclaredToolNames, Code::IdTooLong];

/// Says that a provider would take the last body, but for what a warning says.
pub fn check_refusals(name: &str, conversation: &Conversation) {
    let format = WireFormat::ALL.into_iter().find(|format| format.name() == conversation.wire_format()).unwrap();
    let Ok(body) = conversation.body() else { return };
    let defects = validate::check(format, &Outline::read(&body).expect("a body is JSON"));
    let said = conversation.warnings();
    for defect in defects.iter().filter(|defect| !LACKING.contains(&defect.code)) {
        let is_open = |warning: &Warning| matches!(warning, Warning::UnansweredCalls { .. });
        let is_first = |warning: &Warning| matches!(warning, Warning::StartsWithAssistant { .. });
        let is_said = match defect.code {
            Code::UnpairedCall => said.iter().any(is_open),
            Code::FirstRole => said.iter().any(is_first),
            _ => false,
        };
        assert!(is_said, "{name}, {}: {defect}", conversation.agent());
    }
}

fn check_requests_of_any(name: &str, conversation: &Conversation) {
    let requests = conversation.requests();
    assert!(requests.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    assert_eq!(requests.last().copied(), conversation.request_points().checked_sub(1), "{name}");
}

/// Gives a member of an object as raw text.
pub fn member(object: &str, key: &str) -> Option<String> {
    let object: std::collections::BTreeMap<&str, &RawValue> = serde_json::from_str(object).ok()?;
    object.get(key).map(|value| value.get().to_owned())
}

pub fn list(raw: &str) -> Vec<String> {
    let values: Vec<&RawValue> = serde_json::from_str(raw).expect("a list");
    values.into_iter().map(|value| value.get().to_owned()).collect()
}

/// Holds an Anthropic conversation to the laws: bodies extend each other byte for byte, roles take turns, results
/// stand first and right behind their calls, and what is not answered is said.
pub fn check_anthropic(name: &str, conversation: &Conversation) {
    let boundaries: BTreeSet<usize> = conversation.boundaries().into_iter().collect();
    let mut before: Vec<Block> = Vec::new();
    for point in 0..conversation.request_points() {
        let place = format!("{name}, {}, point {point}", conversation.agent());
        let now = blocks(&conversation.body_at(point).unwrap());
        assert!(
            now.last().is_some_and(|block| !block.is_assistant),
            "{place}: a point follows what is not assistant-side"
        );
        if !boundaries.contains(&point) {
            assert!(now.starts_with(&before), "{place}: the body does not extend the one before");
            let added = now.get(before.len()..).unwrap();
            assert_eq!(
                added.iter().filter(|block| !block.is_assistant).count(),
                1.max(first_carried(&before, added)),
                "{place}"
            );
        }
        before = now;
    }
    for history in 0..conversation.histories() {
        let body = conversation.history(history).unwrap();
        check_pairs(&format!("{name}, {}, history {history}", conversation.agent()), conversation, &blocks(&body));
    }
    check_requests(name, conversation);
}

/// The first body of a conversation may hold several items at once; any later one adds a single item.
fn first_carried(before: &[Block], added: &[Block]) -> usize {
    if before.is_empty() { added.iter().filter(|block| !block.is_assistant).count() } else { 0 }
}

fn check_pairs(place: &str, conversation: &Conversation, blocks: &[Block]) {
    let count = blocks.last().map_or(0, |block| block.message + 1);
    let mut seen = BTreeSet::new();
    let mut calls: BTreeSet<String> = BTreeSet::new();
    let mut was_assistant = None;
    for message in 0..count {
        let of_message: Vec<&Block> = blocks.iter().filter(|block| block.message == message).collect();
        let first = of_message.first().expect("a message has blocks");
        assert_ne!(was_assistant, Some(first.is_assistant), "{place}: roles take turns");
        was_assistant = Some(first.is_assistant);
        if first.is_assistant {
            calls = ids(&of_message, "tool_use", "id");
            assert!(calls.iter().all(|id| seen.insert(id.clone())), "{place}: a call id comes twice");
            continue;
        }
        let results = ids(&of_message, "tool_result", "tool_use_id");
        assert!(results.is_subset(&calls), "{place}: a result without its call before it");
        assert!(
            of_message.iter().skip(results.len()).all(|block| kind(block) != "tool_result"),
            "{place}: results first"
        );
        let goes_on = message + 1 < count || results.len() < of_message.len();
        if goes_on && results != calls {
            let is_said = |warning: &Warning| matches!(warning, Warning::UnansweredCalls { .. });
            assert!(conversation.warnings().iter().any(is_said), "{place}: calls without results, unsaid");
        }
        calls.clear();
    }
}

/// A model was called once for each assistant message, and perhaps at the end.
fn check_requests(name: &str, conversation: &Conversation) {
    let requests = conversation.requests();
    let called = requests.iter().filter(|point| **point + 1 < conversation.request_points()).count();
    assert!(requests.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
    assert_eq!(requests.last().copied(), conversation.request_points().checked_sub(1), "{name}");
    let replies: usize = (0..conversation.histories())
        .map(|history| {
            let blocks = blocks(&conversation.history(history).unwrap());
            let messages: BTreeSet<usize> =
                blocks.iter().filter(|block| block.is_assistant).map(|block| block.message).collect();
            messages.len()
        })
        .sum();
    assert!(called <= replies, "{name}: {called} requests, {replies} replies");
}

pub fn kind(block: &Block) -> String {
    serde_json::from_str::<Value>(&block.raw).unwrap()["type"].as_str().unwrap_or("text").to_owned()
}

fn ids(blocks: &[&Block], wanted: &str, key: &str) -> BTreeSet<String> {
    let of_kind = blocks.iter().filter(|block| kind(block) == wanted);
    of_kind.filter_map(|block| member(&block.raw, key)).collect()
}
