//! Dropping the oldest messages: a window that slides at each request, or a batch when it is full.
//!
//! What stands before the first reply stays, and whole units go.

use super::body::Scale;
use super::{Error, Sent, Setting, Strategy};

/// When messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// At each request as many as needed.
    Sliding,
    /// Down to the target when the trigger is passed.
    Batched,
}

/// Drops the oldest messages.
#[derive(Debug)]
pub(super) struct Dropping {
    scale: Scale,
    pace: Pace,
    /// Place of the first message that is left behind the opening.
    kept_from: Option<usize>,
}

impl Dropping {
    pub(super) fn sliding(setting: &Setting) -> Self {
        Self::new(setting, Pace::Sliding)
    }

    pub(super) fn batched(setting: &Setting) -> Self {
        Self::new(setting, Pace::Batched)
    }

    fn new(setting: &Setting, pace: Pace) -> Self {
        Self { scale: Scale::new(setting.format, setting.window_tokens), pace, kept_from: None }
    }
}

impl Strategy for Dropping {
    fn send(&mut self, body: &[u8]) -> Result<Sent, Error> {
        let read = self.scale.read(body)?;
        let starts = read.unit_starts();
        let Some(opening) = starts.first().copied() else { return Ok(Sent::plain(body.to_vec())) };
        if self.kept_from.is_some_and(|from| !starts.contains(&from)) {
            self.kept_from = None;
        }
        let from = self.kept_from.unwrap_or(opening);
        let size = |from: usize| read.tokens().saturating_sub(read.tokens_of(&(opening..from)));
        let (limit, goal) = match self.pace {
            Pace::Sliding => (self.scale.trigger(), self.scale.trigger()),
            Pace::Batched => (self.scale.trigger(), self.scale.target()),
        };
        if size(from) > limit {
            let later = starts.iter().copied().filter(|start| *start >= from);
            self.kept_from = later.clone().find(|start| size(*start) <= goal).or(starts.last().copied());
        }
        Ok(Sent::plain(read.without_messages(&(opening..self.kept_from.unwrap_or(opening)))))
    }
}
