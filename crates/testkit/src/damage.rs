//! What else may arrive? Bodies with broken pairs, broken JSON, or no JSON at all.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::conversation::conversations;
use crate::events::Conversation;
use crate::format::Format;

/// A body that may be anything, with the dialect it claims to be.
#[derive(Clone, Debug)]
pub struct ArbitraryBody {
    /// The dialect it is handed in as.
    pub format: Format,
    /// The bytes.
    pub body: Vec<u8>,
}

/// A wound to a conversation or to its bytes.
#[derive(Clone, Debug)]
enum Damage {
    None,
    DropEvent(usize),
    RepeatEvent(usize),
    SwapEvents(usize),
    Truncate(usize),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Replace(Vec<u8>),
}

/// Fragments that upset readers: unclosed values, deep nesting, cut escapes, bytes that are not UTF-8.
const FRAGMENTS: &[&[u8]] = &[
    b"",
    b"{",
    b"null",
    b"[]",
    b"{}",
    b"\"",
    b"\\u",
    b"\\ud83d\\",
    b"\xff\xfe",
    b"\xc3",
    b"{\"messages\":1}",
    b"{\"messages\":[null,1,[],{}]}",
    b"{\"input\":\"just text\"}",
    b"{\"messages\":[{\"role\":\"tool\",\"content\":\"x\"}]}",
    b"{\"messages\":[{\"role\":\"user\",\"content\":7}]}",
    b"{\"input\":[{\"type\":\"function_call_output\"}],\"previous_response_id\":\"r\"}",
    b"1e999999999",
    b"\xef\xbb\xbf{\"messages\":[]}",
    b",,",
    b"\0",
];

/// Deeper than any reader should follow.
const DEEP_NESTING: usize = 20_000;

/// Generates bodies that no client should send.
pub fn arbitrary_bodies() -> impl Strategy<Value = ArbitraryBody> {
    let format = proptest::sample::select(&Format::ALL[..]);
    (conversations(), format, vec(damage(), 1..4)).prop_map(|(conversation, format, wounds)| {
        let conversation = wounds.iter().fold(conversation, |whole, wound| wound.of_events(whole));
        let body = wounds.iter().fold(conversation.body(format), |whole, wound| wound.of_bytes(whole));
        ArbitraryBody { format, body }
    })
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<proptest::sample::Index>().prop_map(|place| place.index(usize::MAX / 2));
    let fragment = proptest::sample::select(FRAGMENTS).prop_map(<[u8]>::to_vec);
    let deep = prop_oneof![Just(b"[".repeat(DEEP_NESTING)), Just(b"{\"a\":".repeat(DEEP_NESTING))];
    prop_oneof![
        1 => Just(Damage::None),
        4 => place.clone().prop_map(Damage::DropEvent),
        2 => place.clone().prop_map(Damage::RepeatEvent),
        2 => place.clone().prop_map(Damage::SwapEvents),
        1 => place.clone().prop_map(Damage::Truncate),
        1 => (place.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        1 => (place.clone(), fragment.clone()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (place, 1_usize..40).prop_map(|(at, len)| Damage::Remove(at, len)),
        1 => prop_oneof![3 => fragment, 2 => vec(any::<u8>(), 0..200), 1 => deep].prop_map(Damage::Replace),
    ]
}

impl Damage {
    fn of_events(&self, mut conversation: Conversation) -> Conversation {
        let events = &mut conversation.events;
        let len = events.len();
        match *self {
            Self::DropEvent(at) if len > 0 => drop(events.remove(at % len)),
            Self::RepeatEvent(at) if len > 0 => events.insert(at % len, events[at % len].clone()),
            Self::SwapEvents(at) if len > 1 => events.swap(at % (len - 1), at % (len - 1) + 1),
            _ => {}
        }
        conversation
    }

    fn of_bytes(&self, mut body: Vec<u8>) -> Vec<u8> {
        let len = body.len();
        match self {
            Self::Truncate(at) => body.truncate(at % (len + 1)),
            Self::Flip(at, byte) if len > 0 => body[at % len] ^= byte,
            Self::Insert(at, bytes) => drop(body.splice(at % (len + 1)..at % (len + 1), bytes.iter().copied())),
            Self::Remove(at, count) => drop(body.drain(at % (len + 1)..(at % (len + 1) + count).min(len))),
            Self::Replace(bytes) => body.clone_from(bytes),
            Self::None | Self::DropEvent(_) | Self::RepeatEvent(_) | Self::SwapEvents(_) | Self::Flip(..) => {}
        }
        body
    }
}
