//! How true is a trace to what was sent? A claim of the importer, so that measurements never mix them.

/// How close the bodies of a trace are to what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fidelity {
    /// The trace holds the request body itself.
    ExactWire,
    /// The trace holds the text that the model saw, not the whole body (system text and tools may be missing).
    ModelVisible,
    /// The trace holds results that were shortened when it was written.
    AfterTruncation,
}

impl Fidelity {
    /// Gives the name that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactWire => "exact_wire",
            Self::ModelVisible => "model_visible",
            Self::AfterTruncation => "after_truncation",
        }
    }
}
