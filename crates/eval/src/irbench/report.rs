//! How is a matrix shown? Rows with outcome and cost side by side, and the same rows as text, CSV, JSON, Markdown and HTML.
//!
//! Every row names its agent; no figure of a run is shown without its cost.

mod rows;
mod text;
mod csv;
mod markdown;
mod picture;
mod html;

pub use csv::{results_csv, runs_csv, turns_csv};
pub use html::html;
pub use markdown::markdown;
pub use rows::{Change, LIMITS, Report, Row};
pub use text::text;
