//! A conversation of 49 requests: what was sent stays as it was sent, across restarts, lost caches and replicas.

use liveset::WireFormat;

use crate::{
    bodies::{Conversation, Marks},
    place::{ArchiveOf, Place, Setup},
    upstream::{Upstream, chunk, fine, stream_end, stream_head},
    wire::{Client, Message},
};

const REQUESTS: usize = 49;

/// Sends every request of a conversation through whatever `client` gives, and keeps what the upstream got.
fn sent(
    conversation: Conversation,
    upstream: &Upstream,
    mut client: impl FnMut(usize) -> Client,
) -> Vec<(Message, Message)> {
    let mut exchanges = Vec::new();
    for rounds in 0..REQUESTS {
        let answer = client(rounds).post(conversation.path(), "", &conversation.body(rounds));
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.header("x-liveset-fallback"), None, "request {rounds}");
        exchanges.push((upstream.newest(), answer));
    }
    exchanges
}

/// Whether the answer says that earlier parts may leave otherwise than before.
fn is_declared(answer: &Message) -> bool {
    answer.header("x-liveset-sweep").is_some() || answer.header("x-liveset-rebase").is_some()
}

/// Counts the requests whose earlier part left otherwise, declared and not.
fn changes(conversation: Conversation, exchanges: &[(Message, Message)]) -> (usize, usize) {
    let (mut declared, mut undeclared) = (0, 0);
    for pair in exchanges.windows(2) {
        let [(before, _), (now, answer)] = pair else { continue };
        let (before, now) = (conversation.pieces(&before.body), conversation.pieces(&now.body));
        if !now.starts_with(&before) {
            *if is_declared(answer) { &mut declared } else { &mut undeclared } += 1;
        }
    }
    (declared, undeclared)
}

fn bodies(exchanges: &[(Message, Message)]) -> Vec<&[u8]> {
    exchanges.iter().map(|(sent, _)| sent.body.as_slice()).collect()
}

fn through(place: &Place) -> impl FnMut(usize) -> Client {
    |_| place.client()
}

fn scripted() -> Upstream {
    Upstream::new(|request| {
        if request.body.windows(13).any(|bytes| bytes == b"\"stream\":true") {
            vec![stream_head(), chunk(b"data: {\"usage\":{\"input_tokens\":5}}\n\n"), stream_end()]
        } else {
            fine(request)
        }
    })
}

#[test]
fn no_prefix_changes_without_being_declared_in_any_format_with_any_marks_streaming_or_not() {
    for format in WireFormat::ALL {
        for (marks, is_streaming) in
            [Marks::Off, Marks::Fixed, Marks::Moving].into_iter().flat_map(|marks| [(marks, false), (marks, true)])
        {
            if marks != Marks::Off && format != WireFormat::Anthropic {
                // The others have no marks.
                continue;
            }
            let conversation = Conversation { marks, is_streaming, ..Conversation::of(format) };
            let upstream = scripted();
            let place = Setup::to(&upstream).start();
            let exchanges = sent(conversation, &upstream, through(&place));
            let (declared, undeclared) = changes(conversation, &exchanges);
            assert!(declared > 0, "{conversation:?} sweeps");
            assert_eq!(undeclared, 0, "{conversation:?}");
            assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
            assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"true\"}"), declared as u64);
            let (last, _) = exchanges.last().unwrap();
            assert!(last.body.len() < conversation.body(REQUESTS - 1).len() * 2 / 3, "much is gone");
        }
    }
}

#[test]
fn a_restart_lost_caches_and_two_replicas_send_the_same_bytes() {
    let conversation = Conversation { marks: Marks::Moving, ..Conversation::of(WireFormat::Anthropic) };
    let upstream = scripted();
    let whole = Setup::to(&upstream).start();
    let expected = sent(conversation, &upstream, through(&whole));
    let expected = bodies(&expected);

    let first = Setup::to(&upstream).start();
    let second = Setup::to(&upstream).beside(&first).start();
    let alternating =
        sent(conversation, &upstream, |rounds| if rounds % 2 == 0 { first.client() } else { second.client() });
    assert_eq!(bodies(&alternating), expected, "two replicas alternately");
    assert_eq!(changes(conversation, &alternating).1, 0);

    let mut place = Setup::to(&upstream).start();
    let restarted = sent(conversation, &upstream, |rounds| {
        if rounds == REQUESTS / 2 {
            place.ended();
            place = Setup::to(&upstream).beside(&place).start();
        }
        place.client()
    });
    assert_eq!(bodies(&restarted), expected, "a restart in the middle");
    assert_eq!(changes(conversation, &restarted).1, 0, "a restart declares nothing, since nothing changed");
    let rebased = restarted.iter().filter(|(_, answer)| answer.header("x-liveset-rebase").is_some()).count();
    assert_eq!(rebased, 0, "the ledger knows the conversation");

    let mut setup = Setup::to(&upstream);
    setup.config.cache_bytes = 0;
    let forgetful = setup.start();
    let forgotten = sent(conversation, &upstream, through(&forgetful));
    assert_eq!(bodies(&forgotten), expected, "caches lost at each request");
}

#[test]
fn without_a_ledger_a_restart_is_declared_and_changes_no_byte() {
    let conversation = Conversation::of(WireFormat::OpenaiChat);
    let upstream = scripted();
    let start = || {
        let mut setup = Setup::to(&upstream);
        setup.archive = ArchiveOf::Nowhere;
        setup.start()
    };
    let whole = start();
    let expected = sent(conversation, &upstream, through(&whole));
    let mut place = start();
    let restarted = sent(conversation, &upstream, |rounds| {
        if rounds == REQUESTS / 2 {
            place.ended();
            place = start();
        }
        place.client()
    });
    assert_eq!(bodies(&restarted), bodies(&expected));
    let (_, answer) = &restarted[REQUESTS / 2];
    assert_eq!(answer.header("x-liveset-rebase"), Some("no_ledger"));
    let rebased = restarted.iter().filter(|(_, answer)| answer.header("x-liveset-rebase").is_some()).count();
    assert_eq!(rebased, 1, "once");
}

#[test]
fn a_conversation_keeps_its_policy_when_the_settings_change() {
    let conversation = Conversation::of(WireFormat::Anthropic);
    let upstream = scripted();
    let whole = Setup::to(&upstream).start();
    let expected = sent(conversation, &upstream, through(&whole));
    let mut place = Setup::to(&upstream).start();
    let changed = sent(conversation, &upstream, |rounds| {
        if rounds == REQUESTS - 5 {
            place.ended();
            let mut setup = Setup::to(&upstream).beside(&place);
            setup.policy.target = 30;
            setup.policy.trigger = 50;
            place = setup.start();
        }
        place.client()
    });
    assert_eq!(bodies(&changed), bodies(&expected));
    let other = Conversation { task: "another thing", ..conversation };
    place.client().post(other.path(), "", &other.body(REQUESTS - 1));
    assert!(upstream.newest().body.len() < expected.last().unwrap().0.body.len(), "new ones go by the new settings");
}

#[test]
fn a_note_that_a_client_writes_anew_at_each_request_tells_no_conversation_from_another() {
    let conversation = Conversation::of(WireFormat::Anthropic);
    let upstream = scripted();
    let with_note = |rounds: usize| {
        let note = format!("x-anthropic-billing-header: cc_version=2.1.37.3a2; cch={:05x};", rounds * 7_919 + 11);
        let body = String::from_utf8(conversation.body(rounds)).unwrap();
        let block = format!(r#""system":[{{"text":"{note}","type":"text"}},"#);
        (body.replacen(r#""system":["#, &block, 1), note)
    };
    let mut place = Setup::to(&upstream).start();
    let mut exchanges = Vec::new();
    for rounds in 0..REQUESTS {
        if rounds == REQUESTS / 2 {
            place.ended();
            place = Setup::to(&upstream).beside(&place).start();
        }
        let (body, note) = with_note(rounds);
        let answer = place.client().post(conversation.path(), "", body.as_bytes());
        assert_eq!(answer.header("x-liveset-rebase"), None, "request {rounds}");
        assert!(String::from_utf8(upstream.newest().body).unwrap().contains(&note), "the note itself passes");
        exchanges.push((upstream.newest(), answer));
    }
    let (declared, undeclared) = changes(conversation, &exchanges);
    assert!(declared > 0, "it sweeps");
    assert_eq!(undeclared, 0);
    let told: serde_json::Value = serde_json::from_slice(&place.client().get("/liveset/sessions").body).unwrap();
    assert_eq!(told["sessions"].as_array().unwrap().len(), 1, "{told}");
    let archive = liveset::SqliteArchive::open(place.path("archive.db")).unwrap();
    let sessions: std::collections::BTreeSet<String> =
        archive.sessions().unwrap().into_iter().map(|session| session.session).collect();
    assert_eq!(sessions.len(), 2, "one of originals and one of the ledger: {sessions:?}");
}

#[test]
fn two_conversations_with_the_same_system_text_do_not_meet() {
    let (one, other) = (
        Conversation::of(WireFormat::Anthropic),
        Conversation { task: "write the docs", ..Conversation::of(WireFormat::Anthropic) },
    );
    let upstream = scripted();
    let apart = [one, other].map(|conversation| {
        let place = Setup::to(&upstream).start();
        sent(conversation, &upstream, through(&place)).into_iter().map(|(sent, _)| sent.body).collect::<Vec<_>>()
    });
    let place = Setup::to(&upstream).start();
    for rounds in 0..REQUESTS {
        for (conversation, expected) in [one, other].iter().zip(&apart) {
            place.client().post(conversation.path(), "", &conversation.body(rounds));
            assert_eq!(upstream.newest().body, expected[rounds], "request {rounds} of {}", conversation.task);
        }
    }
    // Branches of one conversation at the same time: each as if it were alone.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let place = &place;
            scope.spawn(move || place.client().post(one.path(), "", &one.body(REQUESTS - 1)).status());
        }
    });
    let newest = upstream.seen().into_iter().rev().take(4);
    for sent in newest {
        assert_eq!(&sent.body, apart[0].last().unwrap());
    }
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
}
