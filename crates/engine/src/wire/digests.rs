//! What identifies an item? Its content as the model reads it, without cache marks and JSON layout.
//!
//! Hashes bytes as they stand; decodes nothing, and says nothing of an item's size.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{
    span::Span,
    transcript::{Detail, Item, Transcript, Weight},
};

/// Gives digests to the items that have none yet, and to those before the messages, which are read anew each time.
pub(super) fn fill(transcript: &mut Transcript<'_>) {
    let notes = transcript.client_notes();
    let opening = transcript.items.partition_point(|item| item.message.is_none());
    let known = std::mem::take(&mut transcript.digests);
    let digest = |(at, item): (usize, &Item)| match known.get(at) {
        Some(known) if at >= opening => *known,
        // A client's note is another at each request and says nothing.
        _ if at < notes => xxh3_128(b"client note"),
        _ => digest(transcript.body, item),
    };
    transcript.digests = transcript.items.iter().enumerate().map(digest).collect();
}

fn digest(body: &[u8], item: &Item) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&[item.kind as u8, u8::from(item.within.is_some())]);
    for text in &item.texts {
        hash.update(&xxh3_128(text.of(body)).to_le_bytes());
    }
    match item.weight {
        Weight::Texts => {}
        Weight::Encrypted(span) | Weight::Media(span) => hash.update(span.of(body)),
        Weight::Raw(span) => match item.cache_mark.and_then(|mark| around_mark(body, span, mark)) {
            None => hash.update(span.of(body)),
            Some(around) => around.iter().for_each(|part| hash.update(part.of(body))),
        },
    }
    match &item.detail {
        Detail::Plain | Detail::Reasoning(_) => {}
        Detail::Call(call) => {
            for span in [call.id, call.name, call.arguments].into_iter().flatten() {
                hash.update(span.of(body));
            }
        }
        Detail::Answer(answer) => {
            if let Some(id) = answer.id {
                hash.update(id.of(body));
            }
            hash.update(&[answer.error as u8]);
        }
    }
    hash.digest128()
}

/// Gives what stands in a value before and after a cache mark and its key; `None` where the mark is not in it.
///
/// A mark may move to another block without changing what the model reads.
pub(crate) fn around_mark(body: &[u8], span: Span, mark: Span) -> Option<[Span; 2]> {
    if !span.contains(mark) {
        return None;
    }
    let key = br#""cache_control""#;
    let head = Span::new(span.start(), mark.start()).of(body);
    let head = head.windows(key.len()).rposition(|window| window == key).and_then(|at| head.get(..at)).unwrap_or(head);
    let head = head.trim_ascii_end();
    let head = head.strip_suffix(b",").unwrap_or(head);
    Some([Span::new(span.start(), span.start() + head.len()), Span::new(mark.end(), span.end())])
}
