//! Which items did each request hold? The history as Codex rebuilds it from its own file.

use super::item::{self, Kind};
use crate::error::Error;
use crate::history::{Carried, History, Message, Piece, Side};
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::pairs::{Entry, Pairs, Placing};
use crate::source::Source;
use crate::warning::Warning;

/// One item of the history, and the model that was set when it came.
#[derive(Clone, Debug)]
struct Item<'a> {
    line: usize,
    text: Text<'a>,
    model: Option<&'a str>,
    /// Whether a person's turn opens here: a rollback counts those.
    opens_turn: bool,
}

/// How an item stands in the file.
#[derive(Clone, Copy, Debug)]
enum Text<'a> {
    /// As the object that was sent.
    Object(&'a str),
    /// As a string literal that was sent as a user message.
    UserLiteral(&'a str),
}

/// The history on its way. A compaction or a rollback ends one and opens the next.
pub(super) struct Rollout<'a> {
    source: &'a Source,
    items: Vec<Item<'a>>,
    /// How many of the items were there at once when this history began.
    carried: usize,
    model: Option<&'a str>,
    /// Places of the items that open turns.
    turns: Vec<usize>,
    all_carried: Carried,
    done: Vec<History>,
    unknown: Unknown,
}

impl<'a> Rollout<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self {
            source,
            items: Vec::new(),
            carried: 0,
            model: None,
            turns: Vec::new(),
            all_carried: Carried::default(),
            done: Vec::new(),
            unknown: Unknown::default(),
        }
    }

    /// Says which model is asked from here on.
    pub(super) fn model(&mut self, literal: &'a str) {
        self.model = Some(literal);
    }

    pub(super) fn item(&mut self, line: usize, raw: &'a str) {
        let opens_turn = Object::read(raw).is_some_and(|object| item::is_from_a_person(&object));
        self.push(Item { line, text: Text::Object(raw), model: self.model, opens_turn });
    }

    fn push(&mut self, item: Item<'a>) {
        if item.opens_turn {
            self.turns.push(self.items.len());
        }
        self.items.push(item);
    }

    /// Takes what the client kept. Older files hold only the summary: then the user's messages stand before it.
    pub(super) fn compacted(
        &mut self,
        line: usize,
        payload: &Object<'a>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Error> {
        self.close(warnings);
        self.turns.clear();
        let before = std::mem::take(&mut self.items);
        match payload.list("replacement_history") {
            Some(kept) => kept.into_iter().for_each(|raw| self.item(line, raw)),
            None => {
                warnings.push(Warning::CompactionRebuilt { line });
                before.into_iter().filter(is_given).for_each(|item| self.push(item));
                let summary = payload.literal("message").filter(|text| !json::is_blank(text));
                if let Some(text) = summary.map(Text::UserLiteral) {
                    self.push(Item { line, text, model: self.model, opens_turn: false });
                }
            }
        }
        self.carry()
    }

    /// Takes back the newest turns of the person.
    pub(super) fn rolled_back(&mut self, turns: usize, warnings: &mut Vec<Warning>) -> Result<(), Error> {
        let first = self.turns.len() - turns.min(self.turns.len());
        let Some(&from) = self.turns.get(first) else { return Ok(()) };
        self.close(warnings);
        self.items.truncate(from);
        self.turns.truncate(first);
        self.carry()
    }

    fn carry(&mut self) -> Result<(), Error> {
        self.carried = self.items.len();
        self.all_carried.add(self.carried)
    }

    /// Gives all histories, the newest last.
    pub(super) fn finish(mut self, warnings: &mut Vec<Warning>) -> Vec<History> {
        self.close(warnings);
        warnings.extend(self.unknown.passed_through());
        self.done
    }

    fn close(&mut self, warnings: &mut Vec<Warning>) {
        let mut pairs = Pairs::new(Placing::WhereTheyStand);
        for (at, item) in self.items.iter().enumerate() {
            if let Some(entry) = entry_of(self.source, item, &mut self.unknown, warnings) {
                pairs.push(entry, warnings);
            }
            if at + 1 == self.carried {
                pairs.carried_to_here();
            }
        }
        self.done.push(pairs.finish(warnings));
    }
}

/// Says whether an item was given to the model as text. A summary of before is not: the new one holds it.
fn is_given(item: &Item<'_>) -> bool {
    match item.text {
        Text::Object(raw) => Object::read(raw)
            .is_some_and(|object| matches!(Kind::of(&object), Kind::Message(Side::Other | Side::System))),
        Text::UserLiteral(_) => false,
    }
}

fn entry_of<'a>(
    source: &Source,
    item: &Item<'a>,
    unknown: &mut Unknown,
    warnings: &mut Vec<Warning>,
) -> Option<Entry<'a>> {
    let model = item.model.map(|model| source.range_of(model));
    let raw = match item.text {
        Text::Object(raw) => raw,
        Text::UserLiteral(literal) => {
            let open =
                Piece::Fixed("{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":");
            let text = vec![open, Piece::Source(source.range_of(literal)), Piece::Fixed("}]}")];
            return Some(Entry::text(item.line, Message { model, ..Message::whole(Side::Other, text) }));
        }
    };
    let Some(object) = Object::read(raw) else {
        warnings.push(Warning::UnreadableMessage { line: item.line });
        return None;
    };
    let kind = Kind::of(&object);
    let id = object.text("call_id");
    let mut calls = Vec::new();
    let mut answers = None;
    match kind {
        Kind::NeverSent => return None,
        Kind::Unknown => unknown.note(object.text("type"), raw),
        Kind::Call => calls.extend(id),
        Kind::Answer => answers = id,
        Kind::Message(_) | Kind::Reply | Kind::Given => {}
    }
    let message = Message { model, ..Message::verbatim(source, raw, kind.side()) };
    Some(Entry { line: item.line, message, calls, answers })
}
