//! What did the endpoint answer? A summary, or why there is none.

use liveset::SummaryError;
use serde::Deserialize;

/// What a model writes around its thoughts where the server does not take them out.
const THOUGHTS: (&str, &str) = ("<think>", "</think>");

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

/// Reads the body of an answer with status 200.
///
/// # Errors
///
/// It is no completion, was cut off or refused, or says nothing.
pub(crate) fn summary(body: &[u8]) -> Result<String, SummaryError> {
    let unusable = |why: &str| SummaryError::Unusable { why: why.to_owned() };
    let completion: Completion = serde_json::from_slice(body).map_err(|_| unusable("the answer is no completion"))?;
    let choice = completion.choices.into_iter().next().ok_or_else(|| unusable("the answer has no choice"))?;
    if choice.message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(SummaryError::Refused { why: "the model refused".to_owned() });
    }
    match choice.finish_reason.as_deref() {
        None | Some("stop") => {}
        Some("length") => return Err(unusable("it was cut off at its length")),
        Some("content_filter") => return Err(SummaryError::Refused { why: "a content filter".to_owned() }),
        Some(_) => return Err(unusable("it ended for another reason than that it was done")),
    }
    let text = choice.message.content.unwrap_or_default();
    let text = without_thoughts(&text).ok_or_else(|| unusable("its thoughts do not end"))?.trim();
    if text.is_empty() { Err(unusable("the answer is blank")) } else { Ok(text.to_owned()) }
}

/// Gives what follows the thoughts, also where the server swallowed the tag that opens them; `None` where they do not end.
fn without_thoughts(text: &str) -> Option<&str> {
    match text.rsplit_once(THOUGHTS.1) {
        Some((_, rest)) => Some(rest),
        None if text.trim_start().starts_with(THOUGHTS.0) => None,
        None => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str, reason: &str) -> Result<String, String> {
        let body = format!(r#"{{"id":"x","choices":[{{"index":0,"message":{message},"finish_reason":{reason}}}]}}"#);
        summary(body.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_text_is_taken() {
        assert_eq!(of(r#"{"content":" done \n"}"#, r#""stop""#).unwrap(), "done");
        assert_eq!(of(r#"{"content":"<think>hm</think>\ndone"}"#, "null").unwrap(), "done");
        assert_eq!(of(r#"{"content":"hm</think>\ndone"}"#, "null").unwrap(), "done");
    }

    #[test]
    fn anything_else_is_not() {
        for (message, reason, why) in [
            (r#"{"content":"half"}"#, r#""length""#, "not usable: it was cut off at its length"),
            (r#"{"content":"x"}"#, r#""content_filter""#, "refused: a content filter"),
            (r#"{"content":"x"}"#, r#""tool_calls""#, "not usable: it ended for another reason than that it was done"),
            (r#"{"content":null,"refusal":"no"}"#, r#""stop""#, "refused: the model refused"),
            (r#"{"content":null}"#, r#""stop""#, "not usable: the answer is blank"),
            (r#"{"content":" \n"}"#, r#""stop""#, "not usable: the answer is blank"),
            (r#"{"content":"<think>on and on"}"#, r#""stop""#, "not usable: its thoughts do not end"),
            (r#"{"content":7}"#, r#""stop""#, "not usable: the answer is no completion"),
        ] {
            assert_eq!(of(message, reason).unwrap_err(), why);
        }
        assert!(summary(b"").is_err() && summary(b"<html>").is_err() && summary(br#"{"choices":[]}"#).is_err());
    }
}
