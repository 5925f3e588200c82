//! Law 11: what is never touched, and what only a named step may touch.

use super::changes::{Change, changes};
use super::outcome::Outcome;
use crate::format::Format;
use crate::oracle::decode;
use crate::oracle::raw::parse;
use crate::oracle::view::{Item, ItemKind, View};
use crate::pieces::PIN_MARKER;

/// Tools whose newest result is pinned.
const PLAN_TOOLS: [&[u8]; 2] = [b"TodoWrite", b"update_plan"];
/// Tools that give back what was cut, by the id in one of these arguments.
const RECALL_TOOL: &[u8] = b"recall";
const RECALL_IDS: [&str; 2] = ["id", "handle"];
/// Newest units in which such an answer stays.
const RECALL_UNITS: usize = 3;

/// Results that a test has pinned by call id.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// The ids.
    pub call_ids: Vec<String>,
}

/// Checks that pins and the newest unit are untouched, and that system, user and assistant text, reasoning and calls
/// are the input's, in order, save what the report's kinds allow.
///
/// # Errors
/// Says what was touched.
pub fn law_protected(format: Format, input: &[u8], outcome: &Outcome, pins: &Pins) -> Result<(), String> {
    if outcome.body == input {
        return Ok(());
    }
    let before = View::read(format, input)?;
    let after = View::read(format, &outcome.body)?;
    texts(&before, &after, outcome).map_err(|error| format!("protected: {error}"))?;
    for change in changes(&before, outcome, format)? {
        touched(&before, &change, outcome, pins).map_err(|error| format!("protected: {error}"))?;
    }
    Ok(())
}

fn texts(before: &View<'_>, after: &View<'_>, outcome: &Outcome) -> Result<(), String> {
    let removes_units = outcome.has_kind(&["fold", "drop", "summary"]);
    let checks = [
        (ItemKind::System, false, "system text"),
        (ItemKind::User, false, "user text"),
        (ItemKind::Unknown, false, "an unknown block"),
        (ItemKind::Assistant, removes_units, "assistant text"),
        (ItemKind::Reasoning, removes_units || outcome.has_kind(&["reasoning"]), "reasoning"),
    ];
    for (kind, may_go, name) in checks {
        let of = |view: &View<'_>| -> Vec<Vec<u8>> {
            view.items
                .iter()
                .filter(|item| item.kind == kind)
                .map(|item| crate::oracle::view::canonical(view.body, &item.node))
                .collect()
        };
        let (old, new) = (of(before), of(after));
        let mut rest = old.iter();
        let is_kept = if may_go { new.iter().all(|text| rest.any(|old| old == text)) } else { old == new };
        if !is_kept {
            return Err(format!("{name} was cut, moved or added"));
        }
    }
    Ok(())
}

fn touched(view: &View<'_>, change: &Change, outcome: &Outcome, pins: &Pins) -> Result<(), String> {
    let items: Vec<_> = match change {
        Change::Text { item, .. } | Change::Media { item, .. } | Change::Argument { item, .. } => {
            view.items.get(*item).into_iter().collect()
        }
        Change::Removed { before } => {
            let inside = |item: &&Item| before.start <= item.node.span.start && item.node.span.end <= before.end;
            view.items.iter().filter(inside).collect()
        }
    };
    for item in items {
        let id = String::from_utf8_lossy(item.id.as_deref().unwrap_or_default()).into_owned();
        if item.kind == ItemKind::Result && is_pinned(view, item, pins) {
            return Err(format!("the pinned result of {id} was touched"));
        }
        if let Change::Text { after, .. } = change {
            let written = decode::text(outcome.body.get(after.clone()).unwrap_or_default());
            if written.contains(&b'\n') && recall_of(view, item).is_some() {
                return Err(format!("{id}, the answer to a recall, was cut in part"));
            }
        }
        if item.kind == ItemKind::Result && is_recent_recall(view, item) && !is_taken_last(outcome, Some(&id)) {
            return Err(format!("{id}, the answer to a recent recall, was touched without a step that may"));
        }
        let holds_argument = |result: &&Item| {
            let call = view.call_of(result).map(|call| &call.node.span);
            matches!(change, Change::Argument { .. }) && call == Some(&item.node.span)
        };
        if view.results().filter(holds_argument).any(|result| is_pinned(view, result, pins)) {
            return Err(format!("the arguments of {id} were touched, whose result is pinned"));
        }
        // The guard may take it: between the user's turns no block is needed any more.
        let is_reasoning = matches!(change, Change::Removed { .. }) && item.kind == ItemKind::Reasoning;
        if is_newest(view, item) && !is_reasoning && !may_touch_newest(view, item, change, outcome) {
            return Err(format!("{:?} {id} of the newest unit was touched without a step that may", item.kind));
        }
    }
    Ok(())
}

fn is_newest(view: &View<'_>, item: &Item) -> bool {
    let newest = view.items.iter().map(|item| item.number).max().unwrap_or(0);
    item.number == newest
}

fn may_touch_newest(view: &View<'_>, item: &Item, change: &Change, outcome: &Outcome) -> bool {
    // Results over a limit of intake meet it, newest or not.
    let is_over_limit = view.whole_text(item).len() > outcome.intake_chars;
    let is_text = matches!(change, Change::Text { .. });
    // What came cut goes as a whole, also by the step that shortens the newest.
    is_text && (is_over_limit || outcome.has_kind(&["shorten"]) || is_taken_last(outcome, None))
}

/// Says whether the step that makes the newest fit took a result whole: this one, if a call is named.
fn is_taken_last(outcome: &Outcome, call_id: Option<&str>) -> bool {
    let is_last = |edit: &serde_json::Value| edit["kind"] == "tombstone" && edit["step"] == 5;
    let is_own = |edit: &serde_json::Value| call_id.is_none_or(|id| edit["call_id"] == id);
    let edits = outcome.report["edits"].as_array();
    edits.is_some_and(|edits| edits.iter().any(|edit| is_last(edit) && is_own(edit)))
}

fn is_pinned(view: &View<'_>, item: &Item, pins: &Pins) -> bool {
    let text = view.whole_text(item);
    let is_marked = text.windows(PIN_MARKER.len()).any(|window| window == PIN_MARKER.as_bytes());
    let id = item.id.as_deref().unwrap_or_default();
    is_marked || pins.call_ids.iter().any(|pin| pin.as_bytes() == id) || is_newest_plan(view, item)
}

/// Says whether a result answers a recall of one of the newest units.
pub(super) fn is_recent_recall(view: &View<'_>, item: &Item) -> bool {
    let newest = view.items.iter().map(|item| item.number).max().unwrap_or(0);
    recall_of(view, item).is_some_and(|call| call.number + RECALL_UNITS > newest)
}

/// Gives the call of a result that gives back what was cut.
fn recall_of<'v>(view: &'v View<'_>, item: &Item) -> Option<&'v Item> {
    view.call_of(item).filter(|call| call.name.as_deref() == Some(RECALL_TOOL) && asks_by_id(view, call))
}

/// OpenAI's formats hold arguments as text.
fn asks_by_id(view: &View<'_>, call: &Item) -> bool {
    let Some(node) = &call.arguments else { return false };
    let raw = if node.is_string() { decode::text(node.raw(view.body)) } else { node.raw(view.body).to_vec() };
    let Ok(object) = parse(&raw) else { return false };
    RECALL_IDS.iter().any(|key| object.member_text(&raw, key).is_some_and(|id| !id.trim_ascii().is_empty()))
}

fn is_newest_plan(view: &View<'_>, item: &Item) -> bool {
    let tool = |item: &Item| view.call_of(item).and_then(|call| call.name.clone()).unwrap_or_default();
    let name = tool(item);
    let is_later = |other: &Item| other.node.span.start > item.node.span.start && tool(other) == name;
    PLAN_TOOLS.contains(&name.as_slice()) && !view.results().any(is_later)
}
