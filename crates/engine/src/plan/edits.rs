//! Which bytes change for what was decided? From forms to edits.
//!
//! The only place that turns a decision into JSON text.

mod calls;
mod drops;
mod thoughts;

pub(crate) use drops::loses_mark;

use std::sync::Arc;

use super::{
    desk::Desk,
    form::{self, Form, PartForm},
    state::{Change, Notice, PartSplice, ResultState, State, Written},
};
use crate::{
    content_id::ContentId,
    edit::{Back, Edit, EditAge, Splice},
    error::Result,
    json::{self, RawCursor},
    manifest::Original,
    report::EditKind,
    span::Span,
    transcript::{Item, ItemIdx, WireFormat},
};

/// Writes the edits of a state, and the originals behind those that are new.
pub(crate) fn edits(desk: &Desk<'_, '_>, state: &mut State) -> Result<(Vec<Edit>, Vec<Original>)> {
    let mut edits = Vec::new();
    let mut originals = Vec::new();
    for (ordinal, result) in state.results.iter_mut().enumerate() {
        let Some(change) = result.change.clone().filter(|_| *result.form != Form::Whole) else { continue };
        let age = if result.written.is_some() { EditAge::Known } else { EditAge::Fresh };
        let written = match &result.written {
            Some(written) => Arc::clone(written),
            None => {
                let (written, original) = write(desk, ordinal, result)?;
                originals.push(original);
                let written = Arc::new(written);
                result.written = Some(Arc::clone(&written));
                written
            }
        };
        edits.push(of_result(desk, result, &change, &written, age)?);
    }
    calls::edits(desk, state, &mut edits, &mut originals)?;
    drops::edits(desk, state, &mut edits, &mut originals)?;
    thoughts::edits(desk, state, &mut edits, &mut originals)?;
    for (&idx, notice) in &state.notices {
        let (edit, original) = of_media(desk, idx, notice)?;
        edits.push(edit);
        originals.push(original);
    }
    edits.sort_by_key(|edit| edit.item);
    Ok((edits, originals))
}

fn write(desk: &Desk<'_, '_>, ordinal: usize, result: &ResultState) -> Result<(Written, Original)> {
    let item = desk.item(result.item)?;
    let texts = desk.texts(ordinal)?;
    let o200k = desk.o200k(ordinal, result.original)?;
    let (bytes, offsets) = texts.original(desk.transcript.body)?;
    let mut splices = Vec::new();
    let parts = form::write(texts, &result.form, o200k);
    for (at, ((part, written), offset)) in texts.parts.iter().zip(parts).zip(offsets).enumerate() {
        let PartForm::Gaps(gaps) = written else { continue };
        let literal = part.literal.of(desk.transcript.body);
        let mut cursor = RawCursor::new(literal);
        for gap in gaps {
            let (from, to) = (cursor.raw_at(gap.start), cursor.raw_at(gap.end));
            let raw = literal.get(from..to).unwrap_or_default();
            let text = part.text.get(gap.start..gap.end).unwrap_or_default();
            let with = json::encode_inner(&gap.text).into();
            splices.push(PartSplice { part: at, from, to, with, back: back(raw, text, offset + gap.start) });
        }
    }
    let id = ContentId::of(&bytes);
    let call_id = desk.id(item.answer().and_then(|answer| answer.id));
    let written = Written { tool: texts.name.tool.clone(), call_id, archive_id: id, splices };
    Ok((written, Original { id, bytes }))
}

fn of_result(
    desk: &Desk<'_, '_>,
    result: &ResultState,
    change: &Change,
    written: &Written,
    age: EditAge,
) -> Result<Edit> {
    let item = desk.item(result.item)?;
    let splices = written.splices.iter().map(|splice| {
        let start = item.texts.get(splice.part).map_or(0, |literal| literal.start());
        let span = Span::new(start + splice.from, start + splice.to);
        Splice { span, with: Arc::clone(&splice.with), back: splice.back.clone() }
    });
    Ok(Edit {
        item: result.item,
        unit: item.unit,
        kind: change.kind,
        step: change.step,
        reason: change.reason.clone(),
        tool: Some(written.tool.clone()),
        call_id: written.call_id.clone(),
        tokens_before: result.original,
        tokens_after: result.tokens,
        carrier: None,
        archive_id: written.archive_id,
        age,
        splices: splices.collect(),
    })
}

/// Raw bytes are kept wherever this crate would escape them otherwise.
fn back(raw: &[u8], text: &str, start: usize) -> Back {
    if json::encode_inner(text).as_bytes() == raw {
        return Back::Text { start, end: start + text.len() };
    }
    Back::Raw(String::from_utf8_lossy(raw).into())
}

fn of_media(desk: &Desk<'_, '_>, idx: ItemIdx, notice: &Notice) -> Result<(Edit, Original)> {
    let item = desk.item(idx)?;
    let body = desk.transcript.body;
    let bytes = item.span.of(body).to_vec();
    let result = item.within.map(|within| desk.item(within)).transpose()?;
    let call = result.and_then(|result| result.answer()).and_then(|answer| answer.call);
    let name = call.map(|call| desk.item(call)).transpose()?.and_then(Item::call);
    let id = ContentId::of(&bytes);
    let edit = Edit {
        item: idx,
        unit: result.and_then(|result| result.unit),
        kind: EditKind::Media,
        step: Some(0),
        reason: format!("older than the newest {} pictures", desk.policy.keep_media),
        tool: Some(crate::tools::CallName::of(desk.transcript, name).tool),
        call_id: result.and_then(Item::answer).and_then(|answer| desk.id(answer.id)),
        tokens_before: notice.before,
        tokens_after: notice.after,
        carrier: None,
        archive_id: id,
        age: EditAge::Fresh,
        splices: vec![Splice {
            span: item.span,
            with: notice_block(desk, item, &notice.text).into(),
            back: Back::Verbatim,
        }],
    };
    Ok((edit, Original { id, bytes }))
}

/// Writes the block that stands for a picture; a cache mark stays on it.
fn notice_block(desk: &Desk<'_, '_>, item: &Item, text: &str) -> String {
    let kind = match desk.transcript.format {
        WireFormat::Anthropic | WireFormat::OpenaiChat => "text",
        WireFormat::OpenaiResponses => "input_text",
    };
    let mark = item.cache_mark.map(|mark| String::from_utf8_lossy(mark.of(desk.transcript.body)).into_owned());
    let mark = mark.map(|mark| format!(",\"cache_control\":{mark}")).unwrap_or_default();
    format!("{{\"type\":\"{kind}\",\"text\":{}{mark}}}", json::encode(text))
}
