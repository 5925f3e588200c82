//! Is the way back true? The last words of our lines by strict grammar, and the originals that they name.

use super::changes::{Change, changes};
use super::outcome::Outcome;
use super::tombstones::strings;
use crate::format::Format;
use crate::oracle::decode;
use crate::oracle::view::View;

/// Ways that lead to the call.
const RERUN: &[&[u8]] = &[
    b"run the call again to see it",
    b"run the call again to see it, its answer may differ",
    b"run the call again only if repeating it is safe",
];
/// Ways that lead to an original: what stands before its id.
const NAMING: &[&[u8]] = &[b"recall ", b"run liveset recall ", b"read "];
/// Ways from the line of a folded run.
const FOLDED: &[&[u8]] = &[
    b"run a call again to see its result",
    b"run a call again to see its result, it may differ",
    b"run a call again only if repeating it is safe",
    b"search liveset to find a result",
    b"run liveset search WORDS to find a result",
];
/// Digits of an original's id.
const ID_DIGITS: usize = 32;
/// Ids that a way may name beside its own.
const MAX_HELD: usize = 3;

/// Says whether these are the last words of a tombstone, notice or last gap.
pub(super) fn is_route(words: &[u8]) -> bool {
    RERUN.contains(&words) || NAMING.iter().any(|start| words.strip_prefix(*start).is_some_and(names))
}

/// `PLACE to see it[, and PLACE(, PLACE…) for what it left out][, a new run may answer differently]`.
fn names(words: &[u8]) -> bool {
    let Ok(words) = std::str::from_utf8(words) else { return false };
    let Some((place, rest)) = words.split_once(" to see it") else { return false };
    let rest = rest.strip_suffix(", a new run may answer differently").unwrap_or(rest);
    let held = rest.strip_prefix(", and ").and_then(|held| held.strip_suffix(" for what it left out"));
    let held: Vec<&str> = held.map(|held| held.split(", ").collect()).unwrap_or_default();
    let is_whole = rest.is_empty() || !held.is_empty();
    is_whole && is_place(place) && held.len() <= MAX_HELD && held.into_iter().all(is_place)
}

/// An id, or a file that is called like it in a folder below.
fn is_place(place: &str) -> bool {
    let id = match place.rsplit_once('/') {
        Some((folder, file)) if is_folder(folder) => file.strip_suffix(".txt").unwrap_or_default(),
        Some(_) => "",
        None => place,
    };
    id.len() == ID_DIGITS && id.bytes().all(is_digit)
}

fn is_folder(folder: &str) -> bool {
    folder.split('/').all(|part| !matches!(part, "" | "." | "..")) && !folder.contains([' ', ',', ';', ']', '\\'])
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Says whether these are the last words of a folded run's line.
pub(super) fn is_fold_route(words: &[u8]) -> bool {
    let folder = words.strip_prefix(b"search ").and_then(|rest| rest.strip_suffix(b" to find a result"));
    let folder = folder.and_then(|folder| std::str::from_utf8(folder).ok());
    FOLDED.contains(&words) || folder.is_some_and(is_folder)
}

/// Checks that each id which a changed text names and its source does not is that of the edit's own original: a way
/// back that leads elsewhere, or nowhere, is worse than none.
///
/// # Errors
/// Says which result names another original.
pub fn law_routes(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    if input == outcome.body {
        return Ok(());
    }
    let view = View::read(format, input)?;
    let edits = outcome.edits();
    for change in changes(&view, outcome, format)? {
        let (item, source, after) = match &change {
            Change::Text { item, after, .. } => (*item, view.items.get(*item).map(|item| view.whole_text(item)), after),
            Change::Media { item, after, .. } => (*item, None, after),
            Change::Removed { .. } | Change::Argument { .. } => continue,
        };
        let Some(item) = view.items.get(item) else { continue };
        let call = view
            .call_of(item)
            .and_then(|call| call.arguments.as_ref())
            .map(|node| strings(view.body, node).into_bytes());
        let known = [source.unwrap_or_default(), call.unwrap_or_default()];
        let call_id = String::from_utf8_lossy(item.id.as_deref().unwrap_or_default()).into_owned();
        let own: Vec<&String> = edits
            .iter()
            .filter(|edit| edit.call_id.as_ref().is_none_or(|id| *id == call_id))
            .filter_map(|edit| edit.archive_id.as_ref())
            .collect();
        let written = decode::text(outcome.body.get(after.clone()).unwrap_or_default());
        for id in ids(&written) {
            let is_old = known.iter().any(|text| text.windows(ID_DIGITS).any(|window| window == id));
            if !is_old && !own.iter().any(|own| own.as_bytes() == id) {
                let id = String::from_utf8_lossy(id);
                return Err(format!("routes: the result of {call_id} names {id}, which is not its original"));
            }
        }
    }
    Ok(())
}

/// Runs of just as many digits as an id has.
fn ids(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_digit(*byte)).filter(|run| run.len() == ID_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn ways_are_read_word_by_word() {
        for words in [
            "run the call again to see it".to_owned(),
            format!("recall {ID} to see it"),
            format!("run liveset recall {ID} to see it, a new run may answer differently"),
            format!("read a/b/{ID}.txt to see it"),
            format!("recall {ID} to see it, and {ID}, {ID} for what it left out"),
        ] {
            assert!(is_route(words.as_bytes()), "{words}");
        }
        for words in [
            "run the call again".to_owned(),
            "recall h-0001 to see it".to_owned(),
            format!("recall {ID}0 to see it"),
            format!("recall {ID} to see it now"),
            format!("recall {ID} to see it, and {ID}"),
            format!("recall {ID} to see it, and {ID}, {ID}, {ID}, {ID} for what it left out"),
            format!("read ../{ID}.txt to see it"),
            format!("see {ID}"),
        ] {
            assert!(!is_route(words.as_bytes()), "{words}");
        }
        assert!(is_fold_route(b"search a/b to find a result") && !is_fold_route(b"search /a to find a result"));
    }
}
