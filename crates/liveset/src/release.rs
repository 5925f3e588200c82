//! What goes into the archive with a body? Originals and manifest, and where each original came from.
//!
//! Stores nothing itself and decides nothing.

use std::collections::BTreeSet;

use liveset_archive::{Release, Source};
use liveset_engine::{
    ContentId,
    edit::Edit,
    json,
    manifest::Manifest,
    plan::Plan,
    tools::CallName,
    transcript::{ArgumentsForm, Call, Item, ItemIdx, ItemKind, Transcript},
};

use crate::reading::Reading;

/// Makes the release of an output body.
pub(crate) fn of(reading: &Reading<'_, '_>, plan: &Plan, body: &[u8], output: &[u8]) -> Release {
    let manifest = Manifest::of(body, output, &plan.edits);
    let originals = plan.originals.iter().map(|original| (original.id.to_string(), original.bytes.clone()));
    let mut release = Release::new(output, manifest.to_json(), originals.collect());
    release.session = session(reading);
    release.sources = plan.edits.iter().filter_map(|edit| source(reading.transcript, edit)).collect();
    // What an earlier turn stored is not stored again, and is needed all the same.
    let ids: BTreeSet<String> = plan.edits.iter().map(|edit| edit.archive_id.to_string()).collect();
    release.points_at = ids.into_iter().collect();
    release
}

/// Names the conversation that a body is a turn of: by its system text and its first user text.
pub(crate) fn session(reading: &Reading<'_, '_>) -> String {
    let items = &reading.transcript.items;
    let first_user = items.iter().position(|item| item.kind == ItemKind::User);
    // A client's note to its vendor is another at each turn.
    let told = items.iter().zip(reading.counts.digests()).enumerate().skip(reading.transcript.client_notes());
    let told = told.filter(|(at, (item, _))| item.kind == ItemKind::System || Some(*at) == first_user);
    // System text that a client adds later belongs to no beginning.
    let told = told.take_while(|(at, _)| first_user.is_none_or(|first| *at <= first));
    let bytes: Vec<u8> = told.flat_map(|(_, (_, digest))| digest.to_le_bytes()).collect();
    ContentId::of(&bytes).to_string()
}

/// Names the call that an edited item is, answers, or is a part of the answer to.
fn source(transcript: &Transcript<'_>, edit: &Edit) -> Option<(String, Source)> {
    let at = |idx: ItemIdx| transcript.items.get(idx.at());
    let item = at(edit.item)?;
    let result = item.within.and_then(at).unwrap_or(item);
    let answered = result.answer().and_then(|answer| answer.call).and_then(at);
    let call = item.call().or_else(|| answered.and_then(Item::call))?;
    let name = CallName::of(transcript, Some(call));
    let source =
        Source { tool: name.tool, label: name.label, arguments: arguments(transcript, call).unwrap_or_default() };
    Some((edit.archive_id.to_string(), source))
}

/// The arguments as text: an object as it stands, a string without its escapes.
fn arguments(transcript: &Transcript<'_>, call: &Call) -> Option<String> {
    let raw = call.arguments?.of(transcript.body);
    Some(match call.form {
        ArgumentsForm::Object => String::from_utf8_lossy(raw).into_owned(),
        ArgumentsForm::JsonString | ArgumentsForm::Text => json::decode(raw)
            .map_or_else(|_| String::from_utf8_lossy(raw).into_owned(), |text| text.into_text().into_owned()),
    })
}
