//! How is a result shaped when it is first seen? The table `intake`: a default, rows by tool, rows by file.
//!
//! Says which row holds for a call; knows nothing of texts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Preset;

/// Characters that a strategy leaves where the policy names no limit: a screen or two.
pub const DEFAULT_MAX_CHARS: u64 = 2_000;
/// Fewer would hold little but gaps and the way back.
pub const MIN_MAX_CHARS: u64 = 500;
/// Lines below which gaps and both ends would not have one each.
pub const MIN_MAX_LINES: u64 = 8;

/// How results are shaped when they are first seen, from themselves, their call and this table alone.
///
/// ```
/// use liveset_engine::policy::{Policy, Strategy};
/// let text = "[intake]\nstrategy = \"by_type\"\n[intake.tools.Read]\nstrategy = \"keep\"\n";
/// let policy = Policy::from_toml(text)?;
/// assert_eq!(policy.intake.strategy, Some(Strategy::ByType));
/// let typo = Policy::from_toml("[intake.tools.Bash]\nmax_char = 900\n").unwrap_err().to_string();
/// assert!(typo.contains("did you mean `max_chars`"), "{typo}");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Intake {
    /// What stays of a result over a limit; unset: `keep`, in the preset `dispatch` `summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Characters that stay at most; unset: 2000 with any strategy but `keep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
    /// Lines that stay at most, gaps counted; unset: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u64>,
    /// Rows by the name of the tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, IntakeRow>,
    /// Rows by the path in the call: `*.ext`, or the whole name of a file. They hold before those of tools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, IntakeRow>,
}

/// What holds for some calls; what a row leaves out is as for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct IntakeRow {
    /// What stays of a result over a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Characters that stay at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
    /// Lines that stay at most, gaps counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u64>,
}

/// What stays of a result over a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// All of it, up to the hard limit.
    #[default]
    Keep,
    /// Beginning, middle and end, by whole lines.
    Layered,
    /// By the kind of content: errors and verdicts, then structure, then beginning, end and middle.
    ByType,
    /// Errors, verdicts and structure alone; details by recall.
    Outline,
    /// The beginning and a summary; without summaries as `by_type`.
    HeadSummary,
    /// A summary; without summaries as `by_type`.
    Summary,
}

impl Strategy {
    /// All strategies, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Keep, Self::Layered, Self::ByType, Self::Outline, Self::HeadSummary, Self::Summary];

    /// Gives the name that policies use.
    ///
    /// ```
    /// use liveset_engine::policy::Strategy;
    /// assert_eq!(Strategy::ByType.name(), "by_type");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Layered => "layered",
            Self::ByType => "by_type",
            Self::Outline => "outline",
            Self::HeadSummary => "head_summary",
            Self::Summary => "summary",
        }
    }
}

/// The strategy and the limits that hold for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What stays.
    pub strategy: Strategy,
    /// Characters that stay at most.
    pub max_chars: u64,
    /// Lines that stay at most.
    pub max_lines: u64,
}

impl Intake {
    /// Says how a result is shaped: by the row of its file, else of its tool, else as all others; `None` where it is kept.
    ///
    /// ```
    /// use liveset_engine::policy::{Policy, Preset};
    /// let text = "[intake.tools.Bash]\nstrategy = \"layered\"\nmax_chars = 900\n[intake.files.\"*.log\"]\nmax_chars = 600\n";
    /// let intake = Policy::from_toml(text)?.intake;
    /// assert_eq!(intake.shape(Preset::Balanced, &["Bash"], None).unwrap().max_chars, 900);
    /// assert_eq!(intake.shape(Preset::Balanced, &["Bash"], Some("a/b.log")).unwrap().max_chars, 600);
    /// assert!(intake.shape(Preset::Balanced, &["Read"], None).is_none());
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    #[must_use]
    pub fn shape(&self, preset: Preset, tools: &[&str], path: Option<&str>) -> Option<Shape> {
        let by_tool = tools.iter().find_map(|tool| self.tools.get(*tool)).copied().unwrap_or_default();
        let by_file = path.and_then(|path| self.file_row(path)).unwrap_or_default();
        let strategy = by_file.strategy.or(by_tool.strategy).unwrap_or_else(|| self.strategy_of(preset));
        let max_chars = by_file.max_chars.or(by_tool.max_chars).or(self.max_chars);
        let max_lines = by_file.max_lines.or(by_tool.max_lines).or(self.max_lines);
        (strategy != Strategy::Keep).then(|| Shape {
            strategy,
            max_chars: max_chars.unwrap_or(DEFAULT_MAX_CHARS),
            max_lines: max_lines.unwrap_or(u64::MAX),
        })
    }

    /// Gives the smallest limit that any row could set; `None` where every result is kept. A result over a limit of lines
    /// may be small.
    #[must_use]
    pub(crate) fn least_chars(&self, preset: Preset) -> Option<u64> {
        let rows = || self.tools.values().chain(self.files.values());
        let any = self.strategy_of(preset) != Strategy::Keep
            || rows().any(|row| row.strategy.is_some_and(|strategy| strategy != Strategy::Keep));
        let has_lines = self.max_lines.is_some() || rows().any(|row| row.max_lines.is_some());
        let chars = rows().filter_map(|row| row.max_chars).chain(self.max_chars).chain([DEFAULT_MAX_CHARS]).min();
        any.then(|| if has_lines { 0 } else { chars.unwrap_or(DEFAULT_MAX_CHARS) })
    }

    /// What holds for calls without a row.
    fn strategy_of(&self, preset: Preset) -> Strategy {
        self.strategy.unwrap_or(match preset {
            Preset::Balanced | Preset::Rules | Preset::Liveness => Strategy::Keep,
            Preset::Dispatch => Strategy::Summary,
        })
    }

    /// The row of the longest pattern that the path's last name ends with, a whole name before any pattern.
    fn file_row(&self, path: &str) -> Option<IntakeRow> {
        let name = path.rsplit(['/', '\\']).next()?;
        let fits = |pattern: &&String| pattern.strip_prefix('*').is_some_and(|end| name.ends_with(end));
        let pattern = || self.files.keys().filter(fits).max_by_key(|pattern| pattern.len());
        self.files.get(name).or_else(|| self.files.get(pattern()?)).copied()
    }

    /// Checks what types alone cannot say.
    pub(super) fn check(&self, preset: Preset) -> Result<(), String> {
        let default = IntakeRow {
            strategy: Some(self.strategy_of(preset)),
            max_chars: self.max_chars,
            max_lines: self.max_lines,
        };
        check_row("intake", &default)?;
        for (tool, row) in &self.tools {
            check_row(&format!("intake.tools.{}", tool.escape_debug()), row)?;
        }
        for (pattern, row) in &self.files {
            let literal = pattern.strip_prefix('*').unwrap_or(pattern);
            if literal.is_empty() || literal.contains(['*', '?', '/', '\\']) {
                return Err("a key of `intake.files` is `*.ext` or the name of a file".to_owned());
            }
            check_row(&format!("intake.files.{}", pattern.escape_debug()), row)?;
        }
        Ok(())
    }
}

fn check_row(place: &str, row: &IntakeRow) -> Result<(), String> {
    if row.max_chars.is_some_and(|chars| chars < MIN_MAX_CHARS) {
        return Err(format!("`max_chars` of `{place}` is at least {MIN_MAX_CHARS}"));
    }
    if row.max_lines.is_some_and(|lines| lines < MIN_MAX_LINES) {
        return Err(format!("`max_lines` of `{place}` is at least {MIN_MAX_LINES}"));
    }
    let has_limit = row.max_chars.is_some() || row.max_lines.is_some();
    if row.strategy == Some(Strategy::Keep) && has_limit {
        return Err(format!("`{place}` keeps results, so a limit needs a `strategy` such as \"by_type\""));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::policy::{Policy, Preset};

    fn wrong(text: &str) -> String {
        Policy::from_toml(text).unwrap_err().to_string()
    }

    #[test]
    fn a_row_says_what_is_wrong_with_it() {
        assert!(wrong("[intake]\nmax_chars = 900\n").contains("needs a `strategy`"));
        assert!(wrong("[intake.tools.Bash]\nmax_chars = 9\n").contains("at least 500"));
        assert!(wrong("[intake]\nstrategy = \"by_type\"\nmax_lines = 2\n").contains("at least 8"));
        assert!(wrong("[intake.files.\"src/*\"]\nstrategy = \"keep\"\n").contains("`*.ext`"));
        assert!(wrong("[intake]\nstrategy = \"bytype\"\n").contains("by_type"));
    }

    #[test]
    fn a_file_goes_before_a_tool_and_the_longest_pattern_before_others() {
        let text = "[intake]\nstrategy = \"by_type\"\n[intake.files.\"*.json\"]\nmax_chars = 700\n[intake.files.\"*.lock.json\"]\nmax_chars = 600\n[intake.files.\"package.json\"]\nstrategy = \"keep\"\n";
        let intake = Policy::from_toml(text).unwrap().intake;
        let chars = |path: &str| intake.shape(Preset::Balanced, &["Read"], Some(path)).map(|shape| shape.max_chars);
        assert_eq!(chars("a/b.json"), Some(700));
        assert_eq!(chars("a/b.lock.json"), Some(600));
        assert_eq!(chars("package.json"), None);
        assert_eq!(chars("b.txt"), Some(2_000));
    }
}
