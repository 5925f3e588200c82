//! What comes out of a call: a body, and the report about it.

use std::borrow::Cow;

use liveset_engine::{
    manifest::{Manifest, Original},
    report::{OutcomeKind, Report},
};

/// A body to send instead of the one that came in, and what was done to it.
#[derive(Debug)]
pub struct Compaction<'b> {
    pub(crate) body: Cow<'b, [u8]>,
    pub(crate) report: Report,
    pub(crate) manifest: Option<Manifest>,
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

    /// Gives the way back to the input; `None` where the body is the input.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Gives the originals of what was cut.
    #[must_use]
    pub fn originals(&self) -> &[Original] {
        &self.originals
    }
}
