//! `liveset explain`: for each change, what went, in which step, and why.

use std::fmt::Write as _;

use liveset_engine::report::{EditReport, grouped};

use crate::{args::Explain, failure::Failure, input::Input, output, setup};

pub(crate) fn run(args: &Explain) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let liveset = setup::liveset(&input, &args.input, &args.policy)?;
    let compaction = liveset.compact(&input.body).map_err(|error| Failure::from(error).in_file(&input.name))?;
    let report = compaction.report();
    let inspection = liveset.inspect(&input.body)?;
    let label = |item: u32| inspection.items.get(item as usize).map(|item| item.label.as_str()).unwrap_or_default();
    let mut out = String::new();
    if let Some(item) = args.item {
        let Some(edit) = report.edits.iter().find(|edit| edit.item == item) else {
            let text = format!("item {item} leaves as it came\n") + &passages(&inspection, item);
            return output::text(&text).map(|()| 0);
        };
        out.push_str(&line(edit, label(item)));
        out.push_str(&passages(&inspection, item));
        for edit in compaction.edits().iter().filter(|edit| edit.item.0 == item) {
            for splice in &edit.splices {
                let _ = writeln!(out, "in place of {} bytes: {}", splice.span.len(), splice.with);
            }
        }
        return output::text(&out).map(|()| 0);
    }
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

fn line(edit: &EditReport, label: &str) -> String {
    let step = edit.step.map_or("intake".to_owned(), |step| format!("step {step}"));
    format!(
        "item {:>5}  {:<9} {:<7} {:>8} -> {:<8} {} {}: {}\n",
        edit.item,
        edit.kind.name(),
        step,
        grouped(edit.tokens_before),
        grouped(edit.tokens_after),
        edit.tool.as_deref().unwrap_or("-"),
        label,
        edit.reason
    )
}

fn passages(inspection: &liveset::Inspection, item: u32) -> String {
    let mut out = String::new();
    let Some(item) = inspection.items.get(item as usize).filter(|item| !item.passages.is_empty()) else { return out };
    let _ = writeln!(out, "passages at the end of the body, nothing cut:");
    for passage in &item.passages {
        let why = match (passage.said, passage.stale) {
            (true, _) => "  said by the agent",
            (false, true) => "  repeated later",
            (false, false) => "",
        };
        let _ = writeln!(
            out,
            "  lines {:>5}-{:<5} {:>6} tokens  score {:>4}{why}",
            passage.first_line, passage.last_line, passage.tokens.0, passage.score
        );
    }
    out
}
