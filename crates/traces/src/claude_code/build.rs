//! Which messages do the lines make? Replies in one piece, results behind their calls, roles in turn.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Kind, Line};
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
            Kind::User => current.user(source, line, warnings),
            Kind::Assistant => current.assistant(source, line, warnings),
            Kind::Boundary => {
                built.push(std::mem::take(&mut current).finish(warnings));
                let preserved = line.preserved.map(|range| preserved(lines.get(..at).unwrap_or_default(), range));
                current = Draft { after_boundary: true, preserved: preserved.unwrap_or_default(), ..Draft::default() };
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

/// Finds the stretch of earlier lines that a compaction left as it was.
fn preserved<'l, 'a>(before: &[&'l Line<'a>], (head, tail): (&str, &str)) -> Vec<&'l Line<'a>> {
    let place = |uuid: &str| before.iter().position(|line| line.uuid == Some(uuid));
    match (place(head), place(tail)) {
        (Some(from), Some(to)) if from <= to => before.get(from..=to).unwrap_or_default().to_vec(),
        _ => Vec::new(),
    }
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
        if self.after_boundary && line.is_summary {
            self.after_boundary = false;
            for line in std::mem::take(&mut self.preserved) {
                match line.kind {
                    Kind::User => self.user(source, line, warnings),
                    Kind::Assistant => self.assistant(source, line, warnings),
                    Kind::Boundary | Kind::Microcompact | Kind::Attachment | Kind::Other => {}
                }
            }
            self.carried_parts = self.messages.iter().map(|message| message.results.len() + message.blocks.len()).sum();
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
        let last = self.messages.len();
        for (at, message) in self.messages.iter().enumerate() {
            let open = message.calls.iter().filter(|id| !self.answered.contains(*id)).count();
            // The calls of the newest message may still be running.
            if open > 0 && at + 2 < last {
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
