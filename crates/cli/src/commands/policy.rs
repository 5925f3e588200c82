//! `liveset policy`: what are the settings, what does one do, and is this file right?

mod check;
mod explain;
mod show;

pub(crate) use check::faults_of as faults;

use liveset::Policy;
use serde_json::Value;

use crate::{
    args::{PolicyArgs, PolicyCommand},
    failure::Failure,
    settings::{self, Setting},
    setup,
};

pub(crate) fn run(command: &PolicyCommand) -> Result<u8, Failure> {
    match command {
        PolicyCommand::Show(args) => show::run(args),
        PolicyCommand::Explain(args) => explain::run(args),
        PolicyCommand::Check(args) => check::run(args),
    }
}

/// A setting with the value that a run would work with.
struct Effective {
    setting: &'static Setting,
    value: Value,
    source: Source,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Default,
    File,
    Flag,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Flag => "flag",
        }
    }
}

/// Every setting with its value, in the order of the policy.
fn effective(args: &PolicyArgs) -> Result<Vec<Effective>, Failure> {
    let of_file = settings::values(&setup::file_policy(args.policy.as_deref())?);
    let policy: Policy = setup::policy(args)?;
    let rows = settings::values(&policy).into_iter().filter_map(|(key, value)| {
        let setting = settings::named(&key)?;
        let (_, of_file) = of_file.iter().find(|(other, _)| *other == key)?;
        let source = match (value == *of_file, *of_file == setting.default) {
            (false, _) => Source::Flag,
            (true, false) => Source::File,
            (true, true) => Source::Default,
        };
        Some(Effective { setting, value, source })
    });
    Ok(rows.collect())
}

/// A value as a policy file has it; `None` for what is not set.
fn toml(key: &str, value: &Value) -> Option<String> {
    // The file's own writer decides on quotes, lists and tables.
    let value = toml::Value::try_from(value).ok()?;
    let table: toml::Table = [(key.to_owned(), value)].into_iter().collect();
    toml::to_string(&table).ok().map(|text| text.trim_end().to_owned())
}

/// The value alone, as a policy file has it.
fn toml_value(value: &Value) -> String {
    let line = toml("v", value);
    line.and_then(|line| Some(line.strip_prefix("v = ")?.to_owned())).unwrap_or_else(|| "not set".to_owned())
}
