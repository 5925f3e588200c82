//! What stands for the oldest units where rules are not enough? The table `summary`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sweep writes in place of the oldest units once its other steps are through.
///
/// ```
/// use liveset_engine::policy::{Policy, SummaryKind};
/// let policy = Policy::from_toml("[summary]\nkind = \"extractive\"\nshare = 50\n")?;
/// assert_eq!((policy.summary.kind, policy.summary.share), (SummaryKind::Extractive, 50));
/// assert_eq!(Policy::default().summary.kind, SummaryKind::None);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Summary {
    /// Who writes it.
    pub kind: SummaryKind,
    /// Share (percent) of the view, from its oldest unit on, that one summary stands for.
    pub share: u32,
    /// Tokens of the view that one summary stands for at most: what its writer can read.
    pub max_input: u64,
    /// Tokens of a model's summary at most; a longer one is not taken.
    pub max_tokens: u64,
}

/// Who writes what stands for the oldest units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryKind {
    /// Nobody: the units stay.
    #[default]
    None,
    /// The engine: a line for each call and each text, in their own words.
    Extractive,
    /// A model that the caller asks; where it gives nothing of use, as `extractive`.
    Model,
}

impl SummaryKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::None, Self::Extractive, Self::Model];

    /// Gives the name that flags and policies use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Extractive => "extractive",
            Self::Model => "model",
        }
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self { kind: SummaryKind::None, share: 33, max_input: 60_000, max_tokens: 1_000 }
    }
}

impl Summary {
    /// Checks what types alone cannot say.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=100).contains(&self.share) {
            return Err("`share` of `summary` is a percentage from 1 to 100".to_owned());
        }
        if self.max_tokens < 100 || self.max_input <= self.max_tokens {
            return Err("`max_tokens` of `summary` is at least 100 and below `max_input`".to_owned());
        }
        Ok(())
    }
}
