//! What did an agent do? Importers from trace files to the request bodies a model was sent, at each request point.
//!
//! A trace is read once; bodies are then cut anywhere. Content is spliced from the file byte for byte, never
//! re-serialised, and nothing is invented: what a trace lacks is missing from the body, and what had to be moved or
//! left out is listed as a [`Warning`].
//!
//! To add an importer: one module with `fit` (does this file look like mine?) and `read`, one variant of
//! [`TraceFormat`], one row in the table beside it.
//!
//! This crate reads no files and knows nothing of the engine: bytes in, bytes out.
//!
//! ```
//! use liveset_traces::{Detection, Trace, detect};
//!
//! let file = br#"[{"role":"system","content":"help"},{"role":"user","content":"hi"}]"#;
//! if let Detection::Trace(format) = detect(file) {
//!     let trace = Trace::read(format, file)?;
//!     let body = trace.conversations()[0].body()?;
//!     assert!(body.starts_with(br#"{"messages":[{"role":"system""#));
//! }
//! # Ok::<(), liveset_traces::Error>(())
//! ```

mod error;
mod warning;
mod fidelity;
mod wire;
mod json;
mod quote;
mod source;
mod sample;
mod history;
mod records;
mod kinds;
mod pairs;
mod turns;
mod chat;
mod conversation;
mod chat_history;
mod swe_agent;
mod message_lists;
mod claude_code;
mod codex;
mod tau2;
mod gemini;
mod pi;
mod openhands;
mod inspect;
mod langchain;
mod intercode;
mod format;
mod trace;
mod detect;

pub use conversation::Conversation;
pub use detect::{Detection, detect};
pub use error::Error;
pub use fidelity::Fidelity;
pub use format::TraceFormat;
pub use trace::Trace;
pub use warning::Warning;
