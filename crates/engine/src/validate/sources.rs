//! Is what an Anthropic body refers to still there? `wire-formats.md`, section 1, "Server tools, MCP, deferred tools".
//!
//! Server tool results look for their calls, citations for their documents; never for meaning.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::code::Code;
use super::defect::Findings;
use super::reading::Reading;
use crate::json::{NodeIdx, NodeKind, Outline};

/// How deep a source may stand in a server tool's result: a fetched page is the third level, deeper ones hold none.
const MAX_SOURCE_DEPTH: usize = 3;

#[derive(Default)]
pub(super) struct Sources<'a> {
    /// Ids of server calls in the assistant message at hand.
    here: BTreeSet<Cow<'a, str>>,
    /// Ids of server calls that wait for a client's result (programmatic calls name them in `caller`).
    paused: BTreeSet<String>,
    documents: usize,
    search_results: usize,
    urls: BTreeSet<Cow<'a, str>>,
    history: History,
}

/// Whether all that was ever said is in the body.
#[derive(Default, PartialEq, Eq)]
enum History {
    #[default]
    Whole,
    /// A compaction block stands for what is gone.
    Compacted,
}

impl<'a> Sources<'a> {
    /// Begins a further assistant message.
    pub(super) fn begin_message(&mut self) {
        self.here.clear();
    }

    pub(super) fn compacted(&mut self) {
        self.history = History::Compacted;
    }

    pub(super) fn server_call(&mut self, reading: Reading<'_, 'a>, block: NodeIdx) {
        self.here.extend(reading.string(block, "id"));
    }

    /// Notes the server call that a client's call was made for: its result comes in a later message.
    pub(super) fn client_call(&mut self, reading: Reading<'_, 'a>, block: NodeIdx) {
        let Some(caller) = reading.field(block, "caller") else { return };
        let Ok(caller) = Outline::read_all(reading.outline.bytes(caller)) else { return };
        let id = Reading::new(&caller).string(caller.root(), "tool_id").map(Cow::into_owned);
        self.paused.extend(id.filter(|id| self.here.contains(id.as_str())));
    }

    pub(super) fn server_result(&mut self, reading: Reading<'_, 'a>, block: NodeIdx, found: &mut Findings) {
        let id = reading.word(block, "tool_use_id");
        if !self.here.contains(id.as_ref()) && !self.paused.contains(id.as_ref()) {
            reading.report(found, Code::ServerToolResultOrphan, block, "its call is not in the same assistant message");
        }
        if let Some(content) = reading.field(block, "content") {
            self.below(reading, content);
        }
    }

    /// Notes a block that may be cited.
    pub(super) fn block(&mut self, reading: Reading<'_, 'a>, block: NodeIdx) {
        match reading.word(block, "type").as_ref() {
            "document" => self.documents += 1,
            "search_result" => self.search_results += 1,
            "web_search_result" => self.urls.extend(reading.string(block, "url")),
            _ => {}
        }
    }

    /// Notes what stands in the content of a server tool's result: a list, or one object with content of its own.
    fn below(&mut self, reading: Reading<'_, 'a>, content: NodeIdx) {
        let mut next = Some(content);
        for _ in 0..MAX_SOURCE_DEPTH {
            let Some(at) = next else { return };
            for block in reading.elements(at) {
                self.block(reading, block);
            }
            if reading.kind(at) != NodeKind::Object {
                return;
            }
            self.block(reading, at);
            next = reading.field(at, "content");
        }
    }

    /// Checks the citations of a text. Which index points where is unproven, so only one past all sources is a defect.
    pub(super) fn citations(&self, reading: Reading<'_, 'a>, block: NodeIdx, found: &mut Findings) {
        if self.history == History::Compacted {
            return;
        }
        let Some(list) = reading.field(block, "citations") else { return };
        let Ok(inner) = Outline::read_all(reading.outline.bytes(list)) else { return };
        let inner = Reading::new(&inner);
        let is_lost = |citation: NodeIdx| match inner.word(citation, "type").as_ref() {
            "char_location" | "page_location" | "content_block_location" => {
                index(inner, citation, "document_index") >= Some(self.documents)
            }
            "search_result_location" => index(inner, citation, "search_result_index") >= Some(self.search_results),
            "web_search_result_location" => !self.urls.contains(inner.word(citation, "url").as_ref()),
            _ => false,
        };
        if inner.elements(inner.outline.root()).any(is_lost) {
            reading.report(found, Code::CitationTargetLost, list, "a citation of something that is not there");
        }
    }
}

/// Reads a whole number; `None`, which is less than all, where there is none.
fn index(reading: Reading<'_, '_>, citation: NodeIdx, key: &str) -> Option<usize> {
    let bytes = reading.outline.bytes(reading.field(citation, key)?);
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
