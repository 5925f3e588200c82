//! What was stored by an earlier turn may be gone at the next: then it is stored again, or no body goes out.

use liveset_archive::{Purge, Reach};

use crate::{Store, conversation, lines, liveset};

fn results(count: usize) -> Vec<String> {
    (0..count).map(|at| lines(&format!("night {at}"), 100)).collect()
}

#[test]
fn a_session_whose_originals_were_removed_stores_them_again() {
    let store = Store::new();
    let compactor = liveset(8_000, &store.archive);
    let mut session = compactor.session();
    session.compact(&conversation(&results(9))).expect("the body is read");
    for turn in 10..14 {
        // Another process makes room, or somebody purges the session.
        let other = store.opened_again();
        match turn % 2 {
            0 => assert!(other.evict(0, Reach::Everything).expect("it is evicted").live_originals > 0),
            _ => {
                let name = other.sessions().expect("it is read")[0].session.clone();
                assert!(other.purge(&Purge::Session(name)).expect("it is purged").originals > 0);
            }
        }
        let body = conversation(&results(turn));
        let compaction = session.compact(&body).expect("the body is read");
        assert_ne!(compaction.body(), body);
        assert_eq!(compaction.body(), compactor.compact(&body).expect("the body is read").body());
        let again = liveset(8_000, &store.opened_again());
        assert!(again.restore(compaction.body()).expect("it is restored") == body, "turn {turn}");
    }
}

#[test]
fn a_pin_that_changes_what_is_decided_anew_is_a_declared_rebase() {
    let store = Store::new();
    let mut session = liveset(8_000, &store.archive).session();
    let first = conversation(&results(9));
    let cut = session.compact(&first).expect("the body is read").report().edits[0].call_id.clone();
    session.pin(cut.expect("a result was cut"));
    assert!(store.opened_again().evict(0, Reach::Everything).expect("it is evicted").live_originals > 0);
    let body = conversation(&results(10));
    let told = session.compact(&body).expect("the body is read").report().rebase.clone();
    assert_eq!(told.map(|told| told.cause).as_deref(), Some("archive"));
}

#[test]
fn a_store_that_refuses_lets_no_body_out() {
    let store = Store::new();
    let compactor = liveset(8_000, &store.archive);
    std::fs::remove_file(store.archive.path()).expect("it is removed");
    std::fs::create_dir(store.archive.path()).expect("something else takes its place");
    let body = conversation(&results(9));
    let refused = compactor.compact(&body).expect_err("nothing is handed out");
    assert!(refused.is_archive(), "{refused}");
}
