//! What do results still say? The texts that can be quoted or paraphrased, as they leave.
//!
//! A result that is gone holds nothing, and a mark of ours names only what its call says: else a body that comes back
//! compacted would tell of other references than the one it was made from (law 6).

use std::borrow::Cow;

use crate::{
    error::Result,
    plan::{
        desk::Desk,
        form::{self, Form},
        state::State,
    },
    tombstone,
};

/// One result that is in view and says something of its own.
#[derive(Debug)]
pub(super) struct OwnText<'d> {
    pub(super) ordinal: usize,
    pub(super) parts: Vec<Cow<'d, str>>,
}

/// Gives the texts of all results up to a request point, in order.
pub(super) fn in_view<'d>(desk: &'d Desk<'_, '_>, state: &State) -> Result<Vec<OwnText<'d>>> {
    let mut results = Vec::with_capacity(state.results.len());
    for (ordinal, result) in state.results.iter().enumerate() {
        if state.is_dropped(desk.item(result.item)?) {
            continue;
        }
        let texts = desk.texts(ordinal)?;
        let parts = match *result.form {
            Form::Whole => texts.parts.iter().map(|part| Cow::Borrowed(part.text.as_ref())).collect(),
            Form::Cut(_) | Form::Shaped(_) => {
                let written = form::write(texts, &result.form, result.original);
                let leaves = texts.parts.iter().zip(&written).map(|(part, form)| match form::rendered(part, form) {
                    Some(text) => Cow::Owned(text),
                    None => Cow::Borrowed(part.text.as_ref()),
                });
                leaves.collect()
            }
            Form::Gone | Form::Folded(_) => Vec::new(),
        };
        let own: Vec<Cow<'d, str>> = parts.into_iter().filter(|part| !tombstone::is_tombstone(part)).collect();
        if !own.is_empty() {
            results.push(OwnText { ordinal, parts: own });
        }
    }
    Ok(results)
}
