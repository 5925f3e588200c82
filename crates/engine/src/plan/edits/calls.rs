//! Which bytes change where a rule took a text out of a call's arguments?

use std::sync::Arc;

use crate::{
    content_id::ContentId,
    edit::{Back, Edit, EditAge, Splice},
    error::Result,
    json,
    manifest::Original,
    plan::{
        arguments::{Arguments, Nesting},
        desk::Desk,
        state::{CallState, PartSplice, State, Written},
    },
    span::Span,
    tools,
    transcript::{Call, Item, ItemIdx},
};

/// Writes the edits of cut arguments, and the originals behind those that are new.
pub(super) fn edits(
    desk: &Desk<'_, '_>,
    state: &mut State,
    edits: &mut Vec<Edit>,
    originals: &mut Vec<Original>,
) -> Result<()> {
    for (&idx, cut) in &mut state.calls {
        let item = desk.item(idx)?;
        let Some(call) = item.call() else { continue };
        let age = if cut.written.is_some() { EditAge::Known } else { EditAge::Fresh };
        let written = match &cut.written {
            Some(written) => Arc::clone(written),
            None => {
                let Some((written, original)) = write(desk, call, cut)? else { continue };
                originals.push(original);
                let written = Arc::new(written);
                cut.written = Some(Arc::clone(&written));
                written
            }
        };
        edits.push(edit(idx, item, call, cut, &written, age));
    }
    Ok(())
}

/// The original is what the texts said, joined by `\n`.
fn write(desk: &Desk<'_, '_>, call: &Call, cut: &CallState) -> Result<Option<(Written, Original)>> {
    let Some(arguments) = Arguments::of(desk.transcript, call)? else { return Ok(None) };
    let texts = arguments.texts(cut.rule.keys);
    let mut bytes = Vec::new();
    let mut splices = Vec::with_capacity(texts.len());
    for (text, splice) in texts.iter().zip(arguments.splices(&texts, cut.rule.with)) {
        if !splices.is_empty() {
            bytes.push(b'\n');
        }
        let said = arguments.decoded(text)?;
        let raw = arguments.raw(splice.from, splice.to);
        let back = back(arguments.nesting(), raw, said.text(), bytes.len());
        bytes.extend_from_slice(&said.wtf8());
        splices.push(PartSplice { part: 0, from: splice.from, to: splice.to, with: splice.with.into(), back });
    }
    let id = ContentId::of(&bytes);
    let written = Written {
        tool: tools::tool_name(desk.transcript, call).unwrap_or_default(),
        call_id: desk.id(call.id),
        archive_id: id,
        splices,
    };
    Ok(Some((written, Original { id, bytes })))
}

/// Raw bytes are kept wherever this crate would escape them otherwise.
fn back(nesting: Nesting, raw: &[u8], text: &str, start: usize) -> Back {
    let end = start + text.len();
    let once = json::encode_inner(text);
    match nesting {
        Nesting::Object if once.as_bytes() == raw => Back::Text { start, end },
        Nesting::InString if json::encode_inner(&once).as_bytes() == raw => Back::Nested { start, end },
        Nesting::Object | Nesting::InString => Back::Raw(String::from_utf8_lossy(raw).into()),
    }
}

fn edit(idx: ItemIdx, item: &Item, call: &Call, cut: &CallState, written: &Written, age: EditAge) -> Edit {
    let start = call.arguments.map_or(0, |value| value.start());
    let splices = written.splices.iter().map(|splice| Splice {
        span: Span::new(start + splice.from, start + splice.to),
        with: Arc::clone(&splice.with),
        back: splice.back.clone(),
    });
    Edit {
        item: idx,
        unit: item.unit,
        kind: cut.change.kind,
        step: cut.change.step,
        reason: cut.change.reason.clone(),
        tool: Some(written.tool.clone()),
        call_id: written.call_id.clone(),
        tokens_before: cut.before,
        tokens_after: cut.after,
        carrier: None,
        archive_id: written.archive_id,
        age,
        splices: splices.collect(),
    }
}
