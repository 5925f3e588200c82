//! What does a line say without what tools put around it? Numbers of lines before it, colours in it.
//!
//! Gives parts of the line as it stands and never another text.

use std::borrow::Cow;

/// Leaves out a line's number, which editors and readers put before it: `  12\t`, `12: `, `12|`.
///
/// ```
/// use liveset_engine::content::line::without_number;
/// assert_eq!(without_number("   12\tfn a() {"), "fn a() {");
/// assert_eq!(without_number("10:04 it rained"), "10:04 it rained");
/// ```
#[must_use]
pub fn without_number(line: &str) -> &str {
    let numbered = line.trim_start();
    if !numbered.starts_with(|c: char| c.is_ascii_digit()) {
        return line;
    }
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = ["\t", "→", ": ", "|", ":"].iter().find_map(|mark| rest.strip_prefix(mark));
    match rest {
        // `10:04` is a time.
        Some(rest) if !rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        Some(_) | None => line,
    }
}

/// Leaves out colours: control sequences that end in `m`.
///
/// ```
/// use liveset_engine::content::line::without_colour;
/// assert_eq!(without_colour("\u{1b}[31merror\u{1b}[0m: no"), "error: no");
/// ```
#[must_use]
pub fn without_colour(line: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\x1b', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut pieces = line.split('\x1b');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let code = piece.strip_prefix('[').and_then(|code| {
            let end = code.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
            code.get(end..)?.strip_prefix('m')
        });
        match code {
            Some(rest) => out.push_str(rest),
            None => {
                out.push('\x1b');
                out.push_str(piece);
            }
        }
    }
    Cow::Owned(out)
}

/// Gives at most `bytes` from the beginning, on a character's border.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// Gives at most `bytes` from the end, on a character's border.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..=text.len()).find(|&at| text.is_char_boundary(at));
    text.get(start.unwrap_or(text.len())..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_reader_put_before_lines_are_no_part_of_them() {
        let lines = ["   12\tfn a() {", "12: fn a() {", "12|fn a() {", "  7→fn a() {", "fn a() {"];
        assert!(lines.iter().all(|line| without_number(line) == "fn a() {"));
        assert_eq!(without_number("2024 was long"), "2024 was long");
    }

    #[test]
    fn only_colours_go() {
        assert_eq!(without_colour("\x1b[1;32mok\x1b[0m"), "ok");
        assert_eq!(without_colour("\x1b[2Kgone"), "\x1b[2Kgone");
        assert_eq!(without_colour("\x1b"), "\x1b");
    }
}
