//! Which Anthropic messages do blocks make? Replies in one piece, results behind their calls, roles in turn.
//!
//! Knows no trace format: an importer hands it blocks in the order of its trace.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::history::{Form, History, Message, Part, Piece, Side, opening};
use crate::warning::Warning;

/// A content block on its way into a message.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) text: Vec<Piece>,
    pub(crate) form: BlockForm,
    pub(crate) link: Link<'a>,
    /// Whether it is a text that shows nothing: a provider refuses such a block.
    pub(crate) is_blank: bool,
}

/// How a block is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockForm {
    /// As the object that it is.
    Object,
    /// As a string literal that stands for a text block.
    Literal,
}

/// What ties a block to another message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link<'a> {
    None,
    /// It is the call of this id.
    Call(&'a str),
    /// It answers the call of this id.
    Answer(&'a str),
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a, 'r> {
    /// Line number from 1.
    pub(crate) line: usize,
    /// Id of the API reply, where a trace writes one reply in several records.
    pub(crate) reply: Option<&'a str>,
    /// JSON literal of the model that wrote it, or that it was said to.
    pub(crate) model: Option<&'r Range<usize>>,
}

/// A message on its way: what comes first, results, and the rest.
#[derive(Debug)]
struct Growing<'a> {
    side: Side,
    line: usize,
    reply: Option<&'a str>,
    model: Option<Range<usize>>,
    results: Vec<Block<'a>>,
    blocks: Vec<Block<'a>>,
    calls: Vec<&'a str>,
}

impl Growing<'_> {
    fn parts(&self) -> usize {
        self.results.len() + self.blocks.len()
    }
}

/// A history on its way. Messages take turns, so that the answers to a call stand right behind its message.
#[derive(Default)]
pub(crate) struct Turns<'a> {
    messages: Vec<Growing<'a>>,
    /// Where each call stands: place of its message.
    calls: BTreeMap<&'a str, usize>,
    answered: BTreeSet<&'a str>,
    carried_parts: usize,
}

impl<'a> Turns<'a> {
    /// Says that what stands here so far was there at once: no request lies between.
    pub(crate) fn carried_to_here(&mut self) {
        self.carried_parts = self.messages.iter().map(Growing::parts).sum();
    }

    /// Adds a reply, or a further part of the newest one.
    pub(crate) fn assistant(&mut self, origin: Origin<'a, '_>, blocks: Vec<Block<'a>>, warnings: &mut Vec<Warning>) {
        let mut kept = Vec::with_capacity(blocks.len());
        let mut calls = Vec::new();
        for block in blocks {
            if block.is_blank {
                warnings.push(Warning::BlankText { line: origin.line });
                continue;
            }
            if let Link::Call(id) = block.link {
                if self.calls.contains_key(id) || calls.contains(&id) {
                    warnings.push(Warning::DuplicateCall { line: origin.line });
                    continue;
                }
                calls.push(id);
            }
            kept.push(block);
        }
        if kept.is_empty() {
            return;
        }
        let place = self.reply_place(origin);
        for id in &calls {
            self.calls.insert(id, place);
        }
        if let Some(message) = self.messages.get_mut(place) {
            message.blocks.extend(kept);
            message.calls.extend(calls);
            message.model = origin.model.cloned().or(message.model.take());
        }
    }

    /// One reply may be written over several records, with the results of its first calls between them.
    fn reply_place(&mut self, origin: Origin<'a, '_>) -> usize {
        let newest = self.messages.iter().rposition(|message| message.side == Side::Assistant);
        let same_reply = newest.filter(|&at| {
            let reply = self.messages.get(at).and_then(|message| message.reply);
            let only_results =
                self.messages.get(at + 1..).is_some_and(|later| later.iter().all(|user| user.blocks.is_empty()));
            reply.is_some() && reply == origin.reply && only_results
        });
        let last_is_assistant = newest.filter(|at| at + 1 == self.messages.len());
        match same_reply.or(last_is_assistant) {
            Some(at) => {
                if let Some(message) = self.messages.get_mut(at) {
                    message.reply = origin.reply;
                }
                at
            }
            None => self.open(Side::Assistant, origin.line, origin.reply),
        }
    }

    fn open(&mut self, side: Side, line: usize, reply: Option<&'a str>) -> usize {
        self.messages.push(Growing {
            side,
            line,
            reply,
            model: None,
            results: Vec::new(),
            blocks: Vec::new(),
            calls: Vec::new(),
        });
        self.messages.len() - 1
    }

    /// Adds what the user said and what answers calls.
    pub(crate) fn user(&mut self, origin: Origin<'a, '_>, blocks: Vec<Block<'a>>, warnings: &mut Vec<Warning>) {
        let line = origin.line;
        for block in blocks {
            if let Link::Answer(id) = block.link {
                self.result(line, id, block, warnings);
            } else if block.is_blank {
                warnings.push(Warning::BlankText { line });
            } else {
                let place = match self.messages.last() {
                    Some(message) if message.side == Side::Other => self.messages.len() - 1,
                    _ => self.open(Side::Other, line, None),
                };
                if let Some(message) = self.messages.get_mut(place) {
                    message.blocks.push(block);
                    message.model = origin.model.cloned().or(message.model.take());
                }
            }
        }
    }

    /// Puts a result into the message right after its call.
    fn result(&mut self, line: usize, id: &'a str, block: Block<'a>, warnings: &mut Vec<Warning>) {
        let Some(&call) = self.calls.get(id) else {
            warnings.push(Warning::OrphanResult { line });
            return;
        };
        if !self.answered.insert(id) {
            warnings.push(Warning::DuplicateResult { line });
            return;
        }
        if call + 1 == self.messages.len() {
            self.open(Side::Other, line, None);
        } else if self.messages.get(call + 2).is_some() {
            warnings.push(Warning::LateResult { line });
        }
        if let Some(message) = self.messages.get_mut(call + 1) {
            message.results.push(block);
        }
    }

    /// Gives the history, and says what a provider would refuse in it.
    pub(crate) fn finish(self, warnings: &mut Vec<Warning>) -> History {
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
    let blocks: Vec<Block<'_>> = growing.results.into_iter().chain(growing.blocks).collect();
    let alone = blocks.len() == 1 && blocks.iter().all(|block| block.form == BlockForm::Literal);
    let form = if alone { Form::Value } else { Form::List };
    let parts = blocks.into_iter().map(|block| {
        let mut text = block.text;
        if block.form == BlockForm::Literal && !alone {
            text.insert(0, Piece::Fixed("{\"type\":\"text\",\"text\":"));
            text.push(Piece::Fixed("}"));
        }
        Part { separator: Piece::Fixed(","), text }
    });
    Message {
        side: growing.side,
        model: growing.model,
        open: opening(growing.side, form),
        parts: parts.collect(),
        close: Piece::Fixed(if alone { "}" } else { "]}" }),
    }
}
