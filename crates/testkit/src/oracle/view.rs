//! What does the body say, item by item? The oracles' own reading; never shared with the engine.

use std::ops::Range;

use super::decode;
use super::raw::{Kind, Node, parse};
use super::{view_chat, view_messages, view_responses};
use crate::format::Format;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemKind {
    System,
    User,
    Assistant,
    Reasoning,
    Call,
    Result,
    Media,
    Unknown,
}

/// One item.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    pub(crate) node: Node,
    /// Index of its message or Responses item; `None` for request fields.
    pub(crate) message: Option<usize>,
    /// Number of the assistant message before or around it, from 1.
    pub(crate) number: usize,
    /// Decoded id that pairs call and result.
    pub(crate) id: Option<Vec<u8>>,
    /// Decoded name of the tool.
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) arguments: Option<Node>,
    /// String literals of the text.
    pub(crate) texts: Vec<Range<usize>>,
    /// Whole media blocks inside a result.
    pub(crate) media: Vec<Range<usize>>,
    pub(crate) is_error: bool,
}

/// A message or Responses item.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) role: Vec<u8>,
    pub(crate) node: Node,
    /// Its items in [`View::items`].
    pub(crate) items: Range<usize>,
}

/// A body, read.
pub(crate) struct View<'b> {
    pub(crate) body: &'b [u8],
    pub(crate) root: Node,
    pub(crate) items: Vec<Item>,
    pub(crate) messages: Vec<Message>,
}

impl<'b> View<'b> {
    /// Reads a body of the format given.
    pub(crate) fn read(format: Format, body: &'b [u8]) -> Result<Self, String> {
        let root = parse(body)?;
        let history = root.member(body, format.history_field()).cloned();
        let mut view = View { body, root, items: Vec::new(), messages: Vec::new() };
        view.system_fields(format);
        for (place, node) in history.iter().flat_map(|history| history.elements()).enumerate() {
            let start = view.items.len();
            match format {
                Format::Anthropic => view_messages::read(&mut view, place, node),
                Format::OpenaiChat => view_chat::read(&mut view, place, node),
                Format::OpenaiResponses => view_responses::read(&mut view, place, node),
            }
            let role = node.member_text(body, "role").unwrap_or_default();
            let items = start..view.items.len();
            view.messages.push(Message { role, node: node.clone(), items });
        }
        view.number();
        Ok(view)
    }

    fn system_fields(&mut self, format: Format) {
        let name = match format {
            Format::Anthropic => "system",
            Format::OpenaiChat => return,
            Format::OpenaiResponses => "instructions",
        };
        if let Some(node) = self.root.member(self.body, name).cloned() {
            self.push(ItemKind::System, &node, None);
        }
    }

    /// Adds an item; the caller fills in what only its kind has.
    pub(crate) fn push(&mut self, kind: ItemKind, node: &Node, message: Option<usize>) -> &mut Item {
        let place = self.items.len();
        self.items.push(Item {
            kind,
            node: node.clone(),
            message,
            number: 0,
            id: None,
            name: None,
            arguments: None,
            texts: Vec::new(),
            media: Vec::new(),
            is_error: false,
        });
        &mut self.items[place]
    }

    fn number(&mut self) {
        let mut number = 0;
        let mut was_assistant = false;
        for item in &mut self.items {
            let is_assistant = match item.kind {
                ItemKind::Assistant | ItemKind::Reasoning | ItemKind::Call => true,
                ItemKind::Unknown => was_assistant,
                ItemKind::System | ItemKind::User | ItemKind::Result | ItemKind::Media => false,
            };
            number += usize::from(is_assistant && !was_assistant);
            was_assistant = is_assistant;
            item.number = number;
        }
    }

    pub(crate) fn results(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.kind == ItemKind::Result)
    }

    /// Gives the decoded text of a literal.
    pub(crate) fn text(&self, span: &Range<usize>) -> Vec<u8> {
        decode::text(self.body.get(span.clone()).unwrap_or_default())
    }

    /// Gives all text of an item, blocks joined by line ends.
    pub(crate) fn whole_text(&self, item: &Item) -> Vec<u8> {
        item.texts.iter().map(|span| self.text(span)).collect::<Vec<_>>().join(&b'\n')
    }

    /// Gives the call that each result answers: the newest before it with its id that no result has answered,
    /// else the newest with its id.
    pub(crate) fn call_of(&self, result: &Item) -> Option<&Item> {
        let before = |item: &&Item| item.node.span.start < result.node.span.start && item.id == result.id;
        let calls: Vec<_> = self.items.iter().filter(|item| item.kind == ItemKind::Call).filter(before).collect();
        let message = calls.last().and_then(|call| call.message);
        let earlier = self.results().filter(before).filter(|earlier| earlier.message >= message).count();
        let newest: Vec<_> =
            calls.iter().filter(|call| call.number == calls.last().map_or(0, |last| last.number)).collect();
        newest.get(earlier).or(newest.last()).map(|call| **call)
    }
}

/// Reads the content of a result: a literal, or a list of blocks.
pub(crate) fn result_content(body: &[u8], content: Option<&Node>, item: &mut Item) {
    let Some(content) = content else { return };
    if content.is_string() {
        item.texts.push(content.span.clone());
    }
    for block in content.elements() {
        if is_media(body, block) {
            item.media.push(block.span.clone());
        } else if let Some(text) = block.member(body, "text").filter(|text| text.is_string()) {
            item.texts.push(text.span.clone());
        }
    }
}

/// Says whether a block is a picture, document or sound.
pub(crate) fn is_media(body: &[u8], block: &Node) -> bool {
    const TYPES: [&[u8]; 7] =
        [b"image", b"document", b"image_url", b"input_image", b"input_file", b"input_audio", b"file"];
    block.member_text(body, "type").is_some_and(|kind| TYPES.contains(&kind.as_slice()))
}

/// Writes a value without white space and without its cache marks: what stays the same when a client moves them.
pub(crate) fn canonical(body: &[u8], node: &Node) -> Vec<u8> {
    match &node.kind {
        Kind::Scalar | Kind::String => node.raw(body).to_vec(),
        Kind::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|element| canonical(body, element)).collect();
            [b"[", elements.join(&b',').as_slice(), b"]"].concat()
        }
        Kind::Object(members) => {
            let kept = members.iter().filter(|(key, _)| decode::text(key.raw(body)) != b"cache_control");
            let members: Vec<_> =
                kept.map(|(key, value)| [key.raw(body), b":", &canonical(body, value)].concat()).collect();
            [b"{", members.join(&b',').as_slice(), b"}"].concat()
        }
    }
}
