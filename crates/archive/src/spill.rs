//! How does an agent without any tool of ours get an original? As a plain file that whatever reads files can open.
//!
//! Names depend on the content alone, so that the same body gives the same names everywhere.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{
    Archive, Error, Found, Lookup, Query, Release, Result, Source, error::at, folder, records::Key, shown::one_line,
};

/// The index of a session's originals, beside them.
const HISTORY: &str = "history.md";

/// Sessions are folders; the one without a name has this.
const NO_SESSION: &str = "session";

/// The longest index: some hundred thousand lines, far more than a conversation cuts.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// What the index of a session begins with.
const HEADING: &str = "# What was taken out of this conversation, oldest first\n\n";

/// A folder that originals are written to, as an agent sees it: relative to where it works.
#[derive(Debug)]
pub struct Spill {
    base: PathBuf,
    relative: PathBuf,
    /// Two releases must not append to one index at once.
    writing: Mutex<()>,
}

impl Spill {
    /// Writes below `relative`, which is a path relative to `base`.
    ///
    /// ```
    /// use liveset_archive::Spill;
    /// assert!(Spill::new("/project", ".liveset").is_ok());
    /// assert!(Spill::new("/project", "../elsewhere").is_err());
    /// assert!(Spill::new("/project", "~/.liveset").is_err());
    /// ```
    ///
    /// # Errors
    /// `relative` is empty, absolute, or leads out of `base`; or a shell would take it for a home, a command for a flag.
    pub fn new(base: impl Into<PathBuf>, relative: impl Into<PathBuf>) -> Result<Spill> {
        let relative = relative.into();
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_plain || !relative.components().any(|part| matches!(part, Component::Normal(_))) {
            return Err(at("write below", &relative)(io::ErrorKind::InvalidInput.into()));
        }
        let first = relative.components().find(|part| matches!(part, Component::Normal(_)));
        let is_led_by = |sign: &[u8]| first.is_some_and(|name| name.as_os_str().as_encoded_bytes().starts_with(sign));
        if is_led_by(b"~") || is_led_by(b"-") {
            return Err(Error::MisleadingFolder { path: relative });
        }
        Ok(Spill { base: base.into(), relative, writing: Mutex::new(()) })
    }

    /// Names the file of an original, as an agent opens it.
    ///
    /// ```
    /// let spill = liveset_archive::Spill::new("/project", ".liveset")?;
    /// assert_eq!(spill.name(&"0f".repeat(16)), format!(".liveset/{}.txt", "0f".repeat(16)));
    /// # Ok::<(), liveset_archive::Error>(())
    /// ```
    #[must_use]
    pub fn name(&self, id: &str) -> String {
        self.inside(&format!("{id}.txt"))
    }

    /// Names the index of a session, as an agent opens it.
    #[must_use]
    pub fn history(&self, session: &str) -> String {
        self.inside(&format!("{}/{HISTORY}", folder_of(session)))
    }

    /// Names are written with `/` on every system: they stand in a body, whose bytes do not depend on the machine.
    fn inside(&self, name: &str) -> String {
        let parts = self.relative.components().filter(|part| matches!(part, Component::Normal(_)));
        let mut path: Vec<String> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        path.push(name.to_owned());
        path.join("/")
    }

    /// Writes a release's originals, each to its file, and adds them to the index of its session; durable when it
    /// returns. What is there already is left alone.
    ///
    /// # Errors
    /// A malformed id, or the file system.
    pub fn write(&self, release: &Release) -> Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, text) in &release.originals {
            Key::original(id)?;
            self.write_once(&self.base.join(self.name(id)), text)?;
        }
        self.index(release)
    }

    /// Writes a file whole or not at all. A file of the right length was written whole: its name is its content.
    fn write_once(&self, path: &Path, text: &[u8]) -> Result<()> {
        if path.metadata().is_ok_and(|found| found.len() == text.len() as u64) {
            return Ok(());
        }
        folder::create_above(path)?;
        let new = path.with_extension(format!("new{}", std::process::id()));
        let _ = fs::remove_file(&new);
        folder::create_private(&new).map_err(at("create", &new))?;
        let write = || {
            let mut file = OpenOptions::new().write(true).open(&new)?;
            file.write_all(text)?;
            file.sync_all()?;
            fs::rename(&new, path)
        };
        write().map_err(at("write", path))?;
        folder::sync_above(path)
    }

    fn index(&self, release: &Release) -> Result<()> {
        let path = self.base.join(self.history(&release.session));
        let old = match read_index(&path) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(at("read", &path)(error)),
        };
        let mut known: HashSet<Cow<'_, str>> = old.lines().map(Cow::Borrowed).collect();
        let mut calls: HashMap<&str, Vec<&Source>> = HashMap::with_capacity(release.sources.len());
        for (id, source) in &release.sources {
            calls.entry(id).or_default().push(source);
        }
        let mut added = String::new();
        for (id, text) in &release.originals {
            let told = calls.get(id.as_str()).map_or_else(Vec::new, |calls| calls.iter().copied().map(Some).collect());
            for call in if told.is_empty() { vec![None] } else { told } {
                let line = line_of(id, text, call);
                if !known.contains(line.as_str()) {
                    let _ = writeln!(added, "{line}");
                    known.insert(Cow::Owned(line));
                }
            }
        }
        if added.is_empty() && !old.is_empty() {
            return Ok(());
        }
        folder::create_above(&path)?;
        if old.is_empty() {
            let _ = folder::create_private(&path);
            added.insert_str(0, HEADING);
        } else if !old.ends_with('\n') {
            // A crash cut the last line short: the next one begins anew.
            added.insert(0, '\n');
        }
        let append = || {
            let mut file = OpenOptions::new().append(true).open(&path)?;
            file.write_all(added.as_bytes())?;
            file.sync_all()
        };
        append().map_err(at("write", &path))?;
        folder::sync_above(&path)
    }
}

/// Reads the index, unless somebody made something else of it.
fn read_index(path: &Path) -> io::Result<String> {
    if path.metadata()?.len() > MAX_INDEX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // A crash may have cut a character in two; that line is none that is looked for.
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// One line of the index: which file, which call, how much.
fn line_of(id: &str, text: &[u8], call: Option<&Source>) -> String {
    let lines = text.split_inclusive(|&byte| byte == b'\n').count();
    let name = call.map_or_else(|| "tool".to_owned(), Source::name).replace('`', "'");
    format!("- `../{id}.txt`: {}, {lines} lines, {} bytes", one_line(&name), text.len())
}

/// A session's name is a hash; whatever else it may be, it leads nowhere.
fn folder_of(session: &str) -> String {
    let plain: String = session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    if plain.is_empty() { NO_SESSION.to_owned() } else { plain }
}

/// An archive that also spills: each original stands in a plain file before the release is stored.
pub struct Spilling<A> {
    archive: A,
    spill: Spill,
}

impl<A: Archive> Spilling<A> {
    /// Spills what `archive` stores.
    #[must_use]
    pub fn new(archive: A, spill: Spill) -> Self {
        Self { archive, spill }
    }
}

impl<A: Archive> Archive for Spilling<A> {
    fn put(&self, release: &Release) -> Result<()> {
        // A body points at files that earlier turns wrote; somebody may have tidied up since.
        let own: HashSet<&str> = release.originals.iter().map(|(id, _)| id.as_str()).collect();
        for id in &release.points_at {
            if !own.contains(id.as_str()) && !self.spill.base.join(self.spill.name(id)).is_file() {
                return Err(Error::Missing { id: id.clone() });
            }
        }
        self.spill.write(release)?;
        self.archive.put(release)
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        self.archive.original(id)
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        self.archive.manifest(output)
    }

    fn look_up(&self, id: &str) -> Result<Lookup> {
        self.archive.look_up(id)
    }

    fn search(&self, query: &Query) -> Result<Found> {
        self.archive.search(query)
    }

    fn summary(&self, input: &str) -> Result<Option<String>> {
        self.archive.summary(input)
    }

    fn put_summary(&self, input: &str, text: &str) -> Result<String> {
        self.archive.put_summary(input, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryArchive;

    fn release(numbers: &[u64]) -> Release {
        let id = |number: &u64| format!("{number:032x}");
        let originals = numbers.iter().map(|number| (id(number), format!("text {number}\nmore\n").into_bytes()));
        let mut release = Release::new(b"body", vec![1], originals.collect());
        release.session = "00ff".into();
        let call = |number: &u64| Source { tool: "read".into(), label: format!("f{number}\n`x`"), ..Source::default() };
        release.sources = numbers.iter().map(|number| (id(number), call(number))).collect();
        release
    }

    #[test]
    fn originals_are_plain_files_and_the_index_grows() {
        let folder = tempfile::tempdir().unwrap();
        let spill = || Spill::new(folder.path(), "a/b").unwrap();
        let archive = Spilling::new(MemoryArchive::new(), spill());
        archive.put(&release(&[1])).unwrap();
        archive.put(&release(&[1, 2])).unwrap();
        let read = |name: String| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read(spill().name(&format!("{:032x}", 2))), "text 2\nmore\n");
        let index = read(spill().history("00ff"));
        assert_eq!(spill().history("00ff"), "a/b/00ff/history.md");
        let expected = format!(
            "{HEADING}- `../{:032x}.txt`: read f1\\n'x', 2 lines, 12 bytes\n- `../{:032x}.txt`: read f2\\n'x', 2 lines, 12 bytes\n",
            1, 2
        );
        assert_eq!(index, expected);
        // What the index names can be opened from where it stands.
        let place = folder.path().join("a/b/00ff").join(format!("../{:032x}.txt", 1));
        assert!(place.is_file());
        fs::remove_file(folder.path().join(spill().name(&format!("{:032x}", 1)))).unwrap();
        let mut later = release(&[2]);
        later.points_at = vec![format!("{:032x}", 1)];
        assert!(matches!(archive.put(&later), Err(Error::Missing { .. })));
        archive.put(&release(&[1])).unwrap();
        assert!(place.is_file());
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for relative in ["", ".", "..", "/etc", "a/../../b"] {
            assert!(Spill::new("base", relative).is_err(), "{relative}");
        }
        for relative in ["~", "~/x", "~me/x", "-out", "./-out", "--/x", "-rf"] {
            let refused = Spill::new("base", relative).unwrap_err();
            assert!(matches!(refused, Error::MisleadingFolder { .. }), "{relative}: {refused:?}");
            assert!(refused.to_string().ends_with("such as `.liveset`"), "{refused}");
        }
        assert!(Spill::new("base", "a/~b/-c").is_ok(), "behind the first name they mislead nobody");
        let spill = Spill::new("base", "./a").unwrap();
        assert_eq!(spill.history("../../etc/passwd"), "a/etcpasswd/history.md");
        assert_eq!(spill.history(""), "a/session/history.md");
        let mut bad = release(&[]);
        bad.originals.push(("../x".into(), Vec::new()));
        assert!(matches!(spill.write(&bad), Err(Error::BadId { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path(), "a").unwrap();
        spill.write(&release(&[1])).unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        let id = format!("{:032x}", 1);
        assert_eq!((mode("a"), mode("a/00ff")), (0o700, 0o700));
        assert_eq!((mode(&spill.name(&id)), mode(&spill.history("00ff"))), (0o600, 0o600));
    }
}
