//! What names one call in a line of its own? A path, a query, the first words of a command.
//!
//! Never shows what may be secret, and never breaks the line it stands on.

/// Characters of a call's label, the tool's name not counted: enough for a path, too few for a pasted text.
const MAX_LABEL_CHARS: usize = 80;
/// Words of a shell command in a label.
const MAX_LABEL_WORDS: usize = 8;

/// Says whether a text could name a call when the table names no argument for it.
pub(super) fn is_short(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_LABEL_CHARS * 2 && !text.contains('\n')
}

/// Makes one short line of a call's own words; addresses lose what may be secret.
pub(super) fn label(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut out = String::new();
    for word in line.split_whitespace().take(MAX_LABEL_WORDS) {
        if may_be_secret(word) {
            break;
        }
        let word = plain_address(word);
        if out.chars().count() + word.chars().count() >= MAX_LABEL_CHARS {
            if out.is_empty() {
                out = tail(&word);
            }
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    one_line(&out)
}

/// The end of a long word tells more than its beginning: paths differ there.
fn tail(word: &str) -> String {
    let skip = word.chars().count().saturating_sub(MAX_LABEL_CHARS - 1);
    format!("…{}", word.chars().skip(skip).collect::<String>())
}

fn may_be_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let named = ["token", "secret", "password", "passwd", "apikey", "api_key", "authorization", "bearer", "credential"];
    named.iter().any(|name| lower.contains(name)) || lower == "-h" || lower == "--header" || lower == "-u"
}

/// Drops user info, query and fragment of an address.
fn plain_address(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A tombstone's label stays on its line and cannot end it.
pub(super) fn one_line(text: &str) -> String {
    let clean = |c: char| if c.is_control() || matches!(c, '[' | ']' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    text.chars().map(clean).take(2 * MAX_LABEL_CHARS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_lose_what_may_be_secret() {
        assert_eq!(label("https://me:pw@host/a/b?key=1#x"), "https://host/a/b");
        assert_eq!(label("curl -H \"Authorization: Bearer abc\" x"), "curl");
        assert_eq!(label("cargo test -p engine\nsecond line"), "cargo test -p engine");
        assert_eq!(label("a]b\u{7}"), "a b");
    }
}
