//! Law 8 for one text that was shaped by itself: whole lines in order with true gaps, and JSON stays JSON.

use super::{gaps, json_gaps};

/// Checks a shaped text against its source.
///
/// ```
/// use liveset_testkit::laws::law_shaped;
/// assert!(law_shaped(b"[1, 2, 3]", br#"[1, "[elements 2-3 of 3 left out]"]"#).is_ok());
/// assert!(law_shaped(b"[1, 2, 3]", b"[1, 2").is_err());
/// assert!(law_shaped(b"a\nb\nc\n", b"a\n[lines 2-3 of 3 left out]\n").is_ok());
/// ```
///
/// # Errors
/// Says what of the text is neither its source nor a true gap, or that it is no JSON any more.
pub fn law_shaped(source: &[u8], text: &[u8]) -> Result<(), String> {
    if source == text {
        return Ok(());
    }
    let checked =
        if json_gaps::is_value(source) { json_gaps::gapped(source, text) } else { gaps::gapped(source, text) };
    checked.map_err(|error| format!("no invention: {error}"))
}
