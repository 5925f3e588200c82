//! How does a release get into the tables? Runs inside a transaction that others share; commits nothing.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use rusqlite::{CachedStatement, OptionalExtension as _, Transaction, params};

use super::{fault, rows};
use crate::{
    Error, Release, Result, Source,
    packed::{Form, Packer, pack_all},
    records::{self, Entry, Kind, Sum},
};

/// Bytes of a call's arguments that are kept: enough to run it again, unless it writes a whole file.
pub const MAX_ARGUMENT_BYTES: usize = 16 << 10;

/// A use that is less than this later than the one on record is not recorded, so that a turn does not write a row for
/// each of its tombstones.
pub(super) const USE_STEP_MS: i64 = 60_000;

/// A release that is ready to be written.
pub(super) struct Parcel {
    pub(super) tenant: String,
    pub(super) at: i64,
    session: String,
    originals: Vec<Text>,
    /// `None`: originals alone, on their way from another archive.
    manifest: Option<Text>,
    calls: Vec<(Name, Sum, Source)>,
    points_at: Vec<Name>,
    /// Whether it may point only at what its session stored.
    pub(super) is_strict: bool,
}

/// First half of a content id's field: the id itself.
pub(super) type Name = [u8; 16];

struct Text {
    id: [u8; 32],
    sum: Sum,
    /// At most [`records::MAX_RECORD_BYTES`].
    len: i64,
    /// `None`: the caller believes that it is stored already.
    packed: Option<(Form, Vec<u8>)>,
}

/// What became of a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// All of it is stored.
    Whole,
    /// A text that the caller believed to be stored is not; nothing was.
    Lacking,
}

impl Parcel {
    pub(super) fn empty(tenant: &str, session: &str, at: i64) -> Self {
        Self {
            tenant: tenant.to_owned(),
            at,
            session: session.to_owned(),
            originals: Vec::new(),
            manifest: None,
            calls: Vec::new(),
            points_at: Vec::new(),
            is_strict: false,
        }
    }

    /// Checks and packs a release; texts in `known` are not packed.
    pub(super) fn of(release: &Release, tenant: &str, at: i64, known: &HashSet<(Name, Sum)>) -> Result<Self> {
        let mut parcel = Self::empty(tenant, &release.session, at);
        parcel.is_strict = release.is_strict;
        let entries = records::entries(release)?;
        let is_known = |entry: &Entry<'_>| match entry.key.kind {
            Kind::Original => known.contains(&(name(&entry.key.id), entry.sum)),
            Kind::Manifest => false,
        };
        let unknown: Vec<&[u8]> = entries.iter().filter(|entry| !is_known(entry)).map(|entry| entry.payload).collect();
        let mut packed = pack_all(&unknown).into_iter();
        for entry in entries {
            let packed = if is_known(&entry) { None } else { packed.next() };
            let text = Text { id: entry.key.id, sum: entry.sum, len: entry.payload.len() as i64, packed };
            match entry.key.kind {
                Kind::Original => parcel.originals.push(text),
                Kind::Manifest => parcel.manifest = Some(text),
            }
        }
        for (id, source) in &release.sources {
            let arguments = cut(&source.arguments, MAX_ARGUMENT_BYTES).to_owned();
            parcel.add_call(original_name(id)?, Source { arguments, ..source.clone() });
        }
        parcel.points_at = release.points_at.iter().map(|id| original_name(id)).collect::<Result<_>>()?;
        Ok(parcel)
    }

    pub(super) fn add_original(&mut self, name: Name, text: &[u8]) {
        let mut id = [0; 32];
        id.iter_mut().zip(name).for_each(|(to, from)| *to = from);
        self.originals.push(Text::packed(id, text));
    }

    pub(super) fn add_call(&mut self, name: Name, source: Source) {
        self.calls.push((name, sum_of_source(&source), source));
    }

    pub(super) fn set_manifest(&mut self, output: [u8; 32], manifest: &[u8]) {
        self.manifest = Some(Text::packed(output, manifest));
    }

    /// What the caller may believe to be stored once this is.
    pub(super) fn names(&self) -> impl Iterator<Item = (Name, Sum)> + '_ {
        self.originals.iter().map(|text| (name(&text.id), text.sum))
    }
}

impl Text {
    fn packed(id: [u8; 32], text: &[u8]) -> Self {
        Self { id, sum: records::sum_of(text), len: text.len() as i64, packed: Some(Packer::default().pack(text)) }
    }
}

pub(super) fn name(id: &[u8; 32]) -> Name {
    let mut name = [0; 16];
    name.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
    name
}

pub(super) fn original_name(id: &str) -> Result<Name> {
    Ok(name(&records::Key::original(id)?.id))
}

pub(super) fn shown_name(name: &[u8]) -> String {
    name.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first `bytes` of a text, on a character border.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Tells two calls apart, whatever stands in them.
fn sum_of_source(source: &Source) -> Sum {
    let mut hasher = blake3::Hasher::new();
    for part in [&source.tool, &source.label, &source.arguments] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Writes one parcel. Rows whose text was written, or read and found whole, are added to `fresh`.
pub(super) fn put(
    transaction: &Transaction<'_>,
    path: &Path,
    parcel: &Parcel,
    whole: &HashSet<i64>,
    fresh: &mut Vec<i64>,
) -> Result<Stored> {
    let fail = |error| fault::of("write", path, &error);
    let tenant = rows::tenant_or_new(transaction, &parcel.tenant).map_err(fail)?;
    let session = rows::session_or_new(transaction, tenant, &parcel.session, parcel.at).map_err(fail)?;
    let mut statements = Statements::new(transaction).map_err(fail)?;
    let mut names = HashMap::with_capacity(parcel.originals.len() + parcel.points_at.len());
    for text in &parcel.originals {
        match put_original(transaction, &mut statements, path, tenant, parcel.at, text, whole)? {
            Some(id) => {
                fresh.push(id);
                names.insert(name(&text.id), id);
            }
            None => return Ok(Stored::Lacking),
        }
    }
    for pointed in &parcel.points_at {
        if names.contains_key(pointed) {
            continue;
        }
        let border = parcel.is_strict.then_some(session);
        let id = statements.touch_named(tenant, border, pointed, parcel.at).map_err(fail)?;
        names.insert(*pointed, id.ok_or_else(|| Error::Missing { id: shown_name(pointed) })?);
    }
    put_calls(transaction, &mut statements, session, parcel, &names).map_err(fail)?;
    put_manifest(transaction, tenant, session, parcel).map_err(fail)?;
    Ok(Stored::Whole)
}

/// Gives the row of an original that is stored now; `None` where only its name was handed in, and it is not there.
fn put_original(
    transaction: &Transaction<'_>,
    statements: &mut Statements<'_>,
    path: &Path,
    tenant: i64,
    at: i64,
    text: &Text,
    whole: &HashSet<i64>,
) -> Result<Option<i64>> {
    let fail = |error| fault::of("write", path, &error);
    let name = name(&text.id);
    let found = statements
        .find
        .query_row(params![tenant, name, text.sum], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?, row.get::<_, i64>(2)? != 0, row.get::<_, i64>(3)?))
        })
        .optional()
        .map_err(fail)?;
    let old = match found {
        Some((_, false, ..)) => return Err(Error::Collision { id: shown_name(&name) }),
        // Before the caller relies on a copy that it did not write, the copy is read once.
        Some((id, true, false, used_at))
            if whole.contains(&id) || matches!(rows::body(transaction, path, id), Ok(Some(_))) =>
        {
            statements.touch(id, used_at, at).map_err(fail)?;
            return Ok(Some(id));
        }
        Some((id, ..)) => Some(id),
        None => None,
    };
    let Some((form, body)) = &text.packed else { return Ok(None) };
    let mut write = || {
        let stored_len = body.len() as i64;
        let id = match old {
            Some(id) => {
                let sql = "UPDATE originals SET removed = 0, len = ?2, stored_len = ?3, used_at = ?4 WHERE id = ?1";
                transaction.execute(sql, params![id, text.len, stored_len, at])?;
                id
            }
            None => statements.original.insert(params![tenant, name, text.sum, text.len, stored_len, at])?,
        };
        statements.body.execute(params![id, form.number(), body])?;
        statements.unindexed.execute([id])?;
        Ok(id)
    };
    write().map_err(fail).map(Some)
}

/// What a parcel runs for each of its originals, read by SQLite once.
struct Statements<'t> {
    find: CachedStatement<'t>,
    original: CachedStatement<'t>,
    body: CachedStatement<'t>,
    unindexed: CachedStatement<'t>,
    used: CachedStatement<'t>,
    own: CachedStatement<'t>,
}

/// No row has this number.
pub(super) const NO_ROW: i64 = -1;

impl<'t> Statements<'t> {
    fn new(transaction: &'t Transaction<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            find: transaction.prepare_cached(
                "SELECT id, sum = ?3, removed, used_at FROM originals WHERE tenant = ?1 AND name = ?2",
            )?,
            original: transaction.prepare_cached(
                "INSERT INTO originals (tenant, name, sum, len, stored_len, used_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            body: transaction.prepare_cached("INSERT OR REPLACE INTO bodies (id, form, body) VALUES (?1, ?2, ?3)")?,
            unindexed: transaction.prepare_cached("INSERT OR IGNORE INTO unindexed (id) VALUES (?1)")?,
            used: transaction.prepare_cached("UPDATE originals SET used_at = ?2 WHERE id = ?1")?,
            own: transaction.prepare_cached("SELECT 1 FROM calls WHERE session = ?1 AND original = ?2")?,
        })
    }

    /// Records that a body points at an original.
    fn touch(&mut self, id: i64, used_at: i64, at: i64) -> rusqlite::Result<()> {
        if at.saturating_sub(used_at) >= USE_STEP_MS {
            self.used.execute(params![id, at])?;
        }
        Ok(())
    }

    /// The same by its name; gives its row where its text is there, and the session's where one is a border.
    fn touch_named(&mut self, tenant: i64, border: Option<i64>, name: &Name, at: i64) -> rusqlite::Result<Option<i64>> {
        // Nothing is compared with the text's hash here, so any will do.
        let found = self.find.query_row(params![tenant, name, name], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(2)? == 0, row.get::<_, i64>(3)?))
        });
        let found = found.optional()?;
        // Asked whether or not there is one: who guesses learns nothing from the time it takes.
        let is_own = match border {
            None => true,
            Some(session) => self.own.exists(params![session, found.map_or(NO_ROW, |(id, ..)| id)])?,
        };
        match found.filter(|_| is_own) {
            Some((id, true, used_at)) => self.touch(id, used_at, at).map(|()| Some(id)),
            Some(_) | None => Ok(None),
        }
    }
}

fn put_calls(
    transaction: &Transaction<'_>,
    statements: &mut Statements<'_>,
    session: i64,
    parcel: &Parcel,
    names: &HashMap<Name, i64>,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO calls (original, session, sum, tool, label, arguments) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut told = HashSet::with_capacity(names.len());
    for (name, sum, source) in &parcel.calls {
        // A call of something that is not stored says nothing.
        let Some(id) = names.get(name) else { continue };
        told.insert(*id);
        let added = insert.execute(params![id, session, sum, source.tool, source.label, source.arguments])?;
        if added > 0 {
            // The words of a call find its answer, however long that has been here.
            statements.unindexed.execute([id])?;
        }
    }
    let untold = Source::default();
    let sum = sum_of_source(&untold);
    for id in names.values().filter(|id| !told.contains(*id)) {
        insert.execute(params![id, session, sum, "", "", ""])?;
    }
    Ok(())
}

fn put_manifest(transaction: &Transaction<'_>, tenant: i64, session: i64, parcel: &Parcel) -> rusqlite::Result<()> {
    let Some(Text { id, sum, len, packed: Some((form, body)) }) = &parcel.manifest else { return Ok(()) };
    let sql = "INSERT INTO manifests (tenant, output, sum, session, at, len, form, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (tenant, output) DO UPDATE SET sum = excluded.sum, session = excluded.session, at = excluded.at,
        len = excluded.len, form = excluded.form, body = excluded.body";
    let mut insert = transaction.prepare_cached(sql)?;
    insert.execute(params![tenant, id, sum, session, parcel.at, len, form.number(), body])?;
    Ok(())
}
