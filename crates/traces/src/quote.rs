//! How does JSON stand inside a JSON string? Call arguments are objects in many traces and strings on the wire.
//!
//! Changes nothing but the white space between tokens, as the client's own writer would.

/// How a client's JSON writer spaces its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// No space at all: what JavaScript writes.
    None,
    /// One space behind commas and colons: what Python writes.
    AfterPunctuation,
}

/// Appends a JSON value as the inside of a string literal.
pub(crate) fn push(out: &mut String, json: &str, spacing: Spacing) {
    let mut in_string = false;
    let mut is_escaped = false;
    for character in json.chars() {
        match character {
            ' ' | '\t' | '\n' | '\r' if !in_string => continue,
            '"' => {
                out.push_str("\\\"");
                in_string ^= !is_escaped;
            }
            '\\' => out.push_str("\\\\"),
            other => out.push(other),
        }
        is_escaped = in_string && character == '\\' && !is_escaped;
        if !in_string && matches!(character, ',' | ':') && spacing == Spacing::AfterPunctuation {
            out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(json: &str, spacing: Spacing) -> String {
        let mut out = String::new();
        push(&mut out, json, spacing);
        out
    }

    #[test]
    fn the_value_is_the_same_and_only_space_between_tokens_goes() {
        let json = "{ \"a\\\"b\" : [1e2,\n \"x, y: \\\\\" , \"\\ud800 \\u00e9\"] }";
        assert_eq!(quoted(json, Spacing::None), r#"{\"a\\\"b\":[1e2,\"x, y: \\\\\",\"\\ud800 \\u00e9\"]}"#);
        let spaced = quoted(json, Spacing::AfterPunctuation);
        assert_eq!(spaced, r#"{\"a\\\"b\": [1e2, \"x, y: \\\\\", \"\\ud800 \\u00e9\"]}"#);
        let inner: String = serde_json::from_str(&format!("\"{spaced}\"")).unwrap();
        assert!(inner.contains(r#""x, y: \\""#), "{inner}");
    }
}
