//! Does the report have its agreed form, and does it agree with the bytes?

use std::collections::BTreeMap;

use serde_json::Value;

use super::changes::{Change, changes};
use super::outcome::Outcome;
use crate::format::Format;
use crate::oracle::view::{Item, ItemKind, View};

const EDIT_KINDS: &[&str] =
    &["tombstone", "gap", "rule", "pointer", "shorten", "fold", "drop", "summary", "media", "mark", "reasoning"];
const OUTCOMES: &[&str] = &["unchanged", "compacted", "cannot_fit"];

/// Checks that the report has every agreed member, and that each changed result is named by an edit.
///
/// # Errors
/// Says which member is missing or which change is not reported.
pub fn law_report(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    form(format, &outcome.report).map_err(|error| format!("report: {error}"))?;
    if outcome.body == input {
        return Ok(());
    }
    let view = View::read(format, input)?;
    let edits = outcome.edits();
    removals(&view, &changes(&view, outcome, format)?, outcome).map_err(|error| format!("report: {error}"))?;
    for change in changes(&view, outcome, format)? {
        let (Change::Text { item, .. } | Change::Media { item, .. } | Change::Argument { item, .. }) = change else {
            continue;
        };
        let id = view.items.get(item).and_then(|item| item.id.clone());
        let is_named = edits.iter().any(|edit| edit.call_id.as_ref().map(|id| id.as_bytes()) == id.as_deref());
        if !is_named {
            return Err(format!(
                "report: no edit names the changed call {:?}",
                id.map(|id| String::from_utf8_lossy(&id).into_owned())
            ));
        }
    }
    Ok(())
}

/// Each run of elements that are gone holds a call that an edit names, and each such edit names a call that is gone.
fn removals(view: &View<'_>, changes: &[Change], outcome: &Outcome) -> Result<(), String> {
    if !outcome.has_kind(&["drop", "fold", "summary"]) {
        return Ok(());
    }
    let gone = changes.iter().filter_map(|change| match change {
        Change::Removed { before } => Some(before),
        Change::Text { .. } | Change::Media { .. } | Change::Argument { .. } => None,
    });
    let gone: Vec<_> = gone.collect();
    let is_gone =
        |item: &Item| gone.iter().any(|span| span.start <= item.node.span.start && item.node.span.end <= span.end);
    let calls = view.items.iter().filter(|item| item.kind == ItemKind::Call && is_gone(item));
    let mut batches: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
    for call in calls {
        batches.entry(call.number).or_default().push(call.id.clone().unwrap_or_default());
    }
    let edits = outcome.edits();
    // Of a fold's edits, or a summary's, all but the carrier's leave nothing.
    let takes_all = |kind: &str, after: u64| kind == "drop" || (["fold", "summary"].contains(&kind) && after == 0);
    let drops: Vec<_> = edits.iter().filter(|edit| takes_all(&edit.kind, edit.tokens_after)).collect();
    require("an edit for each batch that is gone", drops.len() == batches.len())?;
    let names = |ids: &Vec<Vec<u8>>| {
        drops.iter().any(|edit| ids.iter().any(|id| edit.call_id.as_deref() == std::str::from_utf8(id).ok()))
    };
    require("the name of a batch that is gone", batches.values().all(names))
}

fn form(format: Format, report: &Value) -> Result<(), String> {
    let is_known = |value: &Value, names: &[&str]| value.as_str().is_some_and(|name| names.contains(&name));
    require("contract", report["contract"].is_u64())?;
    require("format", report["format"] == format.name())?;
    require("fidelity", report["fidelity"].is_string())?;
    require("outcome", is_known(&report["outcome"], OUTCOMES))?;
    require("reason", report.get("reason").is_some())?;
    for name in ["before", "after", "window", "trigger", "target"] {
        require(name, report["tokens"][name].is_u64())?;
    }
    require("counter", report["tokens"]["counter"].is_string())?;
    require("exact", report["tokens"]["exact"].is_boolean())?;
    require("rebase", report["rebase"].is_null() || report["rebase"]["cause"].is_string())?;
    require("client_rewrote", report["client_rewrote"].is_null() || report["client_rewrote"]["item"].is_u64())?;
    for edit in list(report, "edits")? {
        require("edits.kind", is_known(&edit["kind"], EDIT_KINDS))?;
        require("edits.item", edit["item"].is_u64())?;
        require("edits.reason", edit["reason"].is_string())?;
        require("edits.tokens", edit["tokens_before"].is_u64() && edit["tokens_after"].is_u64())?;
    }
    for sweep in list(report, "sweeps")? {
        require("sweeps.request_point", sweep["request_point"].is_u64())?;
        require("sweeps.tokens", sweep["tokens_before"].is_u64() && sweep["tokens_after"].is_u64())?;
    }
    for warning in list(report, "warnings")? {
        require("warnings", warning["code"].is_string() && warning["text"].is_string())?;
    }
    let is_idle = report["outcome"] == "unchanged";
    require("edits of an unchanged body", !is_idle || list(report, "edits")?.is_empty())
}

fn list<'r>(report: &'r Value, name: &str) -> Result<&'r Vec<Value>, String> {
    report[name].as_array().ok_or_else(|| format!("`{name}` is no list"))
}

fn require(name: &str, is_there: bool) -> Result<(), String> {
    if is_there { Ok(()) } else { Err(format!("`{name}` is missing or has another form")) }
}
