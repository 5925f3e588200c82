//! The same behaviour is asked of each archive.

use liveset_archive::{Archive, Error, Kept, Lookup, MemoryArchive, Query, SqliteArchive, output_hash};

use crate::{id, release, release_in, source, text};

fn check_each(claim: impl Fn(&dyn Archive)) {
    claim(&MemoryArchive::new());
    let folder = tempfile::tempdir().unwrap();
    claim(&SqliteArchive::open(folder.path().join("archive")).unwrap());
}

#[test]
fn what_was_put_is_found_and_nothing_else() {
    check_each(|archive| {
        archive.put(&release("a", &[(1, "one"), (2, ""), (3, "\u{0}\r\n\u{1f980}")])).unwrap();
        assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
        assert_eq!(text(archive.original(&id(2)).unwrap()).as_deref(), Some(""));
        assert_eq!(text(archive.original(&id(3)).unwrap()).as_deref(), Some("\u{0}\r\n\u{1f980}"));
        assert_eq!(archive.original(&id(4)).unwrap(), None);
        assert_eq!(text(archive.manifest(&output_hash(b"a")).unwrap()).as_deref(), Some("manifest of a"));
        assert_eq!(archive.manifest(&output_hash(b"b")).unwrap(), None);
    });
}

#[test]
fn the_newest_manifest_of_an_output_counts() {
    check_each(|archive| {
        let mut of_a = release("a", &[]);
        for manifest in ["first", "second", "first"] {
            of_a.manifest = manifest.into();
            archive.put(&of_a).unwrap();
            assert_eq!(text(archive.manifest(&of_a.output).unwrap()).as_deref(), Some(manifest));
        }
    });
}

#[test]
fn an_id_with_other_content_is_an_error_and_the_first_content_stays() {
    check_each(|archive| {
        archive.put(&release("a", &[(1, "one")])).unwrap();
        let refused = archive.put(&release("b", &[(2, "two"), (1, "uno")]));
        assert!(matches!(refused, Err(Error::Collision { id: of }) if of == id(1)));
        assert_eq!(text(archive.original(&id(1)).unwrap()).as_deref(), Some("one"));
        assert_eq!(archive.original(&id(2)).unwrap(), None, "nothing of a refused release is stored");
        assert_eq!(archive.manifest(&output_hash(b"b")).unwrap(), None);
    });
}

#[test]
fn one_release_with_two_contents_for_an_id_is_refused() {
    check_each(|archive| {
        assert!(matches!(archive.put(&release("a", &[(1, "one"), (1, "uno")])), Err(Error::Collision { .. })));
        assert_eq!(archive.original(&id(1)).unwrap(), None);
    });
}

#[test]
fn a_malformed_id_is_an_error_in_each_call() {
    check_each(|archive| {
        let mut bad = release("a", &[]);
        bad.originals.push(("../../etc/passwd".to_owned(), Vec::new()));
        assert!(matches!(archive.put(&bad), Err(Error::BadId { .. })));
        bad.originals.clear();
        bad.output.push('0');
        assert!(matches!(archive.put(&bad), Err(Error::BadId { .. })));
        assert!(matches!(archive.original("0"), Err(Error::BadId { .. })));
        assert!(matches!(archive.manifest(&id(1)), Err(Error::BadId { .. })));
    });
}

#[test]
fn an_original_tells_its_calls_newest_first() {
    check_each(|archive| {
        archive.put(&release_in("s", "a", &[(1, "one")])).unwrap();
        let mut again = release_in("s", "b", &[(1, "one")]);
        again.sources = vec![(id(1), source(7)), (id(1), source(7)), (id(9), source(9))];
        archive.put(&again).unwrap();
        let expected = Kept { bytes: b"one".to_vec(), sources: vec![source(7), source(1)] };
        assert_eq!(archive.look_up(&id(1)).unwrap(), Lookup::Kept(expected));
        assert_eq!(archive.look_up(&id(9)).unwrap(), Lookup::Unknown, "a call alone is no original");
        archive.put(&release("c", &[(2, "two")])).unwrap();
        assert_eq!(archive.look_up(&id(2)).unwrap(), Lookup::Kept(Kept { bytes: b"two".to_vec(), sources: vec![] }));
    });
}

#[test]
fn a_body_that_points_at_what_is_not_stored_is_refused_whole() {
    check_each(|archive| {
        archive.put(&release("a", &[(1, "one")])).unwrap();
        let mut later = release("b", &[(2, "two")]);
        later.points_at = vec![id(1), id(2)];
        archive.put(&later).unwrap();
        later = release("c", &[(3, "three")]);
        later.points_at = vec![id(1), id(4)];
        assert!(matches!(archive.put(&later), Err(Error::Missing { id: of }) if of == id(4)));
        assert_eq!(archive.original(&id(3)).unwrap(), None);
        assert_eq!(archive.manifest(&output_hash(b"c")).unwrap(), None);
    });
}

#[test]
fn a_strict_body_points_only_at_what_its_session_stored() {
    check_each(|archive| {
        archive.put(&release_in("s", "a", &[(1, "one")])).unwrap();
        let mut later = release_in("t", "b", &[(2, "two")]);
        (later.points_at, later.is_strict) = (vec![id(1), id(2)], true);
        assert!(matches!(archive.put(&later), Err(Error::Missing { id: of }) if of == id(1)));
        later.is_strict = false;
        archive.put(&later).unwrap();
        later.session = "s".to_owned();
        (later.output, later.is_strict) = (output_hash(b"c"), true);
        archive.put(&later).unwrap();
    });
}

#[test]
fn words_find_the_original_its_line_and_its_call() {
    check_each(|archive| {
        let log = "start\nwarning: the Pump stands still\nend";
        archive.put(&release_in("s", "a", &[(1, log), (2, "another pump"), (3, "nothing")])).unwrap();
        let hits = archive.search(&Query::new("still pump")).unwrap().hits;
        let told: Vec<_> = hits.iter().map(|hit| (hit.id.as_str(), hit.line, hit.lines, hit.source.name())).collect();
        assert_eq!(told, [(id(1).as_str(), 2, 3, "read file-1.txt".to_owned())]);
        assert_eq!((hits[0].text.as_str(), hits[0].session.as_str()), ("warning: the Pump stands still", "s"));
        assert!(hits[0].source.arguments.is_empty(), "what a list shows holds no arguments");
        let all = |words: &str| {
            let hits = archive.search(&Query::new(words)).unwrap().hits;
            let mut ids: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
            ids.sort();
            ids
        };
        assert_eq!(all("pump"), [id(1), id(2)]);
        assert_eq!(all("file-3.txt"), [id(3)], "the call's own words count too");
        assert_eq!((all("absent"), all("")), (vec![], vec![]));
        let mut elsewhere = Query::new("pump");
        elsewhere.session = Some("t".to_owned());
        assert_eq!(archive.search(&elsewhere).unwrap().hits, []);
        elsewhere.session = Some("s".to_owned());
        assert_eq!(archive.search(&elsewhere).unwrap().hits.len(), 2);
        elsewhere.limit = 1;
        assert_eq!(archive.search(&elsewhere).unwrap().hits.len(), 1);
    });
}

#[test]
fn no_error_shows_stored_text_or_takes_two_lines() {
    let archive = MemoryArchive::new();
    let mut of_a = release_in("s", "a", &[(1, "private\nwords")]);
    of_a.sources[0].1.arguments = "private arguments".to_owned();
    archive.put(&of_a).unwrap();
    let mut messages = vec![
        format!("{of_a:?}"),
        format!("{:?}", archive.look_up(&id(1)).unwrap()),
        archive.put(&release("b", &[(1, "private\nother")])).unwrap_err().to_string(),
        archive.original("private\nid").unwrap_err().to_string(),
    ];
    let folder = tempfile::tempdir().unwrap();
    messages.push(SqliteArchive::open(folder.path()).unwrap_err().to_string());
    for message in messages {
        assert!(!message.contains("private") && !message.contains('\n'), "{message}");
    }
}
