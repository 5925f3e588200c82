//! Which variables and which terminal does a run see? Names only, never values.

use std::env;

use super::{Finding, Status};
use crate::output;

/// Variables that this program reads.
const READ: [&str; 6] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "XDG_DATA_HOME", "HOME"];
/// Variables by which agents find a model: set, they say where requests go today.
const BASE_URLS: [&str; 4] = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_HOST"];
/// How variables of this program would begin; it reads none.
const OURS: &str = "LIVESET_";

/// Looks at the environment and the terminal.
pub(super) fn check() -> Vec<Finding> {
    // Names that are no text are none of ours.
    let names: Vec<String> = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    let mut findings = vec![terminal()];
    findings.extend(variables(&names));
    findings
}

fn terminal() -> Finding {
    let is_terminal = output::output_is_terminal();
    let place = if is_terminal { "standard output is a terminal" } else { "standard output is no terminal" };
    let colour = match (is_terminal, output::colour(is_terminal)) {
        (true, true) => "in colour",
        (true, false) => "plain, because NO_COLOR is set",
        (false, _) => "plain",
    };
    Finding::new(Status::Ok, "terminal", format!("{place}: reports are {colour}"))
}

fn variables(names: &[String]) -> Vec<Finding> {
    let set = |known: &[&'static str]| -> Vec<&'static str> {
        known.iter().copied().filter(|known| names.iter().any(|name| name == known)).collect()
    };
    let mut findings = Vec::new();
    let read = set(&READ);
    let text = if read.is_empty() { "none set".to_owned() } else { format!("set: {}", read.join(", ")) };
    findings.push(Finding::new(Status::Ok, "environment", format!("{text}; liveset reads {}", READ.join(", "))));
    let urls = set(&BASE_URLS);
    if !urls.is_empty() {
        let text = format!("{} set: agents may send their requests there; liveset does not", urls.join(", "));
        findings.push(Finding::new(Status::Ok, "environment", text));
    }
    let mut unread: Vec<&str> = names.iter().map(String::as_str).filter(|name| name.starts_with(OURS)).collect();
    unread.sort_unstable();
    if !unread.is_empty() {
        let text = format!("{} set, and liveset reads no variable of this name", unread.join(", "));
        findings.push(
            Finding::new(Status::Warn, "environment", text).hint("settings come from flags and from --policy FILE"),
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_nobody_reads_is_a_warning() {
        let found = variables(&["LIVESET_WINDOW".to_owned(), "PATH".to_owned()]);
        let statuses: Vec<Status> = found.iter().map(|finding| finding.status).collect();
        assert_eq!(statuses, [Status::Ok, Status::Warn]);
        assert!(found[1].text.contains("LIVESET_WINDOW") && !found[1].text.contains("PATH"));
    }

    #[test]
    fn base_urls_are_named() {
        let found = variables(&["OPENAI_BASE_URL".to_owned()]);
        assert!(found.iter().any(|finding| finding.text.starts_with("OPENAI_BASE_URL set")));
    }
}
