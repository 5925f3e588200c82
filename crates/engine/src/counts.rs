//! How many tokens is each item? Everything that is billed, item by item.
//!
//! Per text block counts add up exactly, since chat formats put special tokens between blocks.

use std::{borrow::Cow, collections::BTreeMap};

use liveset_tokens::{CountCache, ImageDetail, ImageRule, LineMarks, TokenCounter, Tokens};
use xxhash_rust::xxh3::xxh3_128;

use crate::{
    error::{Error, Result},
    json::{self, NodeIdx, NodeKind, Outline},
    span::Span,
    transcript::{ArgumentsForm, Detail, Item, ItemIdx, ItemKind, Transcript, Weight, WireFormat},
    wire,
};

/// What a wire message costs beside its content: the OpenAI cookbook's figure for its chat models; others are close.
pub(crate) const MESSAGE_TOKENS: u64 = 3;
/// What a block (call, result, picture) costs beside its content; an estimate on the high side.
const BLOCK_TOKENS: u64 = 4;
/// What a request costs beside its messages: the reply's opening (OpenAI cookbook).
const REQUEST_TOKENS: u64 = 3;

/// What a client's note is rounded up to, so that other words in it are no other size.
const NOTE_STEP_TOKENS: u64 = 32;

/// Documents over this are not looked into.
const MAX_PLAIN_DOCUMENT_BYTES: usize = 32 << 20;

/// Sizes of a transcript's items in tokens.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    request: Tokens,
    items: Vec<ItemCount>,
    total: Tokens,
    /// What was noted of the texts of results that were counted anew, by where their literals begin.
    marks: BTreeMap<usize, LineMarks>,
    /// What counted, and in which format.
    by: Option<(String, WireFormat)>,
}

/// One item's size and what identifies it.
#[derive(Clone, Copy, Debug)]
struct ItemCount {
    /// Without what its message costs.
    tokens: Tokens,
    text: Tokens,
    message: Tokens,
    digest: u128,
}

impl ItemCount {
    fn whole(&self) -> Tokens {
        self.tokens + self.message
    }
}

impl Counts {
    /// Counts every item; texts that the cache knows are not looked at again.
    ///
    /// # Errors
    ///
    /// A string cannot be decoded.
    pub fn of(transcript: &Transcript<'_>, counter: &dyn TokenCounter, cache: &mut CountCache) -> Result<Self> {
        Self::grown(transcript, counter, cache, &Self::default())
    }

    /// The same where the body before in its conversation was counted: of what stands as it stood nothing is looked at.
    ///
    /// # Errors
    ///
    /// As [`Counts::of`].
    pub fn grown(
        transcript: &Transcript<'_>,
        counter: &dyn TokenCounter,
        cache: &mut CountCache,
        before: &Counts,
    ) -> Result<Self> {
        let mut tally = Tally { transcript, counter, cache, marks: BTreeMap::new() };
        let tools = transcript.tools.map(|span| tally.raw(span)).transpose()?.unwrap_or_default();
        let request = tools + Tokens(REQUEST_TOKENS);
        let mut total = request;
        let mut items = Vec::with_capacity(transcript.items.len());
        let mut message = None;
        let notes = transcript.client_notes();
        let is_same_tally =
            before.by.as_ref().is_some_and(|(name, format)| name == counter.name() && *format == transcript.format);
        let mut known = before.items.iter().filter(|_| is_same_tally);
        for (at, (item, &digest)) in transcript.items.iter().zip(&transcript.digests).enumerate() {
            // Of what is counted as it stands the digest does not say whether a mark stands in it.
            let known = known.next().filter(|known| known.digest == digest && !matches!(item.weight, Weight::Raw(_)));
            let (tokens, text) = match known {
                Some(known) => (known.tokens, known.text),
                None if at < notes => note(item),
                None => tally.item(item)?,
            };
            let opens = item.message != message;
            message = item.message;
            let message = if opens { Tokens(MESSAGE_TOKENS) } else { Tokens(0) };
            let count = ItemCount { tokens, text, message, digest };
            total += count.whole();
            items.push(count);
        }
        let by = Some((counter.name().to_owned(), transcript.format));
        Ok(Self { request, items, total, marks: tally.marks, by })
    }

    /// The same counts with `overhead` more tokens in the request itself.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Tokens) -> Self {
        self.request += overhead;
        self.total += overhead;
        self
    }

    /// Gives what identifies each item, in order (see [`Counts::digest`]).
    pub fn digests(&self) -> impl Iterator<Item = u128> + '_ {
        self.items.iter().map(|count| count.digest)
    }

    /// Gives how many items were counted.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// Gives the size of the whole body.
    #[must_use]
    pub fn total(&self) -> Tokens {
        self.total
    }

    /// Gives the size of tools and what a request costs by itself.
    #[must_use]
    pub fn request(&self) -> Tokens {
        self.request
    }

    /// Gives an item's size, overhead included.
    #[must_use]
    pub fn item(&self, idx: ItemIdx) -> Tokens {
        self.items.get(idx.at()).map(ItemCount::whole).unwrap_or_default()
    }

    /// Gives the size of an item's texts alone.
    #[must_use]
    pub fn text(&self, idx: ItemIdx) -> Tokens {
        self.items.get(idx.at()).map(|count| count.text).unwrap_or_default()
    }

    /// Gives the size of a piece of a result's text, counted alone, by its literal and the bytes of its text; `None` where
    /// nothing was noted of it.
    #[must_use]
    pub(crate) fn piece(&self, literal: Span, from: usize, to: usize) -> Option<Tokens> {
        self.marks.get(&literal.start())?.between(from, to)
    }

    /// Gives the size of tools and all items before `idx`.
    #[must_use]
    pub fn sum_to(&self, idx: ItemIdx) -> Tokens {
        let before = self.items.iter().take(idx.at()).map(ItemCount::whole).sum::<Tokens>();
        self.request + before
    }

    /// Gives what identifies an item: its content as the model reads it, without cache marks and JSON layout.
    #[must_use]
    pub fn digest(&self, idx: ItemIdx) -> u128 {
        self.items.get(idx.at()).map_or(0, |count| count.digest)
    }
}

/// A client's note says nothing that a decision may rest on: half its bytes, rounded up.
fn note(item: &Item) -> (Tokens, Tokens) {
    let bytes = item.texts.iter().map(|text| text.len() as u64).sum::<u64>();
    let tokens = Tokens((bytes / 2).next_multiple_of(NOTE_STEP_TOKENS));
    (tokens, tokens)
}

struct Tally<'c, 'a> {
    transcript: &'c Transcript<'a>,
    counter: &'c dyn TokenCounter,
    cache: &'c mut CountCache,
    marks: BTreeMap<usize, LineMarks>,
}

impl Tally<'_, '_> {
    /// Counts an item, and its texts alone.
    fn item(&mut self, item: &Item) -> Result<(Tokens, Tokens)> {
        let mut text = Tokens(0);
        for &span in &item.texts {
            let digest = xxh3_128(span.of(self.transcript.body));
            text += match item.kind {
                ItemKind::ToolResult => self.marked(span, digest)?,
                _ => self.literal(span, digest)?,
            };
        }
        let mut tokens = match item.weight {
            Weight::Texts => text,
            Weight::Encrypted(span) => encrypted(span),
            Weight::Raw(span) => self.raw_without(span, item.cache_mark)?,
            Weight::Media(span) => Tokens(BLOCK_TOKENS) + self.media(span)?,
        };
        match &item.detail {
            Detail::Plain | Detail::Reasoning(_) => {}
            Detail::Call(call) => {
                tokens += Tokens(BLOCK_TOKENS);
                if let Some(name) = call.name {
                    tokens += self.hashed(name)?;
                }
                if let Some(arguments) = call.arguments {
                    tokens += match call.form {
                        ArgumentsForm::Object => self.raw(arguments)?,
                        ArgumentsForm::JsonString | ArgumentsForm::Text => self.hashed(arguments)?,
                    };
                }
            }
            Detail::Answer(_) => tokens += Tokens(BLOCK_TOKENS),
        }
        Ok((tokens, text))
    }

    /// Counts a value that is a string literal, or anything else as it stands.
    fn hashed(&mut self, span: Span) -> Result<Tokens> {
        let raw = span.of(self.transcript.body);
        if raw.first() == Some(&b'"') { self.literal(span, xxh3_128(raw)) } else { self.raw(span) }
    }

    fn literal(&mut self, span: Span, digest: u128) -> Result<Tokens> {
        let mut failed = None;
        let text = decoded(span.of(self.transcript.body), &mut failed);
        let tokens = self.cache.count_hashed(self.counter, digest, text);
        failed.map_or(Ok(tokens), |error| Err(error.moved(span.start())))
    }

    /// The same for the text of a result, whose passages will be asked for.
    fn marked(&mut self, span: Span, digest: u128) -> Result<Tokens> {
        let (mut failed, mut marks) = (None, LineMarks::default());
        let text = decoded(span.of(self.transcript.body), &mut failed);
        let tokens = self.cache.count_hashed_marked(self.counter, digest, &mut marks, text);
        if marks != LineMarks::default() {
            self.marks.insert(span.start(), marks);
        }
        failed.map_or(Ok(tokens), |error| Err(error.moved(span.start())))
    }

    fn raw(&mut self, span: Span) -> Result<Tokens> {
        let raw = span.of(self.transcript.body);
        Ok(self.cache.count_hashed(self.counter, xxh3_128(raw), || String::from_utf8_lossy(raw)))
    }

    /// A document given as plain text is text; anything else costs what its formula says.
    fn media(&mut self, span: Span) -> Result<Tokens> {
        let raw = span.of(self.transcript.body);
        if raw.len() < MAX_PLAIN_DOCUMENT_BYTES
            && let Ok(outline) = Outline::read_all(raw)
        {
            let root = outline.root();
            let kind = outline.get(root, "type").and_then(|idx| outline.string(idx));
            if let (Some("text"), Some(data)) = (kind.as_deref(), outline.get(root, "data")) {
                let inner = outline.node(data).span;
                return self.hashed(Span::new(span.start() + inner.start(), span.start() + inner.end()));
            }
        }
        Ok(media_facts(self.transcript.format, raw).tokens)
    }

    /// A mark may move to another block without changing what the model reads.
    fn raw_without(&mut self, span: Span, mark: Option<Span>) -> Result<Tokens> {
        match mark.and_then(|mark| wire::around_mark(self.transcript.body, span, mark)) {
            None => self.raw(span),
            Some(around) => around.into_iter().map(|part| self.raw(part)).sum(),
        }
    }
}

/// Base64 of encrypted text: four characters are three bytes, and four bytes about one token of plain text.
fn encrypted(span: Span) -> Tokens {
    Tokens((span.len() as u64).saturating_mul(3) / 16)
}

/// Decodes a string literal when it is asked for; one that cannot be decoded says nothing, and why is left in `failed`.
fn decoded<'t>(raw: &'t [u8], failed: &'t mut Option<Error>) -> impl FnOnce() -> Cow<'t, str> {
    move || match json::decode(raw) {
        Ok(decoded) => decoded.into_text(),
        Err(error) => {
            *failed = Some(error);
            Cow::Borrowed("")
        }
    }
}

/// What is known of a picture or document from its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MediaFacts {
    /// What a notice calls it.
    pub(crate) description: String,
    /// Width and height in pixels.
    pub(crate) size: Option<(u32, u32)>,
    /// What it costs under its format's formula.
    pub(crate) tokens: Tokens,
}

/// Reads what a picture or document is, and prices it.
pub(crate) fn media_facts(format: WireFormat, value: &[u8]) -> MediaFacts {
    let Ok(outline) = Outline::read_all(value) else { return MediaFacts::document("document") };
    let root = outline.root();
    let object = outline.get(root, "image_url").filter(|&idx| outline.node(idx).kind == NodeKind::Object);
    let object = object.unwrap_or(root);
    let text = |key: &str| outline.get(object, key).and_then(|idx| outline.string(idx));
    let url = text("image_url").or_else(|| text("url")).or_else(|| outline.string(root));
    let stated = text("media_type").unwrap_or_default();
    let is_plain_text = text("type").as_deref() == Some("text");
    let (kind, data) = match &url {
        Some(url) => url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).unwrap_or(("image", "")),
        None => (stated.as_ref(), outline.get(object, "data").map_or("", |idx| raw_string(&outline, idx))),
    };
    let is_image = kind.starts_with("image") || (kind.is_empty() && text("file_data").is_none());
    if !is_image || is_plain_text {
        return MediaFacts::document(if kind.is_empty() { "document" } else { kind });
    }
    let size = liveset_tokens::image_size(data);
    let detail = match text("detail").as_deref() {
        Some("low") => ImageDetail::Low,
        Some(_) | None => ImageDetail::High,
    };
    let rule = match format {
        WireFormat::Anthropic => ImageRule::Anthropic,
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => ImageRule::OpenAi,
    };
    let description = if kind.is_empty() || kind == "image" { "picture".to_owned() } else { format!("picture {kind}") };
    MediaFacts { description, size, tokens: liveset_tokens::image_tokens(rule, size, detail) }
}

/// Base64 holds no escapes: its literal is its text.
fn raw_string<'a>(outline: &Outline<'a>, idx: NodeIdx) -> &'a str {
    let raw = outline.bytes(idx);
    std::str::from_utf8(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()).unwrap_or_default()
}

impl MediaFacts {
    fn document(kind: &str) -> Self {
        let plain = kind.chars().all(|c| c.is_ascii_alphanumeric() || "/+-.".contains(c)) && kind.len() <= 60;
        let description = if plain && kind != "document" { format!("document {kind}") } else { "document".to_owned() };
        Self { description, size: None, tokens: liveset_tokens::DOCUMENT_TOKENS }
    }
}
