//! How does pi say a session to a Chat model? Messages of one history.

use super::content::{self, Part};
use super::entry::{Entry, Kind, Message as Said, Role};
use super::{Context, Reader};
use crate::chat::{self, Call, Reply, Speaker};
use crate::history::{Form, History, Message, Part as BodyPart, Piece, Side, opening};
use crate::json;
use crate::pairs::{self, Pairs, Placing};
use crate::quote::Spacing;
use crate::source::Source;
use crate::warning::Warning;

/// What stands for a result that is pictures alone; they follow in a user message.
const SEE_IMAGE: &str = "\"(see attached image)\"";

/// Writes one history.
pub(super) fn history(reader: &mut Reader<'_>, context: &Context<'_, '_>) -> History {
    let mut pairs = Pairs::new(Placing::BehindTheirCall);
    let mut model = None;
    let mut images: Vec<Vec<Piece>> = Vec::new();
    for (at, entry) in context.entries.iter().enumerate() {
        model = entry.model.or(model);
        let range = model.map(|model| reader.source.range_of(model));
        let is_result = matches!(&entry.kind, Kind::Message(said) if said.role == Role::ToolResult);
        // A tool message holds no picture: those of a batch follow it.
        if !is_result && !images.is_empty() && !matches!(entry.kind, Kind::Settings { .. } | Kind::Other) {
            let message = pictures(std::mem::take(&mut images));
            pairs.push(pairs::Entry::text(entry.line, message), &mut reader.warnings);
        }
        if let Some(mut made) = entry_of(reader, entry, &mut images) {
            made.message.model = range;
            pairs.push(made, &mut reader.warnings);
        }
        if at + 1 == context.carried {
            pairs.carried_to_here();
        }
    }
    if let Some(last) = context.entries.last().filter(|_| !images.is_empty()) {
        pairs.push(pairs::Entry::text(last.line, pictures(images)), &mut reader.warnings);
    }
    pairs.finish(&mut reader.warnings)
}

fn entry_of<'a>(reader: &mut Reader<'_>, entry: &Entry<'a>, images: &mut Vec<Vec<Piece>>) -> Option<pairs::Entry<'a>> {
    let source = reader.source;
    let user = |content| Some(pairs::Entry::text(entry.line, text_message(content)));
    let said = match &entry.kind {
        Kind::BranchSummary(summary) => return user(content::branch(source, summary)),
        Kind::Compaction { summary: Some(summary), .. } => return user(content::compaction(source, summary)),
        Kind::Compaction { summary: None, .. } | Kind::Settings { .. } | Kind::Other => return None,
        Kind::Message(said) => said,
    };
    match said.role {
        Role::FailedAssistant => {
            reader.failed.insert(entry.line);
            None
        }
        Role::Assistant => assistant(reader, entry.line, said),
        Role::User => {
            let parts = content::parts(said.object.get("content"), &mut reader.unknown);
            let message = user_message(source, &parts);
            if message.is_none() {
                reader.warnings.push(Warning::BlankText { line: entry.line });
            }
            message.map(|message| pairs::Entry::text(entry.line, message))
        }
        Role::Bash => content::bash(source, &said.object).and_then(user),
        Role::ToolResult => result(reader, entry.line, said, images),
    }
}

fn text_message(content: Vec<Piece>) -> Message {
    Message::whole(Side::Other, chat::text(Speaker::User, content))
}

fn user_message(source: &Source, parts: &[Part<'_>]) -> Option<Message> {
    if let [Part::Text(raw)] = parts {
        return (!json::is_blank(raw)).then(|| text_message(vec![chat::piece(source, raw)]));
    }
    let part = |part: &Part<'_>| match part {
        Part::Text(raw) if !json::is_blank(raw) => {
            Some(chat::around("{\"type\":\"text\",\"text\":", vec![chat::piece(source, raw)], "}"))
        }
        Part::Image { media_type, data } => Some(picture(source, media_type, data)),
        Part::Text(_) | Part::Thinking { .. } | Part::Call { .. } => None,
    };
    let parts: Vec<Vec<Piece>> = parts.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| listed(parts))
}

fn listed(parts: Vec<Vec<Piece>>) -> Message {
    let part = |text| BodyPart { separator: Piece::Fixed(","), text };
    let parts = parts.into_iter().map(part).collect();
    Message { side: Side::Other, model: None, open: opening(Side::Other, Form::List), parts, close: Piece::Fixed("]}") }
}

fn pictures(mut images: Vec<Vec<Piece>>) -> Message {
    images.insert(0, vec![Piece::Fixed("{\"type\":\"text\",\"text\":\"Attached image(s) from tool result:\"}")]);
    listed(images)
}

fn picture(source: &Source, media_type: &str, data: &str) -> Vec<Piece> {
    let inside = |raw| chat::piece(source, json::inside(raw).unwrap_or(""));
    let inner = vec![inside(media_type), Piece::Fixed(";base64,"), inside(data)];
    chat::around("{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:", inner, "\"}}")
}

fn assistant<'a>(reader: &mut Reader<'_>, line: usize, said: &Said<'a>) -> Option<pairs::Entry<'a>> {
    let source = reader.source;
    let mut reply = Reply::default();
    let (mut texts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in content::parts(said.object.get("content"), &mut reader.unknown) {
        match part {
            Part::Text(raw) if !json::is_blank(raw) => texts.push(raw),
            // Chat models name the field that their thoughts go back in; others are not sent.
            Part::Thinking { text, signature: Some("\"reasoning_content\""), .. } => thoughts.push(text),
            Part::Call { id, name, arguments } => {
                calls.extend(json::inside(id));
                reply.calls.push(Call { id, name, arguments });
            }
            Part::Text(_) | Part::Thinking { .. } | Part::Image { .. } => {}
        }
    }
    if texts.is_empty() && reply.calls.is_empty() {
        return None;
    }
    reply.content = (!texts.is_empty()).then(|| chat::joined(source, &texts, ""));
    reply.reasoning = (!thoughts.is_empty()).then(|| chat::joined(source, &thoughts, "\\n"));
    let message = Message::whole(Side::Assistant, chat::reply(source, reply, Spacing::None));
    Some(pairs::Entry { line, message, calls, answers: None })
}

fn result<'a>(
    reader: &mut Reader<'_>,
    line: usize,
    said: &Said<'a>,
    images: &mut Vec<Vec<Piece>>,
) -> Option<pairs::Entry<'a>> {
    let source = reader.source;
    let Some(id) = said.object.literal("toolCallId") else {
        reader.warnings.push(Warning::OrphanResult { line });
        return None;
    };
    let mut texts = Vec::new();
    let before = images.len();
    for part in content::parts(said.object.get("content"), &mut reader.unknown) {
        match part {
            Part::Text(raw) => texts.push(raw),
            Part::Image { media_type, data } => images.push(picture(source, media_type, data)),
            Part::Thinking { .. } | Part::Call { .. } => {}
        }
    }
    let content = match texts.is_empty() && images.len() > before {
        true => vec![Piece::Fixed(SEE_IMAGE)],
        false => chat::joined(source, &texts, "\\n"),
    };
    let message = Message::whole(Side::Other, chat::result(source, id, content));
    Some(pairs::Entry { line, message, calls: Vec::new(), answers: json::inside(id) })
}
