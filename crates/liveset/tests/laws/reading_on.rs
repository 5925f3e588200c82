//! A body that is read from where it goes on says what a full read says, whatever the client changed in between.

use liveset_engine::{Result, transcript::WireFormat, wire::GrowingBody};
use liveset_testkit::{Conversation, Format, conversations};
use proptest::{
    prelude::*,
    sample::{Index, select},
};

use crate::{
    bench::wire,
    generated::{cases, runner},
};

/// What happened to the text of a body since the one before.
#[derive(Clone, Debug)]
enum Change {
    None,
    Cut(Index),
    Replace(Index, u8),
    Insert(Index, &'static [u8]),
    Remove(Index),
}

impl Change {
    fn make(&self, body: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Cut(at) => body.truncate(at.index(body.len())),
            Self::Replace(at, byte) => {
                let at = at.index(body.len());
                body[at] = *byte;
            }
            Self::Insert(at, bytes) => {
                let at = at.index(body.len());
                body.splice(at..at, bytes.iter().copied());
            }
            Self::Remove(at) => {
                let at = at.index(body.len());
                body.remove(at);
            }
        }
    }
}

fn changes() -> impl Strategy<Value = Change> {
    let inserted: &[&[u8]] = &[
        b"0",
        b" ",
        b"x",
        b"\\",
        b"\xff",
        b"{},",
        br#","cache_control":{"type":"ephemeral"}"#,
        br#","messages":[]"#,
        br#""input":[{"role":"user","content":"a"}],"#,
        br#"{"role":"user","content":"b"},"#,
        br#"{"type":"item_reference","id":"c"},"#,
    ];
    prop_oneof![
        4 => Just(Change::None),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), select(b"\"\\{}[],:0 a\n\x80".to_vec())).prop_map(|(at, byte)| Change::Replace(at, byte)),
        2 => (any::<Index>(), select(inserted.to_vec())).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        1 => any::<Index>().prop_map(Change::Remove),
    ]
}

/// Reads bodies one after another, each from where it goes on.
fn reads_as_a_full_read(format: WireFormat, bodies: &[Vec<u8>]) -> std::result::Result<(), TestCaseError> {
    let mut before: Option<(&[u8], GrowingBody<'static>)> = None;
    for body in bodies {
        let full: Result<GrowingBody<'_>> = GrowingBody::read(format, body);
        let grown = match before.take() {
            Some((text, kept)) => kept.extend(text, body),
            None => GrowingBody::read(format, body),
        };
        prop_assert_eq!(&grown, &full);
        before = grown.ok().map(|grown| (body.as_slice(), grown.without_text()));
    }
    Ok(())
}

fn check(format: Format) {
    let other = (any::<bool>(), any::<Index>());
    let cases = (conversations(), other, proptest::collection::vec(changes(), 4));
    let outcome = runner(cases_of_bytes()).run(&cases, |(conversation, (has_tools, back), changes)| {
        let mut bodies = conversation.prefix_bodies(format);
        // Fields around the conversation change as well, and a client goes back to an earlier place.
        let tools = if has_tools { conversation.tools.clone() } else { Vec::new() };
        let changed = Conversation { model: "gpt-4.1-mini", tools, ..conversation };
        bodies.push(changed.body(format));
        bodies.push(bodies[back.index(bodies.len())].clone());
        for change in changes {
            let mut body = changed.body(format);
            change.make(&mut body);
            bodies.push(body);
        }
        reads_as_a_full_read(wire(format), &bodies)
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

fn cases_of_bytes() -> u32 {
    cases() / 2 + 1
}

#[test]
fn an_anthropic_body_is_read_on_as_it_is_read() {
    check(Format::Anthropic);
}

#[test]
fn an_openai_chat_body_is_read_on_as_it_is_read() {
    check(Format::OpenaiChat);
}

#[test]
fn an_openai_responses_body_is_read_on_as_it_is_read() {
    check(Format::OpenaiResponses);
}

#[test]
fn what_stands_behind_the_messages_is_read_each_time() {
    let first = br#"{"messages":[{"role":"user","content":"a"}],"system":"x","model":"m"}"#.to_vec();
    let second = br#"{"messages":[{"role":"user","content":"a"}],"system":"y","model":"n","tools":[]}"#.to_vec();
    let third = br#"{"messages":[{"role":"user","content":"a"}],"system":[{"type":"text","text":"y"},{"type":"text","text":"z"}]}"#.to_vec();
    reads_as_a_full_read(WireFormat::Anthropic, &[first.clone(), second, third, first]).expect("alike");
}

#[test]
fn a_result_that_is_taken_back_answers_no_call_any_more() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let body = |rest: &str| format!(r#"{{"messages":[{{"role":"user","content":"t"}},{call}{rest}]}}"#).into_bytes();
    let answered = body(r#",{"role":"tool","tool_call_id":"a","content":"one"}"#);
    let again = body(r#",{"role":"user","content":"go on"},{"role":"tool","tool_call_id":"a","content":"two"}"#);
    reads_as_a_full_read(WireFormat::OpenaiChat, &[answered, again.clone(), body(""), again]).expect("alike");
}
