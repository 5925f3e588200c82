//! The policies of the study's tables on real bodies: swept over a trigger down to a target, in tokens.
//!
//! They read the whole history, and look into its future only where hindsight is their name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::{Body, Scale};
use super::{Error, Sent, Setting, Strategy};
use crate::prng::Prng;
use crate::retention::{Evidence, Keeping, Kept, Situation, View};

/// What stands where a result, or a part of it, was.
const LEFT_OUT: &str = "[left out]";

/// A policy with its view of one conversation.
#[derive(Debug)]
pub(super) struct ByTable {
    keeping: Keeping,
    scale: Scale,
    histories: Vec<Arc<Evidence>>,
    history: usize,
    view: View,
    numbers: Prng,
}

impl ByTable {
    pub(super) fn new(keeping: Keeping, setting: &Setting) -> Self {
        Self {
            keeping,
            scale: Scale::new(setting.format, setting.window_tokens),
            histories: setting.histories.clone(),
            history: 0,
            view: View::default(),
            numbers: Prng::new(setting.seed),
        }
    }

    /// Writes the texts of the results of which less is in view than came.
    fn texts(&self, read: &Body<'_>, evidence: &Evidence) -> BTreeMap<usize, String> {
        let mut results = read.results();
        results.sort_by_key(|result| result.number);
        let mut texts = BTreeMap::new();
        for (at, result) in results.iter().enumerate() {
            let text = read.text(result.item);
            let kept = self.view.kept_lines(evidence.trajectory(), at);
            match (kept, text) {
                (Kept::All, _) => {}
                (Kept::None, _) => {
                    texts.insert(result.item, LEFT_OUT.to_owned());
                }
                (Kept::Some(lines), Some(text)) => {
                    texts.insert(result.item, with_gaps(&text, lines));
                }
                (Kept::Some(_), None) => {}
            }
        }
        texts
    }
}

fn with_gaps(text: &str, lines: &[bool]) -> String {
    let mut out: Vec<&str> = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        match lines.get(at).copied().unwrap_or(false) {
            true => out.push(line),
            false if out.last() != Some(&LEFT_OUT) => out.push(LEFT_OUT),
            false => {}
        }
    }
    out.join("\n")
}

impl Strategy for ByTable {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let read = self.scale.read(body)?;
        if read.results().len() < self.view.delivered() {
            self.history += 1;
            self.view = View::default();
        }
        let Some(evidence) = self.histories.get(self.history).cloned() else { return Ok(Sent::plain(body.to_vec())) };
        let trajectory = evidence.trajectory();
        let now = read.newest();
        self.view.deliver(trajectory, trajectory.delivered(now));
        let texts = self.texts(&read, &evidence);
        let shortened = read.with_texts(&texts);
        let sent_tokens = self.scale.read(&shortened)?.tokens();
        if sent_tokens <= self.scale.trigger() {
            return Ok(Sent::plain(shortened));
        }
        let results: u64 = self.scale.read(&shortened)?.results().iter().map(|result| result.tokens).sum();
        let room = self.scale.target().saturating_sub(sent_tokens - results.min(sent_tokens));
        // Policies know words; the share of tokens that may stay is taken as the share of words.
        let budget = self.view.words(trajectory) * room / results.max(1);
        let situation = Situation { evidence: &evidence, view: &self.view, now, budget };
        let swept = self.keeping.keep(&situation, &mut self.numbers);
        let is_declared = swept != self.view;
        self.view = swept;
        let body = read.with_texts(&self.texts(&read, &evidence));
        Ok(Sent { body, is_declared, sweeps: usize::from(is_declared) })
    }
}
