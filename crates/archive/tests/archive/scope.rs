//! Who gets what: an id is worth nothing outside of its tenant, and nothing outside of its session where that is asked.

use liveset_archive::{Archive, Error, Event, Lookup, Purge, Query, Reach, Scope, SqliteArchive, output_hash};

use crate::{id, release_in, text};

fn archive() -> (tempfile::TempDir, SqliteArchive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
    (folder, archive)
}

#[test]
fn another_tenants_id_is_answered_like_one_that_nobody_issued() {
    let (_folder, archive) = archive();
    let (ada, bob) = (archive.within(Scope::tenant("ada")), archive.within(Scope::tenant("bob")));
    ada.put(&release_in("s", "a", &[(1, "ada's pump")])).unwrap();
    let (not_mine, never) = (id(1), id(2));
    assert_eq!(bob.original(&not_mine).unwrap(), bob.original(&never).unwrap());
    assert_eq!(bob.look_up(&not_mine).unwrap(), Lookup::Unknown);
    assert_eq!(bob.look_up(&never).unwrap(), Lookup::Unknown);
    assert_eq!(bob.manifest(&output_hash(b"a")).unwrap(), None);
    assert_eq!(bob.search(&Query::new("pump")).unwrap().hits, []);
    assert_eq!(bob.search(&Query { session: Some("s".into()), ..Query::new("pump") }).unwrap().hits, []);
    assert_eq!(bob.sessions().unwrap(), []);
    assert_eq!(bob.scan().unwrap().originals, 0);
    // What a body points at is asked in the same scope, and answered with the same words.
    let pointing = |of: u64| {
        let mut release = release_in("s", "b", &[]);
        release.points_at = vec![id(of)];
        bob.put(&release).unwrap_err().to_string().replace(&id(of), "ID")
    };
    assert_eq!(pointing(1), pointing(2));
    assert_eq!(bob.purge(&Purge::Id(not_mine.clone())).unwrap(), bob.purge(&Purge::Id(never)).unwrap());
    assert_eq!(bob.purge(&Purge::Session("s".into())).unwrap().originals, 0);
    assert_eq!(text(ada.original(&not_mine).unwrap()).as_deref(), Some("ada's pump"));
}

#[test]
fn two_tenants_may_hold_other_texts_under_one_id() {
    let (_folder, archive) = archive();
    let (ada, bob) = (archive.within(Scope::tenant("ada")), archive.within(Scope::tenant("bob")));
    ada.put(&release_in("s", "a", &[(1, "one")])).unwrap();
    // A collision here would tell bob that ada holds the id.
    bob.put(&release_in("s", "a", &[(1, "uno")])).unwrap();
    assert_eq!(text(ada.original(&id(1)).unwrap()).as_deref(), Some("one"));
    assert_eq!(text(bob.original(&id(1)).unwrap()).as_deref(), Some("uno"));
}

#[test]
fn strict_sessions_are_a_border_and_open_ones_an_index() {
    let (_folder, archive) = archive();
    archive.put(&release_in("s", "a", &[(1, "the pump"), (2, "both pump")])).unwrap();
    archive.put(&release_in("t", "b", &[(2, "both pump"), (3, "my pump")])).unwrap();
    let found = |archive: &SqliteArchive| [1, 2, 3].map(|of| archive.original(&id(of)).unwrap().is_some());
    assert_eq!(found(&archive), [true, true, true]);
    let only_t = archive.within(Scope::default().strictly("t"));
    assert_eq!(found(&only_t), [false, true, true]);
    assert_eq!(only_t.look_up(&id(1)).unwrap(), only_t.look_up(&id(9)).unwrap());
    assert_eq!(only_t.manifest(&output_hash(b"a")).unwrap(), None);
    assert!(only_t.manifest(&output_hash(b"b")).unwrap().is_some());
    let hits = only_t.search(&Query::new("pump")).unwrap().hits;
    assert!(hits.len() == 2 && hits.iter().all(|hit| hit.session == "t"), "{hits:?}");
    assert_eq!(only_t.search(&Query { session: Some("s".into()), ..Query::new("pump") }).unwrap().hits, []);
    let nowhere = archive.within(Scope::default().strictly("never"));
    assert_eq!((found(&nowhere), nowhere.search(&Query::new("pump")).unwrap().hits.len()), ([false; 3], 0));
}

/// Three originals: the first of `s` alone, the second of both sessions, the third of `t` alone.
fn shared() -> (tempfile::TempDir, SqliteArchive, SqliteArchive) {
    let (folder, archive) = archive();
    archive.put(&release_in("s", "a", &[(1, "the pump"), (2, "both pump")])).unwrap();
    archive.put(&release_in("t", "b", &[(2, "both pump"), (3, "my pump")])).unwrap();
    let only_t = archive.within(Scope::default().strictly("t"));
    (folder, archive, only_t)
}

#[test]
fn a_guessed_id_does_not_become_ones_own_by_being_pointed_at() {
    let (_folder, archive, only_t) = shared();
    let pointing = |archive: &SqliteArchive, of: u64, is_strict: bool| {
        let mut release = release_in("t", "c", &[]);
        (release.points_at, release.is_strict) = (vec![id(of)], is_strict);
        archive.put(&release).map_err(|error| error.to_string().replace(&id(of), "ID"))
    };
    for (handle, is_strict) in [(&only_t, false), (&only_t, true), (&archive, true)] {
        let (not_mine, never) = (pointing(handle, 1, is_strict), pointing(handle, 9, is_strict));
        assert!(not_mine.is_err());
        assert_eq!(not_mine, never);
        assert_eq!((only_t.original(&id(1)).unwrap(), only_t.look_up(&id(1)).unwrap()), (None, Lookup::Unknown));
        pointing(handle, 2, is_strict).unwrap();
    }
    // Where sessions are an index, pointing at what another conversation stored is how a fork finds it.
    pointing(&archive, 1, false).unwrap();
}

#[test]
fn who_brings_the_text_itself_has_it() {
    let (_folder, _archive, only_t) = shared();
    only_t.put(&release_in("t", "c", &[(1, "the pump")])).unwrap();
    assert_eq!(text(only_t.original(&id(1)).unwrap()).as_deref(), Some("the pump"));
}

#[test]
fn nothing_is_stored_behind_a_border() {
    let (folder, archive, only_t) = shared();
    let event = Event { item: 1, event: "cold".into() };
    let copied = archive.copy_to(&SqliteArchive::open(folder.path().join("b")).unwrap().within(only_t_scope()));
    for refused in [
        only_t.put(&release_in("s", "c", &[(4, "planted")])).map(drop),
        only_t.put_event("s", &event),
        copied.map(drop),
    ] {
        assert!(matches!(refused, Err(Error::OtherSession)), "{refused:?}");
    }
    assert_eq!(archive.original(&id(4)).unwrap(), None);
    only_t.put_event("t", &event).unwrap();
}

fn only_t_scope() -> Scope {
    Scope::default().strictly("t")
}

#[test]
fn a_border_holds_for_purges() {
    let (_folder, archive, only_t) = shared();
    let (not_mine, never) = (Purge::Id(id(1)), Purge::Id(id(9)));
    assert_eq!(only_t.purge(&not_mine).unwrap(), only_t.purge(&never).unwrap());
    let (theirs, nobodys) = (Purge::Session("s".into()), Purge::Session("u".into()));
    assert_eq!(only_t.purge(&theirs).unwrap(), only_t.purge(&nobodys).unwrap());
    assert!(!only_t.purge(&theirs).unwrap().is_known);
    assert!(archive.manifest(&output_hash(b"a")).unwrap().is_some());
    // What both hold stays the other's.
    let purged = only_t.purge(&Purge::Id(id(2))).unwrap();
    assert_eq!((purged.originals, purged.manifests, purged.is_known), (1, 1, true));
    assert_eq!(only_t.original(&id(2)).unwrap(), None);
    let only_s = archive.within(Scope::default().strictly("s"));
    assert_eq!(text(only_s.original(&id(2)).unwrap()).as_deref(), Some("both pump"));
    assert_eq!(only_s.search(&Query::new("both")).unwrap().hits.len(), 1);
    assert_eq!(only_t.search(&Query::new("both")).unwrap().hits, []);
    let purged = only_t.purge(&Purge::Id(id(3))).unwrap();
    assert_eq!((purged.originals, archive.original(&id(3)).unwrap()), (1, None));
}

#[test]
fn a_border_holds_for_evictions() {
    let (_folder, archive, only_t) = shared();
    let bob = archive.within(Scope::tenant("bob"));
    bob.put(&release_in("s", "c", &[(5, "bob's pump")])).unwrap();
    assert_eq!(only_t.evict(0, Reach::Everything).unwrap().originals, 1);
    let held = |archive: &SqliteArchive| [1, 2, 3, 5].map(|of| archive.original(&id(of)).unwrap().is_some());
    assert_eq!((held(&archive), held(&bob)), ([true, true, false, false], [false, false, false, true]));
    assert_eq!(archive.within(Scope::tenant("nobody")).evict(0, Reach::Everything).unwrap().originals, 0);
    assert_eq!(bob.evict(0, Reach::Everything).unwrap().originals, 1);
    assert_eq!((held(&archive), held(&bob)), ([true, true, false, false], [false; 4]));
    bob.put(&release_in("s", "c", &[(5, "bob's pump")])).unwrap();
    assert_eq!(archive.evict(0, Reach::Everything).unwrap().originals, 3, "the owner of the file makes room in it");
}
