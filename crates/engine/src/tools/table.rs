//! Which row of the table speaks of a tool? The shipped data, read once, and the names under which its tools arrive.
//!
//! A name is matched whole or behind the name of its server, never by likeness.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::{
    evidence::{Evidence, EvidenceRows},
    shell::Looking,
    verdict::Verdicts,
};

/// Bytes of a name that are searched for a server's name: providers allow 64 to 128.
const MAX_NAME_BYTES: usize = 256;
/// Words in the name of a server that tell nothing of which one it is.
const IDLE_WORDS: [&str; 6] = ["mcp", "server", "plugin", "official", "claude", "ai"];
/// How the table says that a name is telling enough whatever its server is called.
const ANY_SERVER: &str = "*";

/// The telling words of Liveset's own server.
const OWN_SERVER: &str = "liveset";

/// What the table says of the results of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowClass {
    Retrieval,
    Volatile,
    #[default]
    Execution,
    /// As its command says.
    Shell,
}

/// What a tool of Liveset's own gives back from the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromArchive {
    /// The original that its call names.
    Recall,
    /// Where originals with some words are.
    Search,
}

/// One row: tools that are alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    names: Vec<String>,
    pub(super) class: RowClass,
    pub(super) label: Vec<String>,
    /// Servers behind whose names these tools arrive too.
    #[serde(default)]
    servers: Vec<String>,
    /// Values of arguments with which a call only looks.
    #[serde(default)]
    pub(super) looks: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) plan: bool,
    /// Whether results tell of a command that ran, whatever their class.
    #[serde(default)]
    pub(super) runs: bool,
    #[serde(default)]
    pub(super) archive: Option<FromArchive>,
    #[serde(default)]
    pub(super) write: Vec<String>,
    #[serde(default)]
    pub(super) edit: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shell {
    looking: Vec<Looking>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tool: Vec<Row>,
    shell: Shell,
    evidence: EvidenceRows,
    verdict: Verdicts,
}

/// All that is known of tools.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    by_name: BTreeMap<String, usize>,
    pub(super) looking: Vec<Looking>,
    pub(super) evidence: Evidence,
    pub(super) verdict: Verdicts,
}

/// The shipped text is checked by a test; were it broken, every tool would be unknown, which is the careful reading.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| read(SHIPPED).unwrap_or_default());

const SHIPPED: &str = include_str!("../../data/tools.toml");

fn read(text: &str) -> Result<Table, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    let names = file.tool.iter().enumerate().flat_map(|(at, row)| row.names.iter().map(move |name| (name.clone(), at)));
    Ok(Table {
        by_name: names.collect(),
        rows: file.tool,
        looking: file.shell.looking,
        evidence: Evidence::from(file.evidence),
        verdict: file.verdict,
    })
}

impl Table {
    /// Gives the row of a tool, by its own name or behind that of its server.
    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        self.named(name).or_else(|| self.served(name).map(|(_, row)| row))
    }

    /// Gives a tool's own name, the server before it left out where the tool is listed.
    pub(super) fn plain_name<'n>(&self, name: &'n str) -> &'n str {
        let served = || self.served(name).map(|(tool, _)| tool);
        if self.named(name).is_some() { name } else { served().unwrap_or(name) }
    }

    fn named(&self, name: &str) -> Option<&Row> {
        self.rows.get(*self.by_name.get(name)?)
    }

    /// Says whether a server's name is that of Liveset's own.
    pub(super) fn is_own_server(server: &str) -> bool {
        telling_words(server) == OWN_SERVER
    }

    /// `mcp__SERVER__tool`, `mcp_SERVER_tool`, `SERVER__tool`, `SERVER_tool` and `SERVER-tool`, as clients write it.
    fn served<'n>(&self, name: &'n str) -> Option<(&'n str, &Row)> {
        let searched = if name.len() <= MAX_NAME_BYTES { name } else { "" };
        searched.match_indices(['_', '-']).find_map(|(at, separator)| {
            let (server, tool) = (searched.get(..at)?, searched.get(at + separator.len()..)?);
            let row = self.named(tool)?;
            // Only the double form says for sure where the name of an unknown server ends.
            let is_double = server.strip_prefix("mcp__").is_some_and(|rest| rest.len() > 1 && rest.ends_with('_'));
            let telling = telling_words(server);
            let fits = |listed: &String| *listed == telling || (is_double && listed == ANY_SERVER);
            row.servers.iter().any(fits).then_some((tool, row))
        })
    }
}

/// `plugin_context7_context7`, `github-mcp-server`, `claude_ai_Slack`: people name one server in many ways.
fn telling_words(server: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in server.split(['_', '-']).map(str::to_ascii_lowercase) {
        if !word.is_empty() && !IDLE_WORDS.contains(&word.as_str()) && words.last() != Some(&word) {
            words.push(word);
        }
    }
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads_and_names_each_tool_once() {
        let table = read(SHIPPED).unwrap();
        let named: usize = table.rows.iter().map(|row| row.names.len()).sum();
        assert_eq!(table.by_name.len(), named, "a name stands in two rows");
        assert!(table.rows.iter().all(|row| !row._source.is_empty()));
        for server in table.rows.iter().flat_map(|row| &row.servers) {
            assert!(server == ANY_SERVER || *server == telling_words(server), "`{server}` can never match");
        }
    }

    #[test]
    fn a_server_is_known_however_it_is_spelled() {
        for (server, telling) in [
            ("mcp__github_", "github"),
            ("github-mcp-server", "github"),
            ("mcp__plugin_context7_context7_", "context7"),
            ("mcp__claude_ai_Slack_", "slack"),
            ("brave-search", "brave_search"),
        ] {
            assert_eq!(telling_words(server), telling);
        }
    }
}
