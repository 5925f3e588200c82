//! How does each wire format write the same events? One file per format.

pub(crate) mod anthropic;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use crate::events::{Conversation, Media, Part};
use crate::json_writer::{Json, Style};

/// Writes arguments the way OpenAI's formats carry them: JSON inside a string.
fn arguments_text(arguments: &Json, style: &Style) -> Json {
    Json::text(style.write(arguments))
}

fn data_url(media: Media) -> String {
    format!("data:image/png;base64,{}", crate::picture::png(media.width, media.height, media.filler))
}

fn unknown(kind: u8) -> Json {
    Json::object([
        ("type", Json::text(format!("future_thing_{}", kind % 3))),
        ("payload", Json::object([("k", Json::raw("1e2")), ("k", Json::text("twice/\u{2028}"))])),
    ])
}

/// Text of parts where a format has no place for anything else.
fn plain_text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Media(_) | Part::Unknown(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Puts a request together: history, fields in front, unknown members.
fn request(conversation: &Conversation, mut front: Vec<(String, Json)>, field: &str, history: Vec<Json>) -> Json {
    front.insert(0, ("model".to_owned(), Json::text(conversation.model)));
    let place = (conversation.style.seed % 3) as usize;
    let at = front.len().saturating_sub(place);
    front.insert(at, (field.to_owned(), Json::Array(history)));
    front.extend(conversation.extras.iter().cloned());
    Json::Object(front)
}

fn schema() -> Json {
    let path = Json::object([("type", Json::text("string")), ("description", Json::text("a path, e.g. \"src/é.rs\""))]);
    Json::object([("type", Json::text("object")), ("properties", Json::object([("path", path)]))])
}
