//! What stands in the content of a pi message? Its parts, and the texts that pi writes itself.

use crate::chat;
use crate::history::Piece;
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::source::Source;

/// One part of a content.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    /// Literal of a text.
    Text(&'a str),
    /// Literals of the media type and of the data.
    Image { media_type: &'a str, data: &'a str },
    /// Literals of the thought and of what signs it.
    Thinking { text: &'a str, signature: Option<&'a str>, is_redacted: bool },
    /// Literals of id and name, and the arguments, if any.
    Call { id: &'a str, name: &'a str, arguments: Option<&'a str> },
}

/// Reads the parts of a content that is a string or a list of blocks; what is neither is noted.
pub(super) fn parts<'a>(content: Option<&'a str>, unknown: &mut Unknown) -> Vec<Part<'a>> {
    let Some(content) = content else { return Vec::new() };
    if json::inside(content).is_some() {
        return vec![Part::Text(content)];
    }
    let mut parts = Vec::new();
    for raw in json::list(content).unwrap_or_default() {
        let object = Object::read(raw);
        match object.as_ref().and_then(part) {
            Some(part) => parts.push(part),
            None => unknown.note(object.and_then(|object| object.text("type")), raw),
        }
    }
    parts
}

fn part<'a>(object: &Object<'a>) -> Option<Part<'a>> {
    Some(match object.text("type")? {
        "text" => Part::Text(object.literal("text")?),
        "image" => Part::Image { media_type: object.literal("mimeType")?, data: object.literal("data")? },
        "thinking" => Part::Thinking {
            text: object.literal("thinking")?,
            signature: object.literal("thinkingSignature").filter(|signature| *signature != "\"\""),
            is_redacted: object.is_true("redacted"),
        },
        "toolCall" => {
            Part::Call { id: object.literal("id")?, name: object.literal("name")?, arguments: object.get("arguments") }
        }
        _ => return None,
    })
}

/// Writes what a person's own command said, as pi tells it to the model.
pub(super) fn bash(source: &Source, object: &Object<'_>) -> Option<Vec<Piece>> {
    let command = object.text("command")?;
    let mut text = vec![Piece::Fixed("\"Ran `"), chat::piece(source, command), Piece::Fixed("`\\n")];
    match object.text("output").filter(|output| !output.is_empty()) {
        Some(output) => text.extend(chat::around("```\\n", vec![chat::piece(source, output)], "\\n```")),
        None => text.push(Piece::Fixed("(no output)")),
    }
    match object.get("exitCode").filter(|code| *code != "0") {
        _ if object.is_true("cancelled") => text.push(Piece::Fixed("\\n\\n(command cancelled)")),
        Some(code) if code.parse::<i64>().is_ok() => {
            text.extend([Piece::Fixed("\\n\\nCommand exited with code "), chat::piece(source, code)]);
        }
        _ => {}
    }
    if let Some(path) = object.text("fullOutputPath").filter(|_| object.is_true("truncated")) {
        let path = vec![chat::piece(source, path)];
        text.extend(chat::around("\\n\\n[Output truncated. Full output: ", path, "]"));
    }
    text.push(Piece::Fixed("\""));
    Some(text)
}

/// Writes the summary of a compaction, as pi tells it to the model.
pub(super) fn compaction(source: &Source, summary: &str) -> Vec<Piece> {
    wrapped(
        source,
        "\"The conversation history before this point was compacted into the following summary:\\n\\n<summary>\\n",
        summary,
        "\\n</summary>\"",
    )
}

/// Writes the summary of a branch that was left, as pi tells it to the model.
pub(super) fn branch(source: &Source, summary: &str) -> Vec<Piece> {
    wrapped(
        source,
        "\"The following is a summary of a branch that this conversation came back from:\\n\\n<summary>\\n",
        summary,
        "</summary>\"",
    )
}

fn wrapped(source: &Source, open: &'static str, literal: &str, close: &'static str) -> Vec<Piece> {
    chat::around(open, vec![chat::piece(source, json::inside(literal).unwrap_or(""))], close)
}
