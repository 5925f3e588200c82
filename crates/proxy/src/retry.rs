//! Did the upstream say "too long", and how small must the window be? Matched on status, type and figures, not sentences.
//!
//! Sends nothing itself.

use hyper::StatusCode;
use serde::Deserialize;

/// The largest answer that is looked at: an error is a few lines.
pub(crate) const MAX_ERROR_BYTES: usize = 64 << 10;
/// What is left of the window where the upstream names no figures.
const BLIND_SHARE: (u64, u64) = (3, 4);
/// What is kept free of a window that was told, since our counter is not the upstream's: one part in this many.
const MARGIN: u64 = 50;
/// Figures below this are no sizes of a window.
const MIN_FIGURE: u64 = 256;

/// Codes and types by which vendors and servers name the case.
const NAMES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "string_above_max_length",
];
/// Words of messages where type and code say no more than "bad request".
const WORDS: [&str; 5] =
    ["prompt is too long", "context length", "context window", "context size", "maximum prompt length"];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    error: Option<Fault>,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Fault {
    Told(Told),
    Words(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<serde_json::Value>,
    message: Option<String>,
    n_prompt_tokens: Option<u64>,
    n_ctx: Option<u64>,
}

/// An upstream's word that a request is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// Tokens of the request, and the most that there may be, as the upstream counts.
    figures: Option<(u64, u64)>,
}

/// Says whether an answer of this status may say so.
pub(crate) fn may_be(status: StatusCode) -> bool {
    status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE
}

impl TooLong {
    /// Reads an answer's body; `None` where it says something else.
    pub(crate) fn of(body: &[u8]) -> Option<Self> {
        let answer: Answer = serde_json::from_slice(body).ok()?;
        let told = match answer.error {
            Some(Fault::Told(told)) => told,
            Some(Fault::Words(words)) => Told { message: Some(words), ..Told::default() },
            None => Told { message: Some(answer.message?), ..Told::default() },
        };
        let code = told.code.as_ref().and_then(serde_json::Value::as_str);
        let is_named = [told.kind.as_deref(), code].into_iter().flatten().any(|name| NAMES.contains(&name));
        let message = told.message.unwrap_or_default().to_lowercase();
        if !is_named && !WORDS.iter().any(|words| message.contains(words)) {
            return None;
        }
        Some(Self { figures: told.n_prompt_tokens.zip(told.n_ctx).or_else(|| figures(&message)) })
    }

    /// Finds the window by which a body of `tokens`, as we count, would have fitted.
    pub(crate) fn window(self, tokens: u64, window: u64) -> u64 {
        let held = tokens.min(window).max(1);
        match self.figures {
            Some((asked, most)) => {
                // What the upstream counts as `asked` are `tokens` to us.
                let ours = u128::from(held) * u128::from(most) / u128::from(asked.max(1));
                let ours = u64::try_from(ours).unwrap_or(u64::MAX).min(held);
                ours.saturating_sub(ours / MARGIN).max(1)
            }
            None => (held / BLIND_SHARE.1).saturating_mul(BLIND_SHARE.0).max(1),
        }
    }
}

/// The largest figure of a message is what was asked, the one below it what there may be.
fn figures(message: &str) -> Option<(u64, u64)> {
    let plain: String = message.chars().filter(|c| *c != ',' && *c != '_').collect();
    let numbers = plain.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    let mut sizes: Vec<u64> = numbers.filter(|number| *number >= MIN_FIGURE).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let asked = sizes.pop()?;
    // Vendors also tell parts of what was asked, so the limit is the round one; else the next below.
    let most = sizes.iter().rev().copied().find(|size| size.is_multiple_of(1_000) || size.is_power_of_two());
    Some((asked, most.or_else(|| sizes.pop())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, figures: Option<(u64, u64)>) {
        assert_eq!(TooLong::of(body.as_bytes()), Some(TooLong { figures }), "{body}");
    }

    #[test]
    fn vendors_and_servers_are_understood() {
        check(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > 200000 maximum"}}"#,
            Some((212_345, 200_000)),
        );
        check(
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130,112 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            Some((130_112, 128_000)),
        );
        check(
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}"#,
            Some((9_001, 8_192)),
        );
        check(r#"{"error":"input exceeds the context window"}"#, None);
    }

    #[test]
    fn other_errors_are_other_errors() {
        for body in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: user text must be non-empty"}}"#,
            r#"{"error":{"message":"Invalid key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            "<html>",
            "",
        ] {
            assert_eq!(TooLong::of(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn the_window_shrinks_by_what_was_told_and_a_margin() {
        let told = TooLong { figures: Some((220_000, 200_000)) };
        assert_eq!(told.window(190_000, 200_000), 169_273);
        assert_eq!(TooLong { figures: None }.window(100_000, 200_000), 75_000);
    }
}
