//! Events as an Anthropic Messages body, with cache marks where the client puts them.

use crate::conversation::HIDDEN_REASONING;
use crate::events::{
    AssistantMessage, Call, Conversation, Event, Marks, Media, Part, Reasoning, ResultBatch, Shape, System, ToolResult,
    UserMessage,
};
use crate::json_writer::Json;
use crate::picture::png;
use crate::render::{plain_text, request, schema, unknown};

/// Builds the request body.
pub(crate) fn body(conversation: &Conversation) -> Json {
    let merges = conversation.style.seed.is_multiple_of(2);
    let mut messages: Vec<Json> = Vec::new();
    for event in &conversation.events {
        let message = message(event, conversation.marks);
        let follows_user = matches!(event, Event::User(_)) && messages.last().is_some_and(is_of_user);
        let left = if merges && follows_user { merge(messages.last_mut(), message) } else { Some(message) };
        messages.extend(left);
    }
    let mut front = vec![("max_tokens".to_owned(), Json::raw("1e3"))];
    front.extend(system(conversation).map(|system| ("system".to_owned(), system)));
    if !conversation.tools.is_empty() {
        front.push(("tools".to_owned(), tools(conversation)));
    }
    mark_messages(&mut messages, conversation.marks);
    request(conversation, front, "messages", messages)
}

/// Puts the blocks of a user's text behind the results it follows, as careful clients do; gives it back if it cannot.
fn merge(last: Option<&mut Json>, message: Json) -> Option<Json> {
    let Some(added) = blocks_of(&message) else { return Some(message) };
    let Some(Json::Object(members)) = last else { return Some(message) };
    match members.iter_mut().find(|(key, _)| key == "content") {
        Some((_, Json::Array(blocks))) => {
            blocks.extend(added);
            None
        }
        _ => Some(message),
    }
}

fn blocks_of(message: &Json) -> Option<Vec<Json>> {
    let Json::Object(members) = message else { return None };
    match members.iter().find(|(key, _)| key == "content") {
        Some((_, Json::Array(blocks))) => Some(blocks.clone()),
        Some((_, Json::Text(text))) => Some(vec![text_block(text)]),
        _ => None,
    }
}

fn message(event: &Event, marks: Marks) -> Json {
    let (role, content) = match event {
        Event::User(user) => ("user", user_content(user, marks)),
        Event::Assistant(assistant) => ("assistant", assistant_content(assistant, marks)),
        Event::Results(batch) => ("user", results_content(batch)),
    };
    Json::object([("role", Json::text(role)), ("content", content)])
}

fn text_block(text: &str) -> Json {
    Json::object([("type", Json::text("text")), ("text", Json::text(text))])
}

fn image(media: Media) -> Json {
    let data = Json::text(png(media.width, media.height, media.filler));
    let source =
        Json::object([("type", Json::text("base64")), ("media_type", Json::text("image/png")), ("data", data)]);
    Json::object([("type", Json::text("image")), ("source", source)])
}

fn part(part: &Part) -> Json {
    match part {
        Part::Text(text) => text_block(text),
        Part::Media(media) => image(*media),
        Part::Unknown(kind) => unknown(*kind),
    }
}

fn content(parts: &[Part], shape: Shape) -> Json {
    match shape {
        Shape::Plain => Json::text(plain_text(parts)),
        Shape::Blocks => Json::Array(parts.iter().map(part).collect()),
    }
}

fn user_content(user: &UserMessage, marks: Marks) -> Json {
    // A client that marks its newest block writes blocks everywhere, else old messages would change their bytes.
    content(&user.parts, if marks == Marks::None { user.shape } else { Shape::Blocks })
}

fn assistant_content(assistant: &AssistantMessage, marks: Marks) -> Json {
    let is_text_alone = assistant.reasoning.is_none() && assistant.calls.is_empty() && assistant.unknown.is_none();
    if is_text_alone && marks == Marks::None {
        return Json::text(assistant.text.clone().unwrap_or_default());
    }
    let mut blocks: Vec<_> = assistant.reasoning.as_ref().map(thought).into_iter().collect();
    if assistant.is_cut_off {
        return Json::Array(blocks);
    }
    blocks.extend(assistant.text.as_deref().map(text_block));
    blocks.extend(assistant.unknown.map(unknown));
    blocks.extend(assistant.afterthought.as_ref().map(thought));
    blocks.extend(assistant.calls.iter().map(call));
    Json::Array(blocks)
}

fn thought(reasoning: &Reasoning) -> Json {
    match &reasoning.seal {
        Some(seal) if seal.starts_with(HIDDEN_REASONING) => {
            Json::object([("type", Json::text("redacted_thinking")), ("data", Json::text(seal))])
        }
        Some(seal) => thinking(&reasoning.text, seal),
        None => thinking(&reasoning.text, ""),
    }
}

fn thinking(text: &str, signature: &str) -> Json {
    Json::object([
        ("type", Json::text("thinking")),
        ("thinking", Json::text(text)),
        ("signature", Json::text(signature)),
    ])
}

fn call(call: &Call) -> Json {
    Json::object([
        ("type", Json::text("tool_use")),
        ("id", Json::text(&call.id)),
        ("name", Json::text(call.tool)),
        ("input", call.arguments.clone()),
    ])
}

fn results_content(batch: &ResultBatch) -> Json {
    let mut blocks: Vec<_> = batch.results.iter().map(result).collect();
    blocks.extend(batch.text_after.as_deref().map(text_block));
    Json::Array(blocks)
}

fn result(result: &ToolResult) -> Json {
    let mut block = Json::object([("type", Json::text("tool_result")), ("tool_use_id", Json::text(&result.call_id))]);
    block.push("content", content(&result.parts, result.shape));
    if result.is_error {
        block.push("is_error", Json::raw("true"));
    }
    block
}

fn system(conversation: &Conversation) -> Option<Json> {
    match &conversation.system {
        System::Absent => None,
        System::Text(text) if conversation.marks == Marks::None => Some(Json::text(text)),
        System::Text(text) => Some(marked_list(vec![text_block(text)], conversation.marks != Marks::Newest)),
        System::Blocks(texts) => {
            let is_marked = !matches!(conversation.marks, Marks::None | Marks::Newest);
            Some(marked_list(texts.iter().map(|text| text_block(text)).collect(), is_marked))
        }
    }
}

fn tools(conversation: &Conversation) -> Json {
    let tool = |name: &&str| {
        Json::object([("name", Json::text(*name)), ("description", Json::text("Does it")), ("input_schema", schema())])
    };
    marked_list(conversation.tools.iter().map(tool).collect(), conversation.marks == Marks::Fixed)
}

fn marked_list(mut blocks: Vec<Json>, is_marked: bool) -> Json {
    if is_marked {
        blocks.last_mut().filter(|block| !is_blank(block)).map(mark);
    }
    Json::Array(blocks)
}

fn mark(block: &mut Json) {
    block.push("cache_control", Json::object([("type", Json::text("ephemeral"))]));
}

/// Marks the newest blocks that may carry a mark, as the client's habit says.
fn mark_messages(messages: &mut [Json], marks: Marks) {
    let newest = match marks {
        Marks::None => return,
        Marks::Fixed => {
            messages.first_mut().map(mark_last_block);
            return;
        }
        Marks::Newest => 1,
        Marks::NewestTwo => 2,
    };
    messages.iter_mut().rev().filter(|message| is_of_user(message)).take(newest).for_each(mark_last_block);
}

fn is_of_user(message: &Json) -> bool {
    matches!(message, Json::Object(members) if members.iter().any(|(_, value)| *value == Json::text("user")))
}

fn mark_last_block(message: &mut Json) {
    let Json::Object(members) = message else { return };
    let Some((_, Json::Array(blocks))) = members.iter_mut().find(|(key, _)| key == "content") else { return };
    if let Some(block) = blocks.last_mut().filter(|block| may_carry_mark(block)) {
        mark(block);
    }
}

fn may_carry_mark(block: &Json) -> bool {
    let Json::Object(members) = block else { return false };
    let is_known = members.iter().all(|(key, value)| match (key.as_str(), value) {
        ("type", Json::Text(kind)) => matches!(kind.as_str(), "text" | "tool_result" | "image"),
        _ => true,
    });
    is_known && !is_blank(block)
}

fn is_blank(block: &Json) -> bool {
    let Json::Object(members) = block else { return false };
    members.iter().any(|(key, value)| key == "text" && matches!(value, Json::Text(text) if text.trim().is_empty()))
}
