//! Which old pictures go? Step 0 of `balanced`.
//!
//! Only pictures inside processed results; those of the user are never touched.

use std::collections::BTreeMap;

use super::{
    desk::Desk,
    protect::Pin,
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
    let keep = desk.policy.keep_media as usize;
    let Some(old) = state.media.len().checked_sub(keep).and_then(|old| state.media.get(..old)) else { return Ok(()) };
    let mut gone = Vec::new();
    for &idx in old {
        let Some(ordinal) = ordinal_of(desk, state, idx)? else { continue };
        let unprocessed = state.results.get(ordinal).is_none_or(|result| result.number >= state.number);
        if unprocessed || pins.contains_key(&ordinal) {
            continue;
        }
        if let Some(notice) = notice(desk, idx, ordinal)? {
            gone.push((idx, notice));
        }
    }
    for (idx, notice) in gone {
        state.view = Tokens((state.view.0 + notice.after.0).saturating_sub(notice.before.0));
        state.media.retain(|media| *media != idx);
        state.notices.insert(idx, notice);
    }
    Ok(())
}

use liveset_tokens::Tokens;

fn ordinal_of(desk: &Desk<'_, '_>, state: &State, media: ItemIdx) -> Result<Option<usize>> {
    let Some(within) = desk.item(media)?.within else { return Ok(None) };
    Ok(state.results.binary_search_by_key(&within, |result| result.item).ok())
}

fn notice(desk: &Desk<'_, '_>, idx: ItemIdx, ordinal: usize) -> Result<Option<Notice>> {
    let item = desk.item(idx)?;
    let Weight::Media(span) = item.weight else { return Ok(None) };
    let facts = counts::media_facts(desk.transcript.format, span.of(desk.transcript.body));
    let before = desk.counts.item(idx);
    let text = tombstone::media_notice(&facts.description, facts.size, facts.tokens, desk.texts(ordinal)?.name.class);
    let after = desk.counter.count(&text);
    if after.0 + desk.policy.min_gain > before.0 {
        return Ok(None);
    }
    Ok(Some(Notice { text, before, after }))
}
