//! What did InterCode send? Result files: one JSON object with a task for each key, each with its actions and what was
//! observed.
//!
//! The file holds no ids and no system text: it cannot carry calls, so actions stand as the agent's text, observations as
//! the user's, and that is said.

use std::sync::Arc;

use crate::chat::{self, Speaker};
use crate::chat_history::ChatHistory;
use crate::conversation::{Conversation, Frame};
use crate::error::Error;
use crate::json::{self, Object};
use crate::records::{self, LineStarts};
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;
use crate::warning::Warning;

/// Most tasks of one file; each becomes a conversation of its own in every report.
const MAX_TASKS: usize = 100_000;

/// Says whether a file looks like results.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice()) else { return Fit::No };
    let tasks = Object::read(value).map(|object| object.values()).unwrap_or_default();
    let is_task = |raw: &&str| Object::read(raw).is_some_and(|task| task.object("turn_history").is_some());
    if tasks.first().is_some_and(is_task) { Fit::Strong("tasks with `turn_history`") } else { Fit::No }
}

/// Reads every task as a conversation.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let tasks = records::whole(&source, "results: one JSON object")?.values();
    if tasks.len() > MAX_TASKS {
        return Err(Error::TooManyConversations { limit: MAX_TASKS });
    }
    let starts = LineStarts::of(&source);
    let mut conversations = Vec::new();
    for (at, raw) in tasks.into_iter().enumerate() {
        let malformed = || starts.malformed(&source, raw, "a task: a JSON object with `turn_history`");
        let task = Object::read(raw).ok_or_else(malformed)?;
        let turns = task.object("turn_history").ok_or_else(malformed)?;
        let mut history = ChatHistory::new(&source, &starts);
        history.said(raw, Speaker::User, task.literal("query"));
        let actions = turns.list("actions").unwrap_or_default();
        let observations = turns.list("observations").unwrap_or_default();
        for (turn, action) in actions.iter().enumerate() {
            let said = json::inside(action).map(|_| vec![chat::piece(&source, action)]);
            history.reply(action, said, Vec::new());
            if let Some(observation) = observations.get(turn) {
                history.said(observation, Speaker::User, Some(*observation).filter(|raw| json::inside(raw).is_some()));
            }
        }
        history.warnings.push(Warning::CallsAsText { calls: actions.len() });
        conversations.push(history.finish(&source, (at + 1).to_string(), None, Frame::default()));
    }
    match conversations.iter().all(|conversation| conversation.request_points() == 0) {
        true => Err(Error::NoConversation { expected: "tasks with `turn_history`" }),
        false => Ok(conversations),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Detection, TraceFormat, Warning, detect, trace::Trace};

    #[test]
    fn actions_and_observations_take_turns_as_text() {
        let file = r#"{"7":{"query":"find it","turn_history":{"actions":["ls","cat a"],"observations":["a","x"]}}}"#;
        assert_eq!(detect(file.as_bytes()), Detection::Trace(TraceFormat::Intercode));
        let trace = Trace::read(TraceFormat::Intercode, file.as_bytes()).unwrap();
        let first = &trace.conversations()[0];
        assert_eq!(first.warnings(), [Warning::CallsAsText { calls: 2 }]);
        assert_eq!(
            String::from_utf8(first.body().unwrap()).unwrap(),
            r#"{"messages":[{"role":"user","content":"find it"},{"role":"assistant","content":"ls"},{"role":"user","content":"a"},{"role":"assistant","content":"cat a"},{"role":"user","content":"x"}]}"#
        );
    }
}
