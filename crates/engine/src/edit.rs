//! What is to be changed in a body? Edits as data: places in the original and what stands there instead.
//!
//! Holds no policy: an edit says what happens, not whether it should.

use std::sync::Arc;

use liveset_tokens::Tokens;

use crate::{
    content_id::ContentId,
    error::{Error, Result},
    report::{EditKind, EditReport},
    span::Span,
    transcript::{ItemIdx, UnitIdx},
};

/// One replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Bytes of the original body that go.
    pub span: Span,
    /// Bytes that stand there instead: JSON as it is written.
    pub with: Arc<str>,
    /// How the removed bytes come back from the stored original.
    pub back: Back,
}

/// How removed bytes are written again from an original.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Back {
    /// Bytes `start..end` of the original text, escaped as this crate escapes.
    Text {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
    },
    /// Bytes `start..end` of the original text, escaped so twice: a text of a JSON object that stands in a string.
    Nested {
        /// First byte.
        start: usize,
        /// After the last byte.
        end: usize,
    },
    /// The original's bytes as they are.
    Verbatim,
    /// These bytes: the client escapes in its own way.
    Raw(Arc<str>),
}

/// When an edit was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditAge {
    /// Now: its text is still to be checked, its original to be stored.
    Fresh,
    /// In an earlier turn of the session.
    Known,
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The item.
    pub item: ItemIdx,
    /// Its unit.
    pub unit: Option<UnitIdx>,
    /// What kind of change.
    pub kind: EditKind,
    /// The sweep's step that made it; `None` for intake.
    pub step: Option<u8>,
    /// Why, in facts.
    pub reason: String,
    /// The tool's name.
    pub tool: Option<String>,
    /// The call's id.
    pub call_id: Option<String>,
    /// The item's size as it arrived.
    pub tokens_before: Tokens,
    /// The item's size as it leaves.
    pub tokens_after: Tokens,
    /// The item whose line stands for it, where it went whole with its unit.
    pub carrier: Option<ItemIdx>,
    /// The original's name in the archive.
    pub archive_id: ContentId,
    /// Whether it was written in this turn, or an earlier one wrote and checked the same bytes.
    pub age: EditAge,
    /// The replacements, sorted, apart from each other.
    pub splices: Vec<Splice>,
}

impl Edit {
    /// Says whether a whole unit goes with it, and nothing stands in its place.
    #[must_use]
    pub fn removes_unit(&self) -> bool {
        let may = matches!(self.kind, EditKind::Drop | EditKind::Fold | EditKind::Summary);
        may && self.splices.iter().all(|splice| splice.with.is_empty())
    }

    /// Gives what a report says of it.
    #[must_use]
    pub fn report(&self) -> EditReport {
        EditReport {
            item: self.item.0,
            unit: self.unit.map(|unit| unit.0),
            kind: self.kind,
            tool: self.tool.clone(),
            call_id: self.call_id.clone(),
            reason: self.reason.clone(),
            step: self.step,
            tokens_before: self.tokens_before.0,
            tokens_after: self.tokens_after.0,
            carrier: self.carrier.map(|carrier| carrier.0),
            archive_id: self.archive_id.to_string(),
        }
    }
}

/// Checks that splices are sorted, apart from each other and inside the body.
///
/// # Errors
///
/// [`Error::Edit`] names the first byte of the first offender.
pub fn check_order<'s>(body_len: usize, splices: impl Iterator<Item = &'s Splice>) -> Result<()> {
    let mut end = 0;
    for splice in splices {
        if splice.span.start() < end || splice.span.end() > body_len {
            return Err(Error::Edit { offset: splice.span.start() });
        }
        end = splice.span.end();
    }
    Ok(())
}
