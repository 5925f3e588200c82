//! Is it a program, in which language, and which of its lines begin a definition?

use super::ContentKind;

/// A programming language, or a family of them that looks alike by lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
    /// Go.
    Go,
    /// Java, Kotlin, C# and what looks like them.
    Java,
    /// C, C++ and Objective-C.
    C,
    /// Ruby, Elixir, Lua.
    Ruby,
    /// Shells.
    Shell,
    /// SQL.
    Sql,
    /// Any other.
    Other,
}

/// First words of lines that tell a language.
const TELLING: [(Language, &[&str]); 9] = [
    (
        Language::Rust,
        &[
            "fn ",
            "pub fn ",
            "pub struct ",
            "pub enum ",
            "pub(crate) ",
            "let mut ",
            "impl ",
            "impl<",
            "use crate::",
            "use std::",
            "use super::",
            "mod ",
            "pub mod ",
            "#[",
            "match ",
            "//! ",
            "/// ",
            "pub use ",
        ],
    ),
    (
        Language::Python,
        &[
            "def ",
            "async def ",
            "class ",
            "import ",
            "from ",
            "elif ",
            "except",
            "with ",
            "raise ",
            "self.",
            "@",
            "if __name__",
            "\"\"\"",
            "try:",
            "else:",
            "return ",
            "assert ",
        ],
    ),
    (
        Language::JavaScript,
        &[
            "const ",
            "let ",
            "var ",
            "function ",
            "export ",
            "import ",
            "async function ",
            "interface ",
            "});",
            "type ",
            "await ",
            "return ",
            "} else",
            "if (",
        ],
    ),
    (
        Language::Go,
        &[
            "func ", "package ", "import (", "defer ", "if err ", "type ", "var ", "switch ", "return ", "go func",
            "case ",
        ],
    ),
    (
        Language::Java,
        &[
            "public ",
            "private ",
            "protected ",
            "@Override",
            "import ",
            "package ",
            "namespace ",
            "using ",
            "internal ",
            "static ",
            "final ",
            "return ",
        ],
    ),
    (
        Language::C,
        &[
            "#include",
            "#define ",
            "#if",
            "#endif",
            "static ",
            "void ",
            "int ",
            "struct ",
            "typedef ",
            "return ",
            "const ",
            "template",
            "namespace ",
            "extern ",
        ],
    ),
    (Language::Ruby, &["def ", "end", "require ", "module ", "class ", "attr_", "do |", "unless ", "local "]),
    (Language::Shell, &["#!/", "if [", "fi", "done", "then", "echo ", "export ", "for ", "esac", "set -", "local "]),
    (
        Language::Sql,
        &["SELECT ", "CREATE ", "INSERT ", "FROM ", "WHERE ", "UPDATE ", "ALTER ", "DROP ", "JOIN ", "GROUP BY"],
    ),
];

/// Lines that begin a definition in the languages that agents read most, after words such as `pub` and `async`.
const SIGNATURES: [&str; 26] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "func",
    "function",
    "interface",
    "type",
    "namespace",
    "module",
    "package",
    "object",
    "union",
    "macro_rules!",
    "const",
    "static",
    "protocol",
    "extension",
    "record",
    "sub",
    "CREATE",
    "create",
];

/// Words that may stand before them.
const BEFORE: [&str; 21] = [
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "extern",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "virtual",
    "override",
    "sealed",
    "inline",
    "declare",
    "data",
];

/// Columns of indentation that count as one level.
const LEVEL: usize = 4;
/// Share of the lines that look like code, in tenths.
const TENTHS: usize = 6;
/// The same where the path says that it is a program.
const NAMED_TENTHS: usize = 3;
/// Lines that tell the language, at least.
const MIN_TELLING: usize = 3;
/// One line in so many tells the language.
const TELLING_ONE_IN: usize = 12;

/// Gives how deep a line is indented, in levels.
///
/// ```
/// use liveset_engine::content::code::depth;
/// assert_eq!((depth("fn a()"), depth("    fn b()"), depth("\t\tx")), (0, 1, 2));
/// ```
#[must_use]
pub fn depth(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns += LEVEL,
            _ => break,
        }
    }
    columns / LEVEL
}

/// Says whether a line begins a definition.
///
/// ```
/// use liveset_engine::content::code::is_signature;
/// assert!(is_signature("    pub(crate) fn next(&mut self) -> Token {"));
/// assert!(is_signature("async def main():"));
/// assert!(!is_signature("    let class = 1;"));
/// ```
#[must_use]
pub fn is_signature(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word)).peekable();
    let Some(first) = words.next() else { return false };
    // `static` and the like are both.
    let first = if words.peek().is_none() { return false } else { first };
    let word = first.split(['<', '(']).next().unwrap_or(first);
    let named = || line.contains(['(', '{', ':', ';', '=', '<']) || line.trim_end().ends_with(char::is_alphanumeric);
    SIGNATURES.contains(&word) && named() && !line.trim_start().starts_with(['"', '\'', '-', '*'])
}

/// Lines of code that were seen.
#[derive(Default)]
pub(super) struct CodeLines {
    codeish: usize,
    signatures: usize,
    telling: [usize; 9],
}

impl CodeLines {
    pub(super) fn see(&mut self, line: &str) {
        let text = line.trim();
        let mut is_telling = false;
        for ((_, starts), count) in TELLING.iter().zip(&mut self.telling) {
            if starts.iter().any(|start| text.starts_with(start)) {
                *count += 1;
                is_telling = true;
            }
        }
        let is_comment = || ["//", "/*", "*/", "* ", "# ", "-- "].iter().any(|start| text.starts_with(start));
        let ends = || text.ends_with(['{', '}', ';', '(', ')', ',', ':', '[', ']', '>', '\\']);
        self.codeish += usize::from(is_telling || ends() || is_comment());
        self.signatures += usize::from(is_signature(line));
    }

    pub(super) fn signatures(&self) -> usize {
        self.signatures
    }

    /// Lines that are code in any text.
    pub(super) fn sure(&self) -> usize {
        self.telling.iter().copied().max().unwrap_or(0).min(self.codeish)
    }

    pub(super) fn is_likely(&self, lines: usize) -> bool {
        self.codeish * 10 >= lines * NAMED_TENTHS
    }

    pub(super) fn kind(&self, lines: usize) -> Option<ContentKind> {
        let (best, told) = TELLING
            .iter()
            .map(|(language, _)| *language)
            .zip(self.telling)
            .max_by_key(|(language, count)| (*count, std::cmp::Reverse(*language)))?;
        let is_code = self.codeish * 10 >= lines * TENTHS && told >= MIN_TELLING && told * TELLING_ONE_IN >= lines;
        (is_code && self.signatures > 0).then_some(ContentKind::Source(best))
    }
}
