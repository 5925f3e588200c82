//! Which of Liveset's own tools does a request offer? Looks at the names in its `tools`, in every dialect.
//!
//! Never reads a description: a tool is what its name says, and one that recalls also asks for an id.

use super::table::{FromArchive, TABLE, Table};
use crate::{
    json::{NodeIdx, NodeKind, Outline},
    transcript::Transcript,
};

/// Liveset's own tools in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) recall: bool,
    pub(crate) search: bool,
}

/// Fields in which a dialect names the server whose tools it lets the provider load.
const SERVER_FIELDS: [&str; 2] = ["server_label", "mcp_server_name"];

/// Finds Liveset's own tools in a body's `tools`.
pub(crate) fn offered(transcript: &Transcript<'_>) -> Offered {
    let mut found = Offered::default();
    let Some(raw) = transcript.tools.map(|span| span.of(transcript.body)) else { return found };
    let Ok(outline) = Outline::read_all(raw) else { return found };
    for tool in outline.children(outline.root()) {
        if outline.node(tool).kind != NodeKind::Object {
            continue;
        }
        let word = |object: NodeIdx, key: &str| outline.string(outline.get(object, key)?);
        if SERVER_FIELDS.iter().filter_map(|field| word(tool, field)).any(|server| Table::is_own_server(&server)) {
            return Offered { recall: true, search: true };
        }
        let function = outline.get(tool, "function").filter(|&idx| outline.node(idx).kind == NodeKind::Object);
        let Some(name) = word(tool, "name").or_else(|| word(function?, "name")) else { continue };
        let Some(row) = TABLE.row(&name) else { continue };
        match row.archive {
            // Memories of other trades are called `recall` too, and are asked with a question.
            Some(FromArchive::Recall) => {
                let takes = |object| row.label.iter().any(|key| takes(&outline, object, key));
                found.recall |= takes(tool) || function.is_some_and(takes);
            }
            Some(FromArchive::Search) => found.search = true,
            None => {}
        }
    }
    found
}

/// Fields in which a dialect keeps the schema of a tool's arguments.
const SCHEMA_FIELDS: [&str; 2] = ["input_schema", "parameters"];

/// Says whether a tool's schema has a property of this name.
fn takes(outline: &Outline<'_>, tool: NodeIdx, key: &str) -> bool {
    let member = |object: NodeIdx, key: &str| {
        Some(object).filter(|&idx| outline.node(idx).kind == NodeKind::Object).and_then(|idx| outline.get(idx, key))
    };
    let properties = |field: &&str| member(member(tool, field)?, "properties");
    SCHEMA_FIELDS.iter().filter_map(properties).any(|properties| member(properties, key).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{transcript::WireFormat, wire};

    fn of(tools: &str) -> (bool, bool) {
        let body = format!("{{\"messages\":[],\"tools\":{tools}}}");
        let outline = Outline::read(body.as_bytes()).unwrap();
        let found = offered(&wire::read(WireFormat::OpenaiChat, &outline).unwrap());
        (found.recall, found.search)
    }

    #[test]
    fn own_tools_are_found_by_name_in_every_dialect() {
        let id = r#"{"type":"object","properties":{"view":{},"id":{"type":"string"}}}"#;
        let handle = r#"{"properties":{"handle":{}}}"#;
        for (tool, found) in [
            (format!(r#"{{"name":"recall","input_schema":{id}}}"#), (true, false)),
            (format!(r#"{{"type":"function","name":"recall","parameters":{handle}}}"#), (true, false)),
            (
                format!(r#"{{"type":"function","function":{{"name":"mcp__liveset__recall","parameters":{id}}}}}"#),
                (true, false),
            ),
            (
                format!(
                    r#"3,{{"name":"x"}},{{"name":"mcp__any__recall","input_schema":{id}}},{{"name":"mcp__liveset__search"}}"#
                ),
                (true, true),
            ),
        ] {
            assert_eq!(of(&format!("[{tool}]")), found, "{tool}");
        }
        assert_eq!(of(r#"[{"type":"mcp","server_label":"liveset"}]"#), (true, true));
        assert_eq!(of(r#"[{"type":"mcp_toolset","mcp_server_name":"liveset"}]"#), (true, true));
    }

    #[test]
    fn tools_of_others_are_none() {
        let others = r#"[{"name":"total_recall"},{"name":"search"},{"name":"mcp__web__search"},{"function":"recall"},
            {"name":"x","description":"recall"},{"type":"mcp","server_label":"other"}]"#;
        assert_eq!(of(others), (false, false));
        // A memory is asked with a question; what says nothing of its arguments promises no id.
        let query = r#"{"type":"object","properties":{"query":{"description":"id"}},"required":["id"]}"#;
        for tool in [
            format!(r#"{{"name":"mcp__mem0__recall","input_schema":{query}}}"#),
            format!(r#"{{"type":"function","function":{{"name":"recall","parameters":{query}}}}}"#),
            r#"{"name":"recall","input_schema":{"type":"object","properties":["id"]}}"#.to_owned(),
            r#"{"name":"recall","input_schema":"id"},{"name":"recall"}"#.to_owned(),
        ] {
            assert_eq!(of(&format!("[{tool}]")), (false, false), "{tool}");
        }
        assert_eq!((of("[]"), of("[[]]")), ((false, false), (false, false)));
    }
}
