//! A bench whose window is a share of the body it is about.

use liveset::{Policy, Preset, ReasoningGuard, SummaryKind};
use liveset_testkit::{Budget, Format};
use proptest::prelude::*;

use crate::bench::{Bench, size};

/// Every preset, as a dimension of what is generated.
pub(crate) fn presets() -> impl Strategy<Value = Preset> {
    prop::sample::select(Preset::ALL.to_vec())
}

/// A policy whose window is a share of `tokens`.
pub(crate) fn policy_of(tokens: u64, budget: &Budget, preset: Preset) -> Policy {
    let mut policy = Policy::default();
    policy.preset = preset;
    policy.window = Some(budget.window_tokens(tokens));
    policy.reserve = Some(budget.reserve_tokens(tokens).min(budget.window_tokens(tokens).saturating_sub(1)));
    policy.trigger = u32::from(budget.trigger_percent);
    policy.target = u32::from(budget.target_percent);
    policy.min_gain = budget.min_gain;
    policy.reasoning = match budget.reasoning {
        "keep" => ReasoningGuard::Keep,
        "drop" => ReasoningGuard::Drop,
        _ => ReasoningGuard::Respect,
    };
    policy.recall_route = budget.route.parse().expect("a budget names a route");
    policy.summary.kind = match budget.summary {
        "extractive" => SummaryKind::Extractive,
        "model" => SummaryKind::Model,
        _ => SummaryKind::None,
    };
    policy.min_sweep_gain = u32::from(budget.min_sweep_gain_percent);
    policy
}

impl Bench {
    /// A policy whose window is a share of the body.
    pub(crate) fn of_budget(format: Format, body: &[u8], budget: &Budget, preset: Preset) -> Self {
        Self::new(format, policy_of(size(format, body), budget, preset))
    }
}
