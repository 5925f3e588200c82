//! What did Gemini CLI send? Session files: messages in one JSON object or line by line, each reply with its calls and
//! their results.
//!
//! The client speaks Gemini's own dialect; the bodies say the same in Chat. Thoughts are shown to the person and
//! never sent back, and so are notices.

mod file;

use std::sync::Arc;

use crate::chat::{self, Call, Reply, Speaker};
use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{History, Message, Piece, Side};
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::pairs::{Entry, Pairs, Placing};
use crate::quote::Spacing;
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;
use file::{Context, File};

/// Messages that only the person sees.
const NEVER_SENT: [&str; 3] = ["info", "error", "warning"];

/// Says whether a file looks like a session.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let is_message = |raw: &&str| {
        Object::read(raw).is_some_and(|message| {
            matches!(message.text("type"), Some("user" | "gemini" | "info" | "error" | "warning"))
                && message.get("content").is_some()
        })
    };
    let head = sample.values.first().and_then(|raw| Object::read(raw));
    let Some(head) = head.filter(|head| head.get("sessionId").is_some()) else { return Fit::No };
    let holds_messages = match sample.layout {
        Layout::Single => head.list("messages").is_some_and(|messages| messages.iter().any(is_message)),
        Layout::Lines => head.get("projectHash").is_some() && sample.values.iter().any(is_message),
    };
    match holds_messages {
        true => Fit::Strong("`sessionId` and messages of type `user` and `gemini`"),
        false => Fit::No,
    }
}

/// Reads the conversation of a session.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let mut file = file::read(&source)?;
    let mut reader = Reader {
        source: &source,
        pairs: Pairs::new(Placing::BehindTheirCall),
        unknown: std::mem::take(&mut file.unknown),
        warnings: std::mem::take(&mut file.warnings),
    };
    let histories: Vec<History> = file.contexts.iter().map(|context| reader.history(&file, context)).collect();
    let mut warnings = reader.warnings;
    warnings.extend(reader.unknown.left_out());
    if histories.iter().all(|history| history.messages.is_empty()) {
        return Err(Error::NoConversation { expected: "messages of type `user` or `gemini`" });
    }
    let draft = Draft {
        agent: "main".to_owned(),
        id: None,
        wire: Wire::OpenaiChat,
        fidelity: Fidelity::ModelVisible,
        frame: Frame::default(),
        histories,
        warnings,
    };
    Ok(vec![Conversation::new(Arc::clone(&source), draft)])
}

/// The session on its way.
struct Reader<'s> {
    source: &'s Source,
    pairs: Pairs<'s>,
    unknown: Unknown,
    warnings: Vec<Warning>,
}

impl<'s> Reader<'s> {
    fn history(&mut self, file: &File<'s>, context: &Context) -> History {
        for (at, place) in context.places.iter().enumerate() {
            let Some(message) = file.messages.get(*place) else { continue };
            self.message(message.line, &message.object);
            if at + 1 == context.carried {
                self.pairs.carried_to_here();
            }
        }
        let pairs = std::mem::replace(&mut self.pairs, Pairs::new(Placing::BehindTheirCall));
        pairs.finish(&mut self.warnings)
    }

    fn message(&mut self, line: usize, message: &Object<'s>) {
        match message.text("type") {
            Some("user") => {
                let Some(content) = self.text_of(message.get("content")) else {
                    self.warnings.push(Warning::UnreadableMessage { line });
                    return;
                };
                let text = chat::text(Speaker::User, content);
                self.pairs.push(Entry::text(line, Message::whole(Side::Other, text)), &mut self.warnings);
            }
            Some("gemini") => self.reply(line, message),
            Some(kind) if NEVER_SENT.contains(&kind) => {}
            other => self.unknown.note(other, message.mark()),
        }
    }

    fn reply(&mut self, line: usize, message: &Object<'s>) {
        let mut reply = Reply { content: self.text_of(message.get("content")), ..Reply::default() };
        let mut ids = Vec::new();
        let mut results = Vec::new();
        for raw in message.list("toolCalls").unwrap_or_default() {
            let object = Object::read(raw);
            let call = object.as_ref().and_then(|call| {
                Some(Call { id: call.literal("id")?, name: call.literal("name")?, arguments: call.get("args") })
            });
            let Some((call, id)) = call.and_then(|call| Some((call, json::inside(call.id)?))) else {
                self.warnings.push(Warning::UnreadableMessage { line });
                continue;
            };
            ids.push(id);
            reply.calls.push(call);
            let answer = object.and_then(|call| call.get("result"));
            results.extend(answer.and_then(|answer| Some((call.id, id, self.result_of(answer)?))));
        }
        // A reply of thoughts alone says nothing that is sent back.
        if reply.content.is_none() && reply.calls.is_empty() {
            return;
        }
        let text = chat::reply(self.source, reply, Spacing::None);
        let model = message.literal("model").map(|model| self.source.range_of(model));
        let message = Message { model, ..Message::whole(Side::Assistant, text) };
        self.pairs.push(Entry { line, message, calls: ids, answers: None }, &mut self.warnings);
        for (literal, id, content) in results {
            let message = Message::whole(Side::Other, chat::result(self.source, literal, content));
            self.pairs.push(Entry { line, message, calls: Vec::new(), answers: Some(id) }, &mut self.warnings);
        }
    }

    /// Gives the text of a content that is a string, a part, or a list of either; `None` if it shows nothing.
    fn text_of(&mut self, content: Option<&'s str>) -> Option<Vec<Piece>> {
        let mut literals = Vec::new();
        for part in content.map(parts_of).unwrap_or_default() {
            let literal = match json::inside(part) {
                Some(_) => Some(part),
                None => Object::read(part).and_then(|part| part.literal("text")),
            };
            match literal {
                Some(literal) => literals.push(literal),
                None => self.unknown.note(name_of(part), part),
            }
        }
        literals.retain(|literal| !json::is_blank(literal));
        (!literals.is_empty()).then(|| chat::joined(self.source, &literals, "\\n"))
    }

    /// Gives the text that answers a call: output or error where it is one, else the whole answer as JSON.
    fn result_of(&mut self, answer: &'s str) -> Option<Vec<Piece>> {
        let mut texts: Vec<Vec<Piece>> = Vec::new();
        for part in parts_of(answer) {
            let object = Object::read(part);
            let response = object.as_ref().and_then(|part| part.object("functionResponse"));
            let response = response.and_then(|response| response.get("response"));
            let said =
                response.and_then(Object::read).and_then(|said| said.literal("output").or(said.literal("error")));
            let plain = object.as_ref().and_then(|part| part.literal("text"));
            match said.or(plain).or(response).or(json::inside(part).map(|_| part)) {
                Some(raw) => texts.push(chat::string(self.source, raw, Spacing::None)),
                None => self.unknown.note(name_of(part), part),
            }
        }
        match texts.len() {
            0 | 1 => texts.pop(),
            _ => Some(self.joined(texts)),
        }
    }

    /// Joins string literals in pieces into one.
    fn joined(&self, texts: Vec<Vec<Piece>>) -> Vec<Piece> {
        let mut out = vec![Piece::Fixed("\"")];
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                out.push(Piece::Fixed("\\n"));
            }
            match text.as_slice() {
                [Piece::Source(range)] => {
                    let inside = json::inside(self.source.slice(range)).unwrap_or("");
                    out.push(chat::piece(self.source, inside));
                }
                [_, inner, _] => out.push(inner.clone()),
                _ => {}
            }
        }
        out.push(Piece::Fixed("\""));
        out
    }
}

fn parts_of(content: &str) -> Vec<&str> {
    json::list(content).unwrap_or_else(|| vec![content])
}

/// Names a part by its first key, as `inlineData`.
fn name_of(part: &str) -> Option<&str> {
    let inside = part.strip_prefix('{')?.trim_start().strip_prefix('"')?;
    inside.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests;
