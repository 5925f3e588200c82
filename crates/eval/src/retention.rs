//! What would a cut have cost the agent that a trace shows? Text that it used again, and whether that was still there.
//!
//! The study's metric in its own words: a use is text that a message quotes for the first time and that a result held.
//! Knows no wire format and no policy of ours; it is the referee, and shares no code with the engine's own shingles.

mod text;
mod trajectory;
mod occurrences;
mod uses;
mod tally;
mod evidence;
mod view;
mod keep;
mod static_score;
mod replay_score;
mod corpus;
mod table;

pub use corpus::{Corpus, Source};
pub use evidence::Evidence;
pub use keep::Keeping;
pub(crate) use keep::Situation;
pub use replay_score::{ReplayScore, Replaying, Rereads, replay};
pub use static_score::{CUTS, StaticScore, score};
pub use table::{Difference, Row, compare};
pub(crate) use tally::Tally;
pub(crate) use trajectory::Presence;
pub use trajectory::Trajectory;
pub use uses::{Use, Uses};
pub(crate) use view::Kept;
pub use view::View;
