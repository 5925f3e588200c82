//! What happened in a conversation, free of any wire format?

use crate::json_writer::{Json, Style};

/// A generated conversation: what stands in front, what happened, and how its client writes JSON.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// How the client spells JSON.
    pub style: Style,
    /// The model's name.
    pub model: &'static str,
    /// System text.
    pub system: System,
    /// Names of the tools the request defines.
    pub tools: Vec<&'static str>,
    /// Unknown members of the request and of some blocks.
    pub extras: Vec<(String, Json)>,
    /// Cache marks of the Anthropic body.
    pub marks: Marks,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// System text.
#[derive(Clone, Debug)]
pub enum System {
    /// None.
    Absent,
    /// One string.
    Text(String),
    /// Several blocks (for Chat Completions: several messages).
    Blocks(Vec<String>),
}

/// Where the client puts its cache marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nowhere.
    None,
    /// On system, tools and the first message.
    Fixed,
    /// On the newest block that can carry one, moved at each request.
    Newest,
    /// On system and the newest blocks of the last two messages of the user's side, moved at each request.
    NewestTwo,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The user wrote.
    User(UserMessage),
    /// The model answered.
    Assistant(AssistantMessage),
    /// Results came back, in one wire message where the format has such a thing.
    Results(ResultBatch),
}

/// Content as one string or as a list of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    Plain,
    /// A list.
    Blocks,
}

/// A part of a content list.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Media(Media),
    /// A block type of next year.
    Unknown(u8),
}

/// A picture: its size in pixels and the bytes of filler behind its header.
#[derive(Clone, Copy, Debug)]
pub struct Media {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Filler bytes.
    pub filler: usize,
}

/// What the user wrote.
#[derive(Clone, Debug)]
pub struct UserMessage {
    /// Its parts.
    pub parts: Vec<Part>,
    /// How they are written.
    pub shape: Shape,
}

/// What the model answered.
#[derive(Clone, Debug)]
pub struct AssistantMessage {
    /// Reasoning in front.
    pub reasoning: Option<Reasoning>,
    /// Reasoning between text and calls, in formats whose messages have blocks of it.
    pub afterthought: Option<Reasoning>,
    /// Whether the reply was cut off while it was thinking, in formats that keep such a message.
    pub is_cut_off: bool,
    /// Text; may be blank, as cancelled replies are.
    pub text: Option<String>,
    /// Calls, in order.
    pub calls: Vec<Call>,
    /// A block or item this version of anything does not know.
    pub unknown: Option<u8>,
}

/// Reasoning and what binds it.
#[derive(Clone, Debug)]
pub struct Reasoning {
    /// Readable text; may be empty.
    pub text: String,
    /// Signature or encrypted content.
    pub seal: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// The id that pairs it.
    pub id: String,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, always an object here.
    pub arguments: Json,
}

/// Results that came back together.
#[derive(Clone, Debug)]
pub struct ResultBatch {
    /// The results.
    pub results: Vec<ToolResult>,
    /// User text behind them, in the same message where the format allows.
    pub text_after: Option<String>,
}

/// One result.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// The tool that was called (decides the item type in Responses).
    pub tool: &'static str,
    /// Its parts.
    pub parts: Vec<Part>,
    /// How they are written.
    pub shape: Shape,
    /// Whether the wire flags it as an error.
    pub is_error: bool,
}
