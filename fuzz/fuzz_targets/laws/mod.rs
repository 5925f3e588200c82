//! What every body of every trace keeps, whatever the file: it is JSON, it extends the one before, its results answer
//! calls.

use liveset_traces::{Conversation, Trace, TraceFormat, detect};
use serde_json::value::RawValue;

/// Reads a file as a format, and as what it looks like.
pub fn check(format: TraceFormat, file: &[u8]) {
    let _ = detect(file);
    match Trace::read(format, file) {
        Ok(trace) => trace.conversations().iter().for_each(|one| check_conversation(format, one)),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
}

/// Most points at which bodies are compared: a longer file teaches nothing and takes quadratic time.
const MOST_POINTS: usize = 64;

fn check_conversation(format: TraceFormat, conversation: &Conversation) {
    let boundaries = conversation.boundaries();
    let mut before = Vec::new();
    for point in 0..conversation.request_points().min(MOST_POINTS) {
        let body = conversation.body_at(point).expect("the point exists");
        let now = blocks(&body);
        assert!(
            boundaries.contains(&point) || now.starts_with(&before),
            "point {point} rewrites {before:?} to {now:?}"
        );
        before = now;
    }
    let is_anthropic = matches!(format, TraceFormat::ClaudeCode | TraceFormat::Pi)
        && conversation.wire_format() == "anthropic";
    for history in 0..conversation.histories() {
        let blocks = blocks(&conversation.history(history).expect("the history exists"));
        let turns = blocks.windows(2).all(|pair| pair[0].0 == pair[1].0 || pair[0].1 != pair[1].1);
        assert!(turns || !is_anthropic, "roles take turns");
    }
    for warning in conversation.warnings() {
        assert!(!warning.to_string().contains('\n'));
    }
}

/// Gives the blocks of a body: number and role of the message, and raw text.
fn blocks(body: &[u8]) -> Vec<(usize, String, String)> {
    let text = std::str::from_utf8(body).expect("a body is text");
    let messages = member(text, "messages").or_else(|| member(text, "input")).expect("a body is JSON with messages");
    let mut found = Vec::new();
    for (at, message) in list(&messages).unwrap_or_default().into_iter().enumerate() {
        let role = member(&message, "role").unwrap_or_default();
        let content = member(&message, "content");
        match content.as_deref().and_then(list).filter(|_| role != "\"assistant\"") {
            Some(blocks) => found.extend(blocks.into_iter().map(|raw| (at, role.clone(), raw))),
            None => found.push((at, role, message)),
        }
    }
    found
}

fn member(object: &str, key: &str) -> Option<String> {
    let object: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_str(object).ok()?;
    object.get(key).map(|value| value.get().to_owned())
}

fn list(raw: &str) -> Option<Vec<String>> {
    let values: Vec<Box<RawValue>> = serde_json::from_str(raw).ok()?;
    Some(values.into_iter().map(|value| value.get().to_owned()).collect())
}
