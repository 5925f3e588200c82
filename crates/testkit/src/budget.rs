//! How tight is the window? Budgets as shares of a body's size, so that every step of a plan is reached.

use proptest::prelude::*;

/// A window and the settings that decide when and how far a sweep goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The window in thousandths of the body's tokens.
    pub window_permille: u64,
    /// What is kept free for the answer, in percent of the window.
    pub reserve_percent: u64,
    /// Where a sweep starts, in percent of window less reserve.
    pub trigger_percent: u8,
    /// Where it aims.
    pub target_percent: u8,
    /// Tokens that an edit must save.
    pub min_gain: u64,
    /// What a sweep must free, in percent of the window.
    pub min_sweep_gain_percent: u8,
    /// What becomes of signed reasoning behind an edit: a value of the setting `reasoning`.
    pub reasoning: &'static str,
    /// How the agent gets an original back: a value of the setting `recall_route`.
    pub route: &'static str,
    /// Who sums up the oldest units: a value of the setting `summary.kind`.
    pub summary: &'static str,
}

impl Budget {
    /// Gives the window for a body of the size given; at least one token.
    ///
    /// ```
    /// # use liveset_testkit::Budget;
    /// let half = Budget { window_permille: 500, ..Budget::DEFAULT };
    /// assert_eq!(half.window_tokens(3_000), 1_500);
    /// ```
    #[must_use]
    pub fn window_tokens(&self, body_tokens: u64) -> u64 {
        (body_tokens.saturating_mul(self.window_permille) / 1_000).max(1)
    }

    /// Gives the reserve for that body.
    #[must_use]
    pub fn reserve_tokens(&self, body_tokens: u64) -> u64 {
        self.window_tokens(body_tokens).saturating_mul(self.reserve_percent) / 100
    }

    /// The product's defaults, with a window of the body's own size.
    pub const DEFAULT: Budget = Budget {
        window_permille: 1_000,
        reserve_percent: 0,
        trigger_percent: 92,
        target_percent: 60,
        min_gain: 32,
        min_sweep_gain_percent: 5,
        reasoning: "respect",
        route: "none",
        summary: "none",
    };
}

/// Generates budgets: roomy ones, sweeps, refusals, forced steps, and windows that nothing fits.
pub fn budgets() -> impl Strategy<Value = Budget> {
    let window = prop_oneof![1 => 1_u64..150, 4 => 150_u64..600, 4 => 600_u64..1_000, 1 => 1_000_u64..2_000];
    let reserve = prop_oneof![3 => Just(0_u64), 1 => 1_u64..40];
    let limits = prop_oneof![
        2 => Just((92_u8, 60_u8)),
        1 => Just((100, 100)),
        1 => (20_u8..=100, 10_u8..=100).prop_map(|(a, b)| (a.max(b), a.min(b))),
    ];
    let min_gain = prop_oneof![3 => Just(32_u64), 1 => Just(1), 1 => Just(0), 1 => Just(200)];
    let min_sweep = prop_oneof![2 => Just(5_u8), 2 => Just(0), 1 => 1_u8..60];
    let reasoning = prop_oneof![3 => Just("respect"), 1 => Just("keep"), 1 => Just("drop")];
    let route = prop_oneof![
        3 => Just("none"), 1 => Just("tool"), 1 => Just("mcp"), 1 => Just("shell"), 1 => Just("spill:.liveset/cut")
    ];
    let summary = Just("none");
    let amounts = (window, reserve, limits, min_gain, min_sweep);
    (amounts, reasoning, route, summary).prop_map(|(amounts, reasoning, route, summary)| {
        let (window_permille, reserve_percent, (trigger_percent, target_percent), min_gain, min_sweep_gain_percent) =
            amounts;
        Budget {
            window_permille,
            reserve_percent,
            trigger_percent,
            target_percent,
            min_gain,
            min_sweep_gain_percent,
            reasoning,
            route,
            summary,
        }
    })
}
