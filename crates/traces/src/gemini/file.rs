//! Which messages does a session file hold? One object with all of them, or a line for each change (newer clients).

use std::collections::BTreeMap;

use crate::error::Error;
use crate::history::Carried;
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::records::{self, LineStarts};
use crate::source::Source;
use crate::warning::Warning;

/// A message and the line in which it begins.
pub(super) struct Message<'a> {
    pub(super) line: usize,
    pub(super) object: Object<'a>,
}

/// Places of the messages of one history, and how many of them were there at once when it began.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) carried: usize,
    pub(super) places: Vec<usize>,
}

/// What a file holds.
#[derive(Default)]
pub(super) struct File<'a> {
    pub(super) messages: Vec<Message<'a>>,
    pub(super) contexts: Vec<Context>,
    pub(super) warnings: Vec<Warning>,
    pub(super) unknown: Unknown,
}

/// Reads a file of either kind.
pub(super) fn read(source: &Source) -> Result<File<'_>, Error> {
    let is_lines = source.lines().next().is_some_and(|line| {
        json::value(line.text).and_then(Object::read).is_some_and(|head| head.get("messages").is_none())
    });
    if is_lines { changes(source) } else { whole(source) }
}

fn whole(source: &Source) -> Result<File<'_>, Error> {
    let object = records::whole(source, "a session: one JSON object")?;
    let starts = LineStarts::of(source);
    let mut file = File::default();
    for raw in object.list("messages").unwrap_or_default() {
        let object = Object::read(raw).ok_or_else(|| starts.malformed(source, raw, "a message: a JSON object"))?;
        file.messages.push(Message { line: starts.line_of(source, raw), object });
    }
    file.contexts.push(Context { carried: 0, places: (0..file.messages.len()).collect() });
    Ok(file)
}

/// Follows the changes line by line: a message that comes again takes the place of the one with its id, a rewind takes
/// back a message and all after it.
fn changes(source: &Source) -> Result<File<'_>, Error> {
    let (records, warnings) = records::lines(source)?;
    let mut file = File { warnings, ..File::default() };
    let mut current = Context::default();
    let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all_carried = Carried::default();
    for record in records {
        let line = record.line;
        let object = record.object;
        let rewind = object.text("$rewindTo");
        let set = object.object("$set").map(|set| set.list("messages"));
        if let Some(to) = rewind {
            // A client that does not find the message begins anew.
            let from = by_id.get(to).copied().unwrap_or(0);
            if from >= current.places.len() {
                continue;
            }
            file.contexts.push(current.clone());
            current.places.truncate(from);
            current.carried = from;
            by_id.retain(|_, place| *place < from);
            all_carried.add(from)?;
        } else if let Some(messages) = set {
            let Some(messages) = messages else { continue };
            file.contexts.push(std::mem::take(&mut current));
            by_id.clear();
            for object in messages.into_iter().filter_map(Object::read) {
                add(&mut file, &mut current, &mut by_id, Message { line, object });
            }
            current.carried = current.places.len();
            all_carried.add(current.carried)?;
        } else if object.get("type").is_some() {
            add(&mut file, &mut current, &mut by_id, Message { line, object });
        } else if object.get("sessionId").is_none() {
            file.unknown.note(None, record.raw);
        }
    }
    file.contexts.push(current);
    Ok(file)
}

fn add<'a>(file: &mut File<'a>, current: &mut Context, by_id: &mut BTreeMap<&'a str, usize>, message: Message<'a>) {
    let id = message.object.text("id");
    let place = file.messages.len();
    file.messages.push(message);
    let known = id.and_then(|id| by_id.get(id)).and_then(|at| current.places.get_mut(*at));
    match known {
        Some(known) => *known = place,
        None => {
            if let Some(id) = id {
                by_id.insert(id, current.places.len());
            }
            current.places.push(place);
        }
    }
}
