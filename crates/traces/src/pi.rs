//! What did pi send? Session files: one JSON object per line, a tree by `id` and `parentId` (the oldest have no ids).
//!
//! The bodies are Anthropic's where the newest model is, else Chat. Words that pi itself puts around summaries and the
//! person's own commands are written as pi writes them.

mod anthropic;
mod branch;
mod chat;
mod content;
mod entry;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{Carried, History};
use crate::json::Object;
use crate::kinds::Unknown;
use crate::records;
use crate::sample::{Fit, Sample};
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;
use entry::{Entry, FirstKept, Kind, Message};

/// The API whose replies make the bodies Anthropic's.
const ANTHROPIC_API: &str = "anthropic-messages";

/// Says whether a file looks like a session.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let is_head = |raw: &&str| {
        Object::read(raw).is_some_and(|object| {
            object.text("type") == Some("session") && object.text("id").is_some() && object.get("cwd").is_some()
        })
    };
    match sample.values.first().is_some_and(is_head) {
        true => Fit::Strong("a first line of type `session`"),
        false => Fit::No,
    }
}

/// What stands at once at the beginning of a history, and what came after it.
struct Context<'l, 'a> {
    carried: usize,
    entries: Vec<&'l Entry<'a>>,
}

/// What the writers share.
struct Reader<'s> {
    source: &'s Source,
    unknown: Unknown,
    warnings: Vec<Warning>,
    /// Lines of the replies that broke off or failed.
    failed: BTreeSet<usize>,
}

/// Reads the newest branch of a session.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let (records, warnings) = records::lines(&source)?;
    let mut reader = Reader { source: &source, unknown: Unknown::default(), warnings, failed: BTreeSet::new() };
    let entries: Vec<Entry<'_>> = records.iter().map(|record| Entry::of(record, &mut reader.unknown)).collect();
    let path = branch::newest(&entries, &mut reader.warnings);
    let wire = wire_of(&path);
    let contexts = contexts(&entries, &path)?;
    let mut histories: Vec<History> = Vec::with_capacity(contexts.len());
    for context in contexts {
        let history = match wire {
            Wire::Anthropic => anthropic::history(&mut reader, &context),
            Wire::OpenaiChat | Wire::OpenaiResponses => chat::history(&mut reader, &context),
        };
        histories.push(history);
    }
    let mut warnings = reader.warnings;
    warnings.extend(reader.unknown.left_out());
    if !reader.failed.is_empty() {
        warnings.push(Warning::FailedReplies { replies: reader.failed.len() });
    }
    if histories.iter().all(|history| history.messages.is_empty()) {
        return Err(Error::NoConversation { expected: "lines of type `message`" });
    }
    let draft = Draft {
        agent: "main".to_owned(),
        id: None,
        wire,
        fidelity: Fidelity::ModelVisible,
        frame: Frame::default(),
        histories,
        warnings,
    };
    Ok(vec![Conversation::new(Arc::clone(&source), draft)])
}

/// Tells the dialect by the newest reply, before the first one by the newest choice of a provider.
fn wire_of(path: &[&Entry<'_>]) -> Wire {
    let by_entry = |entry: &&Entry<'_>| match &entry.kind {
        Kind::Message(Message { api: Some(api), .. }) => Some(*api == ANTHROPIC_API),
        Kind::Settings { provider: Some(provider) } => Some(*provider == "anthropic"),
        _ => None,
    };
    match path.iter().rev().find_map(by_entry) {
        Some(true) => Wire::Anthropic,
        Some(false) | None => Wire::OpenaiChat,
    }
}

/// Cuts the branch into histories: one, and one more from each compaction.
fn contexts<'l, 'a>(entries: &'l [Entry<'a>], path: &[&'l Entry<'a>]) -> Result<Vec<Context<'l, 'a>>, Error> {
    let by_id: BTreeMap<&str, usize> =
        path.iter().enumerate().filter_map(|(at, entry)| Some((entry.id?, at))).collect();
    let place = |first_kept: FirstKept<'_>| match first_kept {
        FirstKept::Nowhere => None,
        FirstKept::Id(id) => by_id.get(id).copied(),
        // Lines are in order, on the branch too.
        FirstKept::Line(at) => entries.get(at).map(|entry| path.partition_point(|found| found.line < entry.line)),
    };
    let mut all_carried = Carried::default();
    let mut done = Vec::new();
    let mut current = Context { carried: 0, entries: Vec::new() };
    for (at, entry) in path.iter().copied().enumerate() {
        if let Kind::Compaction { first_kept, .. } = &entry.kind {
            let kept = place(*first_kept).and_then(|from| path.get(from..at)).unwrap_or_default();
            all_carried.add(kept.len())?;
            let kept = kept.iter().copied().filter(|kept| !matches!(kept.kind, Kind::Compaction { .. }));
            done.push(std::mem::replace(&mut current, Context { carried: 0, entries: Vec::new() }));
            current.entries = std::iter::once(entry).chain(kept).collect();
            current.carried = current.entries.len();
        } else {
            current.entries.push(entry);
        }
    }
    done.push(current);
    Ok(done)
}

#[cfg(test)]
mod tests;
