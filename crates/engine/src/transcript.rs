//! What does the body say, item by item? Our read-only view of a request body.
//!
//! Holds places (spans) and pairings, never a copy of the text, and never changes anything.

use crate::span::Span;

/// The dialect of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WireFormat {
    /// Anthropic Messages (`POST /v1/messages`).
    Anthropic,
    /// OpenAI Chat Completions (`POST /v1/chat/completions`).
    OpenaiChat,
    /// OpenAI Responses (`POST /v1/responses`).
    OpenaiResponses,
}

impl WireFormat {
    /// All formats, in the order of the documentation.
    pub const ALL: [WireFormat; 3] = [Self::Anthropic, Self::OpenaiChat, Self::OpenaiResponses];

    /// Gives the name that flags, policies and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
        }
    }
}

/// Place of an item in [`Transcript::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemIdx(pub u32);

/// Place of a unit in [`Transcript::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitIdx(pub u32);

impl ItemIdx {
    /// Gives the place as an index.
    #[must_use]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl UnitIdx {
    /// Gives the place as an index.
    #[must_use]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// System or developer text.
    System,
    /// Text of the user.
    User,
    /// Text of the model.
    Assistant,
    /// Reasoning of the model, readable, signed or encrypted.
    Reasoning,
    /// A call of a tool.
    ToolCall,
    /// The answer to a call.
    ToolResult,
    /// A picture, sound or document.
    Media,
    /// Anything this version does not know: counted, passed through, never touched.
    Opaque,
}

/// Who an item comes from, as far as message numbers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Assistant text, reasoning, calls, and opaque items in an assistant message.
    Assistant,
    /// Everything else.
    Other,
}

/// Whether reasoning is bound to what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Plain text.
    Free,
    /// Signed or encrypted: an earlier edit may invalidate it (`wire-formats.md`, section 0a).
    Signed,
}

/// How a call's arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentsForm {
    /// A JSON object (Anthropic `input`).
    Object,
    /// A JSON string that holds a JSON object (OpenAI `arguments`).
    JsonString,
    /// A JSON string of free text (custom tools).
    Text,
}

/// The call side of an item of kind [`ItemKind::ToolCall`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// String literal of the id that pairs call and result, quotes included; `None` if absent.
    pub id: Option<Span>,
    /// String literal of the tool's name, quotes included; `None` if the item type itself names the tool.
    pub name: Option<Span>,
    /// The arguments' value.
    pub arguments: Option<Span>,
    /// How they are written.
    pub form: ArgumentsForm,
    /// The result that answers this call.
    pub result: Option<ItemIdx>,
}

/// Whether the wire says that a result is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFlag {
    /// No flag, or `false`.
    Unset,
    /// `is_error: true` or the like.
    Set,
}

/// The result side of an item of kind [`ItemKind::ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// String literal of the id that pairs call and result, quotes included.
    pub id: Option<Span>,
    /// The call it answers.
    pub call: Option<ItemIdx>,
    /// What the wire says about failure.
    pub error: ErrorFlag,
    /// Whether the result may be edited at all: `Fixed` holds encrypted or referenced parts
    /// (server tools, `tool_reference`), which are passed through whole.
    pub editing: Editing,
}

/// Whether an item's text may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Editing {
    /// Text may be cut by rule.
    Free,
    /// Never touched.
    Fixed,
}

/// What an item's size in tokens is read from, beside its name and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The string literals in [`Item::texts`].
    Texts,
    /// A base64 literal whose plain text the provider bills and we cannot read.
    Encrypted(Span),
    /// The JSON value as it stands, for what this version does not know.
    Raw(Span),
    /// A picture or document: the object or literal that holds its data or address.
    Media(Span),
}

/// The part of an item that only its kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Text, media and opaque items have none.
    Plain,
    /// Reasoning.
    Reasoning(Binding),
    /// A call.
    Call(Call),
    /// A result.
    Answer(Answer),
}

/// One item of the conversation, in the provider's render order (system, then messages).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Whose it is.
    pub side: Side,
    /// The whole JSON value: content block, part, tool call, message or Responses item.
    /// Text given as a plain string has the literal itself here.
    pub span: Span,
    /// Index of the wire message (element of `messages` or `input`); `None` for request fields such as `system`.
    pub message: Option<u32>,
    /// String literals, quotes included, that the model reads of this item, in order. Arguments are not here.
    pub texts: Vec<Span>,
    /// What its size is read from.
    pub weight: Weight,
    /// The result that holds this item as a part (media and opaque parts of results).
    pub within: Option<ItemIdx>,
    /// A `cache_control` value on this item's own block.
    pub cache_mark: Option<Span>,
    /// Number of the assistant message it belongs to, from 1; results and user text: of the message before; 0 before the first.
    /// A paired result has the number of the message that holds its call.
    pub number: u32,
    /// The unit it belongs to (assistant-side items and results).
    pub unit: Option<UnitIdx>,
    /// What only its kind has.
    pub detail: Detail,
}

impl Item {
    /// Gives the call side, if it is a call.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.detail {
            Detail::Call(call) => Some(call),
            Detail::Plain | Detail::Reasoning(_) | Detail::Answer(_) => None,
        }
    }

    /// Gives the result side, if it is a result.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match &self.detail {
            Detail::Answer(answer) => Some(answer),
            Detail::Plain | Detail::Reasoning(_) | Detail::Call(_) => None,
        }
    }

    /// Says whether it is reasoning bound to its prefix.
    #[must_use]
    pub fn is_signed_reasoning(&self) -> bool {
        matches!(self.detail, Detail::Reasoning(Binding::Signed))
    }
}

/// One assistant message with its reasoning, its calls and every result that answers them; atomic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Number of the assistant message, from 1.
    pub number: u32,
    /// Its items in order, results last.
    pub items: Vec<ItemIdx>,
}

/// A request body, read: items and units by place, nothing copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript<'a> {
    /// The body as it arrived.
    pub body: &'a [u8],
    /// Its dialect.
    pub format: WireFormat,
    /// String literal of the model's name, quotes included.
    pub model: Option<Span>,
    /// The value of `tools`.
    pub tools: Option<Span>,
    /// Everything else, in render order.
    pub items: Vec<Item>,
    /// Units in order of their numbers.
    pub units: Vec<Unit>,
    /// The wire messages (elements of `messages` or `input`) in order.
    pub messages: Vec<Span>,
    /// A field that says the history lives on the server (`previous_response_id`, `conversation`): pass through.
    pub server_state: Option<&'static str>,
    /// What identifies each item: its content as the model reads it, without cache marks and JSON layout.
    pub digests: Vec<u128>,
}

/// How a line begins that a client puts in front of the system text for its vendor's accounts.
const CLIENT_NOTE: &[u8] = b"\"x-anthropic-billing-header:";
/// A longer text is no such line: what else stands in it counts.
const MAX_CLIENT_NOTE_BYTES: usize = 512;

impl Transcript<'_> {
    /// Counts the items at the front that are a client's note to its vendor: one line that is another at each request and
    /// belongs to no conversation, so nothing rests on its words.
    ///
    /// ```
    /// use liveset_engine::{json::Outline, transcript::WireFormat, wire};
    /// let body = br#"{"system":[{"type":"text","text":"x-anthropic-billing-header: cch=1a2b3;"},
    ///     {"type":"text","text":"You fix things."}],"messages":[{"role":"user","content":"a"}]}"#;
    /// let transcript = wire::read(WireFormat::Anthropic, &Outline::read(body)?)?;
    /// assert_eq!((transcript.client_notes(), transcript.items.len()), (1, 3));
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    #[must_use]
    pub fn client_notes(&self) -> usize {
        let is_note = |item: &&Item| {
            let texts = item.texts.iter().map(|text| text.of(self.body));
            let is_line =
                |text: &[u8]| text.len() <= MAX_CLIENT_NOTE_BYTES && !text.windows(2).any(|two| two == br"\n");
            let is_alone = item.kind == ItemKind::System && item.message.is_none() && item.texts.len() == 1;
            is_alone && texts.into_iter().all(|text| text.starts_with(CLIENT_NOTE) && is_line(text))
        };
        match self.format {
            WireFormat::Anthropic => self.items.iter().take_while(is_note).count(),
            WireFormat::OpenaiChat | WireFormat::OpenaiResponses => 0,
        }
    }
}
