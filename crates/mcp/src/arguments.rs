//! What may an agent ask? The tools as clients see them, and their arguments.
//!
//! Schemas are written small by hand: each client sends them to its model with every request.

use std::sync::Arc;

use liveset::recall::{DEFAULT_CONTEXT, View, line_range};
use liveset_archive::{ID_DIGITS, read_id};
use rmcp::model::{JsonObject, Tool, ToolAnnotations, object};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Value, json};

/// Name of the tool that gives an original back.
pub const RECALL: &str = "recall";
/// Name of the tool that finds originals.
pub const SEARCH: &str = "search";

/// Gives the tools with their schemas.
pub(crate) fn tools() -> Vec<Tool> {
    // Nothing is changed, asking twice changes nothing more, and only the archive is asked.
    let annotations = |title: &str| {
        ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true).open_world(false)
    };
    vec![
        Tool::new(
            RECALL,
            "Get back tool output that was pruned from context, by the id its marker names. Without `outline`, `lines` \
             or `grep` all of it. Long answers come in pages: go on with `offset`.",
            recall_schema(),
        )
        .with_annotations(annotations("Recall pruned output")),
        Tool::new(
            SEARCH,
            "Find pruned tool output by its words. Gives ids for `recall`, best first, with the call that gave each.",
            search_schema(),
        )
        .with_annotations(annotations("Search pruned output")),
    ]
}

fn recall_schema() -> Arc<JsonObject> {
    Arc::new(object(json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "32 hexadecimal digits"},
            "outline": {"type": "boolean", "description": "what it holds, coarse first"},
            "lines": {"type": "string", "description": "FIRST-LAST, from 1: 12-40, 12- or 12"},
            "grep": {"type": "string", "description": "lines in which this regular expression is found"},
            "context": {"type": "integer", "minimum": 0, "description": "lines around each match"},
            "offset": {"type": "integer", "minimum": 0, "description": "where the page before ended"},
        },
        "required": ["id"],
        "additionalProperties": false,
    })))
}

fn search_schema() -> Arc<JsonObject> {
    Arc::new(object(json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "words that it holds, all of them"},
            "session": {"type": "string", "description": "only in this session; `-` is the one without a name"},
            "limit": {"type": "integer", "minimum": 1, "description": "the most hits"},
        },
        "required": ["query"],
        "additionalProperties": false,
    })))
}

/// What a call of `recall` asks.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecallArguments {
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    #[serde(default)]
    outline: Option<bool>,
    #[serde(default, deserialize_with = "lines")]
    lines: Option<(usize, usize)>,
    #[serde(default)]
    grep: Option<String>,
    #[serde(default)]
    context: Option<usize>,
    #[serde(default)]
    pub(crate) offset: Option<usize>,
}

/// What a call of `search` asks.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    pub(crate) query: String,
    #[serde(default)]
    pub(crate) session: Option<String>,
    #[serde(default)]
    pub(crate) limit: Option<usize>,
}

impl RecallArguments {
    /// Gives the one view that is asked for, or says which two are.
    pub(crate) fn view(&self) -> Result<View, String> {
        let outline = self.outline.unwrap_or(false);
        let asked = [("outline", outline), ("lines", self.lines.is_some()), ("grep", self.grep.is_some())];
        let asked: Vec<&str> = asked.iter().filter(|(_, is_asked)| *is_asked).map(|(name, _)| *name).collect();
        if let [first, second, ..] = asked.as_slice() {
            return Err(format!("ask for `{first}` or for `{second}`, not for both"));
        }
        Ok(match (outline, self.lines, &self.grep) {
            (true, _, _) => View::Outline,
            (_, Some((first, last)), _) => View::Lines { first, last },
            (_, _, Some(pattern)) => {
                View::Grep { pattern: pattern.clone(), context: self.context.unwrap_or(DEFAULT_CONTEXT) }
            }
            (false, None, None) => View::Whole,
        })
    }
}

/// Reads a tool's arguments, or says in a line what is wrong with them.
pub(crate) fn read<'de, A: Deserialize<'de>>(arguments: Option<JsonObject>) -> Result<A, String> {
    A::deserialize(Value::Object(arguments.unwrap_or_default())).map_err(|error| error.to_string())
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    read_id(&text).ok_or_else(|| {
        let why = format_args!("`id` has {ID_DIGITS} hexadecimal digits, as the marker or `{SEARCH}` names it");
        D::Error::custom(why)
    })
}

fn lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(usize, usize)>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    line_range(&text).map(Some).ok_or_else(|| D::Error::custom("`lines` is FIRST-LAST, from 1: 12-40, 12- or 12"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f3c5e0d9a1b2c3d4e5f60718293a4b5";

    fn recall(arguments: Value) -> Result<(RecallArguments, View), String> {
        let arguments: RecallArguments = read(Some(object(arguments)))?;
        let view = arguments.view()?;
        Ok((arguments, view))
    }

    #[test]
    fn each_property_of_a_schema_is_an_argument_and_no_other() {
        let values = json!({"id": ID, "outline": null, "lines": null, "grep": null, "context": 0, "offset": 0,
            "query": "x", "session": "s", "limit": 3});
        for (schema, is_read) in [
            (recall_schema(), (|given| read::<RecallArguments>(Some(given)).map(|_| ())) as fn(JsonObject) -> _),
            (search_schema(), |given| read::<SearchArguments>(Some(given)).map(|_| ())),
        ] {
            let names = schema["properties"].as_object().unwrap().keys();
            let mut given: JsonObject = names.map(|name| (name.clone(), values[name].clone())).collect();
            assert_eq!(is_read(given.clone()), Ok(()));
            given.insert("other".into(), json!(1));
            assert!(is_read(given).is_err_and(|why| why.contains("other")));
        }
    }

    #[test]
    fn one_view_is_asked_for() {
        assert_eq!(recall(json!({"id": ID})).unwrap().1, View::Whole);
        assert_eq!(recall(json!({"id": ID, "lines": "3"})).unwrap().1, View::Lines { first: 3, last: 3 });
        assert_eq!(recall(json!({"id": ID, "lines": "3 - 9"})).unwrap().1, View::Lines { first: 3, last: 9 });
        assert_eq!(recall(json!({"id": ID, "lines": "3-"})).unwrap().1, View::Lines { first: 3, last: usize::MAX });
        assert_eq!(recall(json!({"id": ID.to_uppercase(), "outline": true})).unwrap().0.id, ID);
        let grep = View::Grep { pattern: "x".into(), context: DEFAULT_CONTEXT };
        assert_eq!(recall(json!({"id": ID, "grep": "x"})).unwrap().1, grep);
        let two = recall(json!({"id": ID, "grep": "x", "outline": true})).unwrap_err();
        assert_eq!(two, "ask for `outline` or for `grep`, not for both");
    }

    #[test]
    fn what_cannot_be_meant_is_said_in_a_line() {
        for wrong in [
            json!({}),
            json!({"id": "0f"}),
            json!({"id": 7}),
            json!({"id": ID, "lines": "9-3"}),
            json!({"id": ID, "lines": "0"}),
            json!({"id": ID, "lines": "a-b"}),
            json!({"id": ID, "offset": -1}),
        ] {
            let why = recall(wrong).unwrap_err();
            assert!(!why.contains('\n') && !why.is_empty(), "{why}");
        }
        assert!(read::<SearchArguments>(None).unwrap_err().contains("query"));
    }

    #[test]
    fn tools_say_that_they_only_read_and_their_schemas_are_small() {
        for tool in tools() {
            let hints = tool.annotations.clone().unwrap();
            assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
            let size = serde_json::to_string(&tool).unwrap().len();
            assert!(size < 1_200, "{} takes {size} bytes of each request", tool.name);
        }
    }
}
