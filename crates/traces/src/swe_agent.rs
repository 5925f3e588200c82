//! What did SWE-agent and mini-swe-agent send? Trajectory files: one JSON object with the list of messages.
//!
//! `history` (SWE-agent) or `messages` (mini) is the conversation; the steps in `trajectory` repeat it. What an agent
//! did to its history for one request only (eliding old observations, cache marks) is in neither, so that bodies hold
//! the history itself.

use std::sync::Arc;

use crate::chat::{self, Speaker};
use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::history::{Message, Piece, Side};
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::pairs::{Entry, Pairs, Placing};
use crate::records::{self, LineStarts};
use crate::sample::{Fit, Layout, Sample};
use crate::source::Source;
use crate::warning::Warning;
use crate::wire::Wire;

/// Begins the name of the format in files of mini-swe-agent.
const MINI: &str = "mini-swe-agent";

/// Names that stand where a model should, when there was none.
const NO_MODELS: [&str; 4] = ["replay", "human", "human_thought", "instant_empty_submit"];

/// Roles that a file may hold and no request does.
const NEVER_SENT: [&str; 1] = ["exit"];

/// Most agents of one file. Each costs a list; real files have one or two.
const MAX_AGENTS: usize = 1_000;

/// Says whether a file looks like a trajectory.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice()) else { return Fit::No };
    match Object::read(value) {
        Some(object) if is_mini(&object) => Fit::Strong("`trajectory_format`"),
        Some(object) if object.list("history").is_some() && object.list("trajectory").is_some() => {
            Fit::Strong("`history` and `trajectory`")
        }
        _ => Fit::No,
    }
}

/// Says whether an object is a trajectory of mini-swe-agent.
pub(crate) fn is_mini(object: &Object<'_>) -> bool {
    object.text("trajectory_format").is_some_and(|name| name.starts_with(MINI)) && object.list("messages").is_some()
}

/// One message of a file.
struct Said<'a> {
    line: usize,
    object: Object<'a>,
}

/// Reads the conversation of the main agent, and those of others in the same history.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let object = records::whole(&source, "a trajectory: one JSON object")?;
    let model = model_of(&object);
    let list = if is_mini(&object) { object.list("messages") } else { object.list("history") };
    let mut conversations = Vec::new();
    for (at, (agent, said)) in by_agent(&source, list.unwrap_or_default())?.into_iter().enumerate() {
        let mut warnings = Vec::new();
        let mut unknown = Unknown::default();
        let mut pairs = Pairs::new(Placing::BehindTheirCall);
        for one in &said {
            if let Some(entry) = entry_of(&source, one, &mut unknown, &mut warnings) {
                pairs.push(entry, &mut warnings);
            }
        }
        let histories = vec![pairs.finish(&mut warnings)];
        warnings.extend(unknown.left_out());
        if histories.iter().all(|history| history.messages.is_empty()) {
            continue;
        }
        let draft = Draft {
            agent: if at == 0 { "main".to_owned() } else { agent.to_owned() },
            id: None,
            wire: Wire::OpenaiChat,
            fidelity: Fidelity::ModelVisible,
            frame: Frame { model: model.clone(), ..Frame::default() },
            histories,
            warnings,
        };
        conversations.push(Conversation::new(Arc::clone(&source), draft));
    }
    match conversations.is_empty() {
        true => Err(Error::NoConversation { expected: "messages under `history`, or under `messages`" }),
        false => Ok(conversations),
    }
}

/// Sorts messages by agent, the one that begins first.
fn by_agent<'a>(source: &Source, list: Vec<&'a str>) -> Result<Vec<(&'a str, Vec<Said<'a>>)>, Error> {
    let starts = LineStarts::of(source);
    let mut agents: Vec<(&str, Vec<Said<'_>>)> = Vec::new();
    for raw in list {
        let object = Object::read(raw).ok_or_else(|| starts.malformed(source, raw, "a message: a JSON object"))?;
        let agent = object.text("agent").unwrap_or("");
        let said = Said { line: starts.line_of(source, raw), object };
        match agents.iter_mut().find(|(name, _)| *name == agent) {
            Some((_, messages)) => messages.push(said),
            None => agents.push((agent, vec![said])),
        }
        if agents.len() > MAX_AGENTS {
            return Err(Error::TooManyConversations { limit: MAX_AGENTS });
        }
    }
    Ok(agents)
}

fn entry_of<'a>(
    source: &Source,
    said: &Said<'a>,
    unknown: &mut Unknown,
    warnings: &mut Vec<Warning>,
) -> Option<Entry<'a>> {
    let Said { line, object } = said;
    let line = *line;
    let role = object.text("role");
    let content = object.raw("content");
    let message = match role {
        Some("assistant") => return assistant(source, said, warnings),
        Some("tool") => {
            let ids = object.list("tool_call_ids").unwrap_or_default();
            let id =
                object.literal("tool_call_id").or_else(|| ids.first().copied().filter(|id| json::inside(id).is_some()));
            let Some((id, content)) = id.zip(content) else {
                warnings.push(Warning::OrphanResult { line });
                return None;
            };
            let text = chat::result(source, id, vec![chat::piece(source, content)]);
            let message = Message::whole(Side::Other, text);
            return Some(Entry { line, message, calls: Vec::new(), answers: json::inside(id) });
        }
        Some("user") => content.map(|content| Message::around(source, content, Side::Other)),
        Some("system") => {
            let text = |content| chat::text(Speaker::System, vec![chat::piece(source, content)]);
            content.map(|content| Message::whole(Side::System, text(content)))
        }
        Some(role) if NEVER_SENT.contains(&role) => return None,
        other => {
            unknown.note(other.or_else(|| object.text("type")), object.mark());
            return None;
        }
    };
    if message.is_none() {
        warnings.push(Warning::UnreadableMessage { line });
    }
    message.map(|message| Entry::text(line, message))
}

/// Writes the members of a reply that the agent sends back, as they stand.
fn assistant<'a>(source: &Source, said: &Said<'a>, warnings: &mut Vec<Warning>) -> Option<Entry<'a>> {
    let line = said.line;
    let mut calls = Vec::new();
    let mut kept = Vec::new();
    for raw in said.object.list("tool_calls").unwrap_or_default() {
        let id = Object::read(raw).and_then(|call| call.text("id"));
        calls.extend(id);
        kept.push(chat::piece(source, raw));
    }
    let content = said.object.raw("content").filter(|content| *content != "null" || !kept.is_empty());
    if content.is_none() && kept.is_empty() {
        warnings.push(Warning::UnreadableMessage { line: said.line });
        return None;
    }
    let mut text = vec![Piece::Fixed("{\"role\":\"assistant\"")];
    for (key, value) in [
        (",\"content\":", content),
        (",\"reasoning_content\":", said.object.literal("reasoning_content")),
        (",\"thinking_blocks\":", said.object.get("thinking_blocks")),
    ] {
        if let Some(value) = value {
            text.extend([Piece::Fixed(key), chat::piece(source, value)]);
        }
    }
    let close = if kept.is_empty() { "}" } else { "]}" };
    for (at, call) in kept.into_iter().enumerate() {
        text.push(Piece::Fixed(if at == 0 { ",\"tool_calls\":[" } else { "," }));
        text.push(call);
    }
    text.push(Piece::Fixed(close));
    Some(Entry { line, message: Message::whole(Side::Assistant, text), calls, answers: None })
}

/// Finds the model in the settings of the run; some files hold these as JSON in a string.
fn model_of(object: &Object<'_>) -> Option<String> {
    let config = object.object("info").and_then(|info| info.object("config"));
    let mini = config.and_then(|config| config.object("model")).and_then(|model| model.literal("model_name"));
    if mini.is_some() {
        return mini.map(str::to_owned);
    }
    let settings = object.get("replay_config")?;
    let inner: Option<String> = serde_json::from_str(settings).ok();
    let settings = Object::read(inner.as_deref().unwrap_or(settings))?;
    let name = settings.object("agent")?.object("model")?.literal("name")?;
    let is_model = json::inside(name).is_some_and(|name| !NO_MODELS.contains(&name));
    is_model.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
