//! Law 3: what a provider accepts stays acceptable. Counts defects before and after; a new one is a breach.

use std::collections::BTreeMap;

use super::outcome::Outcome;
use super::{validity_chat, validity_messages, validity_responses};
use crate::format::Format;
use crate::oracle::decode;
use crate::oracle::raw::parse;
use crate::oracle::view::{Item, ItemKind, View};

/// Defects by code and subject (an id, or nothing), with how often each occurs.
pub(crate) type Defects = BTreeMap<(&'static str, String), usize>;

/// Lists what a provider would refuse, as `code subject` lines.
///
/// # Errors
/// Says where the body is no JSON.
pub fn defects(format: Format, body: &[u8]) -> Result<Vec<String>, String> {
    let found = find(format, &View::read(format, body)?);
    Ok(found.into_iter().flat_map(|((code, subject), count)| vec![format!("{code} {subject}"); count]).collect())
}

/// Checks that the output has no defect the input had not, and that calls and results keep ids, order and batches.
///
/// # Errors
/// Says which defect is new.
pub fn law_validity(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    if input == outcome.body {
        return Ok(());
    }
    let before = View::read(format, input)?;
    let after =
        View::read(format, &outcome.body).map_err(|error| format!("validity: the output is no JSON: {error}"))?;
    let known = find(format, &before);
    for (defect, count) in find(format, &after) {
        let had = known.get(&defect).copied().unwrap_or(0);
        if count > had {
            return Err(format!("validity: new defect {} {} ({count} times, had {had})", defect.0, defect.1));
        }
    }
    order(&before, &after)?;
    match format {
        Format::Anthropic | Format::OpenaiChat => Ok(()),
        Format::OpenaiResponses => validity_responses::reasoning_pairs(&before, &after),
    }
}

fn find(format: Format, view: &View<'_>) -> Defects {
    let mut defects = Defects::new();
    for item in &view.items {
        common(format, view, item, &mut defects);
    }
    match format {
        Format::Anthropic => validity_messages::find(view, &mut defects),
        Format::OpenaiChat => validity_chat::find(view, &mut defects),
        Format::OpenaiResponses => validity_responses::find(view, &mut defects),
    }
    defects
}

fn common(format: Format, view: &View<'_>, item: &Item, defects: &mut Defects) {
    match item.kind {
        ItemKind::Call if !has_object_arguments(format, view, item) => add(defects, "arguments_not_object", item),
        ItemKind::User | ItemKind::Assistant if !item.texts.is_empty() && decode::is_blank(&view.whole_text(item)) => {
            add(defects, "empty_text", item);
        }
        ItemKind::System
        | ItemKind::User
        | ItemKind::Assistant
        | ItemKind::Reasoning
        | ItemKind::Call
        | ItemKind::Result
        | ItemKind::Media
        | ItemKind::Unknown => {}
    }
}

fn has_object_arguments(format: Format, view: &View<'_>, call: &Item) -> bool {
    let Some(arguments) = &call.arguments else { return false };
    match format {
        Format::Anthropic => arguments.is_object(),
        Format::OpenaiChat | Format::OpenaiResponses => {
            let text = view.text(&arguments.span);
            arguments.is_string() && parse(&text).is_ok_and(|value| value.is_object())
        }
    }
}

/// Adds a defect of an item.
pub(crate) fn add(defects: &mut Defects, code: &'static str, item: &Item) {
    let subject = String::from_utf8_lossy(item.id.as_deref().unwrap_or_default()).into_owned();
    *defects.entry((code, subject)).or_insert(0) += 1;
}

/// Adds a defect of the whole body.
pub(crate) fn add_general(defects: &mut Defects, code: &'static str) {
    *defects.entry((code, String::new())).or_insert(0) += 1;
}

/// Calls and results of the output are those of the input, in order; a batch is there whole or not at all.
fn order(before: &View<'_>, after: &View<'_>) -> Result<(), String> {
    let of = |view: &View<'_>| -> Vec<(ItemKind, Vec<u8>, Vec<u8>, usize)> {
        let pairs = view.items.iter().filter(|item| matches!(item.kind, ItemKind::Call | ItemKind::Result));
        let parts = |item: &Item| {
            (item.kind, item.id.clone().unwrap_or_default(), item.name.clone().unwrap_or_default(), item.number)
        };
        pairs.map(parts).collect()
    };
    let (old, new) = (of(before), of(after));
    let mut left = new.iter().peekable();
    let mut batches: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (kind, id, name, number) in &old {
        let is_kept = left.next_if(|(k, i, n, _)| (k, i, n) == (kind, id, name)).is_some();
        let batch = batches.entry(*number).or_default();
        if is_kept { batch.0 += 1 } else { batch.1 += 1 }
    }
    if left.next().is_some() {
        return Err("validity: calls or results have other ids or another order".to_owned());
    }
    match batches.iter().find(|(_, (kept, gone))| *kept > 0 && *gone > 0) {
        Some((number, (kept, gone))) => {
            Err(format!("validity: batch_split: message {number} keeps {kept} calls and results, loses {gone}"))
        }
        None => Ok(()),
    }
}
