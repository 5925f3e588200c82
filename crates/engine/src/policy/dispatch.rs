//! What does the preset `dispatch` let go of, and in which order? The table `dispatch`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a sweep of `dispatch` goes.
///
/// ```
/// use liveset_engine::policy::{DispatchOrder, Policy};
/// let policy = Policy::from_toml("preset = \"dispatch\"\n[dispatch]\norder = \"history-first\"\n")?;
/// assert_eq!((policy.dispatch.share, policy.dispatch.order), (70, DispatchOrder::HistoryFirst));
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Dispatch {
    /// Share (percent) of the view, from its beginning, in which tool messages are trimmed.
    pub share: u32,
    /// What goes first.
    pub order: DispatchOrder,
}

/// What a sweep of `dispatch` does first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DispatchOrder {
    /// Results and written files of old calls are trimmed; runs of old calls fold while the view is over the target.
    #[default]
    TrimFirst,
    /// Runs of old calls fold; results and written files are trimmed while the view is over the target.
    HistoryFirst,
}

impl Default for Dispatch {
    fn default() -> Self {
        Self { share: 70, order: DispatchOrder::TrimFirst }
    }
}

impl Dispatch {
    /// Checks what types alone cannot say.
    pub(super) fn check(&self) -> Result<(), String> {
        if (1..=100).contains(&self.share) {
            return Ok(());
        }
        Err("`share` of `dispatch` is a percentage from 1 to 100".to_owned())
    }
}
