//! The same behaviour is asked of each archive.

use liveset_archive::{Archive, Error, FileArchive, MemoryArchive, output_hash};

use crate::{id, release, text};

fn check_each(claim: impl Fn(&dyn Archive)) {
    claim(&MemoryArchive::new());
    let folder = tempfile::tempdir().unwrap();
    claim(&FileArchive::open(folder.path().join("archive")).unwrap());
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
fn no_error_shows_stored_text_or_takes_two_lines() {
    let archive = MemoryArchive::new();
    archive.put(&release("a", &[(1, "private\nwords")])).unwrap();
    let mut messages = vec![
        archive.put(&release("b", &[(1, "private\nother")])).unwrap_err().to_string(),
        archive.original("private\nid").unwrap_err().to_string(),
    ];
    let folder = tempfile::tempdir().unwrap();
    messages.push(FileArchive::open(folder.path()).unwrap_err().to_string());
    for message in messages {
        assert!(!message.contains("private") && !message.contains('\n'), "{message}");
    }
}
