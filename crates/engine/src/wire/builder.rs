//! How do items get their numbers, units and partners? Shared by the three readers.
//!
//! Knows no dialect: a reader says what an item is, the builder where it belongs.

use super::digests;
use crate::{
    json::{NodeIdx, NodeKind, Outline},
    pairing,
    span::Span,
    transcript::{
        Answer, ArgumentsForm, Binding, Call, Detail, Editing, ErrorFlag, Item, ItemIdx, ItemKind, Side, Transcript,
        Unit, UnitIdx, Weight, WireFormat,
    },
};

/// Values of an outline for one item, roughly: the first guess at how long the list will be.
const VALUES_PER_ITEM: usize = 4;

/// Collects items in render order and hands out message numbers.
pub(super) struct Builder<'o, 'a> {
    outline: &'o Outline<'a>,
    items: Vec<Item>,
    messages: Vec<Span>,
    number: u32,
    run: Run,
    server_state: Option<&'static str>,
    known: Known,
}

/// What was read before, of items that stand unchanged.
#[derive(Default)]
struct Known {
    units: Vec<Unit>,
    digests: Vec<u128>,
    /// How many items it is of.
    items: usize,
}

/// Whether the assistant-side run that opened the newest number still goes on.
enum Run {
    Open,
    Closed,
}

/// What a reader knows of a new item.
pub(super) struct Draft {
    kind: ItemKind,
    side: Side,
    span: Span,
    texts: Vec<Span>,
    weight: Weight,
    cache_mark: Option<Span>,
    within: Option<ItemIdx>,
    detail: Detail,
}

impl Draft {
    /// An item that holds just text.
    pub(super) fn text(kind: ItemKind, side: Side, span: Span, text: Span) -> Self {
        Self { texts: vec![text], ..Self::new(kind, side, span, Weight::Texts) }
    }

    /// An item of unknown content.
    pub(super) fn opaque(side: Side, span: Span) -> Self {
        Self::new(ItemKind::Opaque, side, span, Weight::Raw(span))
    }

    /// A picture or document.
    pub(super) fn media(side: Side, span: Span, data: Span) -> Self {
        Self::new(ItemKind::Media, side, span, Weight::Media(data))
    }

    /// Reasoning: by its texts where there are any, else by its encrypted form.
    pub(super) fn reasoning(binding: Binding, span: Span, texts: Vec<Span>, encrypted: Option<Span>) -> Self {
        let readable = texts.iter().any(|text| text.len() > 2);
        let weight = match encrypted {
            Some(data) if !readable => Weight::Encrypted(data),
            Some(_) | None => Weight::Texts,
        };
        Self {
            texts,
            detail: Detail::Reasoning(binding),
            ..Self::new(ItemKind::Reasoning, Side::Assistant, span, weight)
        }
    }

    /// A call, whose arguments are meant to be written as `form` says.
    ///
    /// Where they are not, they are read as the JSON they are: what is no object is then never edited.
    pub(super) fn call(
        span: Span,
        id: Option<Span>,
        name: Option<Span>,
        arguments: Option<(Span, NodeKind)>,
        form: ArgumentsForm,
    ) -> Self {
        let form = match arguments {
            Some((_, kind)) if kind != NodeKind::String => ArgumentsForm::Object,
            Some(_) | None => form,
        };
        let arguments = arguments.map(|(span, _)| span);
        let detail = Detail::Call(Call { id, name, arguments, form, result: None });
        Self { detail, ..Self::new(ItemKind::ToolCall, Side::Assistant, span, Weight::Texts) }
    }

    /// A call or result of a kind that this version does not know: counted as it stands, and only its pairing is read.
    pub(super) fn unknown(self, span: Span) -> Self {
        let mut draft = self.weighing(Weight::Raw(span)).with_texts(Vec::new()).fixed();
        if let Detail::Call(call) = &mut draft.detail {
            (call.name, call.arguments) = (None, None);
        }
        draft
    }

    /// A result.
    pub(super) fn answer(span: Span, id: Option<Span>, error: ErrorFlag, texts: Vec<Span>) -> Self {
        let detail = Detail::Answer(Answer { id, call: None, error, editing: Editing::Free });
        Self { texts, detail, ..Self::new(ItemKind::ToolResult, Side::Other, span, Weight::Texts) }
    }

    /// The same item with these texts.
    pub(super) fn with_texts(self, texts: Vec<Span>) -> Self {
        Self { texts, ..self }
    }

    /// The same result, never to be edited.
    pub(super) fn fixed(mut self) -> Self {
        if let Detail::Answer(answer) = &mut self.detail {
            answer.editing = Editing::Fixed;
        }
        self
    }

    /// The same item, sized by other bytes.
    pub(super) fn weighing(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same item as a part of a result.
    pub(super) fn within(self, result: ItemIdx) -> Self {
        Self { within: Some(result), ..self }
    }

    /// The same item with the mark on its block.
    pub(super) fn marked(self, cache_mark: Option<Span>) -> Self {
        Self { cache_mark, ..self }
    }

    fn new(kind: ItemKind, side: Side, span: Span, weight: Weight) -> Self {
        Self { kind, side, span, texts: Vec::new(), weight, cache_mark: None, within: None, detail: Detail::Plain }
    }
}

impl<'o, 'a> Builder<'o, 'a> {
    /// Begins with room for the items of `values` values.
    pub(super) fn new(outline: &'o Outline<'a>, values: usize) -> Self {
        let items = Vec::with_capacity(values / VALUES_PER_ITEM);
        Self {
            outline,
            items,
            messages: Vec::new(),
            number: 0,
            run: Run::Closed,
            server_state: None,
            known: Known::default(),
        }
    }

    /// Goes on behind the first wire messages of a body that was read before, where this one holds the same.
    ///
    /// What stands outside the messages is read anew and must have been pushed here: as many items as there were. `None`
    /// where there are others.
    pub(super) fn go_on(self, before: Transcript<'_>, messages: usize) -> Option<Self> {
        let Transcript { mut items, mut units, messages: mut spans, mut digests, .. } = before;
        let is_kept = |item: &Item| item.message.is_none_or(|message| (message as usize) < messages);
        let kept = items.partition_point(is_kept);
        if items.partition_point(|item| item.message.is_none()) != self.items.len() {
            return None;
        }
        let dropped = items.split_off(kept);
        for (at, item) in dropped.iter().enumerate() {
            let call = item.answer().and_then(|answer| answer.call).and_then(|call| items.get_mut(call.at()));
            if let Some(Detail::Call(call)) = call.map(|call| &mut call.detail) {
                call.result = None;
            }
            let unit = item.unit.and_then(|unit| units.get_mut(unit.at()));
            if let Some(unit) = unit {
                unit.items.retain(|idx| idx.at() != kept + at);
            }
        }
        let number = items.iter().rev().find(|item| item.side == Side::Assistant).map_or(0, |item| item.number);
        units.truncate(number as usize);
        spans.truncate(messages);
        digests.truncate(kept);
        // Instructions in the middle do not end a reply.
        let newest = items.iter().rev().find(|item| item.side == Side::Assistant || item.kind != ItemKind::System);
        let run = if newest.is_some_and(|item| item.side == Side::Assistant) { Run::Open } else { Run::Closed };
        for (place, opening) in items.iter_mut().zip(self.items) {
            *place = opening;
        }
        let known = Known { units, digests, items: kept };
        Some(Self { outline: self.outline, items, messages: spans, number, run, server_state: None, known })
    }

    /// Notes that the history lives on the server.
    pub(super) fn note_server_state(&mut self, field: &'static str) {
        self.server_state = Some(field);
    }

    /// Opens the next wire message; items pushed from now on belong to it.
    pub(super) fn open_message(&mut self, span: Span) {
        self.messages.push(span);
    }

    /// Takes the next item in render order.
    pub(super) fn push(&mut self, draft: Draft) -> ItemIdx {
        match (draft.side, draft.kind) {
            (Side::Assistant, _) => {
                if matches!(self.run, Run::Closed) {
                    self.number += 1;
                    self.run = Run::Open;
                }
            }
            // Instructions in the middle do not end a reply; a result or the user's word does.
            (Side::Other, ItemKind::System) => {}
            (Side::Other, _) => self.run = Run::Closed,
        }
        let idx = ItemIdx(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
        self.items.push(Item {
            kind: draft.kind,
            side: draft.side,
            span: draft.span,
            message: self.messages.len().checked_sub(1).and_then(|at| u32::try_from(at).ok()),
            texts: draft.texts,
            weight: draft.weight,
            within: draft.within,
            cache_mark: draft.cache_mark,
            number: self.number,
            unit: None,
            detail: draft.detail,
        });
        idx
    }

    /// Pairs calls with results and closes the transcript.
    pub(super) fn finish(mut self, format: WireFormat, fields: Fields) -> Transcript<'a> {
        let Known { mut units, digests, items: known } = self.known;
        pairing::pair(self.outline.body(), &mut self.items, known);
        add_units(&mut units, &mut self.items, known);
        let mut transcript = Transcript {
            body: self.outline.body(),
            format,
            model: fields.model,
            tools: fields.tools,
            items: self.items,
            units,
            messages: self.messages,
            server_state: self.server_state.or(fields.server_state),
            digests,
        };
        digests::fill(&mut transcript);
        transcript
    }
}

/// Request fields outside the conversation.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) model: Option<Span>,
    pub(super) tools: Option<Span>,
    pub(super) server_state: Option<&'static str>,
}

impl Fields {
    /// Reads what all formats share.
    pub(super) fn of(outline: &Outline<'_>) -> Self {
        let root = outline.root();
        let tools = outline.get(root, "tools").filter(|&idx| outline.node(idx).kind == NodeKind::Array);
        Self {
            model: literal(outline, root, "model"),
            tools: tools.map(|idx| outline.node(idx).span),
            server_state: None,
        }
    }
}

/// Adds the items from a place on to their units.
fn add_units(units: &mut Vec<Unit>, items: &mut [Item], from: usize) {
    let count = items.iter().skip(from).map(|item| item.number).max().unwrap_or(0);
    let known = u32::try_from(units.len()).unwrap_or(u32::MAX);
    units.extend((known + 1..=count).map(|number| Unit { number, items: Vec::new() }));
    let belongs = |item: &Item| item.side == Side::Assistant || item.kind == ItemKind::ToolResult;
    // Assistant side first, so that results stand last even where a reply goes on after a result.
    for wanted in [Side::Assistant, Side::Other] {
        for (at, item) in items.iter_mut().enumerate().skip(from) {
            if item.side != wanted || !belongs(item) {
                continue;
            }
            let Some(place) = item.number.checked_sub(1) else { continue };
            if let Some(unit) = units.get_mut(place as usize) {
                unit.items.push(ItemIdx(u32::try_from(at).unwrap_or(u32::MAX)));
                item.unit = Some(UnitIdx(place));
            }
        }
    }
}

/// Gives the span of a field that is a string.
pub(super) fn literal(outline: &Outline<'_>, object: NodeIdx, key: &str) -> Option<Span> {
    let idx = outline.get(object, key)?;
    (outline.node(idx).kind == NodeKind::String).then(|| outline.node(idx).span)
}

/// Gives the span of a field of any type.
pub(super) fn value(outline: &Outline<'_>, object: NodeIdx, key: &str) -> Option<Span> {
    outline.get(object, key).map(|idx| outline.node(idx).span)
}

/// Gives the place and kind of a call's arguments.
pub(super) fn arguments(outline: &Outline<'_>, object: NodeIdx, key: &str) -> Option<(Span, NodeKind)> {
    outline.get(object, key).map(|idx| (outline.node(idx).span, outline.node(idx).kind))
}

/// Gives the span of a mark for the prompt cache.
pub(super) fn mark(outline: &Outline<'_>, object: NodeIdx) -> Option<Span> {
    let idx = outline.get(object, "cache_control")?;
    (outline.node(idx).kind != NodeKind::Null).then(|| outline.node(idx).span)
}

/// Gives a string field's text, for comparison with known words.
pub(super) fn word<'a>(outline: &Outline<'a>, object: NodeIdx, key: &str) -> std::borrow::Cow<'a, str> {
    outline.get(object, key).and_then(|idx| outline.string(idx)).unwrap_or_default()
}

/// Gives the list that holds the conversation: the root itself or the named field.
pub(super) fn list(outline: &Outline<'_>, key: &'static str) -> crate::Result<NodeIdx> {
    let root = outline.root();
    let node = outline.node(root);
    match node.kind {
        NodeKind::Array => Ok(root),
        NodeKind::Object => {
            let idx = outline.get(root, key).ok_or(crate::Error::Missing { field: key, offset: node.span.start() })?;
            let found = outline.node(idx);
            match found.kind {
                NodeKind::Array => Ok(idx),
                other => Err(crate::Error::WrongType {
                    field: key,
                    offset: found.span.start(),
                    expected: "an array",
                    found: other.name(),
                }),
            }
        }
        other => Err(crate::Error::WrongType {
            field: "body",
            offset: node.span.start(),
            expected: "an object or an array",
            found: other.name(),
        }),
    }
}
