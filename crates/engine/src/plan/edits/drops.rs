//! Which bytes go where whole units go (dropped or folded away), and where do their cache marks stand from then on?
//!
//! A batch goes with the comma that parts it from its neighbour. A mark moves to the nearest earlier block that may
//! carry one.

use std::collections::BTreeMap;

use crate::{
    content_id::ContentId,
    edit::{Back, Edit, EditAge, Splice},
    error::Result,
    json,
    manifest::Original,
    plan::{
        desk::Desk,
        state::{Batch, State},
    },
    report::EditKind,
    span::Span,
    tools,
    transcript::{Item, ItemIdx, ItemKind, WireFormat},
};

use liveset_tokens::Tokens;

/// Writes the edits of dropped batches and of the marks that move, and their originals.
pub(super) fn edits(
    desk: &Desk<'_, '_>,
    state: &State,
    edits: &mut Vec<Edit>,
    originals: &mut Vec<Original>,
) -> Result<()> {
    // Messages, from the first, that are all gone.
    let mut gone = 0;
    for batch in state.batches.values() {
        let Some(span) = span_of(desk, batch, gone) else { continue };
        if batch.first == gone {
            gone = batch.last + 1;
        }
        let bytes = span.of(desk.transcript.body).to_vec();
        let id = ContentId::of(&bytes);
        let (tool, call_id) = first_call(desk, batch)?;
        edits.push(Edit {
            item: batch.item,
            unit: Some(batch.unit),
            kind: batch.change.kind,
            step: batch.change.step,
            reason: batch.change.reason.clone(),
            tool,
            call_id,
            tokens_before: batch.before,
            tokens_after: Tokens(0),
            carrier: batch.carrier.and_then(|ordinal| state.results.get(ordinal)).map(|result| result.item),
            archive_id: id,
            // A client may move its cache marks inside a batch, so its bytes are stored as they are each time.
            age: EditAge::Fresh,
            splices: vec![Splice { span, with: "".into(), back: Back::Verbatim }],
        });
        originals.push(Original { id, bytes });
    }
    for (to, mark) in moved_marks(desk, state).moved {
        let bytes = mark.of(desk.transcript.body).to_vec();
        let (id, item) = (ContentId::of(&bytes), desk.item(to)?);
        let at = item.span.end().saturating_sub(1);
        let with = format!(",\"cache_control\":{}", String::from_utf8_lossy(&bytes));
        edits.push(Edit {
            item: to,
            unit: item.unit,
            kind: EditKind::Mark,
            step: None,
            reason: "the cache mark of what was left out".to_owned(),
            tool: None,
            call_id: None,
            tokens_before: Tokens(0),
            tokens_after: Tokens(0),
            carrier: None,
            archive_id: id,
            age: EditAge::Fresh,
            splices: vec![Splice { span: Span::new(at, at), with: with.into(), back: Back::Raw("".into()) }],
        });
        originals.push(Original { id, bytes });
    }
    Ok(())
}

/// Says whether a cache mark of what was left out found no block that may carry it, or one that has a mark already.
pub(crate) fn loses_mark(desk: &Desk<'_, '_>, state: &State) -> bool {
    moved_marks(desk, state).lost
}

/// From the end of what stands before to its own end; the first of a list, to where the next begins.
fn span_of(desk: &Desk<'_, '_>, batch: &Batch, gone: u32) -> Option<Span> {
    let message = |at: u32| desk.transcript.messages.get(at as usize);
    if batch.first == gone {
        return Some(Span::new(message(batch.first)?.start(), message(batch.last + 1)?.start()));
    }
    Some(Span::new(message(batch.first - 1)?.end(), message(batch.last)?.end()))
}

fn first_call(desk: &Desk<'_, '_>, batch: &Batch) -> Result<(Option<String>, Option<String>)> {
    let items = desk.transcript.units.get(batch.unit.at()).map(|unit| unit.items.as_slice()).unwrap_or_default();
    for &idx in items {
        if let Some(call) = desk.item(idx)?.call() {
            let id = call.id.and_then(|id| json::decode(id.of(desk.transcript.body)).ok());
            return Ok((tools::tool_name(desk.transcript, call), id.map(|id| id.text().to_owned())));
        }
    }
    Ok((None, None))
}

/// Marks in dropped batches and on removed reasoning, by the block they move to.
struct Marks {
    moved: BTreeMap<ItemIdx, Span>,
    lost: bool,
}

fn moved_marks(desk: &Desk<'_, '_>, state: &State) -> Marks {
    let mut marks = Marks { moved: BTreeMap::new(), lost: false };
    if state.batches.is_empty() && state.thoughts.is_empty() {
        return marks;
    }
    let mut carrier = None;
    for (idx, item) in (0..).map(ItemIdx).zip(&desk.transcript.items) {
        if !state.is_dropped(item) && !state.thoughts.contains_key(&idx) {
            if may_carry(desk, item) {
                carrier = Some((idx, item));
            }
            continue;
        }
        match (item.cache_mark, carrier) {
            (None, _) => {}
            (Some(_), None) => marks.lost = true,
            // Where the block has a mark of its own the cache ends there already, and one is left of two.
            (Some(_), Some((_, carrier))) if carrier.cache_mark.is_some() => marks.lost = true,
            // Of several marks the newest counts: they would mark the same place.
            (Some(mark), Some((to, _))) => marks.lost |= marks.moved.insert(to, mark).is_some(),
        }
    }
    marks
}

/// A block of its own that is neither reasoning, empty, nor unknown.
fn may_carry(desk: &Desk<'_, '_>, item: &Item) -> bool {
    let is_block = item.span.of(desk.transcript.body).first() == Some(&b'{') && item.within.is_none();
    let says =
        |text: &Span| json::decode(text.of(desk.transcript.body)).is_ok_and(|said| !said.text().trim().is_empty());
    let holds_text = || item.texts.iter().any(says);
    let kind = || match item.kind {
        ItemKind::System | ItemKind::User | ItemKind::Assistant => holds_text(),
        ItemKind::ToolCall | ItemKind::ToolResult => desk.transcript.format == WireFormat::Anthropic,
        ItemKind::Media | ItemKind::Reasoning | ItemKind::Opaque => false,
    };
    // In a Responses list a message's own span is that of its text parts, which carry no marks.
    is_block && desk.transcript.format != WireFormat::OpenaiResponses && kind()
}
