//! What does a carrier hold? The line of a folded run or of a summary, and below it what these say.
//!
//! Knows nothing of results: entries come in, and leave in a fixed order when room is short or they are too long to be read
//! as a digest again.

use liveset_tokens::Tokens;

use crate::{
    tombstone::{self, FoldFacts, MAX_ENTRIES_BYTES, Route, SummaryFacts},
    transcript::ItemIdx,
};

/// What one call showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The item that it tells of.
    pub(crate) item: ItemIdx,
    pub(crate) text: String,
    /// Its size alone.
    pub(crate) tokens: Tokens,
    pub(crate) worth: Worth,
    /// Whether it is an answer: no failure, and more than a tombstone.
    pub(crate) is_answer: bool,
}

impl Entry {
    /// Gives about what it takes in a carrier: its text, and the end of its line.
    pub(crate) fn size(&self) -> u64 {
        self.tokens.0 + 1
    }
}

/// What is lost with an entry, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// A fact that the call would give again.
    Fact,
    /// What was done: no call tells it again.
    Deed,
}

impl Worth {
    /// In the order in which entries go.
    pub(crate) const ALL: [Self; 2] = [Self::Fact, Self::Deed];
}

/// What a line stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stands {
    /// A folded run.
    ForRun(FoldFacts),
    /// Units that an extract replaced.
    ForUnits(SummaryFacts),
    /// Units that a model's words replaced.
    ByModel(SummaryFacts),
}

/// A line, and what stands below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    stands: Stands,
    entries: Vec<Entry>,
    text: String,
}

impl Digest {
    /// Writes the line of a folded run with its entries.
    pub(crate) fn new(facts: FoldFacts, entries: Vec<Entry>, route: &Route) -> Self {
        Self::written(Stands::ForRun(facts), entries, route)
    }

    /// Writes the line of units that an extract replaces, with its entries.
    pub(crate) fn extract(facts: SummaryFacts, entries: Vec<Entry>, route: &Route) -> Self {
        Self::written(Stands::ForUnits(facts), entries, route)
    }

    /// Writes the line of units that a model's words replace; `None` where these cannot be taken.
    pub(crate) fn by_model(facts: SummaryFacts, words: &str, route: &Route) -> Option<Self> {
        let text = tombstone::summary_text(&facts, route, words)?;
        Some(Self { stands: Stands::ByModel(facts), entries: Vec::new(), text })
    }

    fn written(stands: Stands, mut entries: Vec<Entry>, route: &Route) -> Self {
        entries.retain(|entry| tombstone::is_entry(&entry.text));
        bound(&mut entries);
        let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        let text = match &stands {
            Stands::ForRun(facts) => tombstone::fold_text(facts, route, texts.into_iter()),
            Stands::ForUnits(facts) | Stands::ByModel(facts) => {
                tombstone::extract_text(facts, route, texts.into_iter())
            }
        };
        Self { stands, entries, text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Gives what stands below the line.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Says whether a model's words stand there, of which no entry can be made.
    pub(crate) fn is_by_model(&self) -> bool {
        matches!(self.stands, Stands::ByModel(_))
    }

    /// Gives what the line counts.
    pub(crate) fn facts(&self) -> SummaryFacts {
        match &self.stands {
            Stands::ForRun(facts) => SummaryFacts { calls: facts.clone(), texts: 0 },
            Stands::ForUnits(facts) | Stands::ByModel(facts) => facts.clone(),
        }
    }

    /// Gives about what the entries take.
    pub(crate) fn size(&self) -> u64 {
        self.entries.iter().map(Entry::size).sum()
    }

    /// Leaves out the oldest entries of a worth until about `need` tokens are freed, one at least.
    ///
    /// `None` where there is none of them.
    pub(crate) fn without(&self, worth: Worth, need: u64, route: &Route) -> Option<Self> {
        let mut freed = 0;
        let goes = |entry: &&Entry| {
            let goes = entry.worth == worth && freed < need;
            freed += if goes { entry.size() } else { 0 };
            !goes
        };
        let entries: Vec<Entry> = self.entries.iter().filter(goes).cloned().collect();
        (entries.len() < self.entries.len()).then(|| Self::written(self.stands.clone(), entries, route))
    }
}

/// Leaves out the oldest entries, facts first, that are too much for one line's.
fn bound(entries: &mut Vec<Entry>) {
    let size = |entry: &Entry| entry.text.len() + 1;
    let mut over = entries.iter().map(size).sum::<usize>().saturating_sub(MAX_ENTRIES_BYTES);
    for worth in Worth::ALL {
        entries.retain(|entry| {
            let goes = over > 0 && entry.worth == worth;
            over = over.saturating_sub(if goes { size(entry) } else { 0 });
            !goes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        tombstone::{MAX_ENTRY_BYTES, is_fold},
        tools::ToolClass,
    };

    fn digest(entries: &[(&str, usize, Worth)]) -> Digest {
        let mut facts = FoldFacts::default();
        entries.iter().for_each(|_| facts.add("grep", ToolClass::Retrieval, Tokens(9)));
        let entry = |&(text, times, worth): &(&str, usize, Worth)| Entry {
            item: ItemIdx(0),
            text: text.repeat(times),
            tokens: Tokens(1),
            worth,
            is_answer: true,
        };
        Digest::new(facts, entries.iter().map(entry).collect(), &Route::Rerun)
    }

    #[test]
    fn an_entry_that_would_not_be_read_again_is_left_out() {
        let digest = digest(&[("a", MAX_ENTRY_BYTES, Worth::Fact), ("b", MAX_ENTRY_BYTES + 1, Worth::Fact)]);
        assert!(is_fold(digest.text()) && digest.text().ends_with("a\n1 more results]"));
    }

    #[test]
    fn what_is_too_much_goes_by_worth_and_then_by_age() {
        let fits = MAX_ENTRIES_BYTES / (MAX_ENTRY_BYTES + 1);
        let mut entries = vec![("a", MAX_ENTRY_BYTES, Worth::Deed), ("b", MAX_ENTRY_BYTES, Worth::Fact)];
        entries.extend(std::iter::repeat_n(("c", MAX_ENTRY_BYTES, Worth::Fact), fits - 1));
        let short = digest(&entries);
        assert!(is_fold(short.text()) && !short.text().contains('b') && short.text().contains("\naaa"));
        entries.extend(std::iter::repeat_n(("d", MAX_ENTRY_BYTES, Worth::Deed), fits));
        let short = digest(&entries);
        assert!(is_fold(short.text()) && !short.text().contains("ccc") && !short.text().contains("aaa"));
        assert!(short.text().lines().filter(|line| line.starts_with('d')).count() == fits);
    }
}
