//! Law 8: what reaches the model is the source's own text, or a constant template with counted facts.

use super::changes::{Change, changes};
use super::outcome::Outcome;
use super::{folds, gaps, json_gaps, summaries, tombstones};
use crate::format::Format;
use crate::oracle::decode;
use crate::oracle::raw::{Kind, Node, parse};
use crate::oracle::view::{Item, View};

/// Templates of the argument rules.
const ARGUMENT_TEMPLATES: &[&[u8]] = &[b"[Content saved to file]"];

/// Checks every edited text: whole source lines in order with counted gaps, or a tombstone with true counts, or a
/// template that the edit's kind allows.
///
/// # Errors
/// Says which text says something its source does not.
pub fn law_no_invention(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    if input == outcome.body {
        return Ok(());
    }
    let view = View::read(format, input)?;
    let changes = changes(&view, outcome, format)?;
    for change in &changes {
        check(&view, outcome, &changes, change).map_err(|error| format!("no invention: {error}"))?;
    }
    Ok(())
}

fn check(view: &View<'_>, outcome: &Outcome, changes: &[Change], change: &Change) -> Result<(), String> {
    let written = |span: &std::ops::Range<usize>| decode::text(outcome.body.get(span.clone()).unwrap_or_default());
    match change {
        Change::Removed { .. } => Ok(()),
        Change::Media { after, .. } => tombstones::media_notice(&written(after)),
        Change::Argument { before, after, .. } => argument(&view.text(before), &written(after)),
        Change::Text { item, before, after } => match view.items.get(*item) {
            Some(item)
                if carries(outcome, item, "fold") && folds::is_true(view, outcome, changes, item, &written(after)) =>
            {
                Ok(())
            }
            Some(item)
                if carries(outcome, item, "summary")
                    && summaries::is_true(view, outcome, changes, item, &written(after)) =>
            {
                Ok(())
            }
            Some(item) => result_text(view, outcome, item, &view.text(before), &written(after)),
            None => Err("a change names no item".to_owned()),
        },
    }
}

/// Says whether a result may hold the line of such an edit.
fn carries(outcome: &Outcome, item: &Item, kind: &str) -> bool {
    let id = item.id.as_deref().unwrap_or_default();
    let names = |call: &Option<String>| call.as_ref().is_none_or(|call| call.as_bytes() == id);
    outcome.edits().iter().any(|edit| edit.kind == kind && edit.tokens_after > 0 && names(&edit.call_id))
}

fn result_text(view: &View<'_>, outcome: &Outcome, item: &Item, source: &[u8], text: &[u8]) -> Result<(), String> {
    let id = String::from_utf8_lossy(item.id.as_deref().unwrap_or_default()).into_owned();
    let edits = outcome.edits();
    let may_be = |kind: &str| {
        edits.iter().any(|edit| edit.kind == kind && edit.call_id.as_ref().is_none_or(|named| *named == id))
    };
    if may_be("rule") && tombstones::rule_template(view, item, text) {
        return Ok(());
    }
    if may_be("pointer") && tombstones::is_pointer(text) {
        return Ok(());
    }
    let Err(no_tombstone) = tombstones::tombstone(view, item, source, text) else { return Ok(()) };
    let Err(no_gaps) = gaps::gapped(source, text) else { return Ok(()) };
    if may_be("shorten") && json_gaps::is_value(source) && json_gaps::gapped(source, text).is_ok() {
        return Ok(());
    }
    Err(format!("the text of {id} is no tombstone ({no_tombstone}), nor whole lines with gaps ({no_gaps})"))
}

/// An argument is a template, or an object whose changed strings are.
fn argument(source: &[u8], text: &[u8]) -> Result<(), String> {
    if ARGUMENT_TEMPLATES.contains(&text) {
        return Ok(());
    }
    match (parse(source), parse(text)) {
        (Ok(old), Ok(new)) if old.is_object() && new.is_object() => leaves((source, &old), (text, &new)),
        _ => Err("an argument is no template".to_owned()),
    }
}

fn leaves((old_body, old): (&[u8], &Node), (new_body, new): (&[u8], &Node)) -> Result<(), String> {
    if old.raw(old_body) == new.raw(new_body) {
        return Ok(());
    }
    let (children, kept) = (old.children(), new.children());
    match (&old.kind, &new.kind) {
        (Kind::String, Kind::String) => argument_leaf(&decode::text(new.raw(new_body))),
        _ if children.len() == kept.len() && !children.is_empty() => {
            children.into_iter().zip(kept).try_for_each(|(old, new)| leaves((old_body, old), (new_body, new)))
        }
        _ => Err("the arguments changed beyond their strings".to_owned()),
    }
}

fn argument_leaf(text: &[u8]) -> Result<(), String> {
    if ARGUMENT_TEMPLATES.contains(&text) { Ok(()) } else { Err("a string of the arguments is no template".to_owned()) }
}
