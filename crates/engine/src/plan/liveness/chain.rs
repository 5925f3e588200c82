//! What has the agent said, and what was said to it? The texts that references are looked for in.

use std::borrow::Cow;

use crate::{
    error::Result,
    json,
    plan::{desk::Desk, state::State},
    transcript::{ArgumentsForm, Item, ItemIdx, ItemKind},
};

/// One text and where it stands.
#[derive(Debug)]
pub(super) struct ChainText<'a> {
    /// Its item.
    pub(super) item: ItemIdx,
    /// The number of its message.
    pub(super) number: u32,
    pub(super) text: Cow<'a, str>,
}

/// All texts up to a request point, in order.
#[derive(Debug, Default)]
pub(super) struct Chain<'a> {
    /// Assistant messages in view: text, readable reasoning and the texts of arguments.
    pub(super) said: Vec<ChainText<'a>>,
    /// System and user text: what the agent repeats of it, it has not from a result.
    pub(super) given: Vec<ChainText<'a>>,
}

impl<'a> Chain<'a> {
    pub(super) fn of(desk: &Desk<'_, 'a>, state: &State) -> Result<Self> {
        let mut chain = Self::default();
        for (at, item) in desk.transcript.items.iter().enumerate().take(state.items) {
            let idx = ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
            // Reasoning that left points at nothing: whoever reads the view anew does not see it (law 6).
            if state.is_dropped(item) || state.thoughts.contains_key(&idx) {
                continue;
            }
            match item.kind {
                ItemKind::Assistant | ItemKind::Reasoning => push_texts(desk, idx, item, &mut chain.said)?,
                ItemKind::ToolCall => {
                    let texts = argument_texts(desk, item)?.into_iter();
                    chain.said.extend(texts.map(|text| ChainText { item: idx, number: item.number, text }));
                }
                ItemKind::System | ItemKind::User => push_texts(desk, idx, item, &mut chain.given)?,
                ItemKind::ToolResult | ItemKind::Media | ItemKind::Opaque => {}
            }
        }
        Ok(chain)
    }
}

fn push_texts<'a>(desk: &Desk<'_, 'a>, idx: ItemIdx, item: &Item, out: &mut Vec<ChainText<'a>>) -> Result<()> {
    for text in &item.texts {
        let text = json::decode(text.of(desk.transcript.body))?.into_text();
        out.push(ChainText { item: idx, number: item.number, text });
    }
    Ok(())
}

/// Gives the texts of a call's arguments; all of them as they stand where they are no JSON object.
pub(super) fn argument_texts<'a>(desk: &Desk<'_, 'a>, item: &Item) -> Result<Vec<Cow<'a, str>>> {
    let Some(call) = item.call() else { return Ok(Vec::new()) };
    let Some(raw) = call.arguments.map(|span| span.of(desk.transcript.body)) else { return Ok(Vec::new()) };
    let is_string = raw.first() == Some(&b'"');
    let whole = if is_string { json::decode(raw)?.into_text() } else { String::from_utf8_lossy(raw) };
    let leaves = match call.form {
        ArgumentsForm::Object | ArgumentsForm::JsonString => json::string_leaves(whole.as_bytes()),
        ArgumentsForm::Text => None,
    };
    Ok(match leaves {
        Some(leaves) => leaves.into_iter().map(|leaf| Cow::Owned(leaf.text)).collect(),
        None => vec![whole],
    })
}
