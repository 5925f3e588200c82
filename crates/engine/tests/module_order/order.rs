//! Which file uses a module that stands later? Works on source text alone.

use std::collections::BTreeMap;

use super::tokens::tokens;

/// The source text of each module of a crate; `lib.rs` has the empty path.
pub(crate) type Sources = BTreeMap<Vec<String>, String>;

/// The modules whose lists of modules are in order: the crate itself, and the planner with its many steps. Families of
/// two or three files below another module may be written as one.
const ORDERED: &[&[&str]] = &[&[], &["plan"]];

/// What a file declares and uses.
#[derive(Default)]
struct File {
    /// Modules in their order, with whether they are for tests only.
    children: Vec<(String, bool)>,
    /// The module that a name handed on by `use` comes from.
    origins: BTreeMap<String, String>,
    /// Absolute paths that start with `crate`, `super` or `self`, outside of tests.
    uses: Vec<Vec<String>>,
}

impl File {
    fn child(&self, name: &str) -> Option<usize> {
        self.children.iter().position(|(child, _)| child == name)
    }

    /// The place of the module that a name of this module lies in.
    fn place(&self, name: &str) -> Option<usize> {
        self.child(name).or_else(|| self.child(self.origins.get(name)?))
    }
}

/// Lists each use of a later module and each file without a `mod` line, in words.
pub(crate) fn findings(sources: &Sources) -> Vec<String> {
    let files: BTreeMap<&Vec<String>, File> =
        sources.iter().map(|(module, text)| (module, scan(module, text))).collect();
    let mut findings = Vec::new();
    for (module, file) in &files {
        let Some((name, parent)) = module.split_last() else {
            continue;
        };
        if files.get(&parent.to_vec()).is_none_or(|parent| parent.child(name).is_none()) {
            findings.push(format!("`{}` is named by no `mod` line", module.join("/")));
            continue;
        }
        for used in &file.uses {
            findings.extend(later(&files, module, used));
        }
    }
    findings.dedup();
    findings
}

/// Compares a file and what it uses where their paths part.
fn later(files: &BTreeMap<&Vec<String>, File>, module: &[String], used: &[String]) -> Option<String> {
    let common = module.iter().zip(used).take_while(|(a, b)| a == b).count();
    let shared = module[..common].to_vec();
    if !ORDERED.contains(&shared.iter().map(String::as_str).collect::<Vec<_>>().as_slice()) {
        return None;
    }
    let parent = files.get(&shared)?;
    let own = parent.child(module.get(common)?)?;
    let other = parent.place(used.get(common)?)?;
    let is_for_tests = parent.children[own].1;
    if other <= own || is_for_tests {
        return None;
    }
    let target: Vec<&str> = shared.iter().map(String::as_str).chain([parent.children[other].0.as_str()]).collect();
    Some(format!("`{}` uses `{}`, which stands later", module.join("/"), target.join("/")))
}

fn scan(module: &[String], text: &str) -> File {
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(String::as_str).collect();
    let mut file = File::default();
    // The module we are in, which inline modules extend, and at which depth of braces each of those began.
    let mut path = module.to_vec();
    let mut inline = Vec::new();
    let mut depth = 0_usize;
    let mut is_for_tests = false;
    let mut place = 0;
    while place < words.len() {
        let mut next = place + 1;
        match &words[place..] {
            ["#", "[", ..] => {
                next = closing(&words, place + 1) + 1;
                let attribute = &words[place..next.min(words.len())];
                is_for_tests |=
                    attribute.contains(&"cfg") && attribute.contains(&"test") && !attribute.contains(&"not");
            }
            ["mod", name, ";", ..] if depth == 0 => file.children.push(((*name).to_owned(), is_for_tests)),
            ["mod", _, "{", ..] if is_for_tests => {
                next = closing(&words, place + 2) + 1;
                is_for_tests = false;
            }
            ["mod", name, "{", ..] => {
                inline.push(depth);
                path.push((*name).to_owned());
            }
            ["use", first, "::", ..] if depth == 0 && !matches!(*first, "crate" | "super" | "self") => {
                for (name, _) in leaves(&words, place + 3, &[]).0 {
                    file.origins.insert(name, (*first).to_owned());
                }
            }
            ["{", ..] => (depth, is_for_tests) = (depth + 1, false),
            ["}", ..] => {
                depth = depth.saturating_sub(1);
                is_for_tests = false;
                if inline.last() == Some(&depth) {
                    inline.pop();
                    path.pop();
                }
            }
            [";", ..] => is_for_tests = false,
            ["crate" | "super" | "self", "::", ..] if place == 0 || words[place - 1] != "::" => {
                let (base, from) = base(&words, place, &path);
                let (leaves, end) = leaves(&words, from, &base);
                file.uses.extend(leaves.into_iter().map(|(_, path)| path));
                next = end;
            }
            _ => {}
        }
        place = next;
    }
    file
}

/// Follows `crate::`, `self::` and `super::super::` to an absolute module, and gives the place behind it.
fn base(words: &[&str], mut place: usize, path: &[String]) -> (Vec<String>, usize) {
    let mut base = if words[place] == "crate" { Vec::new() } else { path.to_vec() };
    while let Some([first @ ("crate" | "super" | "self"), "::"]) = words.get(place..place + 2) {
        if *first == "super" {
            base.pop();
        }
        place += 2;
    }
    (base, place)
}

/// Reads a path or a tree of paths: for each leaf the name it gets here, and its whole path. Also the place behind.
fn leaves(words: &[&str], mut place: usize, base: &[String]) -> (Vec<(String, Vec<String>)>, usize) {
    let mut path = base.to_vec();
    loop {
        match words.get(place..).unwrap_or_default() {
            ["{", ..] => {
                let end = closing(words, place);
                let mut found = Vec::new();
                place += 1;
                while place < end {
                    let (inner, behind) = leaves(words, place, &path);
                    found.extend(inner);
                    // Past the comma; at least one word on, whatever stands here.
                    place = behind.max(place) + 1;
                }
                return (found, end + 1);
            }
            [name, "::", ..] => {
                path.push((*name).to_owned());
                place += 2;
            }
            ["self", ..] => return (vec![(String::new(), path)], place + 1),
            [name, rest @ ..] => {
                let (own, len) = match rest {
                    ["as", alias, ..] => (*alias, 3),
                    _ => (*name, 1),
                };
                path.push((*name).to_owned());
                return (vec![(own.to_owned(), path)], place + len);
            }
            [] => return (Vec::new(), place),
        }
    }
}

/// The place of the bracket that closes the one at `open`.
fn closing(words: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    for (place, word) in words.iter().enumerate().skip(open) {
        match *word {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    words.len()
}
