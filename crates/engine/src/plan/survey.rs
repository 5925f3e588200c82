//! Where are a body's tokens, and what would a sweep think of them? For people who look, before anything is decided.

use std::collections::BTreeMap;

use liveset_tokens::Tokens;

use super::{desk::Desk, epochs, fill, state::State};
use crate::{
    content_id::ContentId,
    error::Result,
    tools::CallName,
    transcript::{Item, ItemIdx, ItemKind},
};

/// One item of a body and what is known of it.
#[derive(Clone, Debug)]
pub struct SurveyItem {
    /// Its place, from 0.
    pub item: ItemIdx,
    /// What it is.
    pub kind: ItemKind,
    /// Of calls, results and their parts: the tool's name.
    pub tool: Option<String>,
    /// Of calls and results: the call's own words.
    pub label: String,
    /// Its size.
    pub tokens: Tokens,
    /// Of results: lines of text.
    pub lines: u32,
    /// Of results: assistant messages since.
    pub age: u32,
    /// Of results: tokens in passages that the agent has said itself.
    pub said: Tokens,
    /// Of results: tokens in passages that a newer result repeats.
    pub stale: Tokens,
    /// Of results: an earlier result with the same text.
    pub repeats: Option<ItemIdx>,
    /// Of results: the passages with their scores.
    pub passages: Vec<SurveyPassage>,
}

/// One passage of a result.
#[derive(Clone, Copy, Debug)]
pub struct SurveyPassage {
    /// First line of its part, from 1.
    pub first_line: u32,
    /// Last line of its part, from 1.
    pub last_line: u32,
    /// Its size, counted alone.
    pub tokens: Tokens,
    /// Its score at the end of the body.
    pub score: i32,
    /// Whether the agent has said it.
    pub said: bool,
    /// Whether a newer result repeats it.
    pub stale: bool,
}

/// Surveys every item as it stands at the end of the body, nothing cut.
pub(crate) fn survey(desk: &Desk<'_, '_>) -> Result<Vec<SurveyItem>> {
    let mut state = State::default();
    epochs::take_in_all(desk, &mut state)?;
    let scores = fill::scores(desk, &state)?;
    let mut known: BTreeMap<ContentId, ItemIdx> = BTreeMap::new();
    let mut out = Vec::with_capacity(desk.transcript.items.len());
    let mut ordinal = 0;
    for (at, item) in desk.transcript.items.iter().enumerate() {
        let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
        let mut row = plain(desk, idx, item)?;
        if item.kind == ItemKind::ToolResult {
            let of_result = scores.get(ordinal).map(Vec::as_slice).unwrap_or_default();
            look_at_result(desk, &state, ordinal, of_result, &mut row)?;
            let texts: Vec<&str> = desk.texts(ordinal)?.parts.iter().map(|part| part.text.as_ref()).collect();
            row.repeats = known.insert(ContentId::of(texts.join("\n").as_bytes()), idx).filter(|_| row.tokens.0 > 0);
            ordinal += 1;
        }
        out.push(row);
    }
    Ok(out)
}

fn plain(desk: &Desk<'_, '_>, idx: ItemIdx, item: &Item) -> Result<SurveyItem> {
    let result = item.within.map(|within| desk.item(within)).transpose()?.unwrap_or(item);
    let answered = result.answer().and_then(|answer| answer.call).map(|call| desk.item(call)).transpose()?;
    let call = item.call().or_else(|| answered.and_then(Item::call));
    let is_result = result.kind == ItemKind::ToolResult;
    let name = (call.is_some() || is_result).then(|| CallName::of(desk.transcript, call));
    Ok(SurveyItem {
        item: idx,
        kind: item.kind,
        label: name.as_ref().map(|name| name.label.clone()).unwrap_or_default(),
        tool: name.map(|name| name.tool),
        tokens: desk.counts.item(idx),
        lines: 0,
        age: 0,
        said: Tokens(0),
        stale: Tokens(0),
        repeats: None,
        passages: Vec::new(),
    })
}

fn look_at_result(
    desk: &Desk<'_, '_>,
    state: &State,
    ordinal: usize,
    scores: &[Vec<super::score::Score>],
    row: &mut SurveyItem,
) -> Result<()> {
    let texts = desk.texts(ordinal)?;
    row.lines = texts.lines;
    row.age = state.results.get(ordinal).map_or(0, |result| state.number.saturating_sub(result.number));
    for (at, part) in texts.parts.iter().enumerate() {
        for (place, passage) in part.passages.iter().enumerate() {
            let Some(score) = scores.get(at).and_then(|part| part.get(place)) else { continue };
            let tokens = Tokens(desk.passage_tokens(ordinal, at, place)?);
            if score.said {
                row.said += tokens;
            } else if score.stale {
                row.stale += tokens;
            }
            let first_line = passage.first_line + 1;
            row.passages.push(SurveyPassage {
                first_line,
                last_line: first_line + passage.lines.saturating_sub(1),
                tokens,
                score: score.value,
                said: score.said,
                stale: score.stale,
            });
        }
    }
    Ok(())
}
