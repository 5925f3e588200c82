//! Which defects did a change bring? Law 3: a body that arrives broken gets no new one.
//!
//! Compares lists of defects; reads no body.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::defect::{Defect, MAX_DEFECTS_PER_CODE};

/// Gives the defects of `after` that `before` does not explain.
///
/// Places move when something before them is removed, so defects are compared by code and by path without places, and counted:
/// of more than before, those at paths that were sound before are given. A code at its limit before explains any number.
/// A result that answered a call for the second time, or far from it, has no call of its own: it is no worse off once that
/// call is gone, though it goes by another code then.
///
/// ```
/// use liveset_engine::{json::Outline, transcript::WireFormat, validate};
/// let check = |body: &str| validate::check(WireFormat::Anthropic, &Outline::read(body.as_bytes()).unwrap());
/// let before = check(r#"[{"role":"user","content":"a"},{"role":"assistant","content":" "},{"role":"user","content":"b"}]"#);
/// let after = check(r#"[{"role":"assistant","content":" "},{"role":"user","content":"b"}]"#);
/// let new = validate::new_defects(&before, &after);
/// assert_eq!(new.len(), 1);
/// assert_eq!(new[0].code, validate::Code::FirstRole);
/// ```
#[must_use]
pub fn new_defects(before: &[Defect], after: &[Defect]) -> Vec<Defect> {
    let mut explained: BTreeMap<(Code, String), usize> = BTreeMap::new();
    let mut per_code: BTreeMap<Code, usize> = BTreeMap::new();
    for defect in before {
        *explained.entry((defect.code, without_places(&defect.path))).or_default() += 1;
        *per_code.entry(defect.code).or_default() += 1;
    }
    let exact: BTreeSet<(Code, &str)> = before.iter().map(|defect| (defect.code, defect.path.as_str())).collect();
    let is_open = |defect: &&Defect| per_code.get(&defect.code).is_none_or(|&count| count < MAX_DEFECTS_PER_CODE);
    // Those at the very same path are explained first.
    let (same, moved): (Vec<&Defect>, Vec<&Defect>) =
        after.iter().filter(is_open).partition(|defect| exact.contains(&(defect.code, defect.path.as_str())));
    let mut new = Vec::new();
    for defect in same.into_iter().chain(moved) {
        if !takes(&mut explained, defect.code, &defect.path) {
            new.push(defect.clone());
        }
    }
    new.retain(|defect| {
        let mut was_loose = |code: &Code| takes(&mut explained, *code, &defect.path);
        defect.code != Code::OrphanResult || !LOOSE_RESULTS.iter().any(&mut was_loose)
    });
    new.sort();
    new
}

/// What a result is called that has no call of its own though one with its id is there.
const LOOSE_RESULTS: [Code; 2] = [Code::DuplicateResult, Code::ResultNotAdjacent];

/// Takes one defect of this kind out of those that explain others.
fn takes(explained: &mut BTreeMap<(Code, String), usize>, code: Code, path: &str) -> bool {
    match explained.get_mut(&(code, without_places(path))) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        Some(_) | None => false,
    }
}

/// Gives `messages[].content[]` for `messages[3].content[1]`.
fn without_places(path: &str) -> String {
    let mut depth = 0_usize;
    path.chars()
        .filter(|&char| {
            depth = if char == ']' { depth.saturating_sub(1) } else { depth };
            let stays = depth == 0;
            depth += usize::from(char == '[');
            stays
        })
        .collect()
}
