//! `liveset diff`: where do two bodies, reports or logs first differ, and why?

use std::fmt::Write as _;

use liveset::Report;
use liveset_engine::report::{EditReport, grouped};
use serde_json::{Value, json};

use crate::{
    args::{Diff, ReportFormat},
    differences::{
        bodies::{self, BodyDifference, Mark, Side, Sort, Which},
        reports::{self, ReportDifference, Role, sweep_of},
    },
    failure::{DEFECTS, Failure},
    input, output,
    picture::one_name,
    records::{Entries, Records},
};

pub(crate) fn run(args: &Diff) -> Result<u8, Failure> {
    if [&args.a, &args.b].iter().all(|path| output::is_standard(path)) {
        return Err(Failure::usage("both would be read from standard input").hint("name a file for one of them"));
    }
    let a = Records::read(&args.a, args.format)?;
    let b = Records::read(&args.b, args.format)?;
    let found = compare(&a, &b)?;
    let text = match args.report_format {
        ReportFormat::Text => found.as_ref().map_or_else(|| equal(&a), |found| found.text.clone()),
        ReportFormat::Json => {
            let value = found.as_ref().map_or_else(|| json!({"equal": true}), |found| found.json.clone());
            serde_json::to_string_pretty(&value).map_err(Failure::usage)? + "\n"
        }
    };
    output::text(&text)?;
    Ok(if found.is_some() { DEFECTS } else { 0 })
}

/// A difference, told twice.
struct Found {
    text: String,
    json: Value,
}

fn equal(a: &Records) -> String {
    let (noun, count) = (a.entries.noun(), a.entries.len());
    match (noun, count) {
        ("body", 1) => "equal: the same bytes\n".to_owned(),
        (_, 1) => format!("equal: the same {noun}\n"),
        (_, count) => format!("equal: the same {count} entries\n"),
    }
}

/// Finds the first entry that differs.
fn compare(a: &Records, b: &Records) -> Result<Option<Found>, Failure> {
    let entries = a.entries.len().max(b.entries.len());
    match (&a.entries, &b.entries) {
        (Entries::Reports(left), Entries::Reports(right)) => {
            for (at, (one, other)) in left.iter().zip(right).enumerate() {
                if let Some(found) = reports::of(one, other) {
                    let text = report_text((a, one), (b, other), &found);
                    return Ok(Some(in_log(at, entries, text, report_json(&found))));
                }
            }
        }
        (Entries::Bodies(left), Entries::Bodies(right)) => {
            for (at, (one, other)) in left.iter().zip(right).enumerate() {
                let found = bodies::of((one, a.format), (other, b.format)).map_err(|(which, error)| match which {
                    Which::A => input::failure(&a.name, one, error),
                    Which::B => input::failure(&b.name, other, error),
                })?;
                if let Some(found) = found {
                    return Ok(Some(in_log(at, entries, body_text(a, b, &found), body_json(&found))));
                }
            }
        }
        (left, right) => {
            return Err(Failure::usage(format_args!(
                "`{}` holds a {}, `{}` a {}",
                a.name,
                left.noun(),
                b.name,
                right.noun()
            ))
            .hint("compare bodies with bodies and reports with reports"));
        }
    }
    Ok(lengths(a, b))
}

/// Two logs of which one is the beginning of the other.
fn lengths(a: &Records, b: &Records) -> Option<Found> {
    let (shorter, longer) = if a.entries.len() < b.entries.len() { (a, b) } else { (b, a) };
    let (less, more) = (shorter.entries.len(), longer.entries.len());
    (less < more).then(|| Found {
        text: format!(
            "{} ends after {less} equal {}, {} has {}\n",
            shorter.name,
            if less == 1 { "entry" } else { "entries" },
            longer.name,
            more
        ),
        json: json!({"equal": false, "first": "end_of_log", "entry": less,
                     "entries": {"a": a.entries.len(), "b": b.entries.len()}}),
    })
}

fn in_log(at: usize, entries: usize, text: String, mut json: Value) -> Found {
    json["entry"] = json!(at);
    let text = if entries > 1 { format!("entry {at} (counted from 0): {text}") } else { text };
    Found { text, json }
}

fn report_text(
    (a, left): (&Records, &Report),
    (b, right): (&Records, &Report),
    found: &ReportDifference<'_>,
) -> String {
    let mut out = format!("{} and {} differ", a.name, b.name);
    let width = a.name.chars().count().max(b.name.chars().count());
    if let Some((pair, edit)) = found.first.as_ref().and_then(|pair| Some((pair, pair.either()?))) {
        let names = [edit.tool.as_deref(), edit.call_id.as_deref()];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        let _ = writeln!(out, " first at item {} ({})", edit.item, names.join(", "));
        for (records, report, edit) in [(a, left, pair.a), (b, right, pair.b)] {
            let _ = writeln!(
                out,
                "  {:<width$}  {}",
                records.name,
                edit.map_or("left as it came".to_owned(), |edit| edited(report, edit))
            );
        }
        if found.items > 1 {
            let _ = writeln!(out, "  {} items differ in all", grouped(found.items as u64));
        }
    } else {
        out.push_str(", not in their edits\n");
    }
    let _ = writeln!(out, "why: {}", why(found));
    for figure in &found.figures {
        let _ = writeln!(out, "  {:<18}  {}  |  {}", figure.name, figure.a, figure.b);
    }
    out
}

fn edited(report: &Report, edit: &EditReport) -> String {
    format!(
        "{} {}, {} -> {} tokens: {}",
        edit.kind.name(),
        sweep_of(report, edit),
        grouped(edit.tokens_before),
        grouped(edit.tokens_after),
        edit.reason
    )
}

/// Says which difference explains the others.
fn why(found: &ReportDifference<'_>) -> &'static str {
    let has = |role: Role| found.figures.iter().any(|figure| figure.role == role);
    let originals = found.first.as_ref().and_then(|pair| Some(pair.a?.archive_id != pair.b?.archive_id));
    match (has(Role::Setting), has(Role::Input), originals) {
        (true, true, _) => "the runs had other limits and other bodies",
        (true, false, _) => "the runs had other limits",
        (false, true, _) => "the bodies that came in were not the same",
        (false, false, Some(true)) => "the item held another text",
        (false, false, _) => "sizes and limits are the same, so the texts or other settings were not",
    }
}

fn report_json(found: &ReportDifference<'_>) -> Value {
    let first =
        found.first.as_ref().map(|pair| json!({"item": pair.either().map(|edit| edit.item), "a": pair.a, "b": pair.b}));
    let figures: Vec<Value> = found
        .figures
        .iter()
        .map(|figure| {
            let role = match figure.role {
                Role::Setting => "setting",
                Role::Input => "input",
                Role::Outcome => "outcome",
            };
            json!({"name": figure.name, "role": role, "a": figure.a, "b": figure.b})
        })
        .collect();
    json!({"equal": false, "first": if first.is_some() { "edit" } else { "figure" }, "edit": first,
           "items": found.items, "figures": figures, "why": why(found)})
}

fn body_text(a: &Records, b: &Records, found: &BodyDifference) -> String {
    let equal = found.equal_items;
    let place = found.a.place.as_ref().or(found.b.place.as_ref());
    let what = place.map_or(String::new(), |place| {
        let kind = one_name(place.kind);
        if place.call.is_empty() { format!(" ({kind})") } else { format!(" ({kind}, {})", place.call) }
    });
    let mut out = match found.sort {
        Sort::Item => format!("{} and {} differ first at item {equal}{what}\n", a.name, b.name),
        Sort::End => {
            let (short, long) = if found.a.items < found.b.items { (a, b) } else { (b, a) };
            let more = found.a.items.abs_diff(found.b.items);
            format!(
                "{} ends after item {}, {} has {more} more from item {equal}{what} on\n",
                short.name,
                equal.saturating_sub(1),
                long.name
            )
        }
        Sort::Field => format!("{} and {} differ, not in their items\n", a.name, b.name),
        Sort::Layout => format!("{} and {} differ only in layout, escapes or cache marks\n", a.name, b.name),
    };
    let width = a.name.chars().count().max(b.name.chars().count());
    for (records, side) in [(a, &found.a), (b, &found.b)] {
        let excerpt = if side.excerpt.is_empty() { String::new() } else { format!("  {}", side.excerpt) };
        let _ = writeln!(out, "  {:<width$}  byte {:>9}{excerpt}", records.name, grouped(side.byte as u64));
    }
    if let Some(why) = cut(found, a, b) {
        let _ = writeln!(out, "why: {why}");
    }
    let _ = writeln!(out, "  {equal} items before it are equal, of {} and {}", found.a.items, found.b.items);
    if !found.fields.is_empty() {
        let names: Vec<String> = found.fields.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "  fields of the request that differ: {}", names.join(", "));
    }
    out
}

/// Says which of the two was cut here.
fn cut(found: &BodyDifference, a: &Records, b: &Records) -> Option<String> {
    let stands = |mark: Mark| match mark {
        Mark::None => "the text",
        Mark::Tombstone => "a tombstone",
        Mark::Gap => "the text with gaps",
        Mark::Fold => "the line of a folded run",
    };
    let (left, right) = (found.a.mark, found.b.mark);
    (found.sort == Sort::Item && left != right)
        .then(|| format!("{} holds {} of this result, {} {}", a.name, stands(left), b.name, stands(right)))
}

fn body_json(found: &BodyDifference) -> Value {
    let first = match found.sort {
        Sort::Item => "item",
        Sort::End => "end_of_body",
        Sort::Field => "field",
        Sort::Layout => "layout",
    };
    json!({"equal": false, "first": first, "equal_items": found.equal_items,
           "a": side_json(&found.a), "b": side_json(&found.b), "fields": found.fields})
}

fn side_json(side: &Side) -> Value {
    let place = side.place.as_ref();
    json!({"items": side.items, "byte": side.byte, "kind": place.map(|place| place.kind),
           "call": place.map(|place| &place.call).filter(|call| !call.is_empty()),
           "mark": Some(side.mark).filter(|mark| *mark != Mark::None).map(Mark::name), "excerpt": side.excerpt})
}
