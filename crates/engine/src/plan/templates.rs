//! Which tools have a template, and what does it say? The rules by tool name, as data.
//!
//! Decides neither when a rule runs nor what it may touch.

use super::arguments::Arguments;
use crate::{
    error::Result,
    json,
    tombstone::{
        CONTENT_SAVED, FILE_CONTENT_END, FILE_CONTENT_START, SEARCH_RESULTS_END, SEARCH_RESULTS_START, UNKNOWN_ARGUMENT,
    },
    tools,
    transcript::{Call, Transcript},
};

/// What a rule puts in place of arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArgumentRule {
    /// Names of the tools.
    pub(crate) tools: &'static [&'static str],
    /// Keys whose texts go.
    pub(crate) keys: &'static [&'static str],
    /// What stands there instead.
    pub(crate) with: &'static str,
}

/// What a rule puts in place of a result: `start`, the call's own word, `end`.
#[derive(Debug, PartialEq, Eq)]
struct ResultRule {
    tools: &'static [&'static str],
    /// Keys of the argument that is named, first one present.
    keys: &'static [&'static str],
    start: &'static str,
    end: &'static str,
}

/// What was written to a file can be read there: the tools whose arguments hold a whole file.
const ARGUMENT_RULES: [ArgumentRule; 1] =
    [ArgumentRule { tools: &["create_file", "write_file", "Write"], keys: &["content"], with: CONTENT_SAVED }];

/// What was read or searched can be read or searched again.
const RESULT_RULES: [ResultRule; 2] = [
    ResultRule {
        tools: &["read_file"],
        keys: &["file_path", "path"],
        start: FILE_CONTENT_START,
        end: FILE_CONTENT_END,
    },
    ResultRule {
        tools: &["search_web", "tavily_search"],
        keys: &["query"],
        start: SEARCH_RESULTS_START,
        end: SEARCH_RESULTS_END,
    },
];

/// Gives the rule for a call's arguments, if its tool has one.
pub(crate) fn argument_rule(transcript: &Transcript<'_>, call: &Call) -> Option<&'static ArgumentRule> {
    let tool = tools::tool_name(transcript, call)?;
    let name = tools::without_server(&tool);
    ARGUMENT_RULES.iter().find(|rule| rule.tools.contains(&name))
}

/// Writes the line that a rule puts in place of a call's result, if its tool has one.
///
/// # Errors
///
/// The arguments cannot be decoded.
pub(crate) fn result_line(transcript: &Transcript<'_>, call: &Call) -> Result<Option<String>> {
    let Some(tool) = tools::tool_name(transcript, call) else { return Ok(None) };
    let name = tools::without_server(&tool);
    let Some(rule) = RESULT_RULES.iter().find(|rule| rule.tools.contains(&name)) else { return Ok(None) };
    let mut named = None;
    if let Some(arguments) = Arguments::of(transcript, call)? {
        for key in rule.keys {
            let text = arguments.texts(&[key]).first().map(|text| arguments.decoded(text)).transpose()?;
            named = text.map(json::Decoded::into_text).filter(|text| !text.is_empty()).map(String::from);
            if named.is_some() {
                break;
            }
        }
    }
    Ok(Some(format!("{}{}{}", rule.start, named.as_deref().unwrap_or(UNKNOWN_ARGUMENT), rule.end)))
}
