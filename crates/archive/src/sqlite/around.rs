//! Which words do these runs of characters stand in? Finds words of a tenant by what stands inside them; reads no text.

use rusqlite::{Connection, params};

use super::words::is_word;

/// Characters that a run needs to be looked up; shorter ones are only checked.
pub(super) const RUN_CHARS: usize = 3;

/// Words that one run of a query may stand for: who asks for `the` means the word. Each costs one look into the index.
const MAX_TERMS: usize = 64;

/// Words whose lengths are looked at to find the shortest: some milliseconds.
const MAX_LENGTHS: i64 = 20_000;

/// What a word that is read costs in steps through what the index holds of a piece.
const STEPS_PER_WORD: i64 = 25;

/// Pieces of a run whose frequency is asked for.
const MAX_ASKED: usize = 8;

/// Words in which pieces are counted to see which are rare, and how many words make it worth it: among fewer, all pieces
/// are found in a moment.
const SAMPLE: i64 = 4_000;
const MANY_TERMS: i64 = 10 * SAMPLE;

/// What runs of characters stand in.
#[derive(Default)]
pub(super) struct Around {
    /// The words, as a query of the index; `None` where no run is long enough.
    pub(super) terms: Option<String>,
    /// Whether a run stands in more.
    pub(super) has_more: bool,
}

impl Around {
    /// For each run of each asked word, the words of the tenant it stands in: the shortest, which hold least besides it.
    pub(super) fn of(connection: &Connection, tenant: i64, asked: &[&str]) -> rusqlite::Result<Self> {
        let mut around = connection.prepare_cached(
            "SELECT term FROM (
                SELECT t.term FROM runs r JOIN terms t ON t.id = r.rowid
                WHERE runs MATCH ?1 AND t.tenant = ?2 AND (?5 IS NULL OR instr(t.term, ?5) > 0) LIMIT ?4)
            ORDER BY length(term), term LIMIT ?3",
        )?;
        let runs = asked.iter().flat_map(|word| word.split(|c: char| !is_word(c)));
        let (mut all, mut has_more) = (Vec::new(), false);
        for run in runs.filter(|run| run.chars().count() >= RUN_CHARS) {
            let Pieces { terms, within } = Pieces::of(connection, run)?;
            // One more than are followed tells whether there are more.
            let bound = params![terms, tenant, MAX_TERMS as i64 + 1, MAX_LENGTHS, within];
            let found = around.query_map(bound, |row| row.get::<_, String>(0))?;
            let mut words: Vec<String> =
                found.map(|word| word.map(|word| format!("\"{word}\""))).collect::<rusqlite::Result<_>>()?;
            has_more |= words.len() > MAX_TERMS;
            words.truncate(MAX_TERMS);
            // Itself it may be a word that is too short to hold another.
            words.push(format!("\"{run}\""));
            all.push(format!("whole: ({})", words.join(" OR ")));
        }
        Ok(Self { terms: (!all.is_empty()).then(|| all.join(" AND ")), has_more })
    }
}

/// How a run is looked for.
struct Pieces {
    /// A query of the index of runs.
    terms: String,
    /// What a word that answers it must hold besides, in lower case; `None` where the query says it all.
    within: Option<String>,
}

impl Pieces {
    /// The index leads from three characters to each word that holds them, of some three to a good part of all words. As
    /// a whole, a run is found by going through all of these; its rarest pieces lead to few words, which then are read.
    fn of(connection: &Connection, run: &str) -> rusqlite::Result<Self> {
        let whole = Self { terms: format!("\"{run}\""), within: None };
        // Other letters have other ideas of case in the index than here.
        if !run.is_ascii() || run.len() <= RUN_CHARS + 1 {
            return Ok(whole);
        }
        let last: Option<i64> = connection.query_row("SELECT max(id) FROM terms", [], |row| row.get(0))?;
        let Some(last) = last.filter(|last| *last >= MANY_TERMS) else { return Ok(whole) };
        let lower = run.to_ascii_lowercase();
        let ends = RUN_CHARS..=lower.len();
        let apart = ends.clone().count().div_ceil(MAX_ASKED);
        let pieces = ends.step_by(apart).filter_map(|end| lower.get(end - RUN_CHARS..end));
        let sql = "SELECT count(*) FROM runs WHERE runs MATCH ?1 AND rowid BETWEEN ?2 AND ?2 + ?3";
        let mut counted = connection.prepare_cached(sql)?;
        let mut count = |terms: &str| counted.query_row(params![terms, last / 2, SAMPLE], |row| row.get::<_, i64>(0));
        let mut by_count = Vec::with_capacity(MAX_ASKED);
        for piece in pieces {
            let quoted = format!("\"{piece}\"");
            by_count.push((count(&quoted)?, quoted));
        }
        by_count.sort_unstable();
        by_count.dedup();
        Ok(Self { terms: worth_asking(by_count, count)?, within: Some(lower) })
    }
}

/// Of pieces with their counts, rarest first, those that are worth going through, as a query: words that hold all of them
/// are read, and a piece is worth its way where that is shorter than reading the words that are left without it.
///
/// `count` counts what a query finds in the sample: neighbours overlap, and so take out less than their counts promise.
fn worth_asking(
    by_count: Vec<(i64, String)>,
    mut count: impl FnMut(&str) -> rusqlite::Result<i64>,
) -> rusqlite::Result<String> {
    let mut pieces = by_count.into_iter();
    let Some((mut left, mut taken)) = pieces.next() else { return Ok(String::new()) };
    for (steps, piece) in pieces {
        if steps > left.max(1).saturating_mul(STEPS_PER_WORD) {
            break;
        }
        taken = format!("{taken} AND {piece}");
        left = count(&taken)?;
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_taken_while_they_cost_less_than_they_save() {
        // Each piece that is taken leaves so many words of the sample.
        let taken = |counts: &[i64], left: &[i64]| {
            let pieces = counts.iter().map(|count| (*count, format!("p{count}"))).collect();
            let mut left = left.iter();
            worth_asking(pieces, |_| Ok(*left.next().unwrap())).unwrap()
        };
        assert_eq!(taken(&[8, 12, 430], &[0]), "p8 AND p12", "hardly a word is left that the third could take out");
        assert_eq!(taken(&[8, 87, 189, 430], &[8, 0]), "p8 AND p87 AND p189", "the second was where the first one is");
        assert_eq!(taken(&[3_000], &[]), "p3000");
    }
}
