//! `liveset policy explain KEY`: what does a setting do, what may it be, and what is it here?

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::{Effective, Source, effective, toml_value};
use crate::{
    args::{Arguments, PolicyExplain},
    failure::Failure,
    output,
    settings::{self, Sort},
};

pub(crate) fn run(args: &PolicyExplain) -> Result<u8, Failure> {
    // A flag's spelling is as good as a key's.
    let key = args.key.trim_start_matches('-').replace('-', "_");
    let rows = effective(&args.policy)?;
    let Some(row) = rows.iter().find(|row| row.setting.key == key) else {
        let keys = || settings::all().iter().map(|setting| setting.key.as_str());
        let hint = match settings::nearest(&key, keys()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", keys().collect::<Vec<_>>().join(", ")),
        };
        return Err(Failure::usage(format_args!("no setting is called `{}`", args.key)).hint(hint));
    };
    output::text(&as_text(row))?;
    Ok(0)
}

fn as_text(row: &Effective) -> String {
    let setting = row.setting;
    let mut out = format!("{}: {}\n\n", setting.key, setting.about);
    match &setting.sort {
        Sort::Described(words) => {
            let _ = writeln!(out, "  may be   {words}");
        }
        Sort::OneOf(choices) => {
            let width = choices.iter().map(|choice| choice.name.chars().count()).max().unwrap_or(0);
            for (at, choice) in choices.iter().enumerate() {
                let head = if at == 0 { "may be" } else { "" };
                let line =
                    format!("  {head:<7}  {:<width$}  {}", toml_name(&choice.name), choice.about, width = width + 2);
                let _ = writeln!(out, "{}", line.trim_end());
            }
        }
    }
    for (at, key) in settings::keys_of(&setting.key).iter().enumerate() {
        let head = if at == 0 { "holds" } else { "" };
        let _ = writeln!(out, "  {head:<7}  {:<9}  {}", key.name, key.about);
    }
    let _ = writeln!(out, "  default  {}", toml_value(&setting.default));
    let from = match row.source {
        Source::Default => "the default",
        Source::File => "from the policy file",
        Source::Flag => "from a flag",
    };
    let _ = writeln!(out, "  now      {} ({from})", toml_value(&row.value));
    if let Some(flag) = flag(&setting.key) {
        let _ = writeln!(out, "  flag     {flag}");
    }
    out
}

fn toml_name(name: &str) -> String {
    format!("\"{name}\"")
}

/// The flag of `compact` that sets this setting.
fn flag(key: &str) -> Option<String> {
    let command = Arguments::command();
    let compact = command.find_subcommand("compact")?;
    // A flag that may be repeated has the name of one.
    let names = [Some(key), key.strip_suffix('s')];
    let flag =
        names.into_iter().flatten().find_map(|name| compact.get_arguments().find(|flag| flag.get_id() == name))?;
    let value =
        flag.get_value_names().and_then(|names| names.first()).map_or(String::new(), |name| format!(" <{name}>"));
    Some(format!("--{}{value}", flag.get_long()?))
}
