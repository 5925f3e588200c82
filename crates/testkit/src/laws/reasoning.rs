//! The reasoning guard (DESIGN, section 8), as a part of laws 3 and 11: which reasoning may be gone, and which is not.

use super::changes::{Change, changes};
use super::outcome::Outcome;
use crate::format::Format;
use crate::oracle::view::{Item, ItemKind, Message, View};

/// What the setting `reasoning` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Sweeps wait for the user's text, where reasoning behind the first edit goes.
    Respect,
    /// No reasoning goes by itself.
    Keep,
    /// Reasoning behind an edit goes wherever it may.
    Drop,
}

/// Checks that reasoning goes by itself only as declared: signed blocks of Anthropic bodies, whole, behind an edit, not
/// in the turn that goes on, each with an edit of its own, and no message is left with reasoning alone.
///
/// # Errors
/// Says which block is gone and may not be.
pub fn law_reasoning(format: Format, input: &[u8], outcome: &Outcome, guard: Guard) -> Result<(), String> {
    if outcome.body == input {
        return Ok(());
    }
    let view = View::read(format, input)?;
    let changes = changes(&view, outcome, format)?;
    check(format, &view, &changes, outcome, guard).map_err(|error| format!("reasoning: {error}"))?;
    left(&view, &View::read(format, &outcome.body)?).map_err(|error| format!("reasoning: {error}"))
}

fn check(format: Format, view: &View<'_>, changes: &[Change], outcome: &Outcome, guard: Guard) -> Result<(), String> {
    let is_block = |change: &&Change| gone_block(view, change).is_some();
    let gone: Vec<&Item> = changes.iter().filter_map(|change| gone_block(view, change)).collect();
    let named = outcome.edits().iter().filter(|edit| edit.kind == "reasoning").count();
    if named != gone.len() {
        return Err(format!("{} blocks are gone, and {named} edits say so", gone.len()));
    }
    if gone.is_empty() {
        return Ok(());
    }
    if format != Format::Anthropic || guard == Guard::Keep {
        return Err(format!("it is gone from a body of {} under {guard:?}", format.name()));
    }
    let first_edit = changes.iter().filter(|change| !is_block(change)).map(start).min().unwrap_or(usize::MAX);
    let turn = turn_start(view);
    for item in gone {
        let at = item.node.span.start;
        let seal = |name: &str| item.node.member_text(view.body, name).is_some_and(|seal| !seal.is_empty());
        if !seal("signature") && !seal("data") {
            return Err(format!("the block at byte {at} is not signed"));
        }
        if at < first_edit {
            return Err(format!("the block at byte {at} stands before every edit"));
        }
        if at > turn {
            return Err(format!("the block at byte {at} belongs to the turn that goes on"));
        }
    }
    Ok(())
}

/// The reasoning that a change took out by itself.
fn gone_block<'v>(view: &'v View<'_>, change: &Change) -> Option<&'v Item> {
    let Change::Removed { before } = change else { return None };
    view.items.iter().find(|item| item.kind == ItemKind::Reasoning && item.node.span == *before).filter(|item| {
        // A whole element of the history goes with its batch.
        view.messages.iter().all(|message| message.node.span != item.node.span)
    })
}

fn start(change: &Change) -> usize {
    match change {
        Change::Text { before, .. } | Change::Argument { before, .. } | Change::Removed { before } => before.start,
        Change::Media { after, .. } => after.start,
    }
}

/// Byte at which the newest text of the user stands that is no word beside results: there the turn begins.
fn turn_start(view: &View<'_>) -> usize {
    let holds = |message: &Message, kind: ItemKind| {
        view.items.get(message.items.clone()).unwrap_or_default().iter().any(|item| item.kind == kind)
    };
    let is_models = |message: &&Message| message.role == b"assistant";
    let mut turn = 0;
    for run in view.messages.split(|message| is_models(&message)) {
        let is_open = run.iter().any(|message| holds(message, ItemKind::User));
        if is_open && !run.iter().any(|message| holds(message, ItemKind::Result)) {
            turn = run.first().map_or(turn, |first| first.node.span.start);
        }
    }
    turn
}

/// A message is left with reasoning alone only where it came so.
fn left(before: &View<'_>, after: &View<'_>) -> Result<(), String> {
    let alone = |view: &View<'_>| {
        let items = view.messages.iter().map(|message| view.items.get(message.items.clone()).unwrap_or_default());
        let is_alone = |items: &&[Item]| !items.is_empty() && items.iter().all(|item| item.kind == ItemKind::Reasoning);
        items.filter(is_alone).count()
    };
    if alone(after) > alone(before) { Err("a message is left with nothing else".to_owned()) } else { Ok(()) }
}
