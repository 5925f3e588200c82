//! How long is this text? Exact and estimated token counts for LLM request bodies.
//!
//! Pure: no files, clock, network, environment, threads or randomness. The same text gives the same count anywhere.
//! Text that looks like a control token is text.
//!
//! ```
//! use liveset_tokens::{Family, counter, model};
//! let model = model("gpt-4.1-2025-04-14").ok_or("not in the table")?;
//! assert_eq!(counter(model.family).count("how many tokens is this?").0, 6);
//! # Ok::<(), &str>(())
//! ```

mod tokens;
mod marks;
mod counter;
mod model;
mod layout;
mod classes;
mod pieces;
mod vocabulary;
mod memory;
mod merge;
mod exact;
mod estimate;
mod cache;
mod media;

pub use cache::CountCache;
pub use counter::{Exactness, TokenCounter};
pub use estimate::{counter, o200k, unknown_counter};
pub use marks::LineMarks;
pub use media::{DOCUMENT_TOKENS, ImageDetail, ImageRule, image_size, image_tokens};
pub use model::{Family, Model, Price, model, models};
pub use tokens::Tokens;
