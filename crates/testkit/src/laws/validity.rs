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
        let of = |code: &'static str| known.get(&(code, defect.1.clone())).copied().unwrap_or(0);
        // A second or distant answer has no call of its own; without that call it goes by another name.
        let had = match defect.0 {
            "orphan_result" => of("orphan_result") + of("duplicate_result") + of("result_not_adjacent"),
            code => of(code),
        };
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

/// One call or result: what it is, its id, its tool.
type Member = (ItemKind, Vec<u8>, Vec<u8>);

/// Calls and results of the output are those of the input, in order; a batch is there whole or not at all.
fn order(before: &View<'_>, after: &View<'_>) -> Result<(), String> {
    let (old, new) = (batches(before), batches(after));
    let mut rest = old.iter();
    match new.iter().find(|batch| !rest.any(|known| known == *batch)) {
        Some(batch) => {
            let ids: Vec<_> = batch.iter().map(|(_, id, _)| String::from_utf8_lossy(id)).collect();
            Err(format!("validity: batch_split: no batch of the input has just these calls and results: {ids:?}"))
        }
        None => Ok(()),
    }
}

/// Calls and results by the message that calls; a result that no call waits for is a batch of its own.
fn batches(view: &View<'_>) -> Vec<Vec<Member>> {
    let mut batches: BTreeMap<usize, Vec<Member>> = BTreeMap::new();
    let mut loose = Vec::new();
    for item in view.items.iter().filter(|item| matches!(item.kind, ItemKind::Call | ItemKind::Result)) {
        let member = (item.kind, item.id.clone().unwrap_or_default(), item.name.clone().unwrap_or_default());
        if item.kind == ItemKind::Call {
            batches.entry(item.number).or_default().push(member);
            continue;
        }
        let batch = view.call_of(item).and_then(|call| batches.get_mut(&call.number));
        match batch.filter(|batch| waits_for(batch, &member.1)) {
            Some(batch) => batch.push(member),
            None => loose.push(vec![member]),
        }
    }
    batches.into_values().chain(loose).collect()
}

fn waits_for(batch: &[Member], id: &[u8]) -> bool {
    let count = |kind: ItemKind| batch.iter().filter(|member| member.0 == kind && member.1 == id).count();
    count(ItemKind::Result) < count(ItemKind::Call)
}
