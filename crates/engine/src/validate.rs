//! What would a provider refuse in this body, and what did a change break? The offline validator.
//!
//! A second reading of the body beside [`wire`](crate::wire), on the outline alone. Never edits, never asks a model or a
//! network.
//!
//! Each [`Code`] is a line of section 6 of `wire-formats.md`, its words joined by `_`, or a further rule of sections 0 to 3;
//! the codes' docs cite the lines. Lines that the sources mark as unproven are checked all the same, so `unproven` in a
//! code's docs means that the provider may be milder. `signature_missing` belongs to Gemini and comes with that format.
//!
//! Codes marked `Change` need the original: [`check_against`].
//!
//! | words of section 6 | code |
//! |---|---|
//! | lost / edited / reordered reasoning | `reasoning_lost`, `reasoning_edited`, `reasoning_reordered` |
//! | >4 marks | `too_many_marks` |
//! | compaction block not first / edited | `compaction_block_not_first`, `compaction_block_edited` |
//! | media inside is_error, TTL order, server-tool result orphan | the same in small letters, `-` as `_` |
//! | every other entry | the same |

mod code;
mod paths;
mod defect;
mod reading;
mod pairs;
mod surrogates;
mod declared;
mod marks;
mod sources;
mod anthropic_messages;
mod openai_chat;
mod openai_responses;
mod digest;
mod pieces;
mod dissect;
mod matching;
mod change;
mod novelty;

pub use change::Epoch;
pub use code::Code;
pub use defect::{Defect, MAX_DEFECTS_PER_CODE};
pub use novelty::new_defects;

use crate::{json::Outline, transcript::WireFormat};
use defect::Findings;
use reading::Reading;

/// Finds what a provider would refuse in a body, in the order of its bytes.
///
/// The body may be a whole request or a bare list of messages (of items, for Responses). Of each code the first
/// [`MAX_DEFECTS_PER_CODE`] are given.
///
/// ```
/// use liveset_engine::{json::Outline, transcript::WireFormat, validate};
/// let body = br#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"ok"}]"#;
/// let defects = validate::check(WireFormat::OpenaiChat, &Outline::read(body)?);
/// assert_eq!(defects[0].to_string(), "orphan_result at byte 32 ([1]): no call with this id comes before it");
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn check(format: WireFormat, outline: &Outline<'_>) -> Vec<Defect> {
    findings(format, outline).finish(outline)
}

/// Finds what a provider would refuse in `output`, and what differs from `original` that may not differ.
///
/// ```
/// use liveset_engine::{json::Outline, transcript::WireFormat, validate::{self, Code, Epoch}};
/// let call = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
/// let result = r#"{"type":"function_call_output","call_id":"a","output":"ok"}"#;
/// let reasoning = r#"{"type":"reasoning","id":"r","encrypted_content":"x"}"#;
/// let original = format!("[{reasoning},{call},{result}]");
/// let output = format!("[{call},{result}]");
/// let defects = validate::check_against(
///     WireFormat::OpenaiResponses,
///     &Outline::read(original.as_bytes())?,
///     &Outline::read(output.as_bytes())?,
///     Epoch::Declared,
/// );
/// assert_eq!(defects[0].code, Code::CallWithoutItsReasoning);
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[must_use]
pub fn check_against(format: WireFormat, original: &Outline<'_>, output: &Outline<'_>, epoch: Epoch) -> Vec<Defect> {
    let mut found = findings(format, output);
    let mut gone = Findings::default();
    let before = dissect::pieces(format, Reading::new(original));
    let after = dissect::pieces(format, Reading::new(output));
    change::check(format, &before, &after, epoch, &mut found, &mut gone);
    let mut defects = found.finish(output);
    defects.extend(gone.finish(original));
    defects.sort();
    defects
}

fn findings(format: WireFormat, outline: &Outline<'_>) -> Findings {
    let mut found = Findings::default();
    let reading = Reading::new(outline);
    match format {
        WireFormat::Anthropic => anthropic_messages::check(reading, &mut found),
        WireFormat::OpenaiChat => openai_chat::check(reading, &mut found),
        WireFormat::OpenaiResponses => openai_responses::check(reading, &mut found),
    }
    surrogates::check(outline, &mut found);
    found
}
