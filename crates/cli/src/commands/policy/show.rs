//! `liveset policy show`: the policy that a run would work with, as a policy file.

use std::fmt::Write as _;

use liveset_archive::shown;
use liveset_engine::{policy::CONTRACT, report::grouped};
use serde_json::{Value, json};

use super::{Effective, Source, effective, toml, toml_value};
use crate::{
    args::{PolicyArgs, PolicyShow},
    failure::Failure,
    output,
    picture::Paint,
};

pub(crate) fn run(args: &PolicyShow) -> Result<u8, Failure> {
    let rows = effective(&args.policy)?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&as_json(&rows)).map_err(Failure::usage)? + "\n",
        false => as_text(&rows, &args.policy, Paint::of(output::colour(output::output_is_terminal()))),
    };
    output::text(&text)?;
    Ok(0)
}

fn as_text(rows: &[Effective], args: &PolicyArgs, paint: Paint) -> String {
    let mut out = String::new();
    let changed = rows.iter().filter(|row| row.source != Source::Default).count();
    let _ = writeln!(
        out,
        "{}",
        paint.dim(&format!(
            "# The policy of a run, contract {CONTRACT}: {changed} of {} settings are not the default.",
            rows.len()
        ))
    );
    // A table goes on to the end of a file, so plain settings come first.
    let (tables, plain): (Vec<&Effective>, Vec<&Effective>) = rows.iter().partition(|row| row.value.is_object());
    for row in plain.into_iter().chain(tables) {
        let _ = writeln!(out, "\n{}", paint.dim(&format!("# {}", row.setting.about)));
        let note = note(row, args);
        match toml(&row.setting.key, &row.value) {
            Some(line) if row.source == Source::Default => {
                let _ = writeln!(out, "{line}");
            }
            Some(line) => {
                let _ = writeln!(out, "{}\n{}", paint.dim(&format!("# {note}")), paint.bold(&line));
            }
            None => {
                let _ = writeln!(out, "{}", paint.dim(&format!("# {} is {note}", row.setting.key)));
            }
        }
    }
    out
}

/// Says where a value comes from, and what holds where there is none.
fn note(row: &Effective, args: &PolicyArgs) -> String {
    let from = match (row.source, &args.policy) {
        (Source::Default, _) => "not set".to_owned(),
        (Source::File, Some(path)) => format!("From {}", shown(path)),
        (Source::File, None) | (Source::Flag, _) => "From a flag".to_owned(),
    };
    if row.source != Source::Default {
        return format!("{from} (default: {})", toml_value(&row.setting.default));
    }
    let Some(model) = args.model.as_deref() else { return from };
    let found = liveset_tokens::model(model).map(|row| (row.window, row.reserve));
    match (row.setting.key.as_str(), found) {
        ("window", Some((window, _))) => format!("{from}: {model} has {}", grouped(window)),
        ("reserve", Some((_, reserve))) => format!("{from}: {model} has {}", grouped(reserve)),
        ("window", None) => format!("{from}, and the model table does not know `{model}`"),
        _ => from,
    }
}

fn as_json(rows: &[Effective]) -> Value {
    let settings: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({"key": row.setting.key, "value": row.value, "default": row.setting.default,
                   "source": row.source.name(), "about": row.setting.about})
        })
        .collect();
    json!({"contract": CONTRACT, "settings": settings})
}
