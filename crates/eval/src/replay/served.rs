//! Was what the agent used still in the requests that a strategy sent? The study's scores on real bodies.

use std::collections::BTreeSet;

use liveset_engine::transcript::Transcript;
use serde::Serialize;

use crate::retention::{CUTS, Evidence, Presence, Rereads, Tally, Use};

/// Fewest shingles of a result that may be a re-read, and the share of them that makes it one, in percent.
const FEWEST_REREAD: usize = 20;
const REREAD_PERCENT: usize = 80;

/// Shares of uses that were served, and results that repeated what was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Served {
    /// Share of quoted shingles in the request that led to their message, after the first change.
    pub quoted: Option<f64>,
    /// Share of messages all of whose quoted shingles and values were there.
    pub messages: Option<f64>,
    /// Share of values that were there.
    pub values: Option<f64>,
    /// Share of messages with edits all of whose old text was there.
    pub edits: Option<f64>,
    /// The static score: share of shingles wanted after a cut that the request at it held, mean over the cuts.
    pub quoted_at_cuts: Option<f64>,
    /// The static score of messages.
    pub messages_at_cuts: Option<f64>,
    /// Results that repeat what had been cut.
    pub rereads_of_cut: u32,
    /// Results that repeat what was still there: the trace made them anyway.
    pub rereads_in_view: u32,
}

/// Scores one history, request by request.
pub(crate) struct Scorer {
    shingles: Tally,
    values: Tally,
    old: Tally,
    at_cuts: (Vec<f64>, Vec<f64>),
    rereads: Rereads,
    before: Option<Presence>,
    /// Results that were looked at.
    delivered: usize,
    /// Uses are scored up to this message.
    scored: u32,
}

impl Scorer {
    pub(crate) fn new() -> Self {
        let tally = Tally::default;
        let at_cuts = (Vec::new(), Vec::new());
        let (shingles, values, old) = (tally(), tally(), tally());
        Self { shingles, values, old, at_cuts, rereads: Rereads::default(), before: None, delivered: 0, scored: 0 }
    }

    /// Scores what follows a request; `has_changed` says whether the strategy ever changed what it sent.
    pub(crate) fn request(&mut self, evidence: &Evidence, sent: &Transcript<'_>, now: u32, has_changed: bool) {
        let presence = evidence.trajectory().present(sent);
        if has_changed {
            self.rereads(evidence, now);
            self.uses(evidence, &presence, now + 1);
        }
        self.cuts(evidence, &presence, now);
        self.delivered = evidence.trajectory().delivered(now);
        self.scored = now + 1;
        self.before = Some(presence);
    }

    fn uses(&mut self, evidence: &Evidence, presence: &Presence, message: u32) {
        let uses = evidence.uses();
        for (all, there, tally) in [
            (uses.shingles(), &presence.shingles, &mut self.shingles),
            (uses.values(), &presence.values, &mut self.values),
            (uses.old_text(), &presence.shingles, &mut self.old),
        ] {
            for one in all.iter().filter(|one| one.message == message) {
                tally.add(message, there.get(one.id as usize).copied().unwrap_or(false));
            }
        }
    }

    /// Results that came since the last request are held against what that one had.
    fn rereads(&mut self, evidence: &Evidence, now: u32) {
        let Some(before) = &self.before else { return };
        let trajectory = evidence.trajectory();
        for at in self.delivered..trajectory.delivered(now) {
            let ids: BTreeSet<u32> = trajectory.result_shingles(at).collect();
            let repeated: Vec<u32> = ids.iter().copied().filter(|id| evidence.is_earlier(*id, at)).collect();
            if ids.len() < FEWEST_REREAD || repeated.len() * 100 < ids.len() * REREAD_PERCENT {
                continue;
            }
            let there = |id: &&u32| before.shingles.get(**id as usize).copied().unwrap_or(false);
            match repeated.iter().filter(there).count() * 100 >= repeated.len() * REREAD_PERCENT {
                true => self.rereads.in_view += 1,
                false => self.rereads.of_dropped += 1,
            }
        }
    }

    fn cuts(&mut self, evidence: &Evidence, presence: &Presence, now: u32) {
        let cuts = CUTS.iter().map(|percent| evidence.trajectory().messages() * percent / 100);
        for cut in cuts.filter(|cut| (self.scored..=now).contains(cut) || *cut == now) {
            let mut tally = Tally::default();
            let counted = |one: &&Use| one.newest <= cut && one.message > cut;
            for one in evidence.uses().shingles().iter().filter(counted) {
                tally.add(one.message, presence.shingles.get(one.id as usize).copied().unwrap_or(false));
            }
            self.at_cuts.0.extend(tally.share());
            self.at_cuts.1.extend(tally.messages());
        }
    }

    pub(crate) fn finish(&self) -> Served {
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        Served {
            quoted: self.shingles.share(),
            messages: self.shingles.joined(&self.values).messages(),
            values: self.values.share(),
            edits: self.old.messages(),
            quoted_at_cuts: mean(&self.at_cuts.0),
            messages_at_cuts: mean(&self.at_cuts.1),
            rereads_of_cut: self.rereads.of_dropped,
            rereads_in_view: self.rereads.in_view,
        }
    }

    /// Begins another history; what was scored so far stays.
    pub(crate) fn next_history(&mut self) {
        (self.before, self.delivered, self.scored) = (None, 0, 0);
    }
}
