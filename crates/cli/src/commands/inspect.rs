//! `liveset inspect`: where are the tokens, and what would a sweep think of them?

use std::fmt::Write as _;

use liveset::Inspection;
use liveset_engine::{plan::SurveyItem, report::grouped, transcript::ItemKind};
use serde_json::json;

use crate::{
    args::Inspect,
    failure::Failure,
    input::Input,
    output,
    picture::{self, Paint, bars, by_kind, by_tool},
    setup,
};

pub(crate) fn run(args: &Inspect) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let liveset = setup::liveset(&input, &args.input, &args.policy)?;
    let inspection = liveset.inspect(&input.body).map_err(|error| input.failure(error))?;
    let text = match args.json {
        true => as_json(&inspection)? + "\n",
        false => as_text(&inspection, args.top, Paint::of(output::colour(output::output_is_terminal()))),
    };
    output::text(&text)?;
    Ok(0)
}

fn results(inspection: &Inspection) -> impl Iterator<Item = &SurveyItem> {
    inspection.items.iter().filter(|item| item.kind == ItemKind::ToolResult)
}

fn as_text(inspection: &Inspection, top: usize, paint: Paint) -> String {
    let tokens = &inspection.tokens;
    let mut out = String::new();
    let about = if tokens.exact { "" } else { "at most " };
    let _ = writeln!(
        out,
        "{about}{} tokens in {} items, {}, model {}, window {}, trigger {} (counted by {})\n",
        paint.bold(&grouped(tokens.before)),
        inspection.items.len(),
        inspection.format.name(),
        inspection.model.as_deref().unwrap_or("not named"),
        grouped(tokens.window),
        grouped(tokens.trigger),
        tokens.counter,
    );
    out.push_str(&bars("by kind", &by_kind(&inspection.into()), tokens.before, paint));
    out.push_str(&bars("\ntool results by tool", &by_tool(&inspection.into()), tokens.before, paint));
    out.push_str(&largest(inspection, top, paint));
    out.push_str(&repeated(inspection, top, paint));
    out.push_str(&shares(inspection, paint));
    out
}

fn largest(inspection: &Inspection, top: usize, paint: Paint) -> String {
    let mut found: Vec<&SurveyItem> = results(inspection).collect();
    found.sort_by_key(|item| (std::cmp::Reverse(item.tokens), item.item));
    let mut out = format!("\n{}\n", paint.bold("largest results"));
    let _ = writeln!(out, "{:>10} {:>6} {:>5} {:>6} {:>6}  call", "tokens", "item", "age", "said", "stale");
    for item in found.into_iter().take(top) {
        let share = |part: u64| format!("{} %", part.saturating_mul(100).checked_div(item.tokens.0).unwrap_or(0));
        let _ = writeln!(
            out,
            "{:>10} {:>6} {:>5} {:>6} {:>6}  {} {}",
            grouped(item.tokens.0),
            item.item.0,
            item.age,
            share(item.said.0),
            share(item.stale.0),
            item.tool.as_deref().unwrap_or("-"),
            item.label,
        );
    }
    out
}

fn repeated(inspection: &Inspection, top: usize, paint: Paint) -> String {
    let mut found: Vec<(&SurveyItem, u32)> =
        results(inspection).filter_map(|item| item.repeats.map(|earlier| (item, earlier.0))).collect();
    found.sort_by_key(|(item, _)| (std::cmp::Reverse(item.tokens), item.item));
    let mut out = String::new();
    if found.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{}", paint.bold("repeated results"));
    let _ = writeln!(out, "{:>10} {:>6} {:>7}  call", "tokens", "item", "same as");
    for (item, earlier) in found.into_iter().take(top) {
        let tool = item.tool.as_deref().unwrap_or("-");
        let _ = writeln!(out, "{:>10} {:>6} {earlier:>7}  {tool} {}", grouped(item.tokens.0), item.item.0, item.label);
    }
    out
}

fn shares(inspection: &Inspection, paint: Paint) -> String {
    let all: u64 = results(inspection).map(|item| item.tokens.0).sum();
    let row = |name: &str, part: fn(&SurveyItem) -> u64| {
        let parts: Vec<u64> = results(inspection).map(part).filter(|tokens| *tokens > 0).collect();
        picture::Row { name: name.to_owned(), count: parts.len() as u64, tokens: parts.iter().sum() }
    };
    let rows = [
        row("said by the agent", |item| item.said.0),
        row("repeated later", |item| item.stale.0),
        row("same as an earlier one", |item| item.repeats.map_or(0, |_| item.tokens.0)),
    ];
    let mut out = bars("\nof all results", &rows, all, paint);
    if rows.iter().all(|row| row.tokens == 0) {
        out = format!("\n{}\n", paint.dim("no result was said again or repeated"));
    }
    out
}

fn as_json(inspection: &Inspection) -> Result<String, Failure> {
    let rows = |rows: Vec<picture::Row>| -> Vec<_> {
        rows.into_iter().map(|row| json!({"name": row.name, "items": row.count, "tokens": row.tokens})).collect()
    };
    let items: Vec<_> = inspection
        .items
        .iter()
        .map(|item| {
            json!({
                "item": item.item.0, "kind": item.kind, "tool": item.tool, "label": item.label,
                "tokens": item.tokens.0, "lines": item.lines, "age": item.age, "said": item.said.0,
                "stale": item.stale.0, "repeats": item.repeats.map(|earlier| earlier.0),
            })
        })
        .collect();
    let value = json!({
        "format": inspection.format, "model": inspection.model, "tokens": inspection.tokens,
        "by_kind": rows(by_kind(&inspection.into())), "by_tool": rows(by_tool(&inspection.into())), "items": items,
    });
    serde_json::to_string_pretty(&value).map_err(Failure::usage)
}
