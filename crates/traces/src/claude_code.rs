//! What did Claude Code send? Session files: one JSON object per line, a tree by `uuid` and `parentUuid`.
//!
//! What the model saw is `message.content`; the structured copy in `toolUseResult` never reaches a body. Lines that the
//! client wrote in the user's name (`isMeta`) are hidden from the person and sent to the model: they are user text.

mod branch;
mod build;
mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::conversation::{Conversation, Draft, Frame};
use crate::error::Error;
use crate::fidelity::Fidelity;
use crate::json::{self, Object};
use crate::kinds::Unknown;
use crate::sample::{Fit, Sample};
use crate::source::{Source, Tail};
use crate::warning::Warning;
use crate::wire::Wire;
use line::Line;

/// Most conversations read from one file, the main one included. Each costs a list; real sessions have tens.
const MAX_AGENTS: usize = 10_000;

/// Lines of a session that are no message: notes of the client on files, queues, titles, settings and the like.
const NEVER_SENT: [&str; 24] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "result",
    "saved_hook_context",
    "speculation-accept",
    "started",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
];

/// Lines that take part in the conversation or in the tree.
const IN_THE_TREE: [&str; 4] = ["user", "assistant", "system", "attachment"];

/// Says whether a file looks like a session.
pub(crate) fn fit(sample: &Sample<'_>) -> Fit {
    let is_message = |raw: &&str| {
        Object::read(raw).is_some_and(|object| {
            let kind = object.text("type");
            matches!(kind, Some("user" | "assistant"))
                && object.get("uuid").is_some()
                && object.object("message").is_some()
        })
    };
    match sample.values.iter().any(is_message) {
        true => Fit::Strong("lines with `uuid` and `message`"),
        false => Fit::No,
    }
}

/// Reads the main conversation and the side chains of a session.
pub(crate) fn read(source: Source) -> Result<Vec<Conversation>, Error> {
    let source = Arc::new(source);
    let (lines, warnings) = lines_of(&source)?;
    let mut conversations = Vec::new();
    for (agent, lines) in by_agent(lines)? {
        let mut warnings = warnings.clone();
        let kept = branch::newest(&lines, &mut warnings);
        let histories = build::histories(&source, &kept, &mut warnings)?;
        if histories.iter().all(|history| history.messages.is_empty()) {
            continue;
        }
        let draft = Draft {
            agent,
            id: None,
            wire: Wire::Anthropic,
            fidelity: Fidelity::ModelVisible,
            frame: Frame::default(),
            histories,
            warnings,
        };
        conversations.push(Conversation::new(Arc::clone(&source), draft));
    }
    match conversations.is_empty() {
        true => Err(Error::NoConversation { expected: "lines of type `user` or `assistant` with a `message`" }),
        false => Ok(conversations),
    }
}

fn lines_of(source: &Source) -> Result<(Vec<Line<'_>>, Vec<Warning>), Error> {
    let mut lines = Vec::new();
    let mut warnings = Vec::new();
    // A resumed session may begin with a copy of the lines of the one it goes on from.
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut unknown = Unknown::default();
    for line in source.lines() {
        match json::value(line.text).and_then(Object::read) {
            Some(object) => {
                let kind = object.text("type");
                if !kind.is_some_and(|kind| IN_THE_TREE.contains(&kind) || NEVER_SENT.contains(&kind)) {
                    unknown.note(kind, line.text);
                }
                let found = std::iter::once(Line::of(line.number, &object)).chain(Line::relayed(line.number, &object));
                lines.extend(found.filter(|line| line.uuid.is_none_or(|uuid| seen.insert(uuid))));
            }
            // A session that is still written to ends in the middle of a line.
            None if line.unfinished => warnings.push(Warning::CutOffLine { line: line.number }),
            None => {
                return Err(Error::Malformed { line: line.number, byte: line.byte, expected: "a JSON object" });
            }
        }
    }
    if let Tail::Cut(line) = source.tail() {
        warnings.push(Warning::CutOffLine { line });
    }
    warnings.extend(unknown.left_out());
    Ok((lines, warnings))
}

/// Sorts lines by agent, the main one first, side chains as they begin.
fn by_agent(lines: Vec<Line<'_>>) -> Result<Vec<(String, Vec<Line<'_>>)>, Error> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut agents: Vec<(String, Vec<Line<'_>>)> = vec![("main".to_owned(), Vec::new())];
    let mut roots: BTreeMap<&str, String> = BTreeMap::new();
    for mut line in lines {
        let agent = if line.is_side { side_agent(&line, &mut roots) } else { "main".to_owned() };
        let at = match agent.as_str() {
            "main" => 0,
            _ => *places.entry(agent.clone()).or_insert_with(|| {
                agents.push((agent, Vec::new()));
                agents.len() - 1
            }),
        };
        if let Some((_, lines)) = agents.get_mut(at) {
            // Lines carried by progress lines name no parent: each follows the one before.
            if line.is_side && line.agent.is_some() {
                line.parent = line.parent.or_else(|| lines.last().and_then(|before: &Line<'_>| before.uuid));
            }
            lines.push(line);
        }
        if agents.len() > MAX_AGENTS {
            return Err(Error::TooManyConversations { limit: MAX_AGENTS });
        }
    }
    Ok(agents)
}

/// Names a side chain by its agent, or, in older files, by the line it starts from.
fn side_agent<'a>(line: &Line<'a>, roots: &mut BTreeMap<&'a str, String>) -> String {
    if let Some(agent) = line.agent {
        return agent.to_owned();
    }
    let inherited = line.parent.and_then(|parent| roots.get(parent).cloned());
    let agent = inherited.unwrap_or_else(|| format!("side-{}", line.number));
    if let Some(uuid) = line.uuid {
        roots.insert(uuid, agent.clone());
    }
    agent
}

#[cfg(test)]
mod tests;
