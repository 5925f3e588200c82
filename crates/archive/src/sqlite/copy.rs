//! How does what a tenant stored get into another archive? For exports, imports and moves; damaged texts stay behind.

use rusqlite::params;

use super::{SqliteArchive, fault, rows, store};
use crate::{Result, Source};

/// Originals, or summaries, that are carried over in one transaction.
const STEP: i64 = 128;

/// Bytes of originals after which a transaction is full, however few they are: they are held in memory meanwhile.
const STEP_BYTES: i64 = 64 << 20;

/// What was carried over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// Sessions.
    pub sessions: u64,
    /// Originals, those that the other archive had already included.
    pub originals: u64,
    /// Manifests.
    pub manifests: u64,
    /// Summaries, those that the other archive had already included. They belong to no session: a handle that sees one
    /// session alone carries none.
    pub summaries: u64,
    /// Records that fail their checksum and stayed behind.
    pub damaged: u64,
}

impl SqliteArchive {
    /// Stores everything in this handle's scope in another archive, under that handle's tenant.
    ///
    /// # Errors
    /// An id that the other archive holds with other content, a session behind the other handle's border, or the file
    /// system. What was carried over before stays.
    pub fn copy_to(&self, other: &SqliteArchive) -> Result<Copied> {
        let mut copied = Copied::default();
        for session in self.sessions()? {
            other.scope().admit(&session.session)?;
            copied.sessions += 1;
            self.copy_originals(other, &session.session, &mut copied)?;
            self.copy_manifests(other, &session.session, &mut copied)?;
            for event in self.events(&session.session)? {
                other.put_event(&session.session, &event)?;
            }
        }
        if self.scope().border().is_none() {
            self.copy_summaries(other, &mut copied)?;
        }
        Ok(copied)
    }

    fn copy_summaries(&self, other: &SqliteArchive, copied: &mut Copied) -> Result<()> {
        let mut after = Vec::new();
        loop {
            let step = self.summaries(&after, STEP)?;
            let Some(last) = step.last() else { return Ok(()) };
            after = last.input.to_vec();
            copied.summaries += step.len() as u64;
            other.put_summaries(step)?;
        }
    }

    fn copy_originals(&self, other: &SqliteArchive, session: &str, copied: &mut Copied) -> Result<()> {
        let mut after = 0;
        loop {
            let step = self.read(|connection, path| {
                let read = || {
                    let sql = "SELECT o.id, o.name, o.used_at, s.id, o.len FROM originals o
                        JOIN tenants t ON t.id = o.tenant JOIN sessions s ON s.tenant = t.id
                        WHERE t.name = ?1 AND s.name = ?2 AND o.removed = 0 AND o.id > ?3
                        AND EXISTS (SELECT 1 FROM calls c WHERE c.original = o.id AND c.session = s.id)
                        ORDER BY o.id LIMIT ?4";
                    let mut rows = connection.prepare(sql)?;
                    let found = rows.query_map(params![self.scope().tenant, session, after, STEP], |row| {
                        Ok((
                            row.get::<_, i64>(0)?,
                            row.get::<_, store::Name>(1)?,
                            row.get::<_, i64>(2)?,
                            row.get::<_, i64>(3)?,
                            row.get::<_, i64>(4)?,
                        ))
                    })?;
                    found.collect::<rusqlite::Result<Vec<_>>>()
                };
                let (mut texts, mut left) = (Vec::new(), STEP_BYTES);
                for (id, name, used_at, session, len) in read().map_err(|error| fault::of("read", path, &error))? {
                    if left <= 0 {
                        break;
                    }
                    left = left.saturating_sub(len);
                    let sources = rows::sources(connection, id, Some(session));
                    let sources = sources.map_err(|error| fault::of("read", path, &error))?;
                    texts.push((id, name, used_at, rows::body(connection, path, id).ok().flatten(), sources));
                }
                Ok(texts)
            })?;
            let Some((last, ..)) = step.last() else { return Ok(()) };
            after = *last;
            let mut texts = Vec::with_capacity(step.len());
            let mut calls: Vec<(store::Name, Source)> = Vec::new();
            let mut newest = 0;
            for (_, name, used_at, text, sources) in step {
                let Some(text) = text else {
                    copied.damaged += 1;
                    continue;
                };
                newest = newest.max(used_at);
                texts.push((name, text));
                // Oldest first, as they came.
                calls.extend(sources.into_iter().rev().map(|source| (name, source)));
                copied.originals += 1;
            }
            other.put_parcel(store::Parcel::of_texts(&other.scope().tenant, session, newest, texts, calls))?;
        }
    }

    fn copy_manifests(&self, other: &SqliteArchive, session: &str, copied: &mut Copied) -> Result<()> {
        let outputs = self.read(|connection, path| {
            let read = || {
                let sql = "SELECT m.output, m.at FROM manifests m JOIN sessions s ON s.id = m.session
                    JOIN tenants t ON t.id = s.tenant WHERE t.name = ?1 AND s.name = ?2 ORDER BY m.at, m.id";
                let mut rows = connection.prepare(sql)?;
                let found = rows.query_map(params![self.scope().tenant, session], |row| {
                    Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, i64>(1)?))
                })?;
                found.collect::<rusqlite::Result<Vec<_>>>()
            };
            read().map_err(|error| fault::of("read", path, &error))
        })?;
        for (output, at) in outputs {
            match crate::Archive::manifest(self, &store::shown_name(&output)) {
                Ok(Some(manifest)) => {
                    copied.manifests += 1;
                    other.put_parcel(store::Parcel::of_manifest(
                        &other.scope().tenant,
                        session,
                        at,
                        output,
                        &manifest,
                    ))?;
                }
                Ok(None) => {}
                Err(crate::Error::Damaged { .. }) => copied.damaged += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn put_parcel(&self, parcel: store::Parcel) -> Result<()> {
        self.shared.writer.put(parcel).map(drop)
    }
}

impl store::Parcel {
    /// Texts of one session with the calls they answer.
    fn of_texts(
        tenant: &str,
        session: &str,
        at: i64,
        texts: Vec<(store::Name, Vec<u8>)>,
        calls: Vec<(store::Name, Source)>,
    ) -> Self {
        let mut parcel = Self::empty(tenant, session, at);
        for (name, text) in texts {
            parcel.add_original(name, &text);
        }
        for (name, source) in calls {
            parcel.add_call(name, source);
        }
        parcel
    }

    fn of_manifest(tenant: &str, session: &str, at: i64, output: [u8; 32], manifest: &[u8]) -> Self {
        let mut parcel = Self::empty(tenant, session, at);
        parcel.set_manifest(output, manifest);
        parcel
    }
}
