//! How does a reader get a text back? The last words of a tombstone, a notice, a result's last gap or a folded line.
//!
//! Writes and reads these words and no others; an id read here is only ever named again, never looked up or trusted.

use std::borrow::Cow;

use crate::{
    content_id::ContentId,
    policy::{MAX_FOLDER_BYTES, SpillFolder},
    tools::ToolClass,
};

/// Route of a retrieval result without an archive.
pub const ROUTE_RERUN: &str = "run the call again to see it";
/// Route of a volatile result without an archive.
pub const ROUTE_RERUN_VOLATILE: &str = "run the call again to see it, its answer may differ";
/// Route of an execution result without an archive.
pub const ROUTE_RERUN_EXECUTION: &str = "run the call again only if repeating it is safe";
/// First words of a route over a recall tool; the id follows.
pub const ROUTE_RECALL: &str = "recall ";
/// First words of a route over a shell; the id follows.
pub const ROUTE_SHELL: &str = "run liveset recall ";
/// First words of a route over a spilled file; its name follows.
pub const ROUTE_SPILL: &str = "read ";
/// Last words of a route that names an original.
pub const ROUTE_END: &str = " to see it";
/// What stands before the originals that a result held which arrived with our gaps.
pub const ROUTE_HELD: &str = ", and ";
/// What stands behind them.
pub const ROUTE_HELD_END: &str = " for what it left out";
/// What a volatile result's route adds behind the way back.
pub const ROUTE_MAY_DIFFER: &str = ", a new run may answer differently";
/// Originals that a route names beside its own: a result has one last gap, more are look-alikes or several parts.
pub const MAX_HELD_IDS: usize = 3;
/// Route of a folded run in which every call is a retrieval, without an archive.
pub const ROUTE_FOLD: &str = "run a call again to see its result";
/// Route of a run with a volatile call and no execution.
pub const ROUTE_FOLD_VOLATILE: &str = "run a call again to see its result, it may differ";
/// Route of a run with an execution.
pub const ROUTE_FOLD_EXECUTION: &str = "run a call again only if repeating it is safe";
/// Route of a folded run over the search tool beside the recall tool.
pub const ROUTE_FOLD_TOOL: &str = "search liveset to find a result";
/// Route of a folded run over a shell.
pub const ROUTE_FOLD_SHELL: &str = "run liveset search WORDS to find a result";
/// First words of a folded run's route over spilled files; the folder follows.
pub const ROUTE_FOLD_SPILL: &str = "search ";
/// Last words of that route.
pub const ROUTE_FOLD_SPILL_END: &str = " to find a result";
/// Digits of an id.
const ID_DIGITS: usize = 32;
/// Bytes of the longest place of an original: a file below a folder.
const MAX_PLACE_BYTES: usize = MAX_FOLDER_BYTES + "/.txt".len() + ID_DIGITS;
/// Bytes of the longest route that names originals; the constants are shorter.
pub(super) const MAX_BYTES: usize = ROUTE_SHELL.len()
    + MAX_PLACE_BYTES
    + ROUTE_END.len()
    + ROUTE_HELD.len()
    + MAX_HELD_IDS * (MAX_PLACE_BYTES + ", ".len())
    + ROUTE_HELD_END.len()
    + ROUTE_MAY_DIFFER.len();

/// A way back that is open in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The call itself, once more.
    Rerun,
    /// The recall tool.
    Tool,
    /// `liveset recall` in a shell.
    Shell,
    /// A file below this folder.
    Spill(SpillFolder),
}

impl Route {
    /// Gives the last words of a tombstone, notice or last gap: the way to the original `id`.
    ///
    /// `held` are ids that the text itself named where it arrived with our gaps.
    ///
    /// ```
    /// use liveset_engine::{ContentId, tombstone::Route, tools::ToolClass};
    /// let id = ContentId::of(b"a log");
    /// let words = Route::Shell.words(ToolClass::Retrieval, id, &[]);
    /// assert_eq!(words, format!("run liveset recall {id} to see it"));
    /// assert_eq!(Route::Rerun.words(ToolClass::Retrieval, id, &[]), "run the call again to see it");
    /// ```
    #[must_use]
    pub fn words(&self, class: ToolClass, id: ContentId, held: &[String]) -> Cow<'static, str> {
        let start = match self {
            Self::Rerun => return Cow::Borrowed(rerun(class)),
            Self::Tool => ROUTE_RECALL,
            Self::Shell => ROUTE_SHELL,
            Self::Spill(_) => ROUTE_SPILL,
        };
        let mut out = format!("{start}{}{ROUTE_END}", self.place(&id.to_string()));
        let held: Vec<String> = held.iter().take(MAX_HELD_IDS).map(|id| self.place(id)).collect();
        if !held.is_empty() {
            out.push_str(ROUTE_HELD);
            out.push_str(&held.join(", "));
            out.push_str(ROUTE_HELD_END);
        }
        if class == ToolClass::Volatile {
            out.push_str(ROUTE_MAY_DIFFER);
        }
        Cow::Owned(out)
    }

    /// How an original is named on this way.
    fn place(&self, id: &str) -> String {
        match self {
            Self::Rerun | Self::Tool | Self::Shell => id.to_owned(),
            Self::Spill(folder) => folder.file(id),
        }
    }

    /// Gives the last words of a folded line. Its originals are many, so they are looked for by their words.
    #[must_use]
    pub fn fold_words(&self, class: ToolClass) -> Cow<'static, str> {
        match (self, class) {
            (Self::Rerun, ToolClass::Retrieval) => Cow::Borrowed(ROUTE_FOLD),
            (Self::Rerun, ToolClass::Volatile) => Cow::Borrowed(ROUTE_FOLD_VOLATILE),
            (Self::Rerun, ToolClass::Execution) => Cow::Borrowed(ROUTE_FOLD_EXECUTION),
            (Self::Tool, _) => Cow::Borrowed(ROUTE_FOLD_TOOL),
            (Self::Shell, _) => Cow::Borrowed(ROUTE_FOLD_SHELL),
            (Self::Spill(folder), _) => {
                Cow::Owned(format!("{ROUTE_FOLD_SPILL}{}{ROUTE_FOLD_SPILL_END}", folder.as_str()))
            }
        }
    }
}

/// Gives the words that send the reader back to the call.
#[must_use]
pub fn rerun(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Retrieval => ROUTE_RERUN,
        ToolClass::Volatile => ROUTE_RERUN_VOLATILE,
        ToolClass::Execution => ROUTE_RERUN_EXECUTION,
    }
}

/// Finds the route that a text begins with and that `ends` closes; gives the ids it names.
pub(super) fn at_start(text: &str, ends: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let constants = [ROUTE_RERUN, ROUTE_RERUN_VOLATILE, ROUTE_RERUN_EXECUTION];
    if constants.iter().any(|route| text.strip_prefix(route).is_some_and(&ends)) {
        return Some(Vec::new());
    }
    let (ids, rest) = naming(text)?;
    (ends(rest) || rest.strip_prefix(ROUTE_MAY_DIFFER).is_some_and(ends)).then_some(ids)
}

/// Reads a route that names originals, up to what a volatile one adds.
fn naming(text: &str) -> Option<(Vec<&str>, &str)> {
    let named = |start| text.strip_prefix(start).and_then(place);
    let (own, rest) = named(ROUTE_RECALL).or_else(|| named(ROUTE_SHELL)).or_else(|| named(ROUTE_SPILL))?;
    let rest = rest.strip_prefix(ROUTE_END)?;
    let mut ids = vec![own];
    let Some(mut held) = rest.strip_prefix(ROUTE_HELD) else { return Some((ids, rest)) };
    loop {
        let (id, after) = place(held)?;
        ids.push(id);
        if let Some(rest) = after.strip_prefix(ROUTE_HELD_END) {
            return (ids.len() <= MAX_HELD_IDS + 1).then_some((ids, rest));
        }
        held = after.strip_prefix(", ")?;
    }
}

/// Reads the place of an original, plain id or file, and gives its id.
fn place(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_at(text.find([' ', ','])?);
    let id = if word.contains('/') { SpillFolder::id_in(word)? } else { word };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (id.len() == ID_DIGITS && id.bytes().all(is_digit)).then_some((id, rest))
}

/// Says whether these are the last words of a folded line.
pub(super) fn is_fold_route(text: &str) -> bool {
    let constants = [ROUTE_FOLD, ROUTE_FOLD_VOLATILE, ROUTE_FOLD_EXECUTION, ROUTE_FOLD_TOOL, ROUTE_FOLD_SHELL];
    let folder = || text.strip_prefix(ROUTE_FOLD_SPILL)?.strip_suffix(ROUTE_FOLD_SPILL_END);
    let is_folder = |folder: &str| SpillFolder::new(folder).is_some_and(|known| known.as_str() == folder);
    constants.contains(&text) || folder().is_some_and(is_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> [Route; 3] {
        [Route::Tool, Route::Shell, Route::Spill(SpillFolder::new("a/b").unwrap())]
    }

    #[test]
    fn every_route_is_read_as_it_is_written() {
        let (id, held) = (ContentId::of(b"x"), ContentId::of(b"y").to_string());
        for route in routes() {
            for class in [ToolClass::Retrieval, ToolClass::Volatile, ToolClass::Execution] {
                for count in 0..=MAX_HELD_IDS + 2 {
                    let text = format!("{}]", route.words(class, id, &vec![held.clone(); count]));
                    let ids = at_start(&text, |rest| rest == "]").unwrap_or_else(|| panic!("{text}"));
                    assert_eq!((ids[0], ids.len()), (id.to_string().as_str(), 1 + count.min(MAX_HELD_IDS)));
                }
                assert!(is_fold_route(&route.fold_words(class)));
            }
        }
    }

    #[test]
    fn the_words_are_these() {
        let id = ContentId::of(b"x");
        let words = routes().map(|route| route.words(ToolClass::Execution, id, &[]).replace(&id.to_string(), "ID"));
        assert_eq!(words, ["recall ID to see it", "run liveset recall ID to see it", "read a/b/ID.txt to see it"]);
        let held = ["1".to_owned(), "2".to_owned()];
        assert_eq!(
            Route::Tool.words(ToolClass::Volatile, id, &held).replace(&id.to_string(), "ID"),
            "recall ID to see it, and 1, 2 for what it left out, a new run may answer differently"
        );
        assert_eq!(
            routes().map(|route| route.fold_words(ToolClass::Execution).into_owned()),
            [ROUTE_FOLD_TOOL, ROUTE_FOLD_SHELL, "search a/b to find a result"]
        );
    }

    #[test]
    fn look_alikes_are_no_route() {
        let id = ContentId::of(b"x").to_string();
        let reads = |text: &str| at_start(text, |rest| rest == "]").is_some();
        assert!(reads(&format!("recall {id} to see it]")));
        for wrong in [
            format!("recall {} to see it]", &id[1..]),
            format!("recall {id}0 to see it]"),
            format!("recall {} to see it]", id.to_uppercase().replace(|c: char| c.is_ascii_digit(), "G")),
            "recall h-0001 to see it]".to_owned(),
            format!("recall {id} to see it, trust it]"),
            format!("recall {id} to see it, and]"),
            format!("recall {id} to see it, and {id}, for what it left out]"),
            format!("read {id}.txt to see it]"),
            format!("read ../{id}.txt to see it]"),
            format!("read a/{id} to see it]"),
            format!("run liveset purge {id} to see it]"),
        ] {
            assert!(!reads(&wrong), "{wrong}");
        }
        assert!(!is_fold_route("search ../a to find a result") && !is_fold_route("search a b to find a result"));
    }
}
