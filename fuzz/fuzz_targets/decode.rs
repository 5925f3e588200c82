//! What must hold of a transcript, whatever the body? Shared by the three `decode` targets.

use std::collections::BTreeSet;
use std::fmt;

use liveset_engine::Span;
use liveset_engine::json::{self, Outline};
use liveset_engine::transcript::{Item, Transcript, Weight, WireFormat};
use liveset_engine::wire;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Reads a body and holds every place of the transcript against serde_json's own places.
pub fn check(format: WireFormat, body: &[u8]) {
    let Ok(outline) = Outline::read(body) else { return };
    let transcript = match wire::read(format, &outline) {
        Ok(transcript) => transcript,
        Err(error) => {
            assert!(!error.to_string().contains('\n'));
            return;
        }
    };
    let mut values = BTreeSet::new();
    let Ok(root) = serde_json::from_slice::<&RawValue>(body) else { panic!("the outline took what is no JSON") };
    collect(body, root, &mut values);
    let check = Check { transcript: &transcript, values };
    check.places();
    check.order();
    check.pairs();
    check.units();
}

/// Takes the place of a value and of all inside it.
fn collect(body: &[u8], value: &RawValue, places: &mut BTreeSet<Span>) {
    let text = value.get();
    // The value borrows from the body, so the distance of their first bytes is its place.
    let start = text.as_ptr() as usize - body.as_ptr() as usize;
    places.insert(Span::new(start, start + text.len()));
    if !text.starts_with(['{', '[']) {
        return;
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let children = reader.deserialize_any(Children).expect("a raw value is JSON");
    children.into_iter().for_each(|child| collect(body, child, places));
}

/// Gives the values directly inside, with all of those that share a key.
struct Children;

impl<'de> Visitor<'de> for Children {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a container")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = elements.next_element()? {
            found.push(element);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        // Keys may hold lone surrogates, so they are skipped as raw values, never read as text.
        while let Some((_, value)) = members.next_entry::<&RawValue, &RawValue>()? {
            found.push(value);
        }
        Ok(found)
    }
}

struct Check<'t> {
    transcript: &'t Transcript<'t>,
    values: BTreeSet<Span>,
}

impl Check<'_> {
    /// Every span is a whole value of the body, and what is read as text is a string inside its item.
    fn places(&self) {
        let transcript = self.transcript;
        let fields = transcript.model.into_iter().chain(transcript.tools);
        fields.chain(transcript.messages.iter().copied()).for_each(|span| self.is_value(span));
        if let Some(model) = transcript.model {
            self.is_string(model);
        }
        for item in &transcript.items {
            self.is_value(item.span);
            let inside = |span: Span| {
                self.is_value(span);
                assert!(item.span.contains(span), "{item:?} does not hold {span:?}");
            };
            item.texts.iter().copied().chain(item.cache_mark).for_each(inside);
            item.texts.iter().for_each(|&text| self.is_string(text));
            match item.weight {
                Weight::Texts => {}
                Weight::Encrypted(span) => {
                    inside(span);
                    self.is_string(span);
                }
                Weight::Raw(span) | Weight::Media(span) => inside(span),
            }
            let (call, answer) = (item.call(), item.answer());
            let ids = [call.and_then(|call| call.id), call.and_then(|call| call.name), answer.and_then(|one| one.id)];
            for literal in ids.into_iter().flatten() {
                inside(literal);
                self.is_string(literal);
            }
            call.and_then(|call| call.arguments).into_iter().for_each(inside);
            if let Some(message) = item.message {
                let message = transcript.messages.get(message as usize).expect("the message exists");
                assert!(message.contains(item.span), "{item:?} lies outside its message {message:?}");
            }
        }
    }

    fn is_value(&self, span: Span) {
        assert!(self.values.contains(&span), "{span:?} is no value of the body");
    }

    fn is_string(&self, span: Span) {
        json::decode(span.of(self.transcript.body)).expect("a string literal");
    }

    /// Messages and items follow each other; no byte is of two items, unless one is a part of the other.
    fn order(&self) {
        let transcript = self.transcript;
        assert!(transcript.messages.windows(2).all(|pair| pair[0].end() < pair[1].start()));
        assert!(transcript.items.windows(2).all(|pair| pair[0].message <= pair[1].message));
        // A result, and what is a part of it, has the number of its call, however late it comes.
        let others = transcript.items.iter().filter(|item| item.answer().is_none() && item.within.is_none());
        assert!(others.is_sorted_by_key(|item| item.number));
        let mut whole: Vec<Span> =
            transcript.items.iter().filter(|item| item.within.is_none()).map(|item| item.span).collect();
        whole.sort();
        assert!(whole.windows(2).all(|pair| pair[0].end() <= pair[1].start()), "two items share bytes: {whole:?}");
        for item in &transcript.items {
            let Some(result) = item.within else { continue };
            let result = &transcript.items[result.at()];
            assert!(result.answer().is_some() && result.span.contains(item.span));
        }
    }

    /// Calls and results name each other, under one id, the call first.
    fn pairs(&self) {
        let transcript = self.transcript;
        let text =
            |span: Option<Span>| span.map(|span| json::decode(span.of(transcript.body)).expect("a string literal"));
        for (at, item) in transcript.items.iter().enumerate() {
            if let Some(result) = item.call().and_then(|call| call.result) {
                let answer = transcript.items[result.at()].answer().expect("a call is answered by a result");
                assert_eq!(answer.call.map(|call| call.at()), Some(at));
                let id = item.call().and_then(|call| call.id);
                assert!(result.at() > at && id.is_some());
                assert_eq!(text(id).map(|id| id.text().to_owned()), text(answer.id).map(|id| id.text().to_owned()));
            }
            if let Some(call) = item.answer().and_then(|answer| answer.call) {
                let call = &transcript.items[call.at()];
                assert_eq!(call.call().expect("a result answers a call").result.map(|result| result.at()), Some(at));
                assert_eq!(call.number, item.number, "a result has the number of its call");
            }
        }
    }

    /// Each unit has its number's items, each once, results last.
    fn units(&self) {
        let transcript = self.transcript;
        for (at, unit) in transcript.units.iter().enumerate() {
            assert_eq!(unit.number as usize, at + 1);
            let items: Vec<&Item> = unit.items.iter().map(|item| &transcript.items[item.at()]).collect();
            assert!(items.iter().all(|item| item.unit.map(|unit| unit.at()) == Some(at) && item.number == unit.number));
            assert!(items.is_sorted_by_key(|item| item.answer().is_some()), "results stand last");
        }
        let members = transcript.units.iter().map(|unit| unit.items.len()).sum::<usize>();
        assert_eq!(members, transcript.items.iter().filter(|item| item.unit.is_some()).count());
    }
}
