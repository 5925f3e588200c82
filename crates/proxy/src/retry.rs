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
/// Counters differ by no more than this: a figure that is further from our count is no size of the request.
const MAX_FACTOR: u64 = 2;

/// Codes and types by which vendors and servers name the case.
const NAMES: [&str; 3] = ["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"];
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
    Details(Details),
    Words(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<serde_json::Value>,
    message: Option<String>,
    n_prompt_tokens: Option<u64>,
    n_ctx: Option<u64>,
}

/// An upstream's word that a request is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// Figures that may be sizes of the request or of the window, as the upstream counts, smallest first.
    sizes: Vec<u64>,
}

/// Says whether an answer of this status may say so.
pub(crate) fn may_be(status: StatusCode) -> bool {
    status == StatusCode::BAD_REQUEST || status == StatusCode::PAYLOAD_TOO_LARGE
}

impl TooLong {
    /// Reads an answer's body; `None` where it says something else.
    pub(crate) fn of(body: &[u8]) -> Option<Self> {
        let answer: Answer = serde_json::from_slice(body).ok()?;
        let details = match answer.error {
            Some(Fault::Details(details)) => details,
            Some(Fault::Words(words)) => Details { message: Some(words), ..Details::default() },
            None => Details { message: Some(answer.message?), ..Details::default() },
        };
        let code = details.code.as_ref().and_then(serde_json::Value::as_str);
        let is_named = [details.kind.as_deref(), code].into_iter().flatten().any(|name| NAMES.contains(&name));
        let message = details.message.unwrap_or_default().to_lowercase();
        if !is_named && !WORDS.iter().any(|words| message.contains(words)) {
            return None;
        }
        let named = details.n_prompt_tokens.zip(details.n_ctx).map(|(asked, most)| vec![most, asked]);
        Some(Self { sizes: named.unwrap_or_else(|| sizes(&message)) })
    }

    /// Finds the window by which a body of `tokens`, as we count, would have fitted: never less than half of what was sent,
    /// whatever an answer says.
    pub(crate) fn window(&self, tokens: u64, window: u64) -> u64 {
        let told = match self.figures(tokens) {
            Some((asked, most)) => {
                // What the upstream counts as `asked` are `tokens` to us.
                let ours = u128::from(tokens) * u128::from(most) / u128::from(asked.max(1));
                let ours = u64::try_from(ours).unwrap_or(u64::MAX);
                ours.saturating_sub(ours / MARGIN)
            }
            None => (tokens.min(window) / BLIND_SHARE.1).saturating_mul(BLIND_SHARE.0),
        };
        told.min(window).max(tokens.div_ceil(MAX_FACTOR)).max(1)
    }

    /// The largest figure that can be the request's size, and below it the most that there may be.
    fn figures(&self, tokens: u64) -> Option<(u64, u64)> {
        let can_be_asked = |size: &u64| *size / MAX_FACTOR <= tokens && tokens / MAX_FACTOR <= *size;
        let at = self.sizes.iter().rposition(can_be_asked)?;
        let (below, asked) = (self.sizes.get(..at)?, *self.sizes.get(at)?);
        // Vendors also tell parts of what was asked, so the limit is the round one; else the next below.
        let round = below.iter().rev().find(|size| size.is_multiple_of(1_000) || size.is_power_of_two());
        Some((asked, *round.or_else(|| below.last())?))
    }
}

/// The figures of a message that stand alone; those inside names and dates of models do not.
fn sizes(message: &str) -> Vec<u64> {
    let plain: String = message.chars().filter(|c| *c != ',' && *c != '_').collect();
    let words = plain.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'));
    let numbers = words.filter_map(|word| word.trim_end_matches('.').parse::<u64>().ok());
    let mut sizes: Vec<u64> = numbers.filter(|number| *number >= MIN_FIGURE).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, tokens: u64, figures: Option<(u64, u64)>) {
        let told = TooLong::of(body.as_bytes()).unwrap();
        assert_eq!(told.figures(tokens), figures, "{body}");
    }

    #[test]
    fn vendors_and_servers_are_understood() {
        check(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > 200000 maximum"}}"#,
            190_000,
            Some((212_345, 200_000)),
        );
        check(
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130,112 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            120_000,
            Some((130_112, 128_000)),
        );
        check(
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}"#,
            9_500,
            Some((9_001, 8_192)),
        );
        check(r#"{"error":"input exceeds the context window"}"#, 9_000, None);
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
    fn names_and_dates_of_models_are_no_sizes() {
        let body = r#"{"error":{"message":"claude-sonnet-4-5-20250929 of 20250929: prompt is too long: 212345 tokens > 200000 maximum"}}"#;
        check(body, 180_000, Some((212_345, 200_000)));
        check(r#"{"error":{"message":"prompt is too long: limit 8192, error 20250929"}}"#, 180_000, None);
    }

    #[test]
    fn a_field_that_is_too_long_is_no_prompt_that_is_too_long() {
        let body = r#"{"error":{"message":"Invalid 'user': string too long. Expected a string with maximum length 64, but got 900 instead.","code":"string_above_max_length"}}"#;
        assert_eq!(TooLong::of(body.as_bytes()), None);
    }

    #[test]
    fn the_window_shrinks_by_what_was_told_and_a_margin_and_never_below_half() {
        let of = |sizes: &[u64]| TooLong { sizes: sizes.to_vec() };
        assert_eq!(of(&[200_000, 220_000]).window(190_000, 200_000), 169_273);
        assert_eq!(of(&[]).window(100_000, 200_000), 75_000);
        assert_eq!(of(&[1_000, 150_000]).window(180_000, 200_000), 90_000);
        assert_eq!(of(&[200_000, 20_250_929]).window(180_000, 200_000), 135_000, "no pair, so nothing is known");
    }
}
