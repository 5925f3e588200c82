//! What is remembered of a session is what left, and what is said of it is so.

use liveset::WireFormat;
use liveset_proxy::{Doubt, Effect};
use serde_json::Value;

use crate::{
    bodies::Conversation,
    place::{Place, Setup},
    upstream::{Upstream, fine, json},
    wire::Message,
};

const LARGE: Conversation =
    Conversation { format: WireFormat::Anthropic, marks: crate::bodies::Marks::Off, is_streaming: false, task: "t" };
const BYPASS: &str = "x-liveset-bypass: 1\r\n";

fn ask(place: &Place, rounds: usize) -> Message {
    place.client().post(LARGE.path(), "", &LARGE.body(rounds))
}

fn sessions(place: &Place) -> Vec<Value> {
    let told: Value = serde_json::from_slice(&place.client().get("/liveset/sessions").body).unwrap();
    told["sessions"].as_array().unwrap().clone()
}

/// The first request of the conversation that is swept.
fn first_sweep() -> usize {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    (0..40).find(|rounds| ask(&place, *rounds).header("x-liveset-sweep").is_some()).unwrap()
}

#[test]
fn what_left_whole_is_declared_when_it_is_cut_again() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    // What passed is read on the same thread, before the next request is judged.
    setup.config.compactions = 1;
    let place = setup.start();
    ask(&place, 40);
    place.client().post(LARGE.path(), BYPASS, &LARGE.body(41));
    assert_eq!(upstream.newest().body, LARGE.body(41));
    assert_eq!(ask(&place, 42).header("x-liveset-rebase"), Some("fallback"));
    let next = ask(&place, 43);
    assert_eq!(next.header("x-liveset-rebase"), None, "once");
    let sweeps = u64::from(next.header("x-liveset-sweep").is_some());
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"true\"}"), 2 + sweeps, "the first sight and this");
}

#[test]
fn what_left_whole_is_declared_after_a_restart_too_and_once() {
    let upstream = Upstream::new(fine);
    let start = || {
        let mut setup = Setup::to(&upstream);
        setup.config.compactions = 1;
        setup
    };
    let mut place = start().start();
    ask(&place, 40);
    place.client().post(LARGE.path(), BYPASS, &LARGE.body(41));
    for (rounds, declared) in [(42, Some("fallback")), (43, None)] {
        place.ended();
        place = start().beside(&place).start();
        assert_eq!(ask(&place, rounds).header("x-liveset-rebase"), declared, "{rounds}");
        assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    }
}

#[test]
fn a_fallback_is_declared_by_the_request_behind_it() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    ask(&place, 40);
    let hidden = place.path("hidden.db");
    std::fs::rename(place.path("archive.db"), &hidden).unwrap();
    assert_eq!(ask(&place, 41).header("x-liveset-fallback"), Some("archive"));
    assert_eq!(upstream.newest().body, LARGE.body(41));
    std::fs::rename(&hidden, place.path("archive.db")).unwrap();
    let answer = ask(&place, 42);
    assert_eq!((answer.header("x-liveset-fallback"), answer.header("x-liveset-rebase")), (None, Some("fallback")));
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
}

#[test]
fn a_shadow_enters_nothing_and_counts_nothing_as_cut() {
    let upstream = Upstream::new(fine);
    let mut setup = Setup::to(&upstream);
    setup.config.effect = Effect::Shadow;
    let mut shadow = setup.start();
    for rounds in 40..43 {
        ask(&shadow, rounds);
    }
    assert!(shadow.metric("liveset_tokens_in_total") > 0);
    assert_eq!(shadow.metric("liveset_tokens_in_total"), shadow.metric("liveset_tokens_out_total"));
    assert_eq!(shadow.metric("liveset_edits_total"), 0);
    let row = &sessions(&shadow)[0];
    assert_eq!((&row["requests"], &row["reacquisition"]["saved_tokens"]), (&3.into(), &0.into()));
    shadow.ended();
    let live = Setup::to(&upstream).beside(&shadow).start();
    assert_eq!(ask(&live, 43).header("x-liveset-rebase"), Some("no_ledger"), "all of it left whole before");
}

#[test]
fn a_count_keeps_nothing_and_enters_no_policy() {
    let upstream = Upstream::new(fine);
    let count = |place: &Place, rounds| place.client().post("/v1/messages/count_tokens", "", &LARGE.body(rounds));
    let mut place = Setup::to(&upstream).start();
    count(&place, 40);
    assert!(upstream.newest().body.len() < LARGE.body(40).len(), "it is counted as it would leave");
    assert!(sessions(&place).is_empty());
    place.ended();
    let other = || {
        let mut setup = Setup::to(&upstream);
        setup.policy.target = 30;
        setup.policy.trigger = 50;
        setup
    };
    let fresh = other().start();
    ask(&fresh, 40);
    let expected = upstream.newest().body;
    let place = other().beside(&place).start();
    ask(&place, 40);
    assert_eq!(upstream.newest().body, expected, "no policy was entered by a count");
    count(&place, 45);
    let answer = ask(&place, 41);
    assert_eq!((answer.header("x-liveset-rebase"), answer.header("x-liveset-client-rewrote")), (None, None));
    assert_eq!(sessions(&place)[0]["requests"], 2);
}

#[test]
fn a_request_that_is_asked_again_saves_nothing_more() {
    let upstream = Upstream::new(fine);
    let mut place = Setup::to(&upstream).start();
    ask(&place, 40);
    let first = sessions(&place)[0].clone();
    ask(&place, 40);
    assert_eq!(sessions(&place)[0], first);
    assert!(first["reacquisition"]["cuts"].as_u64().unwrap() > 0);
    place.ended();
    let again = Setup::to(&upstream).beside(&place).start();
    ask(&again, 41);
    assert_eq!(sessions(&again)[0]["reacquisition"]["cuts"], 0, "they were cut before the restart");
}

#[test]
fn a_client_that_goes_back_is_told_that_its_items_leave_otherwise() {
    let upstream = Upstream::new(fine);
    let place = Setup::to(&upstream).start();
    let rounds = first_sweep();
    for rounds in [rounds - 3, rounds, rounds + 1] {
        assert_eq!(ask(&place, rounds).header("x-liveset-client-rewrote"), None);
    }
    let answer = ask(&place, rounds - 2);
    assert_eq!(answer.header("x-liveset-outcome"), Some("unchanged"));
    assert!(answer.header("x-liveset-client-rewrote").is_some());
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"true\"}"), 2, "the sweep and this");
}

#[test]
fn a_first_cut_after_a_restart_is_a_sweep_and_nothing_else() {
    let upstream = Upstream::new(fine);
    let rounds = first_sweep();
    let mut place = Setup::to(&upstream).start();
    ask(&place, rounds - 1);
    place.ended();
    let again = Setup::to(&upstream).beside(&place).start();
    let answer = ask(&again, rounds);
    assert!(answer.header("x-liveset-sweep").is_some());
    assert_eq!(answer.header("x-liveset-rebase"), None, "nothing had been cut that could leave otherwise");
}

#[test]
fn another_model_is_declared_across_a_restart_and_once() {
    let upstream = Upstream::new(fine);
    let mut place = Setup::to(&upstream).start();
    ask(&place, 40);
    let other = |place: &Place, rounds| {
        let body = String::from_utf8(LARGE.body(rounds)).unwrap().replace("claude-sonnet-4-5", "claude-opus-4-5");
        place.client().post(LARGE.path(), "", body.as_bytes())
    };
    for (rounds, declared) in [(41, Some("model")), (42, None)] {
        place.ended();
        place = Setup::to(&upstream).beside(&place).start();
        assert_eq!(other(&place, rounds).header("x-liveset-rebase"), declared);
    }
}

#[test]
fn a_smaller_window_that_does_not_help_holds_for_nothing() {
    let too_long = r#"{"error":{"type":"exceed_context_size_error","n_prompt_tokens":15000,"n_ctx":8000}}"#;
    let upstream = Upstream::new(move |_| vec![json(400, too_long)]);
    let place = Setup::to(&upstream).start();
    let first = ask(&place, 40);
    assert_eq!((first.status(), upstream.seen().len()), (400, 2));
    let whole = upstream.seen()[0].body.len();
    assert!(upstream.newest().body.len() < whole);
    assert_eq!((ask(&place, 41).status(), upstream.seen().len()), (400, 3), "not once more in the same branch");
    assert!(upstream.newest().body.len() > whole * 9 / 10, "the window is what it was");
    let other = Setup::to(&upstream).beside(&place).start();
    ask(&other, 41);
    assert_eq!(upstream.seen()[3].body, upstream.seen()[2].body, "and for those who share the ledger too");
}

#[test]
fn strict_holds_for_the_second_request_which_is_measured_too() {
    let too_long = r#"{"error":{"type":"exceed_context_size_error","n_prompt_tokens":15000,"n_ctx":8000}}"#;
    let upstream = Upstream::new(move |request| match request.body.len() {
        0..30_000 => fine(request),
        _ => vec![json(400, too_long)],
    });
    let start = |doubt| {
        let mut setup = Setup::to(&upstream);
        setup.config.doubt = doubt;
        setup.start()
    };
    let place = start(Doubt::Refuse);
    assert_eq!(ask(&place, 40).status(), 200);
    assert_eq!(upstream.seen().len(), 2);
    assert_eq!(place.metric("liveset_added_seconds_count"), 2);
    // Words of the user are never cut, so no body of half the size can be made.
    let body = String::from_utf8(LARGE.body(40)).unwrap();
    let body = body.replacen("\"t\"", &format!("\"{}\"", "many words ".repeat(4_500)), 1);
    let place = start(Doubt::Refuse);
    let answer = place.client().post(LARGE.path(), "", body.as_bytes());
    assert_eq!((answer.status(), answer.body.as_slice()), (400, too_long.as_bytes()), "the upstream's own words");
    assert_eq!(upstream.seen().len(), 3, "what cannot fit is not sent");
}
