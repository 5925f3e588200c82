//! After a cut, did the agent get the text back? The same call again, the same file again, or a recall, and what it cost.
//!
//! Holds hashes and figures, never an argument, and changes no decision.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use liveset_engine::{
    edit::Edit,
    report::EditKind,
    tools::CallName,
    transcript::{Call, Item, Transcript},
};
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// Requests after a cut in which a call counts as getting the text back.
const REQUESTS: u64 = 10;
/// Cuts of one conversation that are watched at a time; the oldest go first.
const MAX_WATCHED: usize = 4_096;
/// Tools of one conversation that are told apart; the rest are `other`.
const MAX_TOOLS: usize = 64;
/// Bytes of a token in texts of tools, for what a text that came back cost; an estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// How an agent got a text back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// It asked for the original by its id.
    Recalled,
    /// It made the same call, to the letter.
    Repeated,
    /// It read the same thing in another way: the same path, query or command.
    ReadAgain,
}

impl Way {
    /// The word that metrics use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Recalled => "recalled",
            Self::Repeated => "repeated",
            Self::ReadAgain => "read_again",
        }
    }
}

/// What happened after the cuts of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    /// Texts that were cut.
    pub(crate) cuts: u64,
    /// Cut texts that were asked for by their ids, within ten requests.
    pub(crate) recalled: u64,
    /// Cut texts whose calls were made again.
    pub(crate) repeated: u64,
    /// Cut texts that were read again by another call.
    pub(crate) read_again: u64,
    /// Tokens of what came back so, about.
    pub(crate) cost_tokens: u64,
    /// Tokens that did not have to be sent, over all requests.
    pub(crate) saved_tokens: u64,
}

/// One text that came back, for the metrics of the whole proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Returned {
    /// The tool whose text was cut.
    pub(crate) tool: String,
    /// How it came back.
    pub(crate) way: Way,
    /// About how many tokens came.
    pub(crate) tokens: u64,
}

/// Watches the cuts of one conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    cuts: VecDeque<Cut>,
    /// Items whose cut was noted: each is cut once.
    items: BTreeSet<u32>,
    whole: Figures,
    by_tool: BTreeMap<String, Figures>,
}

#[derive(Clone, Debug)]
struct Cut {
    request: u64,
    tool: String,
    /// The call, to the letter.
    call: u128,
    /// What it asks for, in its own words; `None` where it has none.
    words: Option<u128>,
    /// What its original is asked for by.
    id: u128,
}

impl Watch {
    /// Looks at what the agent did since the request before: items from `from` on are new.
    pub(crate) fn look(&mut self, transcript: &Transcript<'_>, from: usize, request: u64) -> Vec<Returned> {
        while self.cuts.front().is_some_and(|cut| cut.request.saturating_add(REQUESTS) < request) {
            self.cuts.pop_front();
        }
        if self.cuts.is_empty() {
            return Vec::new();
        }
        let calls = transcript.items.iter().skip(from).filter_map(Item::call);
        calls.filter_map(|call| self.returned(transcript, call)).collect()
    }

    /// Notes that these texts were cut before anybody watched.
    pub(crate) fn note_old(&mut self, edits: &[Edit]) {
        self.items.extend(edits.iter().map(|edit| edit.item.0));
    }

    /// Notes what this request cut first, and what it saved.
    pub(crate) fn note(&mut self, transcript: &Transcript<'_>, edits: &[Edit], saved_tokens: u64, request: u64) {
        self.whole.saved_tokens = self.whole.saved_tokens.saturating_add(saved_tokens);
        let results = edits.iter().filter(|edit| edit.kind != EditKind::Mark && edit.kind != EditKind::Reasoning);
        for edit in results {
            if !self.items.insert(edit.item.0) {
                continue;
            }
            let Some(call) = call_of(transcript, edit) else { continue };
            let (name, words) = named(transcript, call);
            let id = hash(&[edit.archive_id.to_string().as_bytes()]);
            self.of_tool(&name.tool).cuts += 1;
            self.whole.cuts += 1;
            let call = whole_call(transcript, call);
            self.cuts.push_back(Cut { request, tool: name.tool, call, words, id });
            if self.cuts.len() > MAX_WATCHED {
                self.cuts.pop_front();
            }
        }
    }

    /// What happened so far.
    pub(crate) fn figures(&self) -> Figures {
        self.whole
    }

    /// The same for each tool.
    pub(crate) fn by_tool(&self) -> &BTreeMap<String, Figures> {
        &self.by_tool
    }

    fn returned(&mut self, transcript: &Transcript<'_>, call: &Call) -> Option<Returned> {
        let (name, words) = named(transcript, call);
        let whole = whole_call(transcript, call);
        let asked = hash(&[name.label.as_bytes()]);
        let way_of = |cut: &Cut| match () {
            () if cut.id == asked => Some(Way::Recalled),
            () if cut.call == whole => Some(Way::Repeated),
            () if cut.words.is_some() && cut.words == words => Some(Way::ReadAgain),
            () => None,
        };
        let (at, way) = self.cuts.iter().enumerate().find_map(|(at, cut)| Some((at, way_of(cut)?)))?;
        // Each cut comes back once.
        let cut = self.cuts.remove(at)?;
        let result = call.result.and_then(|idx| transcript.items.get(idx.at()));
        let bytes = result.map_or(0, |result| result.texts.iter().map(|span| span.len()).sum::<usize>());
        let tokens = (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        for figures in [&mut self.whole, self.by_tool.entry(cut.tool.clone()).or_default()] {
            figures.cost_tokens = figures.cost_tokens.saturating_add(tokens);
            match way {
                Way::Recalled => figures.recalled += 1,
                Way::Repeated => figures.repeated += 1,
                Way::ReadAgain => figures.read_again += 1,
            }
        }
        Some(Returned { tool: cut.tool, way, tokens })
    }

    fn of_tool(&mut self, tool: &str) -> &mut Figures {
        let is_known = self.by_tool.contains_key(tool) || self.by_tool.len() < MAX_TOOLS;
        self.by_tool.entry(if is_known { tool } else { "other" }.to_owned()).or_default()
    }
}

/// The call whose answer, or argument, an edit took.
fn call_of<'t>(transcript: &'t Transcript<'_>, edit: &Edit) -> Option<&'t Call> {
    let item = transcript.items.get(edit.item.at())?;
    let result = item.within.and_then(|idx| transcript.items.get(idx.at())).unwrap_or(item);
    let answered = result.answer().and_then(|answer| answer.call).and_then(|idx| transcript.items.get(idx.at()));
    item.call().or_else(|| answered.and_then(Item::call))
}

fn named(transcript: &Transcript<'_>, call: &Call) -> (CallName, Option<u128>) {
    let name = CallName::of(transcript, Some(call));
    let words = (!name.label.is_empty()).then(|| hash(&[name.label.as_bytes()]));
    (name, words)
}

fn whole_call(transcript: &Transcript<'_>, call: &Call) -> u128 {
    let part = |span: Option<liveset_engine::Span>| span.map_or(&[][..], |span| span.of(transcript.body));
    hash(&[part(call.name), part(call.arguments)])
}

fn hash(parts: &[&[u8]]) -> u128 {
    let mut hash = Xxh3::new();
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.digest128()
}
