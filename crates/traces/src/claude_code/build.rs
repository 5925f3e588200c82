//! Which messages do the lines make? Replies in one piece, results behind their calls, roles in turn.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Kind, Line, Preserved};
use crate::history::{Form, History, Message, Part, Piece, Side, opening};
use crate::json::{self, Object};
use crate::source::Source;
use crate::warning::Warning;

/// Builds one history, and one more from each compaction by the client.
pub(super) fn histories(source: &Source, lines: &[&Line<'_>], warnings: &mut Vec<Warning>) -> Vec<History> {
    let mut built = Vec::new();
    let mut current = Draft::default();
    let mut attachments = 0;
    for (at, line) in lines.iter().enumerate() {
        match line.kind {
            Kind::User | Kind::Assistant => {
                // Older clients compact without a boundary line.
                if line.is_summary && !current.after_boundary {
                    built.push(std::mem::take(&mut current).finish(warnings));
                }
                current.message(source, line, warnings);
            }
            Kind::Boundary => {
                built.push(std::mem::take(&mut current).finish(warnings));
                let preserved = preserved(lines.get(..at).unwrap_or_default(), &line.preserved);
                current = Draft { after_boundary: true, preserved, ..Draft::default() };
            }
            Kind::Microcompact => warnings.push(Warning::ResultsCleared { line: line.number }),
            Kind::Attachment => attachments += 1,
            Kind::Other => {}
        }
    }
    built.push(current.finish(warnings));
    if attachments > 0 {
        warnings.push(Warning::AttachmentsLeftOut { lines: attachments });
    }
    built
}

/// Finds the earlier lines that a compaction left as they were.
fn preserved<'l, 'a>(before: &[&'l Line<'a>], preserved: &Preserved<'_>) -> Vec<&'l Line<'a>> {
    let place = |uuid: &str| before.iter().position(|line| line.uuid == Some(uuid));
    let found = match preserved {
        Preserved::Nothing => Vec::new(),
        Preserved::Named(uuids) => {
            let uuids: BTreeSet<&str> = uuids.iter().copied().collect();
            before.iter().copied().filter(|line| line.uuid.is_some_and(|uuid| uuids.contains(uuid))).collect()
        }
        Preserved::Between(head, tail) => match (place(head), place(tail)) {
            (Some(from), Some(to)) if from <= to => before.get(from..=to).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        },
    };
    found.into_iter().filter(|line| line.is_message()).collect()
}

/// A content block on its way into a message.
#[derive(Clone, Debug)]
struct Block {
    value: std::ops::Range<usize>,
    /// The value is a string literal that stands for a text block.
    is_plain: bool,
}

/// A message on its way: what comes first, results, and the rest.
#[derive(Debug)]
struct Growing<'a> {
    side: Side,
    line: usize,
    reply: Option<&'a str>,
    model: Option<std::ops::Range<usize>>,
    results: Vec<Block>,
    blocks: Vec<Block>,
    calls: Vec<&'a str>,
}

impl Growing<'_> {
    fn parts(&self) -> usize {
        self.results.len() + self.blocks.len()
    }
}

/// A history on its way. Messages take turns, so that the answers to a call stand right behind its message.
#[derive(Default)]
struct Draft<'l, 'a> {
    messages: Vec<Growing<'a>>,
    /// Where each call stands: place of its message.
    calls: BTreeMap<&'a str, usize>,
    answered: BTreeSet<&'a str>,
    after_boundary: bool,
    preserved: Vec<&'l Line<'a>>,
    carried_parts: usize,
}

impl<'l, 'a> Draft<'l, 'a> {
    /// Adds a message line; with the first after a compaction, what the compaction kept: behind the summary, else before.
    fn message(&mut self, source: &Source, line: &Line<'a>, warnings: &mut Vec<Warning>) {
        let kept = std::mem::take(&mut self.preserved);
        let opens = std::mem::take(&mut self.after_boundary);
        let (first, rest): (Vec<&Line<'a>>, Vec<&Line<'a>>) = match (opens, line.is_summary) {
            (true, true) => (std::iter::once(line).chain(kept).collect(), Vec::new()),
            _ => (kept, vec![line]),
        };
        for (lines, carried) in [(first, opens), (rest, false)] {
            for line in lines {
                match line.kind {
                    Kind::Assistant => self.assistant(source, line, warnings),
                    Kind::User => self.user(source, line, warnings),
                    Kind::Boundary | Kind::Microcompact | Kind::Attachment | Kind::Other => {}
                }
            }
            if carried {
                self.carried_parts = self.messages.iter().map(Growing::parts).sum();
            }
        }
    }

    fn assistant(&mut self, source: &Source, line: &Line<'a>, warnings: &mut Vec<Warning>) {
        let Some(blocks) = line.content.and_then(blocks_of) else {
            warnings.push(Warning::UnreadableMessage { line: line.number });
            return;
        };
        let mut kept = Vec::with_capacity(blocks.len());
        let mut calls = Vec::new();
        for (raw, is_plain) in blocks {
            if is_blank_text(raw, is_plain) {
                warnings.push(Warning::BlankText { line: line.number });
                continue;
            }
            if let Some(id) = block_id(raw, "tool_use", "id") {
                if self.calls.contains_key(id) || calls.contains(&id) {
                    warnings.push(Warning::DuplicateCall { line: line.number });
                    continue;
                }
                calls.push(id);
            }
            kept.push(Block { value: source.range_of(raw), is_plain });
        }
        if kept.is_empty() {
            return;
        }
        let place = self.reply_place(line);
        for id in &calls {
            self.calls.insert(id, place);
        }
        if let Some(message) = self.messages.get_mut(place) {
            message.blocks.extend(kept);
            message.calls.extend(calls);
            message.model = line.model.map(|model| source.range_of(model)).or(message.model.take());
        }
    }

    /// One reply is written over several lines, with the results of its first calls between them.
    fn reply_place(&mut self, line: &Line<'a>) -> usize {
        let newest = self.messages.iter().rposition(|message| message.side == Side::Assistant);
        let same_reply = newest.filter(|&at| {
            let reply = self.messages.get(at).and_then(|message| message.reply);
            let only_results =
                self.messages.get(at + 1..).is_some_and(|later| later.iter().all(|user| user.blocks.is_empty()));
            reply.is_some() && reply == line.message_id && only_results
        });
        let last_is_assistant = newest.filter(|at| at + 1 == self.messages.len());
        match same_reply.or(last_is_assistant) {
            Some(at) => {
                if let Some(message) = self.messages.get_mut(at) {
                    message.reply = line.message_id;
                }
                at
            }
            None => self.open(Side::Assistant, line),
        }
    }

    fn open(&mut self, side: Side, line: &Line<'a>) -> usize {
        self.messages.push(Growing {
            side,
            line: line.number,
            reply: line.message_id.filter(|_| side == Side::Assistant),
            model: None,
            results: Vec::new(),
            blocks: Vec::new(),
            calls: Vec::new(),
        });
        self.messages.len() - 1
    }

    fn user(&mut self, source: &Source, line: &Line<'a>, warnings: &mut Vec<Warning>) {
        let Some(blocks) = line.content.and_then(blocks_of) else {
            warnings.push(Warning::UnreadableMessage { line: line.number });
            return;
        };
        for (raw, is_plain) in blocks {
            let block = Block { value: source.range_of(raw), is_plain };
            if let Some(id) = block_id(raw, "tool_result", "tool_use_id") {
                self.result(line, id, block, warnings);
            } else if is_blank_text(raw, is_plain) {
                warnings.push(Warning::BlankText { line: line.number });
            } else {
                let place = match self.messages.last() {
                    Some(message) if message.side == Side::Other => self.messages.len() - 1,
                    _ => self.open(Side::Other, line),
                };
                self.messages.iter_mut().skip(place).take(1).for_each(|message| message.blocks.push(block.clone()));
            }
        }
    }

    /// Puts a result into the message right after its call.
    fn result(&mut self, line: &Line<'a>, id: &'a str, block: Block, warnings: &mut Vec<Warning>) {
        let Some(&call) = self.calls.get(id) else {
            warnings.push(Warning::OrphanResult { line: line.number });
            return;
        };
        if !self.answered.insert(id) {
            warnings.push(Warning::DuplicateResult { line: line.number });
            return;
        }
        if call + 1 == self.messages.len() {
            self.open(Side::Other, line);
        } else if self.messages.get(call + 2).is_some() {
            warnings.push(Warning::LateResult { line: line.number });
        }
        if let Some(message) = self.messages.get_mut(call + 1) {
            message.results.push(block);
        }
    }

    fn finish(self, warnings: &mut Vec<Warning>) -> History {
        if let Some(first) = self.messages.first().filter(|message| message.side == Side::Assistant) {
            warnings.push(Warning::StartsWithAssistant { line: first.line });
        }
        for (at, message) in self.messages.iter().enumerate() {
            let open = message.calls.iter().filter(|id| !self.answered.contains(*id)).count();
            // The calls of the newest reply may still be running, but not once the user has spoken.
            let later = self.messages.get(at + 1..).unwrap_or_default();
            let went_on = later.len() > 1 || later.iter().any(|user| !user.blocks.is_empty());
            if open > 0 && went_on {
                warnings.push(Warning::UnansweredCalls { line: message.line, calls: open });
            }
        }
        History { carried_parts: self.carried_parts, messages: self.messages.into_iter().map(written).collect() }
    }
}

fn written(growing: Growing<'_>) -> Message {
    // Anthropic wants results before anything else in their message.
    let blocks: Vec<Block> = growing.results.into_iter().chain(growing.blocks).collect();
    let alone = blocks.len() == 1 && blocks.iter().all(|block| block.is_plain);
    let form = if alone { Form::Value } else { Form::List };
    let parts = blocks.into_iter().map(|block| {
        let wrapped = block.is_plain && !alone;
        Part {
            separator: Piece::Fixed(","),
            open: if wrapped { "{\"type\":\"text\",\"text\":" } else { "" },
            value: block.value,
            close: if wrapped { "}" } else { "" },
        }
    });
    Message {
        side: growing.side,
        model: growing.model,
        open: opening(growing.side, form),
        parts: parts.collect(),
        close: Piece::Fixed(if alone { "}" } else { "]}" }),
    }
}

/// Gives the blocks of a content; a string is one block that stands for a text.
fn blocks_of(content: &str) -> Option<Vec<(&str, bool)>> {
    if json::inside(content).is_some() {
        return Some(vec![(content, true)]);
    }
    Some(json::list(content)?.into_iter().map(|raw| (raw, false)).collect())
}

fn block_id<'a>(raw: &'a str, kind: &str, key: &str) -> Option<&'a str> {
    let object = Object::read(raw)?;
    (object.text("type") == Some(kind)).then(|| object.text(key)).flatten()
}

fn is_blank_text(raw: &str, is_plain: bool) -> bool {
    if is_plain {
        return json::is_blank(raw);
    }
    Object::read(raw)
        .is_some_and(|object| object.text("type") == Some("text") && object.get("text").is_some_and(json::is_blank))
}
