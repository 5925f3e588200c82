//! Which Chat history do the parts of a trace make? Messages written around its literals, results paired with their calls.
//!
//! For traces of one conversation after the other in a file; an importer hands over what each record says.

use std::sync::Arc;

use crate::chat::{self, Call, Reply, Speaker};
use crate::conversation::{Conversation, Draft, Frame};
use crate::fidelity::Fidelity;
use crate::history::{Message, Piece, Side};
use crate::json;
use crate::kinds::Unknown;
use crate::pairs::{Entry, Pairs, Placing};
use crate::quote::Spacing;
use crate::records::LineStarts;
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;

/// A history on its way.
pub(crate) struct ChatHistory<'s> {
    source: &'s Source,
    starts: &'s LineStarts,
    pairs: Pairs<'s>,
    pub(crate) unknown: Unknown,
    pub(crate) warnings: Vec<Warning>,
}

impl<'s> ChatHistory<'s> {
    pub(crate) fn new(source: &'s Source, starts: &'s LineStarts) -> Self {
        let pairs = Pairs::new(Placing::BehindTheirCall);
        Self { source, starts, pairs, unknown: Unknown::default(), warnings: Vec::new() }
    }

    fn line(&self, record: &str) -> usize {
        self.starts.line_of(self.source, record)
    }

    /// Says that a record holds nothing that can be read.
    pub(crate) fn unreadable(&mut self, record: &str) {
        self.warnings.push(Warning::UnreadableMessage { line: self.line(record) });
    }

    /// Adds system or user text, a string or a list of parts.
    pub(crate) fn said(&mut self, record: &str, speaker: Speaker, content: Option<&str>) {
        let Some(content) = content else { return self.unreadable(record) };
        let side = if speaker == Speaker::System { Side::System } else { Side::Other };
        let text = chat::text(speaker, vec![chat::piece(self.source, content)]);
        self.pairs.push(Entry::text(self.line(record), Message::whole(side, text)), &mut self.warnings);
    }

    /// Adds a reply; calls without id or name are left out.
    pub(crate) fn reply(&mut self, record: &'s str, content: Option<Vec<Piece>>, calls: Vec<Option<Call<'s>>>) {
        if calls.iter().any(Option::is_none) {
            self.unreadable(record);
        }
        let calls: Vec<Call<'s>> = calls.into_iter().flatten().filter(|call| json::inside(call.id).is_some()).collect();
        if content.is_none() && calls.is_empty() {
            return self.unreadable(record);
        }
        let ids = calls.iter().filter_map(|call| json::inside(call.id)).collect();
        let reply = Reply { content, calls, ..Reply::default() };
        let text = chat::reply(self.source, reply, Spacing::AfterPunctuation);
        let message = Message::whole(Side::Assistant, text);
        let entry = Entry { line: self.line(record), message, calls: ids, answers: None };
        self.pairs.push(entry, &mut self.warnings);
    }

    /// Adds the answer to a call.
    pub(crate) fn result(&mut self, record: &str, id: Option<&'s str>, content: Option<&str>) {
        let found = id.zip(content).and_then(|(id, content)| Some((id, json::inside(id)?, content)));
        let Some((id, answers, content)) = found else { return self.unreadable(record) };
        let text = chat::result(self.source, id, vec![chat::piece(self.source, content)]);
        let message = Message::whole(Side::Other, text);
        let entry = Entry { line: self.line(record), message, calls: Vec::new(), answers: Some(answers) };
        self.pairs.push(entry, &mut self.warnings);
    }

    /// Gives the conversation.
    pub(crate) fn finish(
        mut self,
        source: &Arc<Source>,
        agent: String,
        id: Option<&str>,
        frame: Frame,
    ) -> Conversation {
        let histories = vec![self.pairs.finish(&mut self.warnings)];
        self.warnings.extend(self.unknown.left_out());
        let draft = Draft {
            agent,
            id: id.map(str::to_owned),
            wire: Wire::OpenaiChat,
            fidelity: Fidelity::ModelVisible,
            frame,
            histories,
            warnings: self.warnings,
        };
        Conversation::new(Arc::clone(source), draft)
    }
}
