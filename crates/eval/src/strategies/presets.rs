//! Our own presets, as the published library runs them.

use liveset::{Liveset, Policy, Preset, Session};

use super::{Error, Sent, Setting, Strategy};

/// A session with a preset.
#[derive(Debug)]
pub(super) struct Ours {
    session: Session,
    sweeps: usize,
}

impl Ours {
    pub(super) fn new(preset: Preset, setting: &Setting) -> Self {
        let mut policy = Policy::default();
        policy.preset = preset;
        policy.window = Some(setting.window_tokens);
        policy.reserve = Some(0);
        // One counter for all strategies, whatever model the trace names.
        let session = Liveset::new(policy).with_model("gpt-4o").with_format(setting.format).session();
        Self { session, sweeps: 0 }
    }
}

impl Strategy for Ours {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let compaction = self.session.compact(body)?;
        let report = compaction.report();
        let sweeps = report.sweeps.len().saturating_sub(self.sweeps);
        self.sweeps = report.sweeps.len();
        let is_declared = sweeps > 0 || report.client_rewrote.is_some() || report.rebase.is_some();
        Ok(Sent { is_declared, sweeps, body: compaction.into_body().into_owned() })
    }
}
