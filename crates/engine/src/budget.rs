//! How much room is there, and when is a sweep due?
//!
//! Numbers in, numbers out; the request's own fields (`max_tokens`) never decide.

use liveset_tokens::{Model, Tokens};

use crate::{
    error::{Error, Result},
    policy::Policy,
};

/// No setting in tokens is over this: sums of them never overflow, and no model comes near it.
pub const MAX_TOKENS: u64 = 1 << 56;

/// The largest step in which the fixed part is charged for the trigger (DESIGN section 6).
const MAX_FIXED_STEP: u64 = 2_048;
/// The same as a share of the window.
const FIXED_STEPS_PER_WINDOW: u64 = 64;
/// Share of a window given by hand that stays free for the reply, unless `reserve` says otherwise.
const RESERVE_SHARE: u64 = 8;

/// The limits of one model under one policy, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Budget {
    /// The context window.
    pub window: Tokens,
    /// What stays free for the reply.
    pub reserve: Tokens,
    /// Window less reserve: what a body may hold.
    pub room: Tokens,
    /// A view over this starts a sweep.
    pub trigger: Tokens,
    /// A sweep ends at or under this.
    pub target: Tokens,
    /// What a sweep frees at least.
    pub min_sweep_gain: Tokens,
    /// The fixed part is charged rounded up to a multiple of this, for the trigger only.
    pub fixed_step: Tokens,
}

/// Where a window came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// The policy's `window`.
    Policy,
    /// The model table.
    Model,
    /// The policy's `default_window`, since the table does not know the model.
    Default,
}

impl Budget {
    /// Computes the limits for a model; `None` stands for a model that the table does not know.
    ///
    /// ```
    /// use liveset_engine::{budget::Budget, policy::Policy};
    /// let policy = Policy::from_toml("window = 1000\nreserve = 0")?;
    /// let (budget, _) = Budget::of(&policy, None)?;
    /// assert_eq!((budget.trigger.0, budget.target.0), (920, 600));
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Policy`] when no window is known, the reserve takes all of it, or a setting is over [`MAX_TOKENS`].
    pub fn of(policy: &Policy, model: Option<&Model>) -> Result<(Self, WindowSource)> {
        let limited = [
            ("window", policy.window),
            ("reserve", policy.reserve),
            ("default_window", policy.default_window),
            ("min_gain", Some(policy.min_gain)),
        ];
        if let Some((name, Some(tokens))) = limited.into_iter().find(|(_, tokens)| *tokens > Some(MAX_TOKENS)) {
            return Err(Error::Policy { why: format!("`{name}` is {tokens}, more than {MAX_TOKENS} tokens") });
        }
        let (window, source) = match (policy.window, model, policy.default_window) {
            (Some(window), _, _) => (window, WindowSource::Policy),
            (None, Some(model), _) => (model.window, WindowSource::Model),
            (None, None, Some(window)) => (window, WindowSource::Default),
            (None, None, None) => {
                return Err(Error::Policy {
                    why: "the model is not in the table and no `window` or `default_window` is set".to_owned(),
                });
            }
        };
        let reserve = match (policy.reserve, model, source) {
            (Some(reserve), _, _) => reserve,
            (None, Some(model), WindowSource::Model) => model.reserve,
            (None, _, _) => window / RESERVE_SHARE,
        };
        if reserve >= window {
            return Err(Error::Policy { why: format!("`reserve` ({reserve}) takes the whole window ({window})") });
        }
        let room = window - reserve;
        let budget = Self {
            window: Tokens(window),
            reserve: Tokens(reserve),
            room: Tokens(room),
            trigger: percent(room, policy.trigger),
            target: percent(room, policy.target),
            min_sweep_gain: percent(window, policy.min_sweep_gain),
            fixed_step: Tokens(MAX_FIXED_STEP.min(window / FIXED_STEPS_PER_WINDOW).max(1)),
        };
        Ok((budget, source))
    }

    /// Gives the limits in a window of at most `window`: the reserve stays where it leaves room, every share is the same.
    #[must_use]
    pub(crate) fn narrowed(&self, window: Tokens) -> Self {
        let window = window.min(self.window).0.max(1);
        let reserve = if self.reserve.0 < window { self.reserve.0 } else { window / RESERVE_SHARE };
        let room = window - reserve;
        let share = |part: Tokens, whole: Tokens, of: u64| {
            let share = u128::from(part.0) * u128::from(of) / u128::from(whole.0.max(1));
            Tokens(u64::try_from(share).unwrap_or(u64::MAX))
        };
        Self {
            window: Tokens(window),
            reserve: Tokens(reserve),
            room: Tokens(room),
            trigger: share(self.trigger, self.room, room),
            target: share(self.target, self.room, room),
            min_sweep_gain: share(self.min_sweep_gain, self.window, window),
            fixed_step: Tokens(MAX_FIXED_STEP.min(window / FIXED_STEPS_PER_WINDOW).max(1)),
        }
    }

    /// Gives the same limits with a sweep due as soon as the view is over the target.
    #[must_use]
    pub(crate) fn triggered_at_target(&self) -> Self {
        Self { trigger: self.target, ..*self }
    }

    /// Gives the fixed part (tools, system) as the trigger charges it.
    #[must_use]
    pub fn charged_fixed(&self, fixed: Tokens) -> Tokens {
        Tokens(fixed.0.div_ceil(self.fixed_step.0).saturating_mul(self.fixed_step.0))
    }
}

fn percent(of: u64, percent: u32) -> Tokens {
    let share = u128::from(of) * u128::from(percent) / 100;
    Tokens(u64::try_from(share).unwrap_or(u64::MAX))
}
