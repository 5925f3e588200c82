//! What comes out of a call: a body, and the report about it.

use std::borrow::Cow;

use liveset_engine::{
    edit::Edit,
    manifest::{Manifest, Original},
    report::{OutcomeKind, Report},
};

/// A body to send instead of the one that came in, and what was done to it.
#[derive(Debug)]
pub struct Compaction<'b> {
    pub(crate) input: &'b [u8],
    pub(crate) body: Cow<'b, [u8]>,
    pub(crate) report: Report,
    pub(crate) edits: Vec<Edit>,
    pub(crate) originals: Vec<Original>,
}

impl<'b> Compaction<'b> {
    /// Gives the body to send. Where nothing fits it is the smallest lawful body: see [`Compaction::fits`].
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Gives the body to send, without copying it where it is the input.
    #[must_use]
    pub fn into_body(self) -> Cow<'b, [u8]> {
        self.body
    }

    /// Gives the body to send and the report, without copying either.
    #[must_use]
    pub fn into_parts(self) -> (Cow<'b, [u8]>, Report) {
        (self.body, self.report)
    }

    /// Gives the report.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Says whether the body holds no more than window less reserve.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.report.outcome != OutcomeKind::CannotFit
    }

    /// Makes the way back to the input; `None` where the body is the input.
    #[must_use]
    pub fn manifest(&self) -> Option<Manifest> {
        (!self.edits.is_empty()).then(|| Manifest::of(self.input, &self.body, &self.edits))
    }

    /// Gives the edits, in the order of items.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Gives the originals of what was cut; in a session, of what its last call had not cut yet.
    #[must_use]
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }
}
