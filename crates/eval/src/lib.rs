//! Did it hurt? What a cut costs the agent: outcome and interaction cost, with intervals.
//!
//! Measures any strategy, ours and others', and decides nothing about what is cut. The same input gives the same figures
//! on any machine and with any number of threads; only an agent that asks a model does not.

pub mod prng;
pub mod stats;
pub mod irbench;
pub mod protocol;
pub mod words;
mod commands;
pub mod retention;
pub mod strategies;
pub mod money;
pub mod replay;
