//! Which result answers which call?
//!
//! By place and occurrence, never by id alone: clients reuse ids across turns and even inside one message.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    json,
    span::Span,
    transcript::{Detail, Item, ItemIdx},
};

/// Pairs results with calls and gives each paired result its call's message number.
///
/// A result answers, among the unanswered calls of its id before it, the first one of the newest message that has one.
/// Items before `from` were paired before, with each other alone.
pub(crate) fn pair(body: &[u8], items: &mut [Item], from: usize) {
    let mut open: BTreeMap<Cow<'_, [u8]>, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate().take(from) {
        if let Some(id) = item.call().filter(|call| call.result.is_none()).and_then(|call| call.id) {
            open.entry(id_bytes(body, id)).or_default().push(at);
        }
    }
    for at in from..items.len() {
        let (Some(id), role) = (match items.get(at).map(|item| &item.detail) {
            Some(Detail::Call(call)) => (call.id, Role::Call),
            Some(Detail::Answer(answer)) => (answer.id, Role::Result),
            Some(Detail::Plain | Detail::Reasoning(_)) | None => (None, Role::Call),
        }) else {
            continue;
        };
        let waiting = open.entry(id_bytes(body, id)).or_default();
        match role {
            Role::Call => waiting.push(at),
            Role::Result => {
                let Some(call) = take_first_of_newest(waiting, items) else { continue };
                join(items, call, at);
            }
        }
    }
}

enum Role {
    Call,
    Result,
}

/// Ids are compared as text: a client may escape one side and not the other.
fn id_bytes(body: &[u8], literal: Span) -> Cow<'_, [u8]> {
    let raw = literal.of(body);
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default());
    }
    match json::decode(raw) {
        Ok(decoded) => Cow::Owned(decoded.wtf8().into_owned()),
        Err(_) => Cow::Borrowed(raw),
    }
}

fn take_first_of_newest(waiting: &mut Vec<usize>, items: &[Item]) -> Option<usize> {
    let number = |at: &usize| items.get(*at).map_or(0, |item| item.number);
    let newest = number(waiting.last()?);
    let first = waiting.iter().rposition(|at| number(at) != newest).map_or(0, |before| before + 1);
    Some(waiting.remove(first))
}

fn join(items: &mut [Item], call: usize, result: usize) {
    let idx = |at: usize| ItemIdx(u32::try_from(at).unwrap_or(u32::MAX));
    let number = items.get(call).map_or(0, |item| item.number);
    if let Some(Detail::Call(side)) = items.get_mut(call).map(|item| &mut item.detail) {
        side.result = Some(idx(result));
    }
    if let Some(item) = items.get_mut(result) {
        item.number = number;
        if let Detail::Answer(side) = &mut item.detail {
            side.call = Some(idx(call));
        }
    }
}
