//! What did a run hand out? The one form in which checks receive a result.

use serde_json::Value;

/// A body as it came out, and what the run says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The body handed out.
    pub body: Vec<u8>,
    /// Whether the run says that nothing was changed.
    pub unchanged: bool,
    /// Whether the run says that it cannot fit.
    pub cannot_fit: bool,
    /// Size before, by the run's own counter.
    pub tokens_before: u64,
    /// Size after.
    pub tokens_after: u64,
    /// The report as JSON.
    pub report: Value,
    /// Characters of a result over which intake may shape it.
    pub intake_chars: usize,
    /// Words that a model may have said in a summary.
    pub words: Vec<String>,
}

/// Characters of a result over which intake always cuts it.
const HARD_LIMIT_CHARS: usize = 100_000;

/// An edit as the report states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportedEdit {
    pub(crate) kind: String,
    pub(crate) call_id: Option<String>,
    pub(crate) archive_id: Option<String>,
    pub(crate) item: Option<u64>,
    /// The item whose line stands for it.
    pub(crate) carrier: Option<u64>,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
}

impl Outcome {
    /// Builds an outcome from a body and its report, which states the rest.
    #[must_use]
    pub fn from_report(body: Vec<u8>, report: Value) -> Self {
        let tokens = |name: &str| report["tokens"][name].as_u64().unwrap_or(0);
        Self {
            body,
            unchanged: report["outcome"] == "unchanged",
            cannot_fit: report["outcome"] == "cannot_fit",
            tokens_before: tokens("before"),
            tokens_after: tokens("after"),
            report,
            intake_chars: HARD_LIMIT_CHARS,
            words: Vec::new(),
        }
    }

    /// The same from a run whose policy shapes results of more than `chars` characters, or of any size with a limit of
    /// lines: 0.
    #[must_use]
    pub fn with_intake(self, chars: usize) -> Self {
        Self { intake_chars: chars.min(HARD_LIMIT_CHARS), ..self }
    }

    /// The same from a run in which a model said these words.
    #[must_use]
    pub fn with_words(self, words: Vec<String>) -> Self {
        Self { words, ..self }
    }

    pub(crate) fn edits(&self) -> Vec<ReportedEdit> {
        let text = |edit: &Value, name: &str| edit[name].as_str().map(str::to_owned);
        let number = |edit: &Value, name: &str| edit[name].as_u64().unwrap_or(0);
        let edits = self.report["edits"].as_array().into_iter().flatten();
        edits
            .map(|edit| ReportedEdit {
                kind: text(edit, "kind").unwrap_or_default(),
                call_id: text(edit, "call_id"),
                archive_id: text(edit, "archive_id"),
                item: edit["item"].as_u64(),
                carrier: edit["carrier"].as_u64(),
                tokens_before: number(edit, "tokens_before"),
                tokens_after: number(edit, "tokens_after"),
            })
            .collect()
    }

    pub(crate) fn has_kind(&self, kinds: &[&str]) -> bool {
        self.edits().iter().any(|edit| kinds.contains(&edit.kind.as_str()))
    }

    /// Request points of the sweeps, in order.
    pub(crate) fn sweep_points(&self) -> Vec<Value> {
        self.report["sweeps"].as_array().into_iter().flatten().map(|sweep| sweep["request_point"].clone()).collect()
    }
}
