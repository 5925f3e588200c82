//! What do our own presets leave? The public library over real bodies, at the budget of the other operators.
//!
//! A window is chosen so that a sweep is due where the units are larger than the budget; everything else is the preset's.

use std::sync::Arc;

use liveset::{
    Liveset, MemoryArchive, Policy, RecallRoute,
    recall::{Recall, View, recall},
};

use super::{
    body::{Context, Frame},
    condition::{PresetName, Ratio, Recalling},
    operator::Moment,
    trajectory::body_tokens,
};

/// The model whose vocabulary counts: exact, and the same that budgets are counted in.
const COUNTED_AS: &str = "gpt-4.1";
/// What the fixed part may be rounded up by for the trigger, as a share of the window.
const STEPS: u64 = 64;

/// A preset with the archive of a run.
#[derive(Debug)]
pub(super) struct PresetRun {
    preset: PresetName,
    recalling: Recalling,
    archive: Arc<MemoryArchive>,
}

impl PresetRun {
    pub(super) fn new(preset: PresetName, recalling: Recalling) -> Self {
        Self { preset, recalling, archive: Arc::new(MemoryArchive::new()) }
    }

    /// Compacts the body of everything so far.
    pub(super) fn body(&self, moment: Moment<'_>, frame: &Frame, ratio: Ratio) -> liveset::Result<Vec<u8>> {
        let units = moment.trajectory.units();
        let whole = frame.body(&Context { digest: None, units: units.iter().collect(), trailing: None });
        let Some(newest) = units.last() else { return Ok(whole) };
        let fixed = fixed_tokens(frame, &whole, moment);
        let budget = ratio.of(moment.trajectory.tokens()).max(newest.tokens);
        let compaction = self.liveset(fixed + budget).with_format(frame.format).compact(&whole)?.into_body();
        Ok(compaction.into_owned())
    }

    fn liveset(&self, trigger_tokens: u64) -> Liveset {
        let mut policy = Policy::default();
        policy.preset = self.preset.preset();
        policy.reserve = Some(0);
        // The trigger is a share of the window, and charges the fixed part rounded up.
        let window = (trigger_tokens * 100).div_ceil(u64::from(policy.trigger));
        policy.window = Some(window + window / STEPS);
        policy.recall_route = match self.recalling {
            Recalling::Offered => RecallRoute::Tool,
            Recalling::Absent => RecallRoute::None,
        };
        let liveset = Liveset::new(policy).with_model(COUNTED_AS);
        match self.recalling {
            Recalling::Offered => liveset.with_archive(Arc::clone(&self.archive) as Arc<dyn liveset::Archive>),
            Recalling::Absent => liveset,
        }
    }

    /// Answers a call of the recall tool.
    pub(super) fn recall(&self, id: &str) -> String {
        match recall(self.archive.as_ref(), id, &View::Whole) {
            Ok(Recall::Found(found)) => {
                format!("{}\n{}", found.heading(), String::from_utf8_lossy(&found.part.bytes))
            }
            Ok(Recall::Missed(miss)) => miss.told(id),
            Ok(_) => "this version does not know what the archive answered".to_owned(),
            Err(error) => error.to_string(),
        }
    }
}

/// Gives the size of what no operator reaches: system text, task statement, tools and the request itself.
fn fixed_tokens(frame: &Frame, whole: &[u8], moment: Moment<'_>) -> u64 {
    let tools = request_tokens(frame, whole);
    body_tokens(frame.format, whole).saturating_sub(moment.trajectory.tokens()) + tools
}

/// Gives the size of the tools and of the request itself.
fn request_tokens(frame: &Frame, whole: &[u8]) -> u64 {
    let liveset = Liveset::new(Policy::default()).with_model(COUNTED_AS).with_format(frame.format);
    liveset.inspect(whole).map_or(0, |inspection| inspection.tools_tokens.0)
}
