//! What was done, why, and what did it save? The report of one compaction, as data, JSON and text.
//!
//! Holds names, ids and figures; never the content of a message.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{policy::CONTRACT, transcript::WireFormat};

/// The report of one compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// Version of everything that decides bytes.
    pub contract: u32,
    /// The body's dialect.
    pub format: WireFormat,
    /// How near the body is to what the provider saw.
    pub fidelity: Fidelity,
    /// What came of it.
    pub outcome: OutcomeKind,
    /// Why, in one phrase.
    pub reason: String,
    /// Sizes and limits in tokens.
    pub tokens: TokenReport,
    /// Each change of an item.
    pub edits: Vec<EditReport>,
    /// Each sweep, oldest first.
    pub sweeps: Vec<SweepReport>,
    /// Set when earlier decisions were made anew.
    pub rebase: Option<RebaseReport>,
    /// Set when the client changed its own history.
    pub client_rewrote: Option<RewriteReport>,
    /// What deserves attention.
    pub warnings: Vec<Warning>,
}

/// How near a body is to what went over the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// The request body itself.
    #[default]
    ExactWire,
    /// Made from a trace: what the model saw.
    ModelVisible,
    /// Made from a trace that had been shortened before it was recorded.
    AfterTruncation,
}

/// What came of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The output is the input.
    Unchanged,
    /// Something was cut, and the body fits.
    Compacted,
    /// The body does not fit, whatever the rules may take.
    CannotFit,
}

/// Sizes and limits in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenReport {
    /// Size of the body as it arrived.
    pub before: u64,
    /// Size of the body handed out (with `cannot_fit`: of the smallest lawful body).
    pub after: u64,
    /// The context window.
    pub window: u64,
    /// A view over this starts a sweep.
    pub trigger: u64,
    /// A sweep ends at or under this.
    pub target: u64,
    /// Name of the counter behind all these figures.
    pub counter: String,
    /// Whether the counter is exact; if not, figures are upper bounds of its band.
    pub exact: bool,
}

/// What kind of change an edit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// A result became one line.
    Tombstone,
    /// Passages of a result became counted gaps.
    Gap,
    /// A rule by tool name replaced text.
    Rule,
    /// A repeated result points at the earlier one.
    Pointer,
    /// A result keeps its beginning and end.
    Shorten,
    /// A run of units was folded into one.
    Fold,
    /// A unit was left out.
    Drop,
    /// A model's summary stands for units.
    Summary,
    /// A picture or document became a notice.
    Media,
    /// A cache mark moved.
    Mark,
    /// Reasoning was left out as a whole.
    Reasoning,
}

impl EditKind {
    /// Gives the word that reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tombstone => "tombstone",
            Self::Gap => "gap",
            Self::Rule => "rule",
            Self::Pointer => "pointer",
            Self::Shorten => "shorten",
            Self::Fold => "fold",
            Self::Drop => "drop",
            Self::Summary => "summary",
            Self::Media => "media",
            Self::Mark => "mark",
            Self::Reasoning => "reasoning",
        }
    }
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditReport {
    /// Place of the item in the transcript, from 0.
    pub item: u32,
    /// Place of its unit, from 0.
    pub unit: Option<u32>,
    /// What kind of change.
    pub kind: EditKind,
    /// The tool's name.
    pub tool: Option<String>,
    /// The call's id.
    pub call_id: Option<String>,
    /// Why, in facts.
    pub reason: String,
    /// The sweep's step; `null` for intake, moved marks and reasoning.
    pub step: Option<u8>,
    /// The item's size as it arrived.
    pub tokens_before: u64,
    /// The item's size as it leaves.
    pub tokens_after: u64,
    /// Place of the item whose line stands for it, where it went whole with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<u32>,
    /// The original's name.
    pub archive_id: String,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SweepReport {
    /// Place of the item after which it ran, from 0.
    pub request_point: u32,
    /// Size of the view before.
    pub tokens_before: u64,
    /// Size of the view after.
    pub tokens_after: u64,
    /// Further requests after which the lost cache has paid for itself.
    pub break_even_requests: Option<u64>,
}

/// Why earlier decisions were made anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebaseReport {
    /// What changed: `tools`, `system`, `model`, `window`, `policy`, `no_ledger`, `contract`, `fallback` (the request before
    /// left as it came), `archive`
    /// (what an earlier turn stored is gone, and a later pin changes what is decided anew).
    pub cause: String,
}

/// Where a client changed its own history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewriteReport {
    /// First item that is not what it was, from 0.
    pub item: u32,
    /// First item that leaves otherwise than before, from 0.
    pub first_changed: u32,
}

/// Something that deserves attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A stable word.
    pub code: String,
    /// One sentence.
    pub text: String,
}

impl Warning {
    /// Makes a warning.
    #[must_use]
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into() }
    }
}

impl Report {
    /// Makes the report of a body that leaves as it came.
    #[must_use]
    pub fn unchanged(format: WireFormat, reason: &str, tokens: TokenReport) -> Self {
        Self {
            contract: CONTRACT,
            format,
            fidelity: Fidelity::ExactWire,
            outcome: OutcomeKind::Unchanged,
            reason: reason.to_owned(),
            tokens,
            edits: Vec::new(),
            sweeps: Vec::new(),
            rebase: None,
            client_rewrote: None,
            warnings: Vec::new(),
        }
    }

    /// Writes the report as JSON, two spaces deep.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Gives the published JSON schema of reports.
    #[must_use]
    pub fn json_schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(Report)).unwrap_or_default()
    }

    /// Writes the report for people: one headline, then what went, grouped by tool, then warnings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let tokens = &self.tokens;
        let verdict = match self.outcome {
            OutcomeKind::Unchanged => "unchanged",
            OutcomeKind::Compacted => "compacted",
            OutcomeKind::CannotFit => "cannot fit",
        };
        let saved = tokens.before.saturating_sub(tokens.after);
        let share = saved.saturating_mul(100).checked_div(tokens.before).unwrap_or(0);
        let about = if tokens.exact { "" } else { "at most " };
        let _ = writeln!(out, "{verdict}: {}", self.reason);
        let _ = writeln!(
            out,
            "tokens: {about}{} -> {} (-{share} %), window {}, trigger {}, target {}, counted by {}",
            grouped(tokens.before),
            grouped(tokens.after),
            grouped(tokens.window),
            grouped(tokens.trigger),
            grouped(tokens.target),
            tokens.counter
        );
        for sweep in &self.sweeps {
            let pays = sweep.break_even_requests.map_or(String::new(), |n| format!(", pays from request {n} on"));
            let _ = writeln!(
                out,
                "sweep after item {}: {} -> {}{pays}",
                sweep.request_point,
                grouped(sweep.tokens_before),
                grouped(sweep.tokens_after)
            );
        }
        self.write_edits(&mut out);
        if let Some(rebase) = &self.rebase {
            let _ = writeln!(out, "rebase: {} changed, earlier decisions were made anew", rebase.cause);
        }
        if let Some(rewrote) = &self.client_rewrote {
            let _ = writeln!(out, "client rewrote item {}, first changed item {}", rewrote.item, rewrote.first_changed);
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {} ({})", warning.text, warning.code);
        }
        out
    }

    fn write_edits(&self, out: &mut String) {
        let mut groups: std::collections::BTreeMap<(&str, EditKind), (u64, u64, u64)> =
            std::collections::BTreeMap::new();
        for edit in &self.edits {
            let tool = edit.tool.as_deref().unwrap_or("-");
            let group = groups.entry((tool, edit.kind)).or_default();
            group.0 += 1;
            group.1 += edit.tokens_before;
            group.2 += edit.tokens_after;
        }
        let mut rows: Vec<_> = groups.into_iter().collect();
        rows.sort_by_key(|(name, (_, before, after))| (std::cmp::Reverse(before.saturating_sub(*after)), *name));
        if rows.is_empty() {
            return;
        }
        let _ = writeln!(out, "{:<24} {:<10} {:>6} {:>12} {:>12}", "what went", "as", "items", "before", "after");
        for ((tool, kind), (count, before, after)) in rows {
            let _ = writeln!(
                out,
                "{tool:<24} {:<10} {count:>6} {:>12} {:>12}",
                kind.name(),
                grouped(before),
                grouped(after)
            );
        }
    }
}

/// Writes a number with a thin mark every three digits: `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(
            (grouped(7), grouped(1_234), grouped(123_456_789)),
            ("7".into(), "1,234".into(), "123,456,789".into())
        );
    }
}
