//! Was the answer lawful? One check per law of the design, over plain bytes and closures.
//!
//! Each check says in words what is wrong and where. Checks share nothing with the engine.

mod changes;
mod entries;
mod fidelity;
mod folds;
mod gaps;
mod invention;
mod json_gaps;
mod outcome;
mod prefix;
mod protected;
mod reasoning;
mod removal;
mod report;
mod routes;
mod runs;
mod shaped;
mod sizes;
mod summaries;
mod tombstones;
mod validity;
mod validity_chat;
mod validity_messages;
mod validity_responses;

pub use fidelity::law_fidelity;
pub use invention::law_no_invention;
pub use outcome::Outcome;
pub use prefix::law_prefix_stability;
pub use protected::{Pins, law_protected};
pub use reasoning::{Guard, law_reasoning};
pub use report::law_report;
pub use routes::law_routes;
pub use runs::{Run, law_bounded, law_determinism, law_idempotence, law_identity, law_recoverability};
pub use shaped::law_shaped;
pub use sizes::{law_honest_size, law_never_worse};
pub use validity::{defects, law_validity};

#[cfg(test)]
mod self_test;
