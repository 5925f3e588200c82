//! What did OpenHands send? Output files of its benchmarks and of its resolver: a run per line, with its events.
//!
//! Newer events hold the model's own reply, with the ids of its calls. Older ones are pairs of an action and what was
//! observed, without ids: these cannot carry calls, so actions and observations stand as text, and that is said.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::chat::{self, Call, Speaker};
use crate::chat_history::ChatHistory;
use crate::conversation::{Conversation, Frame};
use crate::error::Error;
use crate::json::{self, Object};
use crate::records::{self, LineStarts};
use crate::sample::{Fit, Sample};
use crate::source::Source;
use crate::warning::Warning;

/// Most runs of one file; each becomes a conversation of its own in every report.
const MAX_RUNS: usize = 100_000;

/// Where older actions keep what they do.
const DONE: [&str; 3] = ["command", "code", "content"];

/// Says whether a file looks like output.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let is_run = |raw: &&str| {
        Object::read(raw).is_some_and(|object| {
            let events = object.list("history").unwrap_or_default();
            let is_event = |event: &&str| {
                Object::read(event).is_some_and(|event| event.text("action").or(event.text("observation")).is_some())
            };
            object.get("instruction").is_some() && events.first().is_some_and(is_event)
        })
    };
    if sample.values.iter().any(is_run) { Fit::Strong("`instruction` and a `history` of actions") } else { Fit::No }
}

/// Reads every run as a conversation.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let (runs, warnings) = records::lines(&source)?;
    if runs.len() > MAX_RUNS {
        return Err(Error::TooManyConversations { limit: MAX_RUNS });
    }
    let starts = LineStarts::of(&source);
    let mut conversations = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let malformed = || starts.malformed(&source, run.raw, "a run: a JSON object with `history`");
        let events = run.object.list("history").ok_or_else(malformed)?;
        let mut reader = Reader::new(&source, &starts);
        events.into_iter().for_each(|event| reader.event(event));
        let agent = if runs.len() == 1 { "main".to_owned() } else { (at + 1).to_string() };
        let model = run.object.object("metadata").and_then(|metadata| metadata.object("llm_config"));
        let model = model.and_then(|config| config.literal("model")).map(str::to_owned);
        let frame = Frame { model, tools: reader.tools.map(|tools| source.range_of(tools)), ..Frame::default() };
        let mut history = reader.history;
        history.warnings.extend(warnings.iter().cloned());
        if reader.actions > 0 {
            history.warnings.push(Warning::CallsAsText { calls: reader.actions });
        }
        if reader.left_out > 0 {
            history.warnings.push(Warning::AttachmentsLeftOut { lines: reader.left_out });
        }
        conversations.push(history.finish(&source, agent, run.object.text("instance_id"), frame));
    }
    match conversations.iter().all(|conversation| conversation.request_points() == 0) {
        true => Err(Error::NoConversation { expected: "events in `history`" }),
        false => Ok(conversations),
    }
}

/// One run on its way.
struct Reader<'s> {
    source: &'s Source,
    history: ChatHistory<'s>,
    /// The tools that the system text came with.
    tools: Option<&'s str>,
    /// Replies that were written: parallel calls hold theirs each.
    replies: BTreeSet<&'s str>,
    /// Actions that stand as text.
    actions: usize,
    /// Events that reached the model in words that the trace lacks.
    left_out: usize,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source, starts: &'s LineStarts) -> Self {
        let history = ChatHistory::new(source, starts);
        Self { source, history, tools: None, replies: BTreeSet::new(), actions: 0, left_out: 0 }
    }

    fn event(&mut self, raw: &'s str) {
        let Some(event) = Object::read(raw) else { return self.history.unreadable(raw) };
        match (event.text("source"), event.text("action"), event.text("observation")) {
            (Some(_), Some("system"), _) => {
                let args = event.object("args");
                self.tools = args.as_ref().and_then(|args| args.get("tools"));
                self.history.said(raw, Speaker::System, args.and_then(|args| args.literal("content")));
            }
            // What is recalled is written into the prompt by a template that the trace lacks.
            (Some(_), Some("recall"), _) => {}
            (Some(_), _, Some("recall")) => self.left_out += 1,
            (Some("user"), Some("message"), _) => {
                self.history.said(raw, Speaker::User, event.object("args").and_then(|args| args.literal("content")));
            }
            (Some(_), Some(_), _) => self.action(raw, &event),
            (Some(_), None, Some(_)) => {
                let id = event.object("tool_call_metadata").and_then(|metadata| metadata.literal("tool_call_id"));
                match id {
                    Some(id) => self.history.result(raw, Some(id), event.literal("content")),
                    None => self.history.said(raw, Speaker::User, event.literal("content")),
                }
            }
            (None, Some("message"), _) => self.history.said(raw, Speaker::User, event.literal("content")),
            (None, Some(_), _) => self.older_action(raw, &event),
            (None, None, Some(_)) => self.history.said(raw, Speaker::User, event.literal("content")),
            (_, None, None) => self.history.unknown.note(None, raw),
        }
    }

    fn action(&mut self, raw: &'s str, event: &Object<'s>) {
        let response = event.object("tool_call_metadata").and_then(|metadata| metadata.object("model_response"));
        let Some(response) = response else {
            let content = event.object("args").and_then(|args| args.literal("content").or(args.literal("thought")));
            return self.history.reply(raw, content.map(|text| vec![chat::piece(self.source, text)]), Vec::new());
        };
        if response.text("id").is_some_and(|id| !self.replies.insert(id)) {
            return;
        }
        let choice = response.list("choices").and_then(|choices| choices.first().copied()).and_then(Object::read);
        let Some(message) = choice.and_then(|choice| choice.object("message")) else {
            return self.history.unreadable(raw);
        };
        let calls = message.list("tool_calls").unwrap_or_default().into_iter().map(|call| {
            let call = Object::read(call)?;
            let function = call.object("function")?;
            Some(Call {
                id: call.literal("id")?,
                name: function.literal("name")?,
                arguments: function.get("arguments"),
            })
        });
        let content = message.literal("content").filter(|text| !json::is_blank(text));
        self.history.reply(raw, content.map(|text| vec![chat::piece(self.source, text)]), calls.collect());
    }

    fn older_action(&mut self, raw: &'s str, event: &Object<'s>) {
        let thought = event.literal("thought").filter(|text| !json::is_blank(text));
        let done = DONE.iter().find_map(|key| event.literal(key)).filter(|text| !json::is_blank(text));
        let parts: Vec<&str> = thought.into_iter().chain(done).collect();
        self.actions += usize::from(done.is_some());
        let content = (!parts.is_empty()).then(|| chat::joined(self.source, &parts, "\\n\\n"));
        if content.is_some() {
            self.history.reply(raw, content, Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Detection, TraceFormat, Warning, detect, trace::Trace};

    const NEWER: &str = r#"{"instance_id":"i-1","instruction":"x","metadata":{"llm_config":{"model":"m"}},"history":[{"source":"agent","action":"system","args":{"content":"s","tools":[]}},{"source":"user","action":"message","args":{"content":"go"}},{"source":"agent","action":"run","tool_call_metadata":{"tool_call_id":"a","model_response":{"id":"r","choices":[{"message":{"content":"I look.","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"run","arguments":"{}"}}]}}]}},"args":{}},{"source":"agent","observation":"run","tool_call_metadata":{"tool_call_id":"a"},"content":"ok"},{"source":"agent","observation":"error","content":"no"}]}"#;

    #[test]
    fn newer_events_hold_the_reply_and_its_calls() {
        assert_eq!(detect(NEWER.as_bytes()), Detection::Trace(TraceFormat::Openhands));
        let trace = Trace::read(TraceFormat::Openhands, NEWER.as_bytes()).unwrap();
        let main = trace.agent("main").unwrap();
        assert_eq!((main.id(), main.model()), (Some("i-1"), Some("m")));
        assert_eq!(
            String::from_utf8(main.body().unwrap()).unwrap(),
            r#"{"model":"m","tools":[],"messages":[{"role":"system","content":"s"},{"role":"user","content":"go"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"run","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"},{"role":"user","content":"no"}]}"#
        );
    }

    #[test]
    fn older_pairs_have_no_ids_and_stand_as_text() {
        let file = r#"{"instruction":"x","history":[{"action":"message","content":"go"},{"action":"run","thought":"I look.","command":"ls"},{"observation":"run","content":"a.py"}]}"#;
        let trace = Trace::read(TraceFormat::Openhands, file.as_bytes()).unwrap();
        let main = trace.agent("main").unwrap();
        assert_eq!(main.warnings(), [Warning::CallsAsText { calls: 1 }]);
        assert_eq!(
            String::from_utf8(main.body().unwrap()).unwrap(),
            r#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"I look.\n\nls"},{"role":"user","content":"a.py"}]}"#
        );
    }
}
