//! Which results does the agent name by their call ids?

use std::collections::{BTreeMap, BTreeSet};

use aho_corasick::AhoCorasick;

use super::chain::Chain;
use crate::{
    error::Result,
    plan::{desk::Desk, state::State},
};

/// Bytes below which an id is a word that stands in a text by chance.
const MIN_ID_BYTES: usize = 4;

/// Finds the results whose call id stands by itself in a text of an assistant message.
pub(super) fn named(desk: &Desk<'_, '_>, state: &State, chain: &Chain<'_>) -> Result<BTreeSet<usize>> {
    let mut ids: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &ordinal in &state.alive {
        let Some(result) = state.results.get(ordinal) else { continue };
        let Some(id) = desk.item(result.item)?.answer().and_then(|answer| desk.id(answer.id)) else { continue };
        if id.trim() == id && id.len() >= MIN_ID_BYTES {
            ids.entry(id).or_default().push(ordinal);
        }
    }
    let mut named = BTreeSet::new();
    let ids: Vec<(String, Vec<usize>)> = ids.into_iter().collect();
    // An automaton over so many ids that it cannot be built finds none: less is kept, nothing breaks.
    let Ok(finder) = AhoCorasick::new(ids.iter().map(|(id, _)| id)) else { return Ok(named) };
    for text in &chain.said {
        for found in finder.find_overlapping_iter(text.text.as_ref()) {
            let ordinals = ids.get(found.pattern().as_usize()).map(|(_, ordinals)| ordinals.as_slice());
            if stands_alone(&text.text, found.start(), found.end()) {
                named.extend(ordinals.unwrap_or_default());
            }
        }
    }
    Ok(named)
}

/// An id that is a piece of a longer word is not named.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let before = text.get(..start).and_then(|text| text.chars().next_back());
    let after = text.get(end..).and_then(|text| text.chars().next());
    !before.is_some_and(goes_on) && !after.is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_inside_a_longer_word_is_not_named() {
        assert!(stands_alone("see call_1.", 4, 10));
        assert!(!stands_alone("see call_12", 4, 10));
        assert!(!stands_alone("recall_1", 2, 8));
    }
}
