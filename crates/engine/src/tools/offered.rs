//! Which of Liveset's own tools does a request offer? Looks at the names in its `tools`, in every dialect.
//!
//! Never reads a description: a tool is what its name says.

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
        match TABLE.row(&name).and_then(|row| row.archive) {
            Some(FromArchive::Recall) => found.recall = true,
            Some(FromArchive::Search) => found.search = true,
            None => {}
        }
    }
    found
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
        assert_eq!(of(r#"[{"name":"recall"}]"#), (true, false));
        assert_eq!(of(r#"[{"type":"function","function":{"name":"mcp__liveset__recall"}}]"#), (true, false));
        assert_eq!(of(r#"[3,{"name":"x"},{"name":"mcp__any__recall"},{"name":"mcp__liveset__search"}]"#), (true, true));
        assert_eq!(of(r#"[{"type":"mcp","server_label":"liveset"}]"#), (true, true));
        assert_eq!(of(r#"[{"type":"mcp_toolset","mcp_server_name":"liveset"}]"#), (true, true));
    }

    #[test]
    fn tools_of_others_are_none() {
        let others = r#"[{"name":"total_recall"},{"name":"search"},{"name":"mcp__web__search"},{"function":"recall"},
            {"name":"x","description":"recall"},{"type":"mcp","server_label":"other"}]"#;
        assert_eq!(of(others), (false, false));
        assert_eq!((of("[]"), of("[[]]")), ((false, false), (false, false)));
    }
}
