//! How many uses were served, and how many messages had all of theirs?

use std::collections::BTreeMap;

/// Uses that were scored, and those that were served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    all: usize,
    served: usize,
    messages: BTreeMap<u32, bool>,
}

impl Tally {
    pub(crate) fn add(&mut self, message: u32, is_served: bool) {
        self.all += 1;
        self.served += usize::from(is_served);
        *self.messages.entry(message).or_insert(true) &= is_served;
    }

    pub(crate) fn share(&self) -> Option<f64> {
        (self.all > 0).then(|| self.served as f64 / self.all as f64)
    }

    pub(crate) fn messages(&self) -> Option<f64> {
        let served = self.messages.values().filter(|served| **served).count();
        (!self.messages.is_empty()).then(|| served as f64 / self.messages.len() as f64)
    }

    /// Joins the messages of two kinds of uses: one is served if both are.
    pub(crate) fn joined(&self, other: &Tally) -> Tally {
        let mut joined = Tally { messages: self.messages.clone(), ..Tally::default() };
        for (message, is_served) in &other.messages {
            *joined.messages.entry(*message).or_insert(true) &= *is_served;
        }
        joined
    }
}
