//! How does a path stand in a line of text? A file name may hold anything, also what breaks the line or moves a cursor.
//!
//! Never touches the file system.

use std::path::Path;

/// Writes a path for people, in one line: control characters and other ends of lines stand as their escapes.
///
/// ```
/// use liveset_archive::shown;
/// assert_eq!(shown("a/b c.json"), "a/b c.json");
/// assert_eq!(shown("a\nb\u{1b}[2J"), r"a\nb\u{1b}[2J");
/// ```
#[must_use]
pub fn shown(path: impl AsRef<Path>) -> String {
    one_line(&path.as_ref().to_string_lossy())
}

/// The same for any text, such as a message that has a path in it.
///
/// ```
/// use liveset_archive::one_line;
/// assert_eq!(one_line("cannot read `a\r`"), r"cannot read `a\r`");
/// ```
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        // U+2028 and U+2029 end a line for some readers and are no control characters.
        match c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}
