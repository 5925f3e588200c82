//! How does pi say a session to Anthropic? Blocks for the messages of one history.

use super::content::{self, Part};
use super::entry::{Entry, Kind, Message, Role};
use super::{ANTHROPIC_API, Context, Reader};
use crate::chat;
use crate::history::{History, Piece};
use crate::json;
use crate::source::Source;
use crate::turns::{Block, BlockForm, Link, Origin, Turns};
use crate::warning::Warning;

/// Writes one history.
pub(super) fn history(reader: &mut Reader<'_>, context: &Context<'_, '_>) -> History {
    let mut turns = Turns::default();
    let mut model = None;
    for (at, entry) in context.entries.iter().enumerate() {
        model = entry.model.or(model);
        add(reader, &mut turns, entry, model);
        if at + 1 == context.carried {
            turns.carried_to_here();
        }
    }
    turns.finish(&mut reader.warnings)
}

fn add<'a>(reader: &mut Reader<'_>, turns: &mut Turns<'a>, entry: &Entry<'a>, model: Option<&'a str>) {
    let source = reader.source;
    let model = model.map(|model| source.range_of(model));
    let origin = Origin { line: entry.line, reply: None, model: model.as_ref() };
    let blocks = match &entry.kind {
        Kind::BranchSummary(summary) => vec![literal(content::branch(source, summary))],
        Kind::Compaction { summary: Some(summary), .. } => vec![literal(content::compaction(source, summary))],
        Kind::Message(message) => match message.role {
            Role::FailedAssistant => {
                reader.failed.insert(entry.line);
                return;
            }
            Role::Assistant => {
                let parts = content::parts(message.object.get("content"), &mut reader.unknown);
                let is_ours = message.api == Some(ANTHROPIC_API);
                let blocks = parts.into_iter().filter_map(|part| reply_block(source, part, is_ours)).collect();
                turns.assistant(origin, blocks, &mut reader.warnings);
                return;
            }
            Role::User => content::parts(message.object.get("content"), &mut reader.unknown)
                .into_iter()
                .filter_map(|part| given_block(source, part))
                .collect(),
            Role::Bash => content::bash(source, &message.object).map(literal).into_iter().collect(),
            Role::ToolResult => match result(reader, message) {
                Some(block) => vec![block],
                None => {
                    reader.warnings.push(Warning::OrphanResult { line: entry.line });
                    return;
                }
            },
        },
        Kind::Compaction { summary: None, .. } | Kind::Settings { .. } | Kind::Other => return,
    };
    turns.user(origin, blocks, &mut reader.warnings);
}

fn literal<'a>(text: Vec<Piece>) -> Block<'a> {
    Block { text, form: BlockForm::Literal, link: Link::None, is_blank: false }
}

fn object<'a>(text: Vec<Piece>, link: Link<'a>) -> Block<'a> {
    Block { text, form: BlockForm::Object, link, is_blank: false }
}

fn text<'a>(source: &Source, raw: &str) -> Block<'a> {
    Block { is_blank: json::is_blank(raw), ..literal(vec![chat::piece(source, raw)]) }
}

fn given_block<'a>(source: &Source, part: Part<'a>) -> Option<Block<'a>> {
    match part {
        Part::Text(raw) => Some(text(source, raw)),
        Part::Image { media_type, data } => Some(object(image(source, media_type, data), Link::None)),
        Part::Thinking { .. } | Part::Call { .. } => None,
    }
}

/// Thoughts stay thoughts where Anthropic signed them; those of other models are sent as text.
fn reply_block<'a>(source: &Source, part: Part<'a>, is_ours: bool) -> Option<Block<'a>> {
    let piece = |raw: &str| chat::piece(source, raw);
    match part {
        Part::Text(raw) => Some(text(source, raw)),
        Part::Thinking { signature: Some(data), is_redacted: true, .. } if is_ours => {
            let block = chat::around("{\"type\":\"redacted_thinking\",\"data\":", vec![piece(data)], "}");
            Some(object(block, Link::None))
        }
        Part::Thinking { text, signature: Some(signature), is_redacted: false } if is_ours => {
            let inner = vec![piece(text), Piece::Fixed(",\"signature\":"), piece(signature)];
            Some(object(chat::around("{\"type\":\"thinking\",\"thinking\":", inner, "}"), Link::None))
        }
        Part::Thinking { is_redacted: true, .. } => None,
        Part::Thinking { text: raw, .. } => (!json::is_blank(raw)).then(|| text(source, raw)),
        Part::Call { id, name, arguments } => {
            let inner = vec![
                piece(id),
                Piece::Fixed(",\"name\":"),
                piece(name),
                Piece::Fixed(",\"input\":"),
                arguments.map_or(Piece::Fixed("{}"), piece),
            ];
            let link = json::inside(id).map_or(Link::None, Link::Call);
            Some(object(chat::around("{\"type\":\"tool_use\",\"id\":", inner, "}"), link))
        }
        Part::Image { .. } => None,
    }
}

fn image(source: &Source, media_type: &str, data: &str) -> Vec<Piece> {
    let inner = vec![chat::piece(source, media_type), Piece::Fixed(",\"data\":"), chat::piece(source, data)];
    chat::around("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":", inner, "}}")
}

/// Texts alone are sent as one string, with an image among them as blocks.
fn result<'a>(reader: &mut Reader<'_>, message: &Message<'a>) -> Option<Block<'a>> {
    let source = reader.source;
    let id = message.object.literal("toolCallId")?;
    let parts = content::parts(message.object.get("content"), &mut reader.unknown);
    let texts: Vec<&str> =
        parts.iter().filter_map(|part| if let Part::Text(raw) = part { Some(*raw) } else { None }).collect();
    let content = if texts.len() == parts.len() {
        chat::joined(source, &texts, "\\n")
    } else {
        let mut out = Vec::new();
        for part in parts {
            let block = match part {
                Part::Text(raw) => chat::around("{\"type\":\"text\",\"text\":", vec![chat::piece(source, raw)], "}"),
                Part::Image { media_type, data } => image(source, media_type, data),
                Part::Thinking { .. } | Part::Call { .. } => continue,
            };
            out.push(Piece::Fixed(if out.is_empty() { "[" } else { "," }));
            out.extend(block);
        }
        out.push(Piece::Fixed(if out.is_empty() { "[]" } else { "]" }));
        out
    };
    let mut inner = vec![chat::piece(source, id), Piece::Fixed(",\"content\":")];
    inner.extend(content);
    let is_error = message.object.get("isError").filter(|raw| matches!(*raw, "true" | "false"));
    if let Some(raw) = is_error {
        inner.extend([Piece::Fixed(",\"is_error\":"), chat::piece(source, raw)]);
    }
    let link = json::inside(id).map_or(Link::None, Link::Answer);
    Some(object(chat::around("{\"type\":\"tool_result\",\"tool_use_id\":", inner, "}"), link))
}
