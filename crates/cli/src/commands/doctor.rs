//! `liveset doctor`: does everything that a run needs work here?
//!
//! Looks and changes nothing: no file is made, no record repaired. Only opening an archive of an older layout brings it to
//! this version's, as opening it in a run does.

mod archive;
mod environment;

use std::{fmt::Write as _, path::Path};

use liveset::Policy;
use liveset_archive::shown;
use liveset_engine::{budget::Budget, policy::CONTRACT, report::grouped};
use liveset_tokens::{Exactness, counter, model, unknown_counter};
use serde_json::json;

use crate::{
    args::Doctor,
    failure::{DEFECTS, Failure},
    output,
    picture::Paint,
    settings, setup,
};

/// What a check found.
struct Finding {
    status: Status,
    /// What was checked, in a word.
    about: &'static str,
    text: String,
    hint: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    /// It works, but not as one might think.
    Warn,
    /// A run would fail or lose something.
    Fail,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl Finding {
    fn new(status: Status, about: &'static str, text: impl Into<String>) -> Self {
        Self { status, about, text: text.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn of_failure(about: &'static str, failure: &Failure) -> Self {
        let (text, hint) = failure.told();
        Self { status: Status::Fail, about, text, hint }
    }
}

pub(crate) fn run(args: &Doctor) -> Result<u8, Failure> {
    let mut findings = vec![version()];
    let mut of_file = None;
    if let Some(path) = &args.policy {
        let (finding, found) = policy(path);
        findings.push(finding);
        of_file = found;
    }
    if let Some(name) = &args.model {
        findings.push(of_model(name, &of_file.unwrap_or_default()));
    }
    match setup::archive_place(args.archive.as_deref()) {
        Ok(path) => findings.extend(archive::check(&path)),
        Err(failure) => findings.push(Finding::of_failure("archive", &failure)),
    }
    findings.extend(environment::check());
    let text = match args.json {
        true => as_json(&findings)?,
        false => as_text(&findings, Paint::of(output::colour(output::output_is_terminal()))),
    };
    output::text(&text)?;
    let fails = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if fails { DEFECTS } else { 0 })
}

fn as_text(findings: &[Finding], paint: Paint) -> String {
    let mut out = String::new();
    for finding in findings {
        let word = format!("{:<4}", finding.status.name());
        let word = match finding.status {
            Status::Ok => paint.good(&word),
            Status::Warn => paint.warning(&word),
            Status::Fail => paint.bad(&word),
        };
        let _ = writeln!(out, "{word}  {:<11}  {}", finding.about, finding.text);
        if let Some(hint) = &finding.hint {
            let _ = writeln!(out, "{:<17}  hint: {hint}", "");
        }
    }
    out
}

fn as_json(findings: &[Finding]) -> Result<String, Failure> {
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({"status": finding.status.name(), "check": finding.about, "text": finding.text, "hint": finding.hint})
        })
        .collect();
    Ok(serde_json::to_string_pretty(&json!({"checks": rows})).map_err(Failure::usage)? + "\n")
}

fn version() -> Finding {
    let text = format!(
        "liveset {}, contract {CONTRACT}, for {} on {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    Finding::new(Status::Ok, "version", text)
}

/// Says whether runs for this model know its window, and at which sizes they cut.
fn of_model(name: &str, policy: &Policy) -> Finding {
    let row = model(name);
    let window = policy.window.or(policy.default_window);
    if row.is_none() && window.is_none() {
        return Finding::new(Status::Fail, "model", format!("the model table does not know `{name}`"))
            .hint("name its window with --window TOKENS, or `default_window` in a policy file");
    }
    let budget = match Budget::of(policy, row) {
        Ok((budget, _)) => budget,
        Err(error) => return Finding::of_failure("model", &Failure::from(error)),
    };
    let limits = format!(
        "window {}, {} of it kept for the reply; a sweep starts over {} tokens and ends at {}",
        grouped(budget.window.0),
        grouped(budget.window.0.saturating_sub(budget.room.0)),
        grouped(budget.trigger.0),
        grouped(budget.target.0)
    );
    let counter = row.map_or_else(unknown_counter, |row| counter(row.family));
    let trust = match counter.exactness() {
        Exactness::Exact => format!("counted exactly by {}", counter.name()),
        Exactness::Estimated { upper_percent } => {
            format!("estimated by {}, {upper_percent} % on the high side", counter.name())
        }
    };
    match row {
        Some(_) => Finding::new(Status::Ok, "model", format!("`{name}`: {limits}; {trust}")),
        None => {
            Finding::new(Status::Warn, "model", format!("the model table does not know `{name}`: {limits}; {trust}"))
                .hint("the window is the policy's: is it this model's?")
        }
    }
}

fn policy(path: &Path) -> (Finding, Option<Policy>) {
    match setup::file_policy(Some(path)) {
        Err(failure) => (policy_fault(path).unwrap_or_else(|| Finding::of_failure("policy", &failure)), None),
        Ok(policy) => {
            let values = settings::values(&policy);
            let changed = values
                .iter()
                .filter(|(key, value)| settings::named(key).is_some_and(|setting| setting.default != *value));
            let changed = counted(changed.count() as u64, "setting is", "settings are");
            let text = format!("`{}`: no fault, {changed} not the default", shown(path));
            (Finding::new(Status::Ok, "policy", text), Some(policy))
        }
    }
}

/// Says how much is wrong in a file that can be read, and what comes first.
fn policy_fault(path: &Path) -> Option<Finding> {
    let text = std::fs::read_to_string(path).ok()?;
    let (count, first) = super::policy::faults(&text)?;
    let faults = if count == 1 { "1 fault".to_owned() } else { format!("{count} faults, the first") };
    let text = format!("`{}`: {faults} in {first}", shown(path));
    let hint = format!("`liveset policy check {}` lists every fault with its place", shown(path));
    Some(Finding::new(Status::Fail, "policy", text).hint(hint))
}

/// A number with its noun.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
