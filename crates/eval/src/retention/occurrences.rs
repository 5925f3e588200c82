//! Where in the results does a shingle or a value stand? Copies sorted by what they hold.

use super::text::{Id, Place, Text};
use super::trajectory::ResultText;

/// One copy in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Copy {
    pub(crate) id: Id,
    /// Place of the result among the results.
    pub(crate) result: u32,
    pub(crate) place: Place,
}

/// The copies of all ids, each id's in order of the results.
#[derive(Clone, Debug)]
pub(crate) struct Occurrences {
    copies: Vec<Copy>,
    starts: Vec<u32>,
}

impl Occurrences {
    /// Lists what some part of each result holds.
    pub(crate) fn of(results: &[ResultText], ids: usize, part: fn(&Text) -> &[(Id, Place)]) -> Self {
        let mut copies = Vec::new();
        for (at, result) in results.iter().enumerate() {
            let result_at = u32::try_from(at).unwrap_or(u32::MAX);
            let found = part(&result.text).iter().map(|(id, place)| Copy { id: *id, result: result_at, place: *place });
            copies.extend(found);
        }
        copies.sort_unstable();
        copies.dedup();
        let mut starts = vec![0_u32; ids + 1];
        for copy in &copies {
            if let Some(start) = starts.get_mut(copy.id as usize + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { copies, starts }
    }

    /// Gives the copies of an id in order of the results.
    pub(crate) fn copies(&self, id: Id) -> &[Copy] {
        let at = |index: usize| self.starts.get(index).map_or(0, |start| *start as usize);
        self.copies.get(at(id as usize)..at(id as usize + 1)).unwrap_or_default()
    }

    /// Counts the results before `end` that hold an id, up to `most`.
    pub(crate) fn holders(&self, id: Id, end: usize, most: usize) -> usize {
        let (mut count, mut last) = (0, None);
        for copy in self.copies(id).iter().take_while(|copy| (copy.result as usize) < end) {
            if last.replace(copy.result) != Some(copy.result) {
                count += 1;
                if count >= most {
                    break;
                }
            }
        }
        count
    }
}
