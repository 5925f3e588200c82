//! How does the new body come about? The original's bytes with the splices in their places.
//!
//! Writes nothing but what an edit holds and copies everything else.

use crate::{
    edit::{Edit, Splice, check_order},
    error::Result,
};

/// Splices a plan's edits into a body.
///
/// ```
/// use liveset_engine::{Span, apply, edit::{Back, Splice}};
/// let body = br#"{"content":"a long log"}"#;
/// let splice = Splice { span: Span::new(12, 22), with: "[cut]".into(), back: Back::Text { start: 0, end: 10 } };
/// assert_eq!(apply::splice(body, &[&splice])?, br#"{"content":"[cut]"}"#);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
///
/// # Errors
///
/// The splices are not sorted and apart from each other, or one reaches past the end.
pub fn splice(body: &[u8], splices: &[&Splice]) -> Result<Vec<u8>> {
    check_order(body.len(), splices.iter().copied())?;
    let added: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let removed: usize = splices.iter().map(|splice| splice.span.len()).sum();
    let mut out = Vec::with_capacity((body.len() + added).saturating_sub(removed));
    let mut at = 0;
    for splice in splices {
        out.extend_from_slice(body.get(at..splice.span.start()).unwrap_or_default());
        out.extend_from_slice(splice.with.as_bytes());
        at = splice.span.end();
    }
    out.extend_from_slice(body.get(at..).unwrap_or_default());
    Ok(out)
}

/// Gives all splices of a list of edits in the body's order.
#[must_use]
pub fn in_order(edits: &[Edit]) -> Vec<&Splice> {
    let mut splices: Vec<&Splice> = edits.iter().flat_map(|edit| &edit.splices).collect();
    splices.sort_by_key(|splice| splice.span);
    splices
}
