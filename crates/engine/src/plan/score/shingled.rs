//! Which shingles start in which passage of a result? Read off the texts once, since the score asks several times.
//!
//! Never looks anything up. Texts that hold so many shingles that keeping them would cost too much are read again each time instead.

use super::{Part, ResultText};
use crate::shingles::for_each_batch;

/// The hashes of a part are kept while there is at most one for this many bytes of its text, which bounds them to twice the text. Code and
/// prose hold one for five to ten bytes; only something like a table of digits holds more.
const BYTES_PER_KEPT_HASH: usize = 4;

/// The shingles of one result, part by part, and what of it is in view.
pub(super) struct Shingled<'a> {
    pub(super) result: &'a ResultText<'a>,
    parts: &'a [Kept],
}

/// What was read off a result's texts: the same whatever is in view, so one reading serves every score.
#[derive(Debug)]
pub(crate) struct Reading {
    parts: Vec<Kept>,
}

/// What is kept of one part.
#[derive(Debug)]
struct Kept {
    hashes: Hashes,
    runs: Vec<Run>,
}

/// The shingle hashes of a text in order, or nothing if they are too many.
#[derive(Debug)]
pub(crate) struct Hashes(Option<Vec<u64>>);

/// The shingles that start in one passage.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    len: u32,
    /// How many of them, the last ones, run over into the next passage.
    over: u32,
}

/// The shingles that start in one passage of a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starting<'h> {
    pub(super) hashes: &'h [u64],
    /// How many of them, the first ones, touch only passages in view.
    pub(super) shown: usize,
}

impl Reading {
    /// Reads the texts of a result. `scratch` is room to work in.
    pub(super) fn of(parts: &[Part<'_>], scratch: &mut Vec<u64>) -> Self {
        let keep = |part: &Part<'_>| {
            scratch.clear();
            let runs = read(part, scratch);
            Kept { hashes: Hashes::kept(part.text, scratch), runs }
        };
        Self { parts: parts.iter().map(keep).collect() }
    }
}

impl Hashes {
    /// Reads a text. `scratch` is room to work in.
    pub(super) fn of(text: &str, scratch: &mut Vec<u64>) -> Self {
        read_again(text, scratch);
        Self::kept(text, scratch)
    }

    fn kept(text: &str, hashes: &[u64]) -> Self {
        Self((hashes.len() <= text.len() / BYTES_PER_KEPT_HASH).then(|| hashes.to_vec()))
    }

    /// Gives the hashes of `text`, which is what these were read from.
    pub(super) fn all<'h>(&'h self, text: &str, scratch: &'h mut Vec<u64>) -> &'h [u64] {
        if let Some(hashes) = &self.0 {
            return hashes;
        }
        read_again(text, scratch);
        scratch
    }
}

fn read_again(text: &str, hashes: &mut Vec<u64>) {
    hashes.clear();
    for_each_batch(text, |batch| hashes.extend(batch.iter().map(|shingle| shingle.hash)));
}

impl<'a> Shingled<'a> {
    pub(super) fn of(result: &'a ResultText<'a>, reading: &'a Reading) -> Self {
        Self { result, parts: &reading.parts }
    }

    /// Calls `f` with all hashes of each part.
    pub(super) fn for_each_part(&self, scratch: &mut Vec<u64>, mut f: impl FnMut(&[u64])) {
        for (part, kept) in self.result.parts.iter().zip(self.parts) {
            f(kept.hashes.all(part.text, scratch));
        }
    }

    /// Calls `f` with what starts in each passage of each part, in order.
    pub(super) fn for_each_passage(&self, scratch: &mut Vec<u64>, mut f: impl FnMut(Starting<'_>)) {
        for (part, kept) in self.result.parts.iter().zip(self.parts) {
            let mut rest = kept.hashes.all(part.text, scratch);
            for (idx, run) in kept.runs.iter().enumerate() {
                let (hashes, after) = rest.split_at_checked(run.len as usize).unwrap_or((rest, &[]));
                let inside = hashes.len().saturating_sub(run.over as usize);
                let shown = match (part.shows(idx), part.shows(idx + 1)) {
                    (false, _) => 0,
                    (true, false) => inside,
                    (true, true) => hashes.len(),
                };
                f(Starting { hashes, shown });
                rest = after;
            }
        }
    }
}

/// Appends the hashes of a part to `hashes` and says how many start in each passage.
///
/// A passage but the last of a text holds far more words than a shingle, so none reaches beyond the next.
fn read(part: &Part<'_>, hashes: &mut Vec<u64>) -> Vec<Run> {
    let mut runs = vec![Run::default(); part.passages.len()];
    let mut idx = 0;
    for_each_batch(part.text, |batch| {
        hashes.extend(batch.iter().map(|shingle| shingle.hash));
        let mut rest = batch;
        while let (Some(passage), Some(run), false) = (part.passages.get(idx), runs.get_mut(idx), rest.is_empty()) {
            let len = rest.partition_point(|shingle| shingle.start < passage.end);
            let (here, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            let inside = here.partition_point(|shingle| shingle.end <= passage.end);
            run.len += len as u32;
            run.over += (len - inside) as u32;
            idx += usize::from(!after.is_empty());
            rest = after;
        }
    });
    runs
}
