//! What do units say in their own words? An entry for each result and each text of the assistant, in order.

use liveset_tokens::Tokens;

use super::{Group, says_something};
use crate::{
    error::Result,
    json,
    plan::{
        batches::Layout,
        desk::Desk,
        digest::{Entry, Worth},
        fold,
        form::Form,
        state::State,
    },
    tombstone,
    transcript::{Item, ItemIdx, ItemKind},
};

/// Writes the entries of a group: those of a line that goes along as they stand there.
pub(super) fn entries(desk: &Desk<'_, '_>, state: &State, layout: &Layout, group: &Group) -> Result<Vec<Entry>> {
    let gone = group.gone.iter().flat_map(|unit| layout.items_of(unit.first, unit.last));
    let items: Vec<_> = gone.chain(desk.results().get(group.result).copied()).collect();
    let (mut shown, mut entries) = (fold::Shown::default(), Vec::new());
    for idx in items {
        let item = desk.item(idx)?;
        match (item.kind, state.ordinal_of(idx)) {
            (ItemKind::ToolResult, Some(ordinal)) => {
                let form = state.results.get(ordinal).map(|result| result.form.as_ref());
                match form {
                    Some(Form::Folded(digest)) => entries.extend(digest.entries().iter().cloned()),
                    _ => shown.add(desk, ordinal, of_result(desk, state, ordinal)?.as_ref())?,
                }
            }
            (ItemKind::Assistant, _) if says_something(desk, item) => entries.extend(said(desk, idx, item)?),
            _ => {}
        }
    }
    entries.extend(shown.into_entries());
    // A line's own result is not the first of its unit.
    entries.sort_by_key(|entry| entry.item);
    Ok(entries)
}

/// Writes the entry of a result; where a rule's line stands for it, that it was there.
fn of_result(desk: &Desk<'_, '_>, state: &State, ordinal: usize) -> Result<Option<Entry>> {
    let texts = desk.texts(ordinal)?;
    let is_gone = state.results.get(ordinal).is_some_and(|result| *result.form == Form::Gone);
    if !is_gone || texts.rule_line.is_none() {
        return fold::entry(desk, state, ordinal);
    }
    let Some(&item) = desk.results().get(ordinal) else { return Ok(None) };
    let text = tombstone::key_entry(&texts.name, None, None, &[]);
    Ok(Some(Entry { item, tokens: desk.counter.count(&text), text, worth: Worth::Fact, is_answer: false }))
}

/// Writes the entry of a text of the assistant; `None` where none of its lines can be shown.
fn said(desk: &Desk<'_, '_>, idx: ItemIdx, item: &Item) -> Result<Option<Entry>> {
    let text = text_of(desk, item)?;
    // Half a character is shown nowhere else.
    let is_whole = !text.contains(char::REPLACEMENT_CHARACTER);
    let entry = Some(text).filter(|_| is_whole).and_then(|text| tombstone::said_entry(&text));
    let worth = Worth::Deed;
    let entry_of = |text: String| Entry { item: idx, tokens: desk.counter.count(&text), text, worth, is_answer: true };
    Ok(entry.map(entry_of))
}

/// Gives the size of a text as lines state it.
pub(super) fn size(desk: &Desk<'_, '_>, item: &Item) -> Result<Tokens> {
    Ok(liveset_tokens::o200k().count(&text_of(desk, item)?))
}

/// Gives the texts of an item, joined by line ends.
pub(super) fn text_of(desk: &Desk<'_, '_>, item: &Item) -> Result<String> {
    let texts = item.texts.iter().map(|text| Ok(json::decode(text.of(desk.transcript.body))?.into_text()));
    Ok(texts.collect::<Result<Vec<_>>>()?.join("\n"))
}
