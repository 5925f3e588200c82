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
    /// The name as look-ups compare it.
    key: String,
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
                key: dashed(&name),
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
/// Route prefixes (`anthropic/`, `us.anthropic.`, `ft:`) do not count, and a dot in a version is as good as a dash. A row ends
/// where the name goes on with a digit or letter, and where it goes on with a further version number: `gpt-4` stands
/// neither for `gpt-45` nor for `gpt-4.5`, whose window and vocabulary nobody knows from it.
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
    // Bedrock names its models `region.vendor.model-version:revision`, OpenAI its tuned ones `ft:model:owner`.
    let starts = routed.match_indices(['.', ':']).map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).filter_map(|start| routed.get(start..)).find_map(longest_row)
}

fn longest_row(name: &str) -> Option<&'static Model> {
    let name = dashed(name);
    let matches = TABLE.iter().filter(|row| name.strip_prefix(row.key.as_str()).is_some_and(ends_a_row));
    matches.max_by_key(|row| row.key.len())
}

/// Digits of a version number at most; dates and build numbers have more.
const MAX_VERSION_DIGITS: usize = 2;

/// Tells whether a row may end where the rest of a name begins.
fn ends_a_row(rest: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_alphanumeric();
    if rest.starts_with(is_alphanumeric) {
        return false;
    }
    let part = rest.strip_prefix('-').unwrap_or_default().split(|c| !is_alphanumeric(c)).next().unwrap_or_default();
    let is_version = (1..=MAX_VERSION_DIGITS).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    !is_version
}

fn dashed(name: &str) -> String {
    name.replace('.', "-")
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

    #[test]
    fn names_as_clients_send_them_find_their_row() {
        let rows = [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-opus-4-1-20250805", "claude-opus-4-1"),
            ("claude-opus-4@20250514", "claude-opus-4"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
            ("anthropic/claude-opus-4.6", "claude-opus-4-6"),
            ("anthropic/claude-opus-4.7", "claude-opus-4-7"),
            ("openrouter/anthropic/claude-sonnet-5.5", "claude-sonnet-5-5"),
            ("eu.anthropic.claude-opus-4-7-v1:0", "claude-opus-4-7"),
            ("claude-fable-5.2", "claude-fable-5-2"),
            ("gpt-5-codex", "gpt-5-codex"),
            ("gpt-4.1-mini-2025-04-14", "gpt-4-1-mini"),
            ("gpt-4.1", "gpt-4-1"),
            ("gpt-4-1106-preview", "gpt-4-1106-preview"),
            ("gpt-4-0613", "gpt-4-0613"),
            ("openai/gpt-5.6", "gpt-5-6"),
            ("o3-2025-04-16", "o3"),
            ("models/gemini-2.5-flash", "gemini-2-5-flash"),
            ("gemini-2.5-pro", "gemini-2-5-pro"),
            ("deepseek-chat", "deepseek-chat"),
            ("deepseek/deepseek-v3.1:free", "deepseek-v3-1"),
            ("kimi-k2-0905-preview", "kimi-k2-0905"),
            ("moonshot-ai/kimi-k2.7-code", "kimi-k2-7"),
            ("claude-opus-4-0", "claude-opus-4-0"),
            ("anthropic.claude-v2:1", "claude-v2"),
            ("us.meta.llama3-1-70b-instruct-v1:0", "llama3-1"),
            ("openai.gpt-oss-120b-1:0", "gpt-oss"),
            ("ft:gpt-4o-mini-2024-07-18:owner::id", "gpt-4o-mini"),
            ("gpt-5-chat-latest", "gpt-5-chat"),
            ("qwen2.5-coder:32b", "qwen2-5-coder"),
            ("glm-4.6", "glm-4-6"),
            ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3-coder"),
            ("grok-code-fast-1", "grok-code-fast-1"),
        ];
        for (name, row) in rows {
            assert_eq!(model(name).map(|model| dashed(&model.name)).as_deref(), Some(row), "{name}");
        }
    }

    #[test]
    fn a_version_that_the_table_does_not_know_is_not_taken_for_another() {
        for name in ["gpt-4.6", "claude-opus-4-9", "claude-opus-4.9", "gpt-45", "gpt-7", "claude-sonnet-6"] {
            assert!(model(name).is_none(), "{name} is taken for {:?}", model(name));
        }
    }

    #[test]
    fn a_row_fits_the_smallest_model_of_its_name() {
        let fits = |name: &str| model(name).map(|row| row.window - row.reserve);
        assert_eq!(fits("gpt-5.1-codex"), Some(272_000));
        assert_eq!(fits("claude-sonnet-4-5"), Some(175_000));
        for (name, window) in [
            ("o1-mini", 128_000),
            ("kimi-k2-0711-preview", 131_072),
            ("glm-4.5-air", 128_000),
            ("grok-3-mini", 131_072),
            ("Meta-Llama-3-8B-Instruct", 8_192),
            ("Meta-Llama-3.1-8B-Instruct", 128_000),
        ] {
            assert_eq!(model(name).map(|row| row.window), Some(window), "{name}");
        }
    }

    #[test]
    fn every_row_is_found_by_its_name_and_leaves_room() {
        for row in models() {
            assert_eq!(model(&row.name), Some(row));
            assert!(row.reserve > 0 && row.reserve <= row.window / 2, "{}", row.name);
            assert!(row.price.read_permille <= 1_000 && row.price.write_permille >= 1_000, "{}", row.name);
        }
    }

    #[test]
    fn no_two_rows_share_a_name() {
        let mut names: Vec<String> = models().iter().map(|row| dashed(&row.name)).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
