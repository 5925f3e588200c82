//! How sure is a difference? Paired tests, intervals and sizes of effects, each held against scipy's own figures.
//!
//! Seeded and free of the system's mathematics library: the same values give the same figures on any machine.

mod normal;
mod wilcoxon;
mod holm;
mod bootstrap;
mod effect;
mod paired;

pub use bootstrap::{Bootstrap, Interval, RESAMPLES};
pub use effect::{cliff_delta, cohen_d};
pub use holm::holm;
pub use paired::{Paired, mean};
pub use wilcoxon::{SignedRank, signed_rank};
