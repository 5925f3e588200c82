//! Which originals hold a word around this run of characters? Words are listed by blocks of neighbours, so that those of
//! one session are gone through without the words of all others. Reads no text.

use std::collections::{BTreeMap, BTreeSet};

use memchr::{memchr_iter, memmem};
use rusqlite::{Connection, OptionalExtension as _, Transaction, types::Type};

use super::{
    members::Members,
    own::{Own, Teller},
    words::is_term,
};
use crate::Result;

/// Originals of a block, one for each bit of its sets: enough that most words which texts share are listed once, few
/// enough that writing a block anew costs less than indexing one text.
const ORIGINALS: i64 = u32::BITS as i64;

/// Stands behind each word of a list; no word holds it.
const END: u8 = b'\n';

/// A run of characters that is looked for.
pub(super) struct Run {
    /// In lower case.
    text: String,
    /// Originals, by blocks, that hold it as a word which no block lists.
    as_word: BTreeMap<i64, u32>,
}

impl Run {
    pub(super) fn of(members: &Members, own: &mut Own<'_>, run: &str) -> Result<Self> {
        let as_word = match is_term(run) {
            true => Vec::new(),
            false => members.matching(own, &format!("whole: \"{run}\""), usize::MAX)?,
        };
        Ok(Self { text: run.to_lowercase(), as_word: by_block(as_word) })
    }

    fn is_held_by(&self, row: i64, terms: &BTreeSet<String>) -> bool {
        let as_word = self.as_word.get(&row.div_euclid(ORIGINALS)).is_some_and(|rows| rows & bit_of(row) != 0);
        as_word || terms.iter().any(|term| term.contains(&self.text))
    }
}

/// What the lists of a session's blocks say.
#[derive(Default)]
pub(super) struct Holding {
    /// Originals that hold each of the runs within a word, newest first.
    pub(super) rows: Vec<i64>,
    /// Those of which nothing is known, newest first: their block is damaged.
    pub(super) unlisted: Vec<i64>,
}

/// Gives originals of a session that hold each of the runs: `wanted` of them, and a few more where a block holds them.
pub(super) fn holding(members: &Members, own: &mut Own<'_>, runs: &[Run], wanted: usize) -> Result<Holding> {
    let connection = own.connection;
    let sql = "SELECT terms FROM blocks WHERE id = ?1";
    let mut one = connection.prepare_cached(sql).map_err(|error| own.fail(&error))?;
    let mut found = Holding::default();
    for (block, mut left) in members.blocks().into_iter().rev() {
        if found.rows.len() >= wanted {
            break;
        }
        let bytes = one.query_row([block], |row| row.get::<_, Vec<u8>>(0)).optional();
        let bytes = bytes.map_err(|error| own.fail(&error))?;
        let Ok(list) = bytes.as_deref().map(List::read).transpose() else {
            found.unlisted.extend(rows_of(block, left));
            continue;
        };
        for run in runs {
            let listed = list.as_ref().map_or(0, |list| list.holders(run.text.as_bytes()));
            left &= listed | run.as_word.get(&block).copied().unwrap_or(0);
        }
        // The list knows the calls of all sessions.
        let listed: Vec<i64> = rows_of(block, left).collect();
        own.learn(&listed)?;
        found.rows.extend(listed.into_iter().filter(|row| match own.teller(*row) {
            Teller::Index | Teller::Damaged => true,
            Teller::Reading(terms) => runs.iter().all(|run| run.is_held_by(*row, terms)),
            Teller::Unread => false,
        }));
    }
    Ok(found)
}

/// Gives originals of a block, newest first.
fn rows_of(block: i64, originals: u32) -> impl Iterator<Item = i64> {
    let bits = (0..ORIGINALS).rev().filter(move |bit| originals & (1 << bit) != 0);
    bits.map(move |bit| block * ORIGINALS + bit)
}

/// Gives the blocks whose lists cannot be read.
pub(super) fn damaged(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let mut all = connection.prepare("SELECT id, terms FROM blocks ORDER BY id")?;
    let mut rows = all.query([])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        let is_whole = row.get_ref(1)?.as_blob().is_ok_and(|bytes| List::read(bytes).is_ok());
        if !is_whole {
            damaged.push(row.get(0)?);
        }
    }
    Ok(damaged)
}

/// Drops the lists that cannot be read, so that their originals are indexed again.
pub(super) fn mend(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    damaged(transaction)?.into_iter().try_for_each(|block| drop_block(transaction, block))
}

/// Sorts originals into blocks.
pub(super) fn by_block(rows: impl IntoIterator<Item = i64>) -> BTreeMap<i64, u32> {
    let mut blocks = BTreeMap::new();
    for row in rows {
        *blocks.entry(row.div_euclid(ORIGINALS)).or_default() |= bit_of(row);
    }
    blocks
}

fn bit_of(row: i64) -> u32 {
    1 << row.rem_euclid(ORIGINALS)
}

/// Lists the words of originals, in place of what was listed of these.
pub(super) fn put(transaction: &Transaction<'_>, indexed: &[(i64, BTreeSet<String>)]) -> rusqlite::Result<()> {
    for (block, rows) in by_block(indexed.iter().map(|(row, _)| *row)) {
        let Some(mut words) = take(transaction, block)? else { continue };
        words.forget(rows);
        for (row, terms) in indexed.iter().filter(|(row, _)| row.div_euclid(ORIGINALS) == block) {
            words.add(*row, terms);
        }
        words.keep(transaction, block)?;
    }
    Ok(())
}

/// Takes originals out of the lists.
pub(super) fn forget(transaction: &Transaction<'_>, rows: impl IntoIterator<Item = i64>) -> rusqlite::Result<()> {
    for (block, rows) in by_block(rows) {
        let Some(mut words) = take(transaction, block)? else { continue };
        words.forget(rows);
        words.keep(transaction, block)?;
    }
    Ok(())
}

/// Reads a block to change it; one that is damaged is dropped, and its originals are indexed again.
fn take(transaction: &Transaction<'_>, block: i64) -> rusqlite::Result<Option<Words>> {
    let mut one = transaction.prepare_cached("SELECT terms FROM blocks WHERE id = ?1")?;
    let bytes: Option<Vec<u8>> = one.query_row([block], |row| row.get(0)).optional()?;
    let Some(bytes) = bytes else { return Ok(Some(Words::default())) };
    if let Ok(list) = List::read(&bytes) {
        return Ok(Some(Words::of(&list)));
    }
    drop_block(transaction, block)?;
    Ok(None)
}

fn drop_block(transaction: &Transaction<'_>, block: i64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO unindexed SELECT id FROM bodies WHERE id BETWEEN ?1 AND ?2";
    transaction.execute(sql, [block * ORIGINALS, block * ORIGINALS + ORIGINALS - 1])?;
    transaction.execute("DELETE FROM blocks WHERE id = ?1", [block]).map(drop)
}

/// The words of a block, each with the originals that hold it.
#[derive(Default)]
struct Words(BTreeMap<Vec<u8>, u32>);

impl Words {
    fn of(list: &List<'_>) -> Self {
        let words = list.words.split(|byte| *byte == END).map(<[u8]>::to_vec);
        Self(words.zip(list.holders_of_each()).collect())
    }

    fn add(&mut self, row: i64, terms: &BTreeSet<String>) {
        for term in terms {
            match self.0.get_mut(term.as_bytes()) {
                Some(holders) => *holders |= bit_of(row),
                None => drop(self.0.insert(term.clone().into_bytes(), bit_of(row))),
            }
        }
    }

    fn forget(&mut self, rows: u32) {
        self.0.retain(|_, holders| {
            *holders &= !rows;
            *holders != 0
        });
    }

    fn keep(&self, transaction: &Transaction<'_>, block: i64) -> rusqlite::Result<()> {
        if self.0.is_empty() {
            transaction.prepare_cached("DELETE FROM blocks WHERE id = ?1")?.execute([block])?;
            return Ok(());
        }
        let mut bytes = u32::try_from(self.0.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
        bytes.extend(self.0.values().flat_map(|holders| holders.to_le_bytes()));
        for word in self.0.keys() {
            bytes.extend_from_slice(word);
            bytes.push(END);
        }
        let mut put = transaction.prepare_cached("INSERT OR REPLACE INTO blocks (id, terms) VALUES (?1, ?2)")?;
        put.execute((block, bytes)).map(drop)
    }
}

/// A block as its row holds it: how many words, the originals of each, and the words, in order.
struct List<'b> {
    holders: &'b [[u8; 4]],
    words: &'b [u8],
}

impl<'b> List<'b> {
    fn read(bytes: &'b [u8]) -> rusqlite::Result<Self> {
        let read = || {
            let (count, rest) = bytes.split_first_chunk()?;
            let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
            let (holders, words) = rest.split_at_checked(count.checked_mul(4)?)?;
            let list = Self { holders: holders.as_chunks().0, words };
            (memchr_iter(END, words).count() == count && words.last() == Some(&END)).then_some(list)
        };
        read().ok_or_else(|| rusqlite::Error::InvalidColumnType(0, "terms".to_owned(), Type::Blob))
    }

    fn holders_of_each(&self) -> impl Iterator<Item = u32> + '_ {
        self.holders.iter().map(|holders| u32::from_le_bytes(*holders))
    }

    /// Gives the originals that hold a word around the run.
    fn holders(&self, run: &[u8]) -> u32 {
        let (mut all, mut word, mut counted) = (0, 0, 0);
        for at in memmem::find_iter(self.words, run) {
            // The number of a word is how many end before it.
            word += memchr_iter(END, self.words.get(counted..at).unwrap_or_default()).count();
            counted = at;
            all |= self.holders.get(word).map_or(0, |holders| u32::from_le_bytes(*holders));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(words: &[(&str, u32)]) -> Vec<u8> {
        let mut bytes = u32::try_from(words.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(words.iter().flat_map(|(_, holders)| holders.to_le_bytes()));
        words.iter().for_each(|(word, _)| bytes.extend(format!("{word}\n").bytes()));
        bytes
    }

    #[test]
    fn a_run_is_found_in_each_word_around_it_and_nowhere_else() {
        let bytes = bytes_of(&[("header", 1), ("leader", 2), ("reader", 4), ("valve", 8)]);
        let list = List::read(&bytes).unwrap();
        for (run, expected) in [("eader", 7), ("lea", 2), ("valve", 8), ("rval", 0), ("e", 15), ("\u{1}", 0)] {
            assert_eq!(list.holders(run.as_bytes()), expected, "{run}");
        }
    }

    #[test]
    fn a_list_that_is_not_whole_is_not_read() {
        let bytes = bytes_of(&[("header", 1), ("valve", 2)]);
        assert!((0..bytes.len()).all(|end| List::read(&bytes[..end]).is_err()));
        let mut more = bytes.clone();
        more[0] += 1;
        assert!(List::read(&more).is_err() && List::read(&bytes).is_ok());
    }

    #[test]
    fn what_is_forgotten_leaves_with_the_words_that_nobody_else_holds() {
        let mut words = Words::of(&List::read(&bytes_of(&[("both", 0b11), ("own", 0b10)])).unwrap());
        words.add(2, &BTreeSet::from(["both".to_owned(), "third".to_owned()]));
        words.forget(0b10);
        let left: Vec<(&[u8], u32)> = words.0.iter().map(|(word, holders)| (word.as_slice(), *holders)).collect();
        assert_eq!(left, [(b"both".as_slice(), 0b101), (b"third".as_slice(), 0b100)]);
    }
}
