//! Who gets what: an id is worth nothing outside of its tenant, and nothing outside of its session where that is asked.

use liveset_archive::{Archive, Lookup, Purge, Query, Scope, SqliteArchive, output_hash};

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
