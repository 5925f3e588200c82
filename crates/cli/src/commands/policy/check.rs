//! `liveset policy check FILE`: what is wrong in a policy file, and where?

use std::{fmt::Write as _, ops::Range};

use liveset::Policy;
use serde::Deserialize as _;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::toml_value;
use crate::{
    args::PolicyCheck,
    failure::{DEFECTS, Failure},
    input, output,
    settings::{self, Setting, Sort},
};

/// One thing that is wrong.
#[derive(Debug)]
struct Fault {
    /// Byte of the file.
    at: usize,
    what: String,
    hint: Option<String>,
}

pub(crate) fn run(args: &PolicyCheck) -> Result<u8, Failure> {
    let (name, bytes) = input::bytes_or_nothing(Some(&args.file))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Failure::usage(format_args!("invalid UTF-8 at byte {}", error.valid_up_to())).in_file(&name)
    })?;
    let faults = faults(text);
    let mut out = String::new();
    if args.json {
        let rows: Vec<Value> = faults.iter().map(|fault| as_json(text, fault)).collect();
        out = serde_json::to_string_pretty(&json!({"faults": rows})).map_err(Failure::usage)? + "\n";
    } else {
        for fault in &faults {
            let (line, column) = place(text, fault.at);
            let _ = writeln!(out, "{name}:{line}:{column}: {}", fault.what);
            if let Some(hint) = &fault.hint {
                let _ = writeln!(out, "hint: {hint}");
            }
        }
    }
    output::text(&out)?;
    Ok(if faults.is_empty() { 0 } else { DEFECTS })
}

/// Counts the faults of a policy file's text and tells the first; `None` where it is sound.
pub(crate) fn faults_of(text: &str) -> Option<(usize, String)> {
    let faults = faults(text);
    let first = faults.first()?;
    let (line, column) = place(text, first.at);
    Some((faults.len(), format!("line {line}, column {column}: {}", first.what)))
}

fn as_json(text: &str, fault: &Fault) -> Value {
    let (line, column) = place(text, fault.at);
    json!({"line": line, "column": column, "what": fault.what, "hint": fault.hint})
}

/// Line and column, both from 1, the column in characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Finds every wrong key and value; where all are right alone, what is wrong with them together.
fn faults(text: &str) -> Vec<Fault> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            let what = error.message().lines().next().unwrap_or_default().to_owned();
            return vec![Fault { at: error.span().map_or(0, |span| span.start), what, hint: None }];
        }
    };
    let mut faults = Vec::new();
    let mut places: Vec<(String, Range<usize>)> = Vec::new();
    for (key, value) in &table {
        let name = key.get_ref().to_string();
        match settings::named(&name) {
            None => faults.push(unknown(&name, key.span())),
            Some(setting) => faults.extend(wrong_value(text, setting, value.get_ref(), value.span())),
        }
        places.push((name, key.span()));
    }
    if faults.is_empty() {
        faults.extend(wrong_together(text, &places));
    }
    faults.sort_by_key(|fault| fault.at);
    faults
}

fn unknown(name: &str, span: Range<usize>) -> Fault {
    let near = settings::nearest(name, settings::all().iter().map(|setting| setting.key.as_str()));
    let hint =
        near.map_or("`liveset policy show` lists the settings".to_owned(), |near| format!("did you mean `{near}`?"));
    Fault { at: span.start, what: format!("unknown setting `{name}`"), hint: Some(hint) }
}

/// Tries one setting alone, so that each wrong value is told.
fn wrong_value(text: &str, setting: &Setting, value: &DeValue<'_>, span: Range<usize>) -> Option<Fault> {
    if let (DeValue::Table(table), true) = (value, setting.default.is_object()) {
        return wrong_table(text, setting, table, span);
    }
    let source = text.get(span.clone())?;
    let alone = toml::from_str::<Policy>(&format!("{} = {source}", setting.key));
    let Err(error) = alone else { return None };
    let (must_be, hint) = match (&setting.sort, value.as_str()) {
        (Sort::OneOf(choices), written) => {
            let names = settings::names(choices);
            let near = written.and_then(|written| settings::nearest(written, names.iter().copied()));
            let all: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            (all.join(" or "), near.map(|near| format!("did you mean \"{near}\"?")))
        }
        // A file says "not set" by leaving a setting out.
        (Sort::Described(words), _) => (words.replace(", or not set", ""), None),
    };
    let found = match value {
        DeValue::Table(_) if !setting.default.is_object() => "a table".to_owned(),
        DeValue::Array(_) if !setting.default.is_array() => "a list".to_owned(),
        DeValue::Table(_) | DeValue::Array(_) => {
            // Whoever reads the parts knows which of them is wrong.
            let inner = error.message().lines().next().unwrap_or_default();
            let what = format!("`{}` must be {must_be}: {inner}", setting.key);
            return Some(Fault { at: span.start, what, hint });
        }
        DeValue::String(text) => toml_value(&Value::from(text.as_ref())),
        _ => source.to_owned(),
    };
    let default = match &setting.default {
        Value::Null => "leave it out for the default".to_owned(),
        default => format!("the default is {}", toml_value(default)),
    };
    let what = format!("`{}` must be {must_be}, not {found}", setting.key);
    Some(Fault { at: span.start, what, hint: hint.or(Some(default)) })
}

/// Tries a table alone; whoever reads its parts knows which of them is wrong.
fn wrong_table(text: &str, setting: &Setting, table: &DeTable<'_>, span: Range<usize>) -> Option<Fault> {
    let whole: toml::Table = toml::from_str(text).ok()?;
    let alone: toml::Table = whole.into_iter().filter(|(key, _)| *key == setting.key).collect();
    let error = Policy::deserialize(alone).err()?;
    let what = error.message().lines().next().unwrap_or_default();
    // An unknown or wrong word stands somewhere in the table, as a key or as a value.
    let word = what.split('`').nth(1).unwrap_or_default();
    let expected = what.split_once(", expected ").map_or("", |(_, expected)| expected);
    let near = settings::nearest(word, expected.split('`').skip(1).step_by(2));
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    let at = place_of(table, word).unwrap_or(span.start);
    Some(Fault { at, what: format!("`{}`: {what}", setting.key), hint })
}

/// Finds the byte at which a table, or one in it, has a word as key or value.
fn place_of(table: &DeTable<'_>, word: &str) -> Option<usize> {
    table.iter().find_map(|(key, value)| {
        if key.get_ref() == word {
            return Some(key.span().start);
        }
        match value.get_ref() {
            DeValue::Table(inner) => place_of(inner, word),
            DeValue::String(text) if text == word => Some(value.span().start),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => None,
        }
    })
}

/// Limits that the policy checks itself: the first setting of the file that the message names is the place.
fn wrong_together(text: &str, places: &[(String, Range<usize>)]) -> Option<Fault> {
    let error = Policy::from_toml(text).err()?;
    let what = error.to_string();
    let what = what.strip_prefix("policy: ").unwrap_or(&what).to_owned();
    let named = || what.split('`').skip(1).step_by(2);
    let found = |name: &str| places.iter().find(|(key, _)| key == name);
    // A message without a setting of the file is about the file.
    let at = named().find_map(found).map_or(0, |(_, span)| span.start);
    let absent = named().find(|name| found(name).is_none()).and_then(settings::named);
    let hint = absent
        .map(|setting| format!("without a line of its own `{}` is {}", setting.key, toml_value(&setting.default)));
    Some(Fault { at, what, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, usize, &str)]) {
        let found = faults(text);
        let found: Vec<(usize, usize, &str)> = found
            .iter()
            .map(|fault| {
                let (line, column) = place(text, fault.at);
                (line, column, fault.what.as_str())
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn sound_files_have_no_fault() {
        check("", &[]);
        check("# mine\nwindow = 50_000\npins = [\"a\", \"b\"]\n", &[]);
    }

    #[test]
    fn every_fault_is_told_where_it_stands() {
        check(
            "triger = 90\n  window = \"wide\"\n",
            &[(1, 1, "unknown setting `triger`"), (2, 12, "`window` must be a whole number, 0 or more, not \"wide\"")],
        );
    }

    #[test]
    fn a_fault_in_a_table_is_told_where_it_stands() {
        let text = "[intake]\nstrategy = \"by_type\"\n[intake.tools.Bash]\nmax_char = 900\n";
        let found = faults(text);
        assert_eq!((found.len(), place(text, found[0].at)), (1, (4, 1)), "{found:?}");
        assert_eq!(found[0].hint.as_deref(), Some("did you mean `max_chars`?"));
        check("[intake]\nstrategy = \"layered\"\n", &[]);
        let wrong = faults("[intake]\nstrategy = \"layerd\"\n");
        assert_eq!(wrong[0].hint.as_deref(), Some("did you mean `layered`?"));
    }

    #[test]
    fn a_file_that_is_no_toml_says_where_reading_ended() {
        let found = faults("window = 5\ntarget = \n");
        assert_eq!(found.len(), 1);
        assert_eq!(place("window = 5\ntarget = \n", found[0].at).0, 2);
    }

    #[test]
    fn limits_between_settings_are_told_at_the_setting() {
        check("min_gain = 3\ntrigger = 50\n", &[(2, 1, "`target` is a percentage from 1 up to `trigger`")]);
        check("\ntrigger = 0", &[(2, 1, "`trigger` is a percentage from 1 to 100")]);
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(place("a = 1\n\"größe\" = 1", 15), (2, 8));
    }
}
