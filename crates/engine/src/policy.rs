//! Which settings decide what goes? Every setting, its default and its limits, in one place.
//!
//! Reads text it is handed, never a file; unknown keys are errors with a hint.

mod dispatch;
mod intake;
mod recall_route;
mod summary;

pub use dispatch::{Dispatch, DispatchOrder};
pub use intake::{DEFAULT_MAX_CHARS, Intake, IntakeRow, MIN_MAX_CHARS, MIN_MAX_LINES, Shape, Strategy};
pub use recall_route::{MAX_FOLDER_BYTES, RecallRoute, SpillFolder};
pub use summary::{Summary, SummaryKind};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Version of everything that decides bytes: templates, tables, defaults. `0` may change with a changelog line.
pub const CONTRACT: u32 = 0;

/// Every setting of a compaction.
///
/// ```
/// use liveset_engine::policy::Policy;
/// let policy = Policy::from_toml("window = 50_000\ntarget = 45\n")?;
/// assert_eq!(policy.window, Some(50_000));
/// assert_eq!(policy.trigger, 92);
/// assert!(Policy::from_toml("windw = 1").unwrap_err().to_string().contains("did you mean `window`"));
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Policy {
    /// The order in which things go.
    pub preset: Preset,
    /// Context window in tokens; unset: from the model table.
    pub window: Option<u64>,
    /// Window for models that the table does not know; unset: an unknown model is an error.
    pub default_window: Option<u64>,
    /// Tokens kept free for the reply; unset: from the model table, or an eighth of a window given here.
    pub reserve: Option<u64>,
    /// A sweep starts where the view is over this share (percent) of window less reserve.
    pub trigger: u32,
    /// A sweep ends at this share (percent) of window less reserve.
    pub target: u32,
    /// Tokens that each edit saves at least.
    pub min_gain: u64,
    /// Share (percent) of the window that a sweep frees at least, unless the body would not fit otherwise.
    pub min_sweep_gain: u32,
    /// Pictures in tool results that a sweep leaves, newest first.
    pub keep_media: u32,
    /// Whether a sweep of `balanced` cuts what calls wrote to files out of their arguments.
    pub args: ArgumentRules,
    /// Characters of a tool result that are kept when it is first seen (with an archive).
    pub max_result_chars: u64,
    /// The same without an archive.
    pub max_result_chars_unarchived: u64,
    /// Whether originals are stored before a body is handed out; set by whoever hands in the archive, never by a file.
    #[serde(skip)]
    pub archive: ArchiveUse,
    /// How the agent gets an original back; decides the last words of tombstones.
    pub recall_route: RecallRoute,
    /// What happens where signed or encrypted reasoning follows an edit.
    pub reasoning: ReasoningGuard,
    /// Ids of calls whose results are never touched.
    pub pins: Vec<String>,
    /// How a tool result is shaped when it is first seen: a table of `strategy`, `max_chars` and `max_lines`, with rows of
    /// its own for tools (`[intake.tools.NAME]`) and for files by the path in the call (`[intake.files."*.ext"]`).
    pub intake: Intake,
    /// How a sweep of `dispatch` goes: a table of `share` and `order`.
    pub dispatch: Dispatch,
    /// What stands for the oldest units where the other steps are not enough: a table of `kind`, `share`, `max_input` and
    /// `max_tokens`.
    pub summary: Summary,
}

/// The order in which things go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// Old pictures, then passages of tool results by score, then written files in arguments, then the newest results'
    /// middles.
    #[default]
    Balanced,
    /// By tool name: written files in arguments, file and search results; each becomes a short constant line.
    Rules,
    /// Each result that no later message names, quotes or paraphrases, but the newest; then the oldest whole batches.
    Liveness,
    /// By size and age: each result is shaped to 2,000 characters when it is first seen; over `trigger` results and
    /// written files in the older part of the view go, and then runs of old calls.
    Dispatch,
}

impl Preset {
    /// All presets, in the order of the documentation.
    pub const ALL: [Preset; 4] = [Self::Balanced, Self::Rules, Self::Liveness, Self::Dispatch];

    /// Gives the name that flags and policies use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Rules => "rules",
            Self::Liveness => "liveness",
            Self::Dispatch => "dispatch",
        }
    }
}

/// Whether a sweep of `balanced` cuts what calls wrote to files out of their arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentRules {
    /// After the passages of results, oldest first, down to the target; what may be the only witness of a passage stays.
    #[default]
    On,
    /// Arguments stay.
    Off,
}

/// Whether originals are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArchiveUse {
    /// Nothing is stored: only what is far too large is cut at intake.
    #[default]
    Off,
    /// Originals and manifest are stored before the body is handed out.
    On,
}

/// What happens where signed or encrypted reasoning follows an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReasoningGuard {
    /// The sweep waits for the user's next text while the view fits; there reasoning behind the first edit leaves as
    /// whole blocks, whatever each saves, where the format allows. Past the room it sweeps, removes none and says so.
    #[default]
    Respect,
    /// The same, but no reasoning is ever removed by itself.
    Keep,
    /// No sweep waits, and reasoning behind an edit leaves wherever the format allows, also inside a turn.
    Drop,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            preset: Preset::Balanced,
            window: None,
            default_window: None,
            reserve: None,
            trigger: 92,
            target: 60,
            min_gain: 32,
            min_sweep_gain: 5,
            keep_media: 2,
            args: ArgumentRules::On,
            max_result_chars: 100_000,
            max_result_chars_unarchived: 1_000_000,
            archive: ArchiveUse::Off,
            recall_route: RecallRoute::None,
            reasoning: ReasoningGuard::Respect,
            pins: Vec::new(),
            intake: Intake::default(),
            dispatch: Dispatch::default(),
            summary: Summary::default(),
        }
    }
}

impl Policy {
    /// Reads a policy file's text.
    ///
    /// # Errors
    ///
    /// [`Error::Policy`] with line, key and a hint.
    pub fn from_toml(text: &str) -> Result<Self> {
        let policy: Self = toml::from_str(text).map_err(|error| Error::Policy { why: explain(text, &error) })?;
        policy.checked()
    }

    /// Gives the published JSON schema of policy files.
    #[must_use]
    pub fn json_schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(Policy)).unwrap_or_default()
    }

    /// Checks what types alone cannot say.
    ///
    /// # Errors
    ///
    /// [`Error::Policy`] names the key and its limits.
    pub fn checked(self) -> Result<Self> {
        let wrong = |why: &str| Err(Error::Policy { why: why.to_owned() });
        if self.trigger == 0 || self.trigger > 100 {
            return wrong("`trigger` is a percentage from 1 to 100");
        }
        if self.target == 0 || self.target > self.trigger {
            return wrong("`target` is a percentage from 1 up to `trigger`");
        }
        if self.min_sweep_gain > 100 {
            return wrong("`min_sweep_gain` is a percentage up to 100");
        }
        if self.window == Some(0) || self.default_window == Some(0) {
            return wrong("a window is at least 1 token");
        }
        if self.max_result_chars < 2_000 || self.max_result_chars_unarchived < 2_000 {
            return wrong("`max_result_chars` is at least 2000");
        }
        self.intake.check(self.preset).map_err(|why| Error::Policy { why })?;
        self.dispatch.check().map_err(|why| Error::Policy { why })?;
        self.summary.check().map_err(|why| Error::Policy { why })?;
        Ok(self)
    }

    /// Says how a result is shaped when it is first seen (see [`Intake::shape`]); `None` where it is kept.
    ///
    /// ```
    /// use liveset_engine::policy::{Policy, Strategy};
    /// let policy = Policy::from_toml("preset = \"dispatch\"")?;
    /// let shape = policy.shape(&["Bash"], None).unwrap();
    /// assert_eq!((shape.strategy, shape.max_chars), (Strategy::Summary, 2_000));
    /// assert!(Policy::default().shape(&["Bash"], None).is_none());
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    #[must_use]
    pub fn shape(&self, tools: &[&str], path: Option<&str>) -> Option<Shape> {
        self.intake.shape(self.preset, tools, path)
    }

    /// Gives the characters of a result that intake keeps.
    #[must_use]
    pub fn intake_limit(&self) -> u64 {
        match self.archive {
            ArchiveUse::On => self.max_result_chars,
            ArchiveUse::Off => self.max_result_chars_unarchived,
        }
    }
}

fn explain(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
    let message = error.message().lines().next().unwrap_or_default();
    let hint = unknown_key(message).and_then(|key| nearest_key(key, message));
    let hint = hint.map(|key| format!("; did you mean `{key}`?"));
    format!("line {line}: {message}{}", hint.unwrap_or_default())
}

fn unknown_key(message: &str) -> Option<&str> {
    message.strip_prefix("unknown field `")?.split('`').next()
}

/// Finds the key that was meant among those that the message expects at this place.
fn nearest_key(unknown: &str, message: &str) -> Option<String> {
    let (_, expected) = message.split_once(", expected ")?;
    let keys = expected.split('`').skip(1).step_by(2);
    let nearest = keys.map(|key| (strsim::damerau_levenshtein(key, unknown), key)).min()?;
    (nearest.0 <= 3).then(|| nearest.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_line_and_nearest_key_of_a_typo() {
        let error = Policy::from_toml("# mine\ntriger = 90\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("did you mean `trigger`"), "{error}");
    }

    #[test]
    fn a_recall_route_is_told_where_it_is_wrong() {
        let policy = Policy::from_toml("recall_route = \"spill:out\"").unwrap();
        assert_eq!(policy.recall_route.to_string(), "spill:out");
        let error = Policy::from_toml("window = 5\nrecall_route = \"spill:/etc\"").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("a folder below"), "{error}");
        assert!(Policy::from_toml("recall_route = \"shel\"").unwrap_err().to_string().contains("shell"));
    }

    #[test]
    fn refuses_a_target_over_the_trigger() {
        assert!(Policy::from_toml("trigger = 50\ntarget = 60").is_err());
    }
}
