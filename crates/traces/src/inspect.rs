//! What did Inspect send? Log files of evaluations: one JSON object with samples, each a conversation.

use std::sync::Arc;

use crate::chat::{self, Call, Speaker};
use crate::chat_history::ChatHistory;
use crate::conversation::{Conversation, Frame};
use crate::error::Error;
use crate::json::{self, Object};
use crate::records::{self, LineStarts};
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;

/// Most samples of one file; each becomes a conversation of its own in every report.
const MAX_SAMPLES: usize = 100_000;

/// Says whether a file looks like a log.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice()) else { return Fit::No };
    let is_log =
        Object::read(value).is_some_and(|object| object.object("eval").is_some() && object.list("samples").is_some());
    if is_log { Fit::Strong("`eval` and `samples`") } else { Fit::No }
}

/// Reads every sample as a conversation.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let object = records::whole(&source, "a log: one JSON object")?;
    let samples = object.list("samples").unwrap_or_default();
    if samples.len() > MAX_SAMPLES {
        return Err(Error::TooManyConversations { limit: MAX_SAMPLES });
    }
    let model = object.object("eval").and_then(|eval| eval.literal("model")).map(str::to_owned);
    let starts = LineStarts::of(&source);
    let mut conversations = Vec::new();
    for (at, raw) in samples.iter().enumerate() {
        let malformed = || starts.malformed(&source, raw, "a sample: a JSON object with `messages`");
        let sample = Object::read(raw).ok_or_else(malformed)?;
        let mut history = ChatHistory::new(&source, &starts);
        for message in sample.list("messages").ok_or_else(malformed)? {
            add(&source, &mut history, message);
        }
        let agent = if samples.len() == 1 { "main".to_owned() } else { (at + 1).to_string() };
        let frame = Frame { model: model.clone(), ..Frame::default() };
        conversations.push(history.finish(&source, agent, sample.text("uuid"), frame));
    }
    match conversations.iter().all(|conversation| conversation.request_points() == 0) {
        true => Err(Error::NoConversation { expected: "messages in `samples`" }),
        false => Ok(conversations),
    }
}

fn add<'s>(source: &'s Source, history: &mut ChatHistory<'s>, raw: &'s str) {
    let Some(message) = Object::read(raw) else { return history.unreadable(raw) };
    let content = message.get("content");
    match message.text("role") {
        Some("system") => history.said(raw, Speaker::System, content),
        Some("user") => history.said(raw, Speaker::User, content),
        Some("assistant") => {
            let calls = message.list("tool_calls").unwrap_or_default().into_iter().map(|call| {
                let call = Object::read(call)?;
                Some(Call {
                    id: call.literal("id")?,
                    name: call.literal("function")?,
                    arguments: call.get("arguments").filter(|raw| raw.starts_with('{')),
                })
            });
            let content = content.filter(|content| !json::is_blank(content));
            history.reply(raw, content.map(|content| vec![chat::piece(source, content)]), calls.collect());
        }
        Some("tool") => history.result(raw, message.literal("tool_call_id"), content),
        other => history.unknown.note(other, raw),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Detection, TraceFormat, detect, trace::Trace};

    #[test]
    fn each_sample_is_a_conversation_with_its_calls() {
        let file = r#"{"eval":{"model":"openai/gpt-4o"},"samples":[{"uuid":"u","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"look","arguments":{"a":1}}]},{"role":"tool","content":"x","tool_call_id":"c","function":"look"}]}]}"#;
        assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Inspect));
        let trace = Trace::read(TraceFormat::Inspect, file.as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(trace.agent("main").unwrap().body().unwrap()).unwrap(),
            r#"{"model":"openai/gpt-4o","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}"#
        );
    }
}
