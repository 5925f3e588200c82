//! What is known of a model? Family, window, reserve and price, from a table that is data.

use std::sync::LazyLock;

use serde::Deserialize;

/// Models that count alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Family {
    /// Vocabulary `o200k_base`, exact.
    O200k,
    /// Vocabulary `cl100k_base`, exact.
    Cl100k,
    /// Claude up to Opus 4.6, estimated.
    Claude,
    /// Claude from Opus 4.7, Sonnet 5 and Fable 5 on, estimated.
    ClaudeNext,
    /// Gemini, estimated.
    Gemini,
    /// Open models and xAI, estimated.
    Open,
}

/// What cached input costs, in thousandths of the price of plain input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Reading from the cache.
    pub read_permille: u32,
    /// Writing to it.
    pub write_permille: u32,
}

impl Price {
    /// The commonest price: reads a tenth, writes a quarter more.
    pub const DEFAULT: Self = Self { read_permille: 100, write_permille: 1_250 };
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name, or the beginning of the names, it stands for.
    pub name: String,
    /// How it counts.
    pub family: Family,
    /// Context window in tokens.
    pub window: u64,
    /// Tokens kept free for the reply.
    pub reserve: u64,
    /// What cached input costs.
    pub price: Price,
}

#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    family: Family,
    window: u64,
    reserve: Option<u64>,
    read: u32,
    write: u32,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
struct File {
    model: Vec<Row>,
}

/// Share of a window that stays free for the reply, where the row does not say.
const RESERVE_SHARE: u64 = 8;
/// A reply longer than this is rare even for models that could write more.
const MAX_RESERVE: u64 = 32_000;

static TABLE: LazyLock<Vec<Model>> = LazyLock::new(|| read(include_str!("../data/models.toml")).unwrap_or_default());

fn read(text: &str) -> Option<Vec<Model>> {
    let file: File = toml::from_str(text).ok()?;
    let mut rows = Vec::new();
    for row in file.model {
        for name in row.names {
            rows.push(Model {
                name,
                family: row.family,
                window: row.window,
                reserve: row.reserve.unwrap_or((row.window / RESERVE_SHARE).min(MAX_RESERVE)),
                price: Price { read_permille: row.read, write_permille: row.write },
            });
        }
    }
    Some(rows)
}

/// Gives all rows.
///
/// ```
/// assert!(liveset_tokens::models().iter().all(|row| row.reserve < row.window));
/// ```
#[must_use]
pub fn models() -> &'static [Model] {
    &TABLE
}

/// Finds a model by the name in a request: the row whose name is the longest beginning of it.
///
/// Route prefixes (`anthropic/`, `us.anthropic.`) do not count. A row ends where the name goes on with a digit or
/// letter, so that `gpt-4` is not taken for `gpt-45`.
///
/// ```
/// use liveset_tokens::{Family, model};
/// assert_eq!(model("anthropic/claude-sonnet-4-5-20250929").map(|row| row.family), Some(Family::Claude));
/// assert!(model("no-such-model").is_none());
/// ```
#[must_use]
pub fn model(name: &str) -> Option<&'static Model> {
    let lower = name.to_ascii_lowercase();
    let routed = lower.rsplit('/').next().unwrap_or(&lower);
    // Bedrock names its models `region.vendor.model-version:revision`.
    let bare = routed.rsplit_once("anthropic.").map_or(routed, |(_, bare)| bare);
    let matches = TABLE.iter().filter(|row| {
        bare.strip_prefix(row.name.as_str()).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    matches.max_by_key(|row| row.name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_reads() {
        assert!(read(include_str!("../data/models.toml")).unwrap().len() > 40);
    }

    #[test]
    fn the_longest_row_wins() {
        assert_eq!(model("gpt-4").unwrap().family, Family::Cl100k);
        assert_eq!(model("gpt-4o-mini-2024-07-18").unwrap().family, Family::O200k);
        assert_eq!(model("claude-opus-4-7").unwrap().family, Family::ClaudeNext);
        assert_eq!(model("claude-opus-4-6").unwrap().family, Family::Claude);
        assert_eq!(model("us.anthropic.claude-3-5-sonnet-20241022-v2:0").unwrap().family, Family::Claude);
        assert!(model("gpt-45").is_none());
    }
}
