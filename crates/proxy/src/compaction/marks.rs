//! Which marks wait to be entered into the ledger? In the order in which bodies left, whoever enters them.
//!
//! Keeps an order and decides nothing.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use crate::{chain::Chain, conversation::WholeMark};

/// Marks that are remembered and not in the ledger yet.
#[derive(Default)]
pub(super) struct WaitingMarks {
    waiting: Mutex<VecDeque<(Chain, WholeMark)>>,
    /// Held by whoever enters them.
    entering: Mutex<()>,
}

impl WaitingMarks {
    /// Has `leave` tell what becomes of a chain's mark, and lets that wait; says whether anything does.
    pub(super) fn note(&self, chain: &Chain, leave: impl FnOnce() -> Option<WholeMark>) -> bool {
        // Held while it is told, so that two bodies wait in the order in which they left.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = leave();
        waiting.extend(mark.map(|mark| (chain.clone(), mark)));
        mark.is_some()
    }

    /// Enters what waits.
    pub(super) fn enter(&self, mut enter: impl FnMut(&Chain, WholeMark)) {
        let _one_at_a_time = self.entering.lock().unwrap_or_else(PoisonError::into_inner);
        let next = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while let Some((chain, mark)) = next() {
            enter(&chain, mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;

    #[test]
    fn marks_are_entered_in_the_order_in_which_bodies_left_by_however_many_threads() {
        const MARKS: usize = 400;
        let (marks, entered, start) = (WaitingMarks::default(), Mutex::new(Vec::new()), Barrier::new(4));
        let of = |at: usize| if at.is_multiple_of(2) { WholeMark::Set } else { WholeMark::Lifted };
        for at in 0..MARKS {
            assert!(marks.note(&Chain::default(), || Some(of(at))));
        }
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    marks.enter(|_, mark| {
                        thread::yield_now();
                        entered.lock().unwrap().push(mark);
                    });
                });
            }
        });
        assert_eq!(entered.into_inner().unwrap(), (0..MARKS).map(of).collect::<Vec<_>>());
        assert!(!marks.note(&Chain::default(), || None));
    }
}
