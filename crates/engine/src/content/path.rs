//! What does a file's name promise of its content?

use super::{ContentKind, Language};

/// Endings of names, with what they promise.
const ENDINGS: [(&[&str], ContentKind); 14] = [
    (&["rs"], ContentKind::Source(Language::Rust)),
    (&["py", "pyi"], ContentKind::Source(Language::Python)),
    (&["js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte"], ContentKind::Source(Language::JavaScript)),
    (&["go"], ContentKind::Source(Language::Go)),
    (&["java", "kt", "kts", "cs", "scala", "groovy", "swift", "dart"], ContentKind::Source(Language::Java)),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm"], ContentKind::Source(Language::C)),
    (&["rb", "rake", "ex", "exs", "lua", "jl"], ContentKind::Source(Language::Ruby)),
    (&["sh", "bash", "zsh", "fish", "ps1"], ContentKind::Source(Language::Shell)),
    (&["sql"], ContentKind::Source(Language::Sql)),
    (&["php", "pl", "hs", "ml", "clj", "el", "css", "scss", "zig"], ContentKind::Source(Language::Other)),
    (&["md", "mdx", "markdown", "rst"], ContentKind::Markdown),
    (&["csv", "tsv"], ContentKind::Delimited),
    (&["html", "htm", "xml", "svg", "xhtml"], ContentKind::Markup),
    (&["log"], ContentKind::Log),
];

/// Gives the kind of content that the ending of a path promises.
///
/// ```
/// use liveset_engine::content::{ContentKind, Language, named_kind};
/// assert_eq!(named_kind("src/main.rs"), Some(ContentKind::Source(Language::Rust)));
/// assert_eq!(named_kind("notes"), None);
/// ```
#[must_use]
pub fn named_kind(path: &str) -> Option<ContentKind> {
    let (_, ending) = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    ENDINGS.iter().find(|(endings, _)| endings.contains(&ending.as_str())).map(|(_, kind)| *kind)
}
