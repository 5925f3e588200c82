//! Which old pictures go? Step 0 of `balanced`.
//!
//! Only pictures inside processed results; those of the user are never touched.

use std::collections::BTreeMap;

use liveset_tokens::Tokens;

use super::{
    desk::Desk,
    pins::Pin,
    state::{Notice, State},
};
use crate::{
    counts,
    error::Result,
    tombstone,
    transcript::{ItemIdx, Weight},
};

/// Puts a notice in place of each picture but the newest `keep_media`.
pub(crate) fn drop_old(desk: &Desk<'_, '_>, state: &mut State, pins: &BTreeMap<usize, Pin>) -> Result<()> {
    for (idx, notice) in due(desk, state, pins)? {
        state.view = Tokens((state.view.0 + notice.after.0).saturating_sub(notice.before.0));
        state.media.retain(|media| *media != idx);
        state.notices.insert(idx, notice);
    }
    Ok(())
}

/// Gives the tokens that [`drop_old`] would free.
pub(crate) fn potential(desk: &Desk<'_, '_>, state: &State, passing: &BTreeMap<usize, Pin>) -> Result<u64> {
    let due = due(desk, state, passing)?;
    Ok(due.iter().map(|(_, notice)| notice.before.0.saturating_sub(notice.after.0)).sum())
}

/// Finds the pictures that may go, with their notices.
fn due(desk: &Desk<'_, '_>, state: &State, pins: &BTreeMap<usize, Pin>) -> Result<Vec<(ItemIdx, Notice)>> {
    let keep = desk.policy.keep_media as usize;
    let old = state.media.len().checked_sub(keep).and_then(|old| state.media.get(..old)).unwrap_or_default();
    let mut due = Vec::new();
    for &idx in old {
        let Some(ordinal) = ordinal_of(desk, state, idx)? else { continue };
        let processed =
            state.results.get(ordinal).is_some_and(|result| result.number < state.number && result.pin.is_none());
        if processed && !pins.contains_key(&ordinal) {
            due.extend(notice(desk, idx, ordinal)?.map(|notice| (idx, notice)));
        }
    }
    Ok(due)
}

fn ordinal_of(desk: &Desk<'_, '_>, state: &State, media: ItemIdx) -> Result<Option<usize>> {
    let Some(within) = desk.item(media)?.within else { return Ok(None) };
    Ok(state.results.binary_search_by_key(&within, |result| result.item).ok())
}

fn notice(desk: &Desk<'_, '_>, idx: ItemIdx, ordinal: usize) -> Result<Option<Notice>> {
    let item = desk.item(idx)?;
    let Weight::Media(span) = item.weight else { return Ok(None) };
    let facts = counts::media_facts(desk.transcript.format, span.of(desk.transcript.body));
    let before = desk.counts.item(idx);
    let route = desk.media_route(idx, ordinal)?;
    let text = tombstone::media_notice(&facts.description, facts.size, facts.tokens, route);
    let after = desk.counter.count(&text);
    if after.0 + desk.policy.min_gain > before.0 {
        return Ok(None);
    }
    Ok(Some(Notice { text, before, after }))
}
