//! What would a strategy have sent, request by request, and what would that have cost the agent and its owner?
//!
//! Reads a conversation of a trace and runs a strategy over it; knows nothing of files or terminals.

mod meter;
mod run;
mod served;

pub use run::{Plan, Replay, Request, evidence, run};
pub use served::Served;
