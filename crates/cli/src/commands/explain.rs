//! `liveset explain`: for each change, what went, in which step, and why.

use std::fmt::Write as _;

use liveset::{Compaction, Inspection};
use liveset_engine::{
    plan::SurveyItem,
    report::{EditKind, EditReport, grouped},
};

use crate::{args::Explain, failure::Failure, input::Input, output, picture::kind_name, setup};

pub(crate) fn run(args: &Explain) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let mut liveset = setup::liveset(&input, &args.input, &args.policy)?;
    if !args.no_archive {
        liveset = setup::as_if_archived(liveset);
    }
    let (compaction, sizes) = liveset.compact_with_sizes(&input.body).map_err(|error| input.failure(error))?;
    let report = compaction.report();
    if let Some(item) = args.item {
        // Only passages need the scores.
        let inspection = liveset.inspect(&input.body).map_err(|error| input.failure(error))?;
        let text = one(item, &compaction, &inspection).map_err(|failure| failure.in_file(&input.name))?;
        return output::text(&text).map(|()| 0);
    }
    let label = |item: u32| sizes.items.get(item as usize).map(|item| item.label.as_str()).unwrap_or_default();
    let mut out = String::new();
    let _ = writeln!(out, "{}", report.reason);
    for edit in &report.edits {
        out.push_str(&line(edit, label(edit.item)));
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "warning: {} ({})", warning.text, warning.code);
    }
    output::text(&out)?;
    Ok(0)
}

/// Tells all there is to say about one item.
fn one(item: u32, compaction: &Compaction<'_>, inspection: &Inspection) -> Result<String, Failure> {
    let Some(row) = inspection.items.get(item as usize) else {
        let what = format!("item {item} does not exist, the body has {} (counted from 0)", inspection.items.len());
        return Err(Failure::usage(what).hint("`liveset inspect --json` lists the items"));
    };
    let edit = compaction.report().edits.iter().find(|edit| edit.item == item);
    let mut out = match edit {
        Some(edit) => line(edit, &row.label),
        None => {
            let call = named(row.tool.as_deref().unwrap_or(kind_name(row.kind)), &row.label);
            format!("item {item:>5}  leaves as it came, {} tokens  {call}\n", grouped(row.tokens.0))
        }
    };
    out.push_str(&passages(row));
    for splice in compaction.edits().iter().filter(|edit| edit.item.0 == item).flat_map(|edit| &edit.splices) {
        let _ = writeln!(out, "in place of {} bytes: {}", grouped(splice.span.len() as u64), splice.with);
    }
    Ok(out)
}

fn line(edit: &EditReport, label: &str) -> String {
    let step = match (edit.step, edit.kind) {
        (Some(step), _) => format!("step {step}"),
        // They come with a sweep and are no step of it.
        (None, EditKind::Mark | EditKind::Reasoning) => "-".to_owned(),
        (None, _) => "intake".to_owned(),
    };
    format!(
        "item {:>5}  {:<9} {:<7} {:>8} -> {:<8} {}: {}\n",
        edit.item,
        edit.kind.name(),
        step,
        grouped(edit.tokens_before),
        grouped(edit.tokens_after),
        named(edit.tool.as_deref().unwrap_or("-"), label),
        edit.reason
    )
}

/// A tool and its call's own words.
fn named(tool: &str, label: &str) -> String {
    format!("{tool} {label}").trim_end().to_owned()
}

fn passages(item: &SurveyItem) -> String {
    let mut out = String::new();
    if item.passages.is_empty() {
        return out;
    }
    let _ = writeln!(out, "passages as they stand at the end of the body, before any cut:");
    for passage in &item.passages {
        let why = match (passage.said, passage.stale) {
            (true, _) => "  said by the agent",
            (false, true) => "  repeated later",
            (false, false) => "",
        };
        let _ = writeln!(
            out,
            "  lines {:>5}-{:<5} {:>6} tokens  score {:>4}{why}",
            passage.first_line,
            passage.last_line,
            grouped(passage.tokens.0),
            passage.score
        );
    }
    out
}
