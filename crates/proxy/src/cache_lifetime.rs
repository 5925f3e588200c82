//! How long does a vendor keep the prompt cache of a conversation that nobody asks about?
//!
//! By the longest time that its documentation names for such a body; has no clock itself.

use std::time::Duration;

use liveset::WireFormat;
use liveset_engine::transcript::Transcript;
use memchr::memmem;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// A field of a body that asks for a longer time: its name and its value, as JSON, and that time.
type Asked = (&'static [u8], &'static [u8], Duration);

const OF_ANTHROPIC: [Asked; 1] = [(br#""ttl""#, br#""1h""#, HOUR)];
const OF_OPENAI: [Asked; 2] = [
    (br#""ttl""#, br#""12h""#, HOUR.saturating_mul(12)),
    (br#""prompt_cache_retention""#, br#""24h""#, HOUR.saturating_mul(24)),
];

/// Gives the time after which nothing of a body's beginning is cached any more.
pub(crate) fn cache_lifetime(transcript: &Transcript<'_>) -> Duration {
    let (default, asked): (_, &[Asked]) = match transcript.format {
        WireFormat::Anthropic => (5 * MINUTE, &OF_ANTHROPIC),
        // Five to ten minutes as a rule, up to an hour where nobody else needs the room.
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => (HOUR, &OF_OPENAI),
    };
    let is_asked = |(name, value, _): &&Asked| places(transcript).any(|place| has(place, name, value));
    let longest = asked.iter().filter(is_asked).map(|(.., time)| *time).max();
    longest.unwrap_or(default).max(default)
}

/// Where a body may ask for it: around its messages, and in the marks on their blocks.
fn places<'b>(transcript: &Transcript<'b>) -> impl Iterator<Item = &'b [u8]> {
    let body = transcript.body;
    let first = transcript.messages.first().map_or(body.len(), |message| message.start());
    let last = transcript.messages.last().map_or(body.len(), |message| message.end());
    let around = [body.get(..first), body.get(last..)].into_iter().flatten();
    let marks: Vec<&[u8]> =
        transcript.items.iter().filter_map(|item| item.cache_mark).map(|mark| mark.of(body)).collect();
    around.chain(marks)
}

/// Whether a field of this name has this value somewhere. Within a string the quotation marks would be escaped.
fn has(body: &[u8], name: &[u8], value: &[u8]) -> bool {
    memmem::find_iter(body, name).any(|at| {
        let behind = body.get(at + name.len()..).unwrap_or_default().trim_ascii_start();
        let told = behind.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        told.is_some_and(|told| told.starts_with(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Reading;

    fn seconds(format: WireFormat, body: &str) -> u64 {
        cache_lifetime(Reading::of(format, body.as_bytes()).unwrap().transcript()).as_secs()
    }

    #[test]
    fn a_mark_for_an_hour_lasts_an_hour_wherever_it_stands() {
        let minutes = |body: &str| seconds(WireFormat::Anthropic, body) / 60;
        assert_eq!(minutes(r#"{"messages":[]}"#), 5);
        assert_eq!(minutes(r#"{"messages":[],"system":[{"cache_control":{"type":"ephemeral","ttl":"5m"}}]}"#), 5);
        assert_eq!(minutes("{\"messages\":[],\"tools\":[{\"cache_control\":{\"ttl\" :\n \"1h\"}}]}"), 60);
        let marked = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}"#;
        assert_eq!(minutes(marked), 60);
        assert_eq!(minutes(r#"{"messages":[{"role":"user","content":"{\"ttl\":\"1h\"}"}]}"#), 5, "a text");
    }

    #[test]
    fn openai_keeps_for_an_hour_unless_more_is_asked() {
        let hours = |body: &str| seconds(WireFormat::OpenaiResponses, body) / 3_600;
        assert_eq!(hours(r#"{"input":[]}"#), 1);
        assert_eq!(hours(r#"{"input":[],"prompt_cache_retention":"24h"}"#), 24);
        assert_eq!(hours(r#"{"input":"a","prompt_cache_options":{"ttl":"12h"}}"#), 12);
    }
}
