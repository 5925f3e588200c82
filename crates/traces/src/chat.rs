//! How is a Chat message written around the text of a trace? For traces that hold its parts in another shape.

use crate::history::Piece;
use crate::json;
use crate::quote::Spacing;
use crate::source::Source;

/// One call of an assistant message. All fields are raw JSON of the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    /// A string literal stays, anything else is written into one; none at all are an empty object.
    pub(crate) arguments: Option<&'a str>,
}

/// Who says a text that is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    System,
    User,
}

/// What an assistant message says beside its calls. A message needs a text or a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply<'a> {
    /// The whole content, as JSON.
    pub(crate) content: Option<Vec<Piece>>,
    /// Literal of the reasoning, where the client sends it back.
    pub(crate) reasoning: Option<Vec<Piece>>,
    pub(crate) calls: Vec<Call<'a>>,
}

/// Writes a system or user message around its content.
pub(crate) fn text(speaker: Speaker, content: Vec<Piece>) -> Vec<Piece> {
    let open = match speaker {
        Speaker::System => "{\"role\":\"system\",\"content\":",
        Speaker::User => "{\"role\":\"user\",\"content\":",
    };
    around(open, content, "}")
}

/// Writes an assistant message.
pub(crate) fn reply(source: &Source, reply: Reply<'_>, spacing: Spacing) -> Vec<Piece> {
    let mut out = vec![Piece::Fixed("{\"role\":\"assistant\"")];
    if let Some(content) = reply.content {
        out.push(Piece::Fixed(",\"content\":"));
        out.extend(content);
    }
    if let Some(reasoning) = reply.reasoning {
        out.push(Piece::Fixed(",\"reasoning_content\":"));
        out.extend(reasoning);
    }
    for (at, call) in reply.calls.iter().enumerate() {
        out.push(Piece::Fixed(if at == 0 { ",\"tool_calls\":[" } else { "," }));
        out.extend([
            Piece::Fixed("{\"id\":"),
            piece(source, call.id),
            Piece::Fixed(",\"type\":\"function\",\"function\":{\"name\":"),
            piece(source, call.name),
            Piece::Fixed(",\"arguments\":"),
        ]);
        match call.arguments {
            Some(arguments) => out.extend(string(source, arguments, spacing)),
            None => out.push(Piece::Fixed("\"{}\"")),
        }
        out.push(Piece::Fixed("}}"));
    }
    out.push(Piece::Fixed(if reply.calls.is_empty() { "}" } else { "]}" }));
    out
}

/// Writes the message that answers a call.
pub(crate) fn result(source: &Source, id: &str, content: Vec<Piece>) -> Vec<Piece> {
    let mut out = vec![Piece::Fixed("{\"role\":\"tool\",\"tool_call_id\":"), piece(source, id)];
    out.push(Piece::Fixed(",\"content\":"));
    out.extend(content);
    out.push(Piece::Fixed("}"));
    out
}

/// Gives a value as a string literal: a literal as it stands, anything else as JSON inside one.
pub(crate) fn string(source: &Source, raw: &str, spacing: Spacing) -> Vec<Piece> {
    match json::inside(raw) {
        Some(_) => vec![piece(source, raw)],
        None => around("\"", vec![Piece::Quoted(source.range_of(raw), spacing)], "\""),
    }
}

/// Joins string literals into one, with an escaped text between them.
pub(crate) fn joined(source: &Source, literals: &[&str], between: &'static str) -> Vec<Piece> {
    if let [only] = literals {
        return vec![piece(source, only)];
    }
    let mut out = vec![Piece::Fixed("\"")];
    for (at, inside) in literals.iter().filter_map(|literal| json::inside(literal)).enumerate() {
        if at > 0 {
            out.push(Piece::Fixed(between));
        }
        out.push(piece(source, inside));
    }
    out.push(Piece::Fixed("\""));
    out
}

/// Gives a slice of the trace as a piece.
pub(crate) fn piece(source: &Source, raw: &str) -> Piece {
    Piece::Source(source.range_of(raw))
}

/// Puts fixed text around pieces.
pub(crate) fn around(open: &'static str, inner: Vec<Piece>, close: &'static str) -> Vec<Piece> {
    std::iter::once(Piece::Fixed(open)).chain(inner).chain(std::iter::once(Piece::Fixed(close))).collect()
}
