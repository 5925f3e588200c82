//! What did tau2 send? Results files: one JSON object with many simulations, each a conversation of the agent.
//!
//! The calls that the simulated user makes on its own device, and what answers them, never reach the agent.

use std::sync::Arc;

use crate::chat::{self, Call, Reply, Speaker};
use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{Message, Side};
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::pairs::{Entry, Pairs, Placing};
use crate::quote::Spacing;
use crate::records::{self, LineStarts};
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;

/// Most simulations of one file; each becomes a conversation of its own in every report.
const MAX_SIMULATIONS: usize = 100_000;

/// Says whether a file looks like results.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice()) else { return Fit::No };
    let is_results = Object::read(value)
        .is_some_and(|object| object.list("simulations").is_some() && object.object("info").is_some());
    if is_results { Fit::Strong("`simulations` and `info`") } else { Fit::No }
}

/// Reads every simulation as a conversation.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let object = records::whole(&source, "results: one JSON object")?;
    let simulations = object.list("simulations").unwrap_or_default();
    if simulations.len() > MAX_SIMULATIONS {
        return Err(Error::TooManyConversations { limit: MAX_SIMULATIONS });
    }
    let info = object.object("info");
    let model = info.as_ref().and_then(|info| info.object("agent_info")?.literal("llm")).map(str::to_owned);
    let policy = info.as_ref().and_then(|info| info.object("environment_info")?.literal("policy"));
    let starts = LineStarts::of(&source);
    let mut conversations = Vec::new();
    for (at, raw) in simulations.into_iter().enumerate() {
        let malformed = || starts.malformed(&source, raw, "a simulation: a JSON object with `messages`");
        let simulation = Object::read(raw).ok_or_else(malformed)?;
        let messages = simulation.list("messages").ok_or_else(malformed)?;
        let mut reader = Reader::new(&source, &starts);
        // The agent's system text holds the policy; the trace lacks what stands around it.
        reader.policy(raw, policy);
        messages.into_iter().try_for_each(|message| reader.message(message))?;
        let mut warnings = reader.warnings;
        let histories = vec![reader.pairs.finish(&mut warnings)];
        warnings.extend(reader.unknown.left_out());
        let draft = Draft {
            agent: (at + 1).to_string(),
            id: simulation.text("id").map(str::to_owned),
            wire: Wire::OpenaiChat,
            fidelity: Fidelity::ModelVisible,
            frame: Frame { model: model.clone(), ..Frame::default() },
            histories,
            warnings,
        };
        conversations.push(Conversation::new(Arc::clone(&source), draft));
    }
    match conversations.iter().all(|conversation| conversation.request_points() == 0) {
        true => Err(Error::NoConversation { expected: "messages in `simulations`" }),
        false => Ok(conversations),
    }
}

/// One simulation on its way.
struct Reader<'s> {
    source: &'s Source,
    starts: &'s LineStarts,
    pairs: Pairs<'s>,
    unknown: Unknown,
    warnings: Vec<Warning>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source, starts: &'s LineStarts) -> Self {
        let pairs = Pairs::new(Placing::BehindTheirCall);
        Self { source, starts, pairs, unknown: Unknown::default(), warnings: Vec::new() }
    }

    fn push(&mut self, entry: Entry<'s>) {
        self.pairs.push(entry, &mut self.warnings);
    }

    fn policy(&mut self, simulation: &str, policy: Option<&str>) {
        let Some(policy) = policy else { return };
        let text = chat::text(Speaker::System, vec![chat::piece(self.source, policy)]);
        let line = self.starts.line_of(self.source, simulation);
        self.push(Entry::text(line, Message::whole(Side::System, text)));
    }

    fn message(&mut self, raw: &'s str) -> Result<(), Error> {
        let object =
            Object::read(raw).ok_or_else(|| self.starts.malformed(self.source, raw, "a message: a JSON object"))?;
        let line = self.starts.line_of(self.source, raw);
        let is_users = object.text("requestor") == Some("user");
        match object.text("role") {
            Some("system") => self.said(line, &object, Speaker::System),
            Some("user") if object.list("tool_calls").is_some_and(|calls| !calls.is_empty()) => {}
            Some("user") => self.said(line, &object, Speaker::User),
            Some("assistant") => self.assistant(line, &object),
            Some("tool") => match object.list("tool_messages") {
                Some(several) => several.into_iter().try_for_each(|message| self.message(message))?,
                None if is_users => {}
                None => self.tool(line, &object),
            },
            other => self.unknown.note(other, raw),
        }
        Ok(())
    }

    fn said(&mut self, line: usize, object: &Object<'s>, speaker: Speaker) {
        let Some(content) = object.literal("content") else {
            self.warnings.push(Warning::UnreadableMessage { line });
            return;
        };
        let side = if speaker == Speaker::System { Side::System } else { Side::Other };
        let text = chat::text(speaker, vec![chat::piece(self.source, content)]);
        self.push(Entry::text(line, Message::whole(side, text)));
    }

    fn assistant(&mut self, line: usize, object: &Object<'s>) {
        let mut reply = Reply {
            content: object.literal("content").map(|text| vec![chat::piece(self.source, text)]),
            ..Reply::default()
        };
        let mut ids = Vec::new();
        for raw in object.list("tool_calls").unwrap_or_default() {
            let call = Object::read(raw);
            let call = call.and_then(|call| {
                Some(Call { id: call.literal("id")?, name: call.literal("name")?, arguments: call.get("arguments") })
            });
            let Some((call, id)) = call.and_then(|call| Some((call, json::inside(call.id)?))) else {
                self.warnings.push(Warning::UnreadableMessage { line });
                continue;
            };
            ids.push(id);
            reply.calls.push(call);
        }
        if reply.content.is_none() && reply.calls.is_empty() {
            self.warnings.push(Warning::UnreadableMessage { line });
            return;
        }
        let text = chat::reply(self.source, reply, Spacing::AfterPunctuation);
        let message = Message::whole(Side::Assistant, text);
        self.push(Entry { line, message, calls: ids, answers: None });
    }

    fn tool(&mut self, line: usize, object: &Object<'s>) {
        let Some((id, content)) = object.literal("id").zip(object.literal("content")) else {
            self.warnings.push(Warning::UnreadableMessage { line });
            return;
        };
        let text = chat::result(self.source, id, vec![chat::piece(self.source, content)]);
        let message = Message::whole(Side::Other, text);
        self.push(Entry { line, message, calls: Vec::new(), answers: json::inside(id) });
    }
}

#[cfg(test)]
mod tests;
