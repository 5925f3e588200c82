//! Which bytes go where signed reasoning leaves by itself?
//!
//! A block goes with the comma that parts it from its neighbour; what is stored is the block alone.

use liveset_tokens::Tokens;

use crate::{
    content_id::ContentId,
    edit::{Back, Edit, EditAge, Splice},
    error::Result,
    manifest::Original,
    plan::{desk::Desk, state::State},
    report::EditKind,
    span::Span,
    transcript::{Item, ItemIdx},
};

/// Why, in every report.
const REASON: &str = "signed reasoning behind an edit";

/// Writes the edits of removed reasoning, and their originals.
pub(super) fn edits(
    desk: &Desk<'_, '_>,
    state: &State,
    edits: &mut Vec<Edit>,
    originals: &mut Vec<Original>,
) -> Result<()> {
    // From the end, so that of a run at the end of its message each block knows that nothing follows.
    let mut next: Option<(ItemIdx, Border)> = None;
    for (&idx, thought) in state.thoughts.iter().rev() {
        let item = desk.item(idx)?;
        let border = border(desk, state, idx, item, next);
        next = Some((idx, border));
        let Some(comma) = comma(desk, idx, item, border) else { continue };
        let body = desk.transcript.body;
        let bytes = item.span.of(body).to_vec();
        let id = ContentId::of(&bytes);
        let raw = String::from_utf8_lossy(comma.of(body));
        let mut splices = vec![
            Splice { span: item.span, with: "".into(), back: Back::Verbatim },
            Splice { span: comma, with: "".into(), back: Back::Raw(raw.into()) },
        ];
        splices.sort_by_key(|splice| splice.span);
        edits.push(edit(idx, item, (thought.before, thought.after), id, splices));
        originals.push(Original { id, bytes });
    }
    Ok(())
}

fn edit(idx: ItemIdx, item: &Item, (before, after): (Tokens, Tokens), id: ContentId, splices: Vec<Splice>) -> Edit {
    Edit {
        item: idx,
        unit: item.unit,
        kind: EditKind::Reasoning,
        step: None,
        reason: REASON.to_owned(),
        tool: None,
        call_id: None,
        tokens_before: before,
        tokens_after: after,
        carrier: None,
        archive_id: id,
        // A client may write a block's JSON otherwise the next time, so its bytes are stored as they are.
        age: EditAge::Fresh,
        splices,
    }
}

/// Which comma a block takes along.
#[derive(Clone, Copy)]
enum Border {
    /// The one behind it, since a block that stays follows.
    Behind,
    /// The one before it.
    Before,
}

fn border(desk: &Desk<'_, '_>, state: &State, idx: ItemIdx, item: &Item, next: Option<(ItemIdx, Border)>) -> Border {
    let following = ItemIdx(idx.0.saturating_add(1));
    let follows = desk.transcript.items.get(following.at()).is_some_and(|next| next.message == item.message);
    match next {
        _ if !follows => Border::Before,
        Some((known, border)) if known == following && state.thoughts.contains_key(&following) => border,
        Some(_) | None => Border::Behind,
    }
}

fn comma(desk: &Desk<'_, '_>, idx: ItemIdx, item: &Item, border: Border) -> Option<Span> {
    let items = &desk.transcript.items;
    match border {
        Border::Behind => Some(Span::new(item.span.end(), items.get(idx.at() + 1)?.span.start())),
        Border::Before => Some(Span::new(items.get(idx.at().checked_sub(1)?)?.span.end(), item.span.start())),
    }
}
