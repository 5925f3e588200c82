//! Law 2: bytes outside the edits are equal.

use super::changes::changes;
use super::outcome::Outcome;
use crate::format::Format;
use crate::oracle::view::View;

/// Checks that input and output differ only where an edit may be: texts and media of results, and what the report
/// names beyond (arguments by rule, removed units, removed reasoning, moved marks).
///
/// # Errors
/// Says which bytes differ though they may not.
pub fn law_fidelity(format: Format, input: &[u8], outcome: &Outcome) -> Result<(), String> {
    if input == outcome.body {
        return Ok(());
    }
    let view = View::read(format, input).map_err(|error| format!("an unreadable input was changed ({error})"))?;
    changes(&view, outcome, format).map(drop).map_err(|error| format!("fidelity: {error}"))
}
