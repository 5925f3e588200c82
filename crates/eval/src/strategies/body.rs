//! Which results and messages does a body hold, how large are they, and how does it look without some of them?
//!
//! Splices only: what no strategy touches keeps its bytes.

use std::collections::BTreeMap;
use std::ops::Range;

use liveset::WireFormat;
use liveset_engine::Error;
use liveset_engine::counts::Counts;
use liveset_engine::json::{self, Outline};
use liveset_engine::transcript::{Item, ItemIdx, ItemKind, Side, Transcript};
use liveset_engine::wire;
use liveset_tokens::{CountCache, o200k};

/// Share of the window over which a batch is due, and the share that it leaves, in percent: ours, for all alike.
const TRIGGER_PERCENT: u64 = 92;
const TARGET_PERCENT: u64 = 60;

/// Reads and counts the bodies of one conversation.
#[derive(Debug)]
pub(crate) struct Scale {
    format: WireFormat,
    window_tokens: u64,
    cache: CountCache,
}

/// A result of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultItem {
    pub(crate) item: usize,
    pub(crate) number: u32,
    pub(crate) tokens: u64,
}

/// A body, read and counted.
pub(crate) struct Body<'b> {
    pub(crate) transcript: Transcript<'b>,
    counts: Counts,
}

impl Scale {
    pub(crate) fn new(format: WireFormat, window_tokens: u64) -> Self {
        Self { format, window_tokens, cache: CountCache::default() }
    }

    pub(crate) fn trigger(&self) -> u64 {
        self.window_tokens * TRIGGER_PERCENT / 100
    }

    pub(crate) fn target(&self) -> u64 {
        self.window_tokens * TARGET_PERCENT / 100
    }

    pub(crate) fn read<'b>(&mut self, body: &'b [u8]) -> Result<Body<'b>, Error> {
        let transcript = wire::read(self.format, &Outline::read(body)?)?;
        let counts = Counts::of(&transcript, o200k(), &mut self.cache)?;
        Ok(Body { transcript, counts })
    }
}

impl Body<'_> {
    pub(crate) fn tokens(&self) -> u64 {
        self.counts.total().0
    }

    /// Gives what a request costs beside its items.
    pub(crate) fn request_tokens(&self) -> u64 {
        self.counts.request().0
    }

    /// Gives the size of an item and what identifies it.
    pub(crate) fn item(&self, at: usize) -> (u128, u64) {
        let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
        (self.counts.digest(idx), self.counts.item(idx).0)
    }

    /// Lists the results, in order.
    pub(crate) fn results(&self) -> Vec<ResultItem> {
        let items = self.transcript.items.iter().enumerate();
        let results = items.filter(|(_, item)| item.kind == ItemKind::ToolResult && !item.texts.is_empty());
        results.map(|(at, item)| ResultItem { item: at, number: item.number, tokens: self.item(at).1 }).collect()
    }

    /// Gives the number of the newest assistant message.
    pub(crate) fn newest(&self) -> u32 {
        self.transcript.items.iter().map(|item| item.number).max().unwrap_or(0)
    }

    /// Gives the text of an item that has a single one.
    pub(crate) fn text(&self, item: usize) -> Option<String> {
        let [text] = self.transcript.items.get(item)?.texts.as_slice() else { return None };
        json::decode(text.of(self.transcript.body)).ok().map(|decoded| decoded.into_text().into_owned())
    }

    /// Writes the body with other texts in some items.
    pub(crate) fn with_texts(&self, texts: &BTreeMap<usize, String>) -> Vec<u8> {
        let mut splices = Vec::new();
        for (at, text) in texts {
            let spans = self.transcript.items.get(*at).map_or(&[][..], |item| item.texts.as_slice());
            splices.extend(spans.iter().map(|span| (span.range(), json::encode(text))));
        }
        splice(self.transcript.body, splices)
    }

    /// Lists the places of wire messages at which a unit begins, behind the first one.
    pub(crate) fn unit_starts(&self) -> Vec<usize> {
        let side = |message: usize| {
            let of_message = |item: &&Item| item.message.is_some_and(|at| at as usize == message);
            self.transcript.items.iter().find(of_message).map(|item| item.side)
        };
        let starts = (1..self.transcript.messages.len())
            .filter(|message| side(*message) == Some(Side::Assistant) && side(message - 1) != Some(Side::Assistant));
        starts.collect()
    }

    /// Sums the sizes of the items of wire messages.
    pub(crate) fn tokens_of(&self, messages: &Range<usize>) -> u64 {
        let items = self.transcript.items.iter().enumerate();
        let inside = items.filter(|(_, item)| item.message.is_some_and(|at| messages.contains(&(at as usize))));
        inside.map(|(at, _)| self.item(at).1).sum()
    }

    /// Writes the body without some wire messages, which end before the last one.
    pub(crate) fn without_messages(&self, messages: &Range<usize>) -> Vec<u8> {
        let start = |at: usize| self.transcript.messages.get(at).map(|span| span.start());
        match (start(messages.start), start(messages.end)) {
            (Some(from), Some(to)) if from < to => splice(self.transcript.body, vec![(from..to, String::new())]),
            _ => self.transcript.body.to_vec(),
        }
    }
}

fn splice(body: &[u8], mut splices: Vec<(Range<usize>, String)>) -> Vec<u8> {
    splices.sort_by_key(|(range, _)| range.start);
    let (mut out, mut at) = (Vec::with_capacity(body.len()), 0);
    for (range, text) in splices {
        out.extend_from_slice(body.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(body.get(at..).unwrap_or_default());
    out
}
