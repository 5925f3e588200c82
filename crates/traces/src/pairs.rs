//! Which result answers which call? Histories of dialects in which every result is a message of its own.
//!
//! Never makes up a result: what is not answered is said.

use std::collections::BTreeMap;

use crate::history::{History, Message, Side};
use crate::warning::Warning;

/// Where a dialect wants its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// Right behind the message of their calls (Chat).
    BehindTheirCall,
    /// Anywhere after their call (Responses).
    WhereTheyStand,
}

/// One message of a trace on its way into a history.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    /// Line number from 1.
    pub(crate) line: usize,
    pub(crate) message: Message,
    /// Ids of its calls.
    pub(crate) calls: Vec<&'a str>,
    /// Id of the call it answers.
    pub(crate) answers: Option<&'a str>,
}

impl Entry<'_> {
    /// Makes an entry that neither calls nor answers.
    pub(crate) fn text(line: usize, message: Message) -> Self {
        Self { line, message, calls: Vec::new(), answers: None }
    }
}

/// A history on its way.
pub(crate) struct Pairs<'a> {
    placing: Placing,
    slots: Vec<Slot<'a>>,
    /// Places of the slots with calls of each id that have no answer yet.
    open: BTreeMap<&'a str, Vec<usize>>,
    carried_slots: usize,
}

/// A message with the results that stand right behind it.
struct Slot<'a> {
    entry: Entry<'a>,
    open_calls: usize,
    results: Vec<Message>,
}

impl<'a> Pairs<'a> {
    pub(crate) fn new(placing: Placing) -> Self {
        Self { placing, slots: Vec::new(), open: BTreeMap::new(), carried_slots: 0 }
    }

    /// Says that what stands here so far was there at once: no request lies between.
    pub(crate) fn carried_to_here(&mut self) {
        self.carried_slots = self.slots.len();
    }

    /// Adds a message in the order of the trace. A result without its call and a second one are left out.
    pub(crate) fn push(&mut self, entry: Entry<'a>, warnings: &mut Vec<Warning>) {
        let place = self.slots.len();
        if let Some(id) = entry.answers {
            let Some(waiting) = self.open.get_mut(id) else {
                warnings.push(Warning::OrphanResult { line: entry.line });
                return;
            };
            // Clients use an id again for later calls: a result belongs to the newest that waits for one.
            let Some(call) = waiting.pop() else {
                warnings.push(Warning::DuplicateResult { line: entry.line });
                return;
            };
            if let Some(slot) = self.slots.get_mut(call) {
                slot.open_calls -= 1;
                if self.placing == Placing::BehindTheirCall {
                    if call + 1 < place {
                        warnings.push(Warning::LateResult { line: entry.line });
                    }
                    slot.results.push(entry.message);
                    return;
                }
            }
        }
        for id in &entry.calls {
            self.open.entry(id).or_default().push(place);
        }
        self.slots.push(Slot { open_calls: entry.calls.len(), entry, results: Vec::new() });
    }

    /// Gives the history, and says what was never answered.
    pub(crate) fn finish(self, warnings: &mut Vec<Warning>) -> History {
        let borders = self.borders();
        for (slot, went_on) in self.slots.iter().zip(borders) {
            if slot.open_calls > 0 && went_on {
                warnings.push(Warning::UnansweredCalls { line: slot.entry.line, calls: slot.open_calls });
            }
        }
        let parts = |slot: &Slot<'_>| {
            slot.entry.message.parts.len() + slot.results.iter().map(|message| message.parts.len()).sum::<usize>()
        };
        let carried_parts = self.slots.iter().take(self.carried_slots).map(parts).sum();
        let messages = self.slots.into_iter().flat_map(|slot| std::iter::once(slot.entry.message).chain(slot.results));
        History { carried_parts, messages: messages.collect() }
    }

    /// Says of each slot whether the conversation went on past its calls. Those of the newest reply may still run.
    fn borders(&self) -> Vec<bool> {
        let mut went_on = vec![false; self.slots.len()];
        let (mut is_later, mut reply_above) = (false, false);
        for (slot, mark) in self.slots.iter().zip(went_on.iter_mut()).rev() {
            let is_reply = slot.entry.message.side == Side::Assistant;
            match self.placing {
                Placing::BehindTheirCall => {
                    *mark = is_later;
                    is_later = true;
                }
                Placing::WhereTheyStand => {
                    // A reply is a run of items: it ends where a result or a text stands before the next.
                    is_later |= !is_reply && (slot.entry.answers.is_none() || reply_above);
                    reply_above |= is_reply;
                    *mark = is_later;
                }
            }
        }
        went_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Piece;

    fn entry<'a>(line: usize, word: &'static str) -> Entry<'a> {
        let (kind, name) = word.split_once(' ').unwrap_or((word, ""));
        let side = if matches!(kind, "call" | "say") { Side::Assistant } else { Side::Other };
        let message = Message::whole(side, vec![Piece::Fixed(word)]);
        let calls = if kind == "call" { name.split(' ').collect() } else { Vec::new() };
        Entry { line, message, calls, answers: (kind == "result").then_some(name) }
    }

    fn check(placing: Placing, words: &[&'static str]) -> (Vec<String>, Vec<Warning>) {
        let mut pairs = Pairs::new(placing);
        let mut warnings = Vec::new();
        words.iter().enumerate().for_each(|(at, word)| pairs.push(entry(at + 1, word), &mut warnings));
        let history = pairs.finish(&mut warnings);
        let text = |message: Message| match message.parts.first().and_then(|part| part.text.first().cloned()) {
            Some(Piece::Fixed(text)) => text.to_owned(),
            _ => String::new(),
        };
        (history.messages.into_iter().map(text).collect(), warnings)
    }

    #[test]
    fn chat_results_stand_behind_their_call_and_strays_are_left_out() {
        let (found, warnings) = check(
            Placing::BehindTheirCall,
            &["user", "call a b", "result b", "user", "result a", "result a", "result x", "say"],
        );
        assert_eq!(found, ["user", "call a b", "result b", "result a", "user", "say"]);
        assert_eq!(
            warnings,
            [Warning::LateResult { line: 5 }, Warning::DuplicateResult { line: 6 }, Warning::OrphanResult { line: 7 }]
        );
    }

    #[test]
    fn responses_keep_their_order_and_say_what_was_never_answered() {
        let words = ["user", "say", "call a", "call b", "result b"];
        assert_eq!(check(Placing::WhereTheyStand, &words), (words.map(str::to_owned).to_vec(), vec![]));
        let unanswered = vec![Warning::UnansweredCalls { line: 3, calls: 1 }];
        for next in ["say", "user"] {
            let words = ["user", "say", "call a", "call b", "result b", next];
            assert_eq!(check(Placing::WhereTheyStand, &words).1, unanswered, "{next}");
        }
        assert_eq!(check(Placing::WhereTheyStand, &["call a", "say", "result a", "call b", "result b"]).1, []);
    }

    #[test]
    fn an_id_that_comes_again_is_a_call_of_its_own() {
        let words = ["user", "call a", "result a", "call a a", "result a", "result a", "say"];
        assert_eq!(check(Placing::BehindTheirCall, &words), (words.map(str::to_owned).to_vec(), vec![]));
        assert_eq!(check(Placing::WhereTheyStand, &words), (words.map(str::to_owned).to_vec(), vec![]));
    }

    #[test]
    fn chat_calls_of_the_newest_reply_may_still_run() {
        assert_eq!(check(Placing::BehindTheirCall, &["user", "call a b", "result a"]).1, []);
        let unanswered = vec![Warning::UnansweredCalls { line: 2, calls: 1 }];
        assert_eq!(check(Placing::BehindTheirCall, &["user", "call a b", "result a", "user"]).1, unanswered);
    }
}
