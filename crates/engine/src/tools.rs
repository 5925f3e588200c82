//! What does a tool's name say about its results? The table under the contract, read once.
//!
//! Decides nothing about what is kept: it says how a tombstone names a call and which lines it holds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use crate::{
    json::{self, Leaf},
    transcript::{ArgumentsForm, Call, Transcript},
};

/// Characters of a call's label, the tool's name not counted: enough for a path, too few for a pasted text.
const MAX_LABEL_CHARS: usize = 80;
/// Words of a shell command in a label.
const MAX_LABEL_WORDS: usize = 8;
/// Bytes of arguments that are looked at for a label.
const MAX_ARGUMENT_BYTES: usize = 1 << 20;

/// What running a call again would give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// The same answer.
    Retrieval,
    /// An answer, maybe another.
    Volatile,
    /// Nothing that brings this result back.
    Execution,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Default)]
enum RowClass {
    Retrieval,
    Volatile,
    #[default]
    Execution,
    Shell,
}

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    class: RowClass,
    label: Vec<String>,
    #[serde(default)]
    plan: bool,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
struct Shell {
    reads: Vec<String>,
}

#[derive(Deserialize)]
struct Evidence {
    errors: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    tool: Vec<Row>,
    shell: Shell,
    evidence: Evidence,
}

#[derive(Default)]
struct Table {
    rows: BTreeMap<String, (RowClass, Vec<String>)>,
    plans: BTreeSet<String>,
    reads: Vec<String>,
    /// Finds any of the marks in one pass; `None` only if the table is broken.
    errors: Option<AhoCorasick>,
}

/// The shipped text is checked by a test; were it broken, every tool would be unknown, which is the careful reading.
static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("../data/tools.toml")).unwrap_or_default());

fn read(text: &str) -> Option<Table> {
    let file: File = toml::from_str(text).ok()?;
    let plans = file.tool.iter().filter(|row| row.plan).flat_map(|row| row.names.clone()).collect();
    let rows = file.tool.into_iter().flat_map(|row| {
        row.names.into_iter().map(move |name| (name, (row.class, row.label.clone()))).collect::<Vec<_>>()
    });
    Some(Table {
        rows: rows.collect(),
        plans,
        reads: file.shell.reads,
        errors: AhoCorasick::new(file.evidence.errors).ok(),
    })
}

/// A call as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallName {
    /// The tool's name.
    pub tool: String,
    /// The call's own words: a path, a query, the first words of a command; may be empty.
    pub label: String,
    /// What running it again would give.
    pub class: ToolClass,
}

impl CallName {
    /// Names a call from its arguments; a result without a call is a `tool`.
    #[must_use]
    pub fn of(transcript: &Transcript<'_>, call: Option<&Call>) -> Self {
        let Some(call) = call else {
            return Self { tool: "tool".to_owned(), label: String::new(), class: ToolClass::Execution };
        };
        let tool = tool_name(transcript, call).map_or_else(|| "tool".to_owned(), |name| one_line(&name));
        let leaves = arguments(transcript, call);
        let row = TABLE.rows.get(tool.as_str()).or_else(|| TABLE.rows.get(without_server(&tool)));
        let keys: &[String] = row.map(|(_, keys)| keys.as_slice()).unwrap_or_default();
        let found = keys.iter().find_map(|key| leaves.iter().find(|leaf| leaf.key == *key));
        let first = || leaves.iter().find(|leaf| is_short(&leaf.text));
        let text = found.or_else(first).map(|leaf| leaf.text.as_str()).unwrap_or_default();
        let class = match row.map(|(class, _)| *class) {
            Some(RowClass::Retrieval) => ToolClass::Retrieval,
            Some(RowClass::Volatile) => ToolClass::Volatile,
            Some(RowClass::Shell) if only_reads(text) => ToolClass::Retrieval,
            Some(RowClass::Shell | RowClass::Execution) | None => ToolClass::Execution,
        };
        Self { tool, label: label(text), class }
    }
}

/// Gives the name of a call's tool, as the client wrote it.
pub(crate) fn tool_name(transcript: &Transcript<'_>, call: &Call) -> Option<String> {
    let name = json::decode(call.name?.of(transcript.body)).ok()?;
    Some(name.into_text().into_owned())
}

/// MCP tools are named `mcp__server__tool` by clients.
pub(crate) fn without_server(tool: &str) -> &str {
    if tool.starts_with("mcp__") { tool.rsplit("__").next().unwrap_or(tool) } else { tool }
}

fn is_short(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_LABEL_CHARS * 2 && !text.contains('\n')
}

fn arguments(transcript: &Transcript<'_>, call: &Call) -> Vec<Leaf> {
    let Some(raw) = call.arguments.map(|span| span.of(transcript.body)) else { return Vec::new() };
    if raw.len() > MAX_ARGUMENT_BYTES {
        return Vec::new();
    }
    match call.form {
        ArgumentsForm::Object => json::string_leaves(raw).unwrap_or_default(),
        ArgumentsForm::JsonString => {
            json::decode(raw).ok().and_then(|inner| json::string_leaves(inner.text().as_bytes())).unwrap_or_default()
        }
        ArgumentsForm::Text => Vec::new(),
    }
}

/// Says whether each command of a line only reads or searches.
fn only_reads(command: &str) -> bool {
    let command = command.strip_prefix("bash -lc ").unwrap_or(command).trim();
    if command.is_empty() || command.contains('>') || command.contains("$(") || command.contains('`') {
        return false;
    }
    command.split(['|', ';', '&', '\n']).map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        part.starts_with("cd ")
            || TABLE.reads.iter().any(|read| {
                part.strip_prefix(read.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
    })
}

/// Makes one short line of a call's own words; addresses lose what may be secret.
fn label(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut out = String::new();
    for word in line.split_whitespace().take(MAX_LABEL_WORDS) {
        if may_be_secret(word) {
            break;
        }
        let word = plain_address(word);
        if out.chars().count() + word.chars().count() >= MAX_LABEL_CHARS {
            if out.is_empty() {
                out = tail(&word);
            }
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    one_line(&out)
}

/// The end of a long word tells more than its beginning: paths differ there.
fn tail(word: &str) -> String {
    let skip = word.chars().count().saturating_sub(MAX_LABEL_CHARS - 1);
    format!("…{}", word.chars().skip(skip).collect::<String>())
}

fn may_be_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let named = ["token", "secret", "password", "passwd", "apikey", "api_key", "authorization", "bearer", "credential"];
    named.iter().any(|name| lower.contains(name)) || lower == "-h" || lower == "--header" || lower == "-u"
}

/// Drops user info, query and fragment of an address.
fn plain_address(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A tombstone's label stays on its line and cannot end it.
fn one_line(text: &str) -> String {
    let clean = |c: char| if c.is_control() || matches!(c, '[' | ']' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    text.chars().map(clean).take(2 * MAX_LABEL_CHARS).collect::<String>().trim().to_owned()
}

/// Says whether a tool keeps the agent's plan, of which only the newest state counts.
#[must_use]
pub fn is_plan_tool(tool: &str) -> bool {
    TABLE.plans.contains(tool) || TABLE.plans.contains(without_server(tool))
}

/// Says whether a line is evidence of a failure.
#[must_use]
pub fn is_error_line(line: &str) -> bool {
    TABLE.errors.as_ref().is_some_and(|errors| errors.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads() {
        let table = read(include_str!("../data/tools.toml")).unwrap();
        assert!(table.rows.contains_key("Read") && !table.reads.is_empty() && table.errors.is_some());
    }

    #[test]
    fn a_shell_line_that_writes_is_no_reading() {
        assert!(only_reads("cd src && grep -rn foo . | head -5"));
        assert!(!only_reads("cat a > b"));
        assert!(!only_reads("cat a; rm b"));
        assert!(!only_reads("catalog --all"));
    }

    #[test]
    fn labels_lose_what_may_be_secret() {
        assert_eq!(label("https://me:pw@host/a/b?key=1#x"), "https://host/a/b");
        assert_eq!(label("curl -H \"Authorization: Bearer abc\" x"), "curl");
        assert_eq!(label("cargo test -p engine\nsecond line"), "cargo test -p engine");
        assert_eq!(label("a]b\u{7}"), "a b");
    }
}
