//! Which originals of one session does the index name? Best first, weighed by what the session holds, so that no other
//! changes their order. Reads texts only to weigh them against each other.

use std::path::Path;

use rusqlite::Connection;

use super::{
    around::RUN_CHARS,
    blocks::{self, Holding, Run},
    fault,
    members::Members,
    own::Own,
    phrases::{Phrases, all_of},
    rows,
    search::Ids,
    throughout::{MAX_RANKED, READS_PER_HIT, are_told_by_words, that_hold},
    unread::times,
    weighing::Scale,
    words::is_word,
};
use crate::{Error, Result};

/// Originals that are listed for one word to see how rare it is.
const MAX_COUNTED: usize = 20_000;

/// How often a text holds a word that only parts of neighbours spell.
const TIMES_APART: f64 = 0.25;

/// The session that is searched.
pub(super) struct Within<'c> {
    connection: &'c Connection,
    path: &'c Path,
    session: i64,
    members: Members,
    own: Own<'c>,
}

/// An asked word, and what it tells.
struct Weighed {
    /// In lower case.
    word: String,
    rarity: f64,
}

impl<'c> Within<'c> {
    pub(super) fn of(connection: &'c Connection, path: &'c Path, session: i64) -> rusqlite::Result<Self> {
        let members = Members::of(connection, session)?;
        Ok(Self { connection, path, session, members, own: Own::of(connection, path, session) })
    }

    /// Says whether there may be originals that hold the words and were left unread.
    pub(super) fn has_more(&self) -> bool {
        self.own.has_more
    }

    /// Originals that hold all of the words, best first; the newest first where hundreds do.
    pub(super) fn by_words(&mut self, asked: &[&str], limit: usize) -> Result<Vec<i64>> {
        let (words, phrases): (Vec<&str>, Vec<Phrases>) =
            asked.iter().filter_map(|word| Phrases::of(word).map(|phrases| (*word, phrases))).unzip();
        if phrases.is_empty() {
            return Ok(Vec::new());
        }
        let mut newest = self.matching(&all_of(&phrases), MAX_RANKED)?;
        // One alone is the best, whatever it weighs.
        if newest.len() > 1 && newest.len() < MAX_RANKED {
            newest = self.best_first(newest, &words, &phrases)?;
        }
        newest.truncate(limit);
        Ok(newest)
    }

    fn matching(&mut self, query: &str, most: usize) -> Result<Vec<i64>> {
        self.members.matching(&mut self.own, query, most)
    }

    fn best_first(&mut self, newest: Vec<i64>, words: &[&str], phrases: &[Phrases]) -> Result<Vec<i64>> {
        let average_len = self.members.average_len(self.connection);
        let average_len = average_len.map_err(|error| fault::of("search", self.path, &error))?;
        let scale = Scale { originals: self.members.len(), average_len };
        let mut asked = Vec::with_capacity(words.len());
        for (word, phrases) in words.iter().zip(phrases) {
            let rarity = match words.len() {
                // It tells the same of each.
                1 => 1.0,
                _ => scale.rarity(self.matching(&phrases.query(), MAX_COUNTED)?.len()),
            };
            asked.push(Weighed { word: word.to_lowercase(), rarity });
        }
        let mut weighed = Vec::with_capacity(newest.len());
        for id in newest {
            weighed.push((self.weight(id, scale, &asked)?, id));
        }
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        Ok(weighed.into_iter().map(|(_, id)| id).collect())
    }

    fn weight(&self, id: i64, scale: Scale, asked: &[Weighed]) -> Result<f64> {
        let text = match rows::body(self.connection, self.path, id) {
            Ok(text) => text.unwrap_or_default(),
            // As a hit it is counted among what was not searched.
            Err(Error::Damaged { .. }) => return Ok(0.0),
            Err(error) => return Err(error),
        };
        let names = rows::names(self.connection, id, Some(self.session));
        let names = names.map_err(|error| fault::of("search", self.path, &error))?;
        let text = String::from_utf8_lossy(&text);
        // What the session's calls say counts with their answer.
        let said: Vec<String> = [text.into_owned()].into_iter().chain(names).collect();
        let said: Vec<(&String, String)> = said.iter().map(|text| (text, text.to_lowercase())).collect();
        let len = said.iter().map(|(text, _)| text.len()).sum();
        let weight = |asked: &Weighed| {
            let times: u32 = said.iter().map(|(text, lower)| times(text, lower, &asked.word)).sum();
            // The index reads on from one identifier to the next: what is there only so tells less than once.
            let times = if times == 0 { TIMES_APART } else { f64::from(times) };
            asked.rarity * scale.weight(times, len)
        };
        Ok(asked.iter().map(weight).sum())
    }

    /// Originals that hold every asked word as a run of characters, whatever stands around it; newest first.
    pub(super) fn by_runs(&mut self, asked: &[&str], limit: usize) -> Result<Ids> {
        let runs = asked.iter().flat_map(|word| word.split(|c: char| !is_word(c)));
        let runs = runs.filter(|run| run.chars().count() >= RUN_CHARS);
        let runs: Vec<Run> = runs.map(|run| Run::of(&self.members, &mut self.own, run)).collect::<Result<_>>()?;
        if runs.is_empty() {
            return Ok(Ids::default());
        }
        let is_told = are_told_by_words(asked);
        let wanted = if is_told { limit } else { limit * READS_PER_HIT };
        let found = blocks::holding(&self.members, &mut self.own, &runs, wanted)?;
        let Holding { rows: mut ids, mut unlisted } = found;
        let is_cut = ids.len() >= wanted && !is_told;
        // Where a block is damaged the texts say it, but not what their calls do.
        let is_damaged = !unlisted.is_empty();
        unlisted.truncate(limit.saturating_mul(READS_PER_HIT));
        let read = that_hold(self.connection, self.path, unlisted, asked, limit)?;
        if !is_told {
            ids = that_hold(self.connection, self.path, ids, asked, limit)?;
        }
        ids.extend(read);
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(limit);
        Ok(Ids { has_more: is_damaged || (is_cut && ids.len() < limit), ids })
    }
}
