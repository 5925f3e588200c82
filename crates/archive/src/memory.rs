//! How are originals kept in a test? In memory, with the rules of the durable archives but none of their promise.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::records::{self, Key, Kind};
use crate::{Archive, Error, Found, Hit, Kept, Lookup, MAX_HITS, Query, Release, Result, Source};

/// An archive that forgets everything when it is dropped.
///
/// ```
/// use liveset_archive::{Archive, MemoryArchive};
///
/// assert_eq!(MemoryArchive::new().original(&"00".repeat(16))?, None);
/// # Ok::<(), liveset_archive::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryArchive {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: HashMap<Key, Vec<u8>>,
    /// Which call an original answers, in which session, oldest first.
    calls: Vec<(Key, String, Source)>,
    /// Summaries by their input.
    summaries: HashMap<Key, String>,
}

impl MemoryArchive {
    /// Makes an empty archive.
    pub fn new() -> MemoryArchive {
        MemoryArchive::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A release is checked in full before the first insert, and inserts do not panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.state().records.get(key).cloned()
    }
}

impl State {
    fn sources(&self, key: &Key) -> impl Iterator<Item = &(Key, String, Source)> {
        let key = *key;
        self.calls.iter().rev().filter(move |(of, _, source)| *of == key && !source.tool.is_empty())
    }

    fn hit(&self, key: &Key, words: &[String]) -> Option<Hit> {
        let text = String::from_utf8_lossy(self.records.get(key)?);
        let lines = || text.lines().map(str::to_lowercase);
        let held = |line: &str| words.iter().filter(|word| line.contains(word.as_str())).count();
        let best = lines().map(|line| held(&line)).max().unwrap_or(0);
        let at = lines().position(|line| best > 0 && held(&line) == best);
        let shown = at.and_then(|at| text.lines().nth(at)).unwrap_or_default().to_owned();
        let call = self.sources(key).next().cloned();
        let session = || self.calls.iter().rev().find(|(of, ..)| of == key).map(|(_, session, _)| session.clone());
        Some(Hit {
            id: records::to_hex(key),
            session: call.as_ref().map(|(_, session, _)| session.clone()).or_else(session).unwrap_or_default(),
            source: call.map(|(_, _, source)| Source { arguments: String::new(), ..source }).unwrap_or_default(),
            lines: text.lines().count(),
            line: at.map_or(0, |at| at + 1),
            text: shown,
        })
    }
}

impl Archive for MemoryArchive {
    fn put(&self, release: &Release) -> Result<()> {
        let entries = records::entries(release)?;
        let mut state = self.state();
        for entry in &entries {
            let other = state.records.get(&entry.key).is_some_and(|stored| stored != entry.payload);
            if other && entry.key.kind == Kind::Original {
                return Err(Error::Collision { id: records::to_hex(&entry.key) });
            }
        }
        let of_entries = entries.iter().filter(|entry| entry.key.kind == Kind::Original).map(|entry| entry.key);
        let mut names: Vec<Key> = of_entries.collect();
        for id in &release.points_at {
            let key = Key::original(id)?;
            let is_own = || state.calls.iter().any(|(of, session, _)| *of == key && *session == release.session);
            let is_here = state.records.contains_key(&key) && (!release.is_strict || is_own());
            if !is_here && !names.contains(&key) {
                return Err(Error::Missing { id: id.clone() });
            }
            names.push(key);
        }
        let mut calls: Vec<(Key, String, Source)> = Vec::new();
        for (id, source) in &release.sources {
            calls.push((Key::original(id)?, release.session.clone(), source.clone()));
        }
        let untold = names.into_iter().filter(|key| !calls.iter().any(|(of, ..)| of == key));
        let untold: Vec<_> = untold.map(|key| (key, release.session.clone(), Source::default())).collect();
        for call in calls.into_iter().chain(untold) {
            if !state.calls.contains(&call) {
                state.calls.push(call);
            }
        }
        state.records.extend(entries.iter().map(|entry| (entry.key, entry.payload.to_vec())));
        Ok(())
    }

    fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.find(&Key::original(id)?))
    }

    fn manifest(&self, output: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.find(&Key::manifest(output)?))
    }

    fn look_up(&self, id: &str) -> Result<Lookup> {
        let key = Key::original(id)?;
        let Some(bytes) = self.find(&key) else { return Ok(Lookup::Unknown) };
        let sources = self.state().sources(&key).map(|(_, _, source)| source.clone()).collect();
        Ok(Lookup::Kept(Kept { bytes, sources }))
    }

    /// Reads every original; newest first, since a few originals need no better order.
    fn search(&self, query: &Query) -> Result<Found> {
        let words: Vec<String> = query.words.split_whitespace().map(str::to_lowercase).collect();
        let state = self.state();
        let mut hits: Vec<Hit> = Vec::new();
        for (key, session, _) in state.calls.iter().rev() {
            if query.session.as_ref().is_some_and(|asked| asked != session) {
                continue;
            }
            let text =
                state.records.get(key).map(|text| String::from_utf8_lossy(text).to_lowercase()).unwrap_or_default();
            let calls: String = state.sources(key).map(|(_, _, source)| source.name().to_lowercase() + " ").collect();
            let holds_all = words.iter().all(|word| text.contains(word) || calls.contains(word));
            if holds_all && !words.is_empty() && !hits.iter().any(|hit| hit.id == records::to_hex(key)) {
                hits.extend(state.hit(key, &words));
            }
            if hits.len() >= query.limit.min(MAX_HITS) {
                break;
            }
        }
        Ok(Found { hits, ..Found::default() })
    }

    fn summary(&self, input: &str) -> Result<Option<String>> {
        let key = Key::manifest(input)?;
        Ok(self.state().summaries.get(&key).cloned())
    }

    fn put_summary(&self, input: &str, text: &str) -> Result<String> {
        let key = Key::manifest(input)?;
        Ok(self.state().summaries.entry(key).or_insert_with(|| text.to_owned()).clone())
    }
}
