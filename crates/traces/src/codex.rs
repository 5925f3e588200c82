//! What did Codex send? Rollout files: one JSON object per line, Responses items among much that is never sent.
//!
//! Newer files wrap each record as `type` and `payload`; older ones hold bare items behind a first line with the
//! session's id. Events, token counts and settings never reach a body.

mod item;
mod rollout;

use std::sync::Arc;

use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::json::Object;
use crate::kinds::Unknown;
use crate::records::{self, Record};
use crate::sample::{Fit, Sample};
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;
use item::Kind;
use rollout::Rollout;

/// Records that only a rollout file has.
const ENVELOPES: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

/// Records that never reach the model and do not change what does.
const NEVER_SENT: [&str; 3] = ["event_msg", "world_state", "inter_agent_communication_metadata"];

/// Says whether a file looks like a rollout.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let is_envelope = |raw: &&str| {
        Object::read(raw).is_some_and(|object| {
            object.text("type").is_some_and(|kind| ENVELOPES.contains(&kind)) && object.object("payload").is_some()
        })
    };
    if sample.values.iter().any(is_envelope) {
        return Fit::Strong("lines with `type` and `payload`");
    }
    match sample.values.first().and_then(|raw| Object::read(raw)).is_some_and(|object| is_older_head(&object)) {
        true => Fit::Strong("a first line with `id`, `timestamp` and `instructions`"),
        false => Fit::No,
    }
}

/// The first line of an older file.
fn is_older_head(object: &Object<'_>) -> bool {
    let holds = |key: &&str| object.raw(key).is_some();
    object.get("type").is_none() && ["id", "timestamp", "instructions"].iter().all(holds)
}

/// Reads the conversation of a rollout.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let (records, mut warnings) = records::lines(&source)?;
    let mut rollout = Rollout::new(&source);
    let mut frame = Frame::default();
    let mut unknown = Unknown::default();
    for record in &records {
        match record.object.text("type") {
            Some("session_meta") => {
                let payload = record.object.object("payload");
                let base = payload.and_then(|payload| payload.object("base_instructions"));
                let text = base.and_then(|base| base.literal("text"));
                // A fork goes on with the head of the session it came from; its own comes first.
                frame.system = frame.system.or_else(|| text.map(|text| source.range_of(text)));
            }
            Some("turn_context") => {
                let payload = record.object.object("payload");
                if let Some(model) = payload.and_then(|payload| payload.literal("model")) {
                    rollout.model(model);
                }
            }
            Some("response_item") => match record.object.get("payload") {
                Some(raw) if raw.starts_with('{') => rollout.item(record.line, raw),
                _ => warnings.push(Warning::UnreadableMessage { line: record.line }),
            },
            Some("compacted") => match record.object.object("payload") {
                Some(payload) => rollout.compacted(record.line, &payload, &mut warnings)?,
                None => warnings.push(Warning::UnreadableMessage { line: record.line }),
            },
            Some("event_msg") if is_rollback(record) => rollout.rolled_back(turns_of(record), &mut warnings)?,
            Some(kind) if NEVER_SENT.contains(&kind) => {}
            // Older files: an item per line, no envelope.
            Some(_) if Kind::of(&record.object) != Kind::Unknown => rollout.item(record.line, record.raw),
            None if record.object.get("record_type").is_some() || is_older_head(&record.object) => {}
            kind => unknown.note(kind, record.raw),
        }
    }
    let histories = rollout.finish(&mut warnings);
    warnings.extend(unknown.left_out());
    if histories.iter().all(|history| history.messages.is_empty()) {
        return Err(Error::NoConversation { expected: "lines of type `response_item`, or bare response items" });
    }
    let draft = Draft {
        agent: "main".to_owned(),
        id: None,
        wire: Wire::OpenaiResponses,
        fidelity: Fidelity::ModelVisible,
        frame,
        histories,
        warnings,
    };
    Ok(vec![Conversation::new(Arc::clone(&source), draft)])
}

fn is_rollback(record: &Record<'_>) -> bool {
    let payload = record.object.object("payload");
    payload.is_some_and(|payload| payload.text("type") == Some("thread_rolled_back"))
}

fn turns_of(record: &Record<'_>) -> usize {
    let payload = record.object.object("payload");
    payload.and_then(|payload| payload.get("num_turns")).and_then(|turns| turns.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
