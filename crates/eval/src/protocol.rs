//! What did a strategy cost any agent? Outcome and interaction cost of paired runs, from their traces.
//!
//! Runs are matched by name; what has no partner, no outcome or another horizon is refused and listed. No table shows
//! outcome without cost, and calls of tools that no class is known of are counted apart.

mod cost;
mod pairing;
mod comparison;

pub use comparison::{Comparison, Measure};
pub use cost::{Cost, CostClass, CostClasses};
pub use pairing::{Paired, Refused, RunPoint, pair};
