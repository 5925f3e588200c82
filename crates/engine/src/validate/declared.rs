//! Which tools does a request declare?
//!
//! Reads names only; where `tools` may hold names that cannot be read, it never says that one is missing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::code::Code;
use super::defect::Findings;
use super::reading::Reading;
use crate::json::{NodeIdx, NodeKind, Outline};
use crate::transcript::WireFormat;

/// Entries of Responses `tools` that stand for tools of other names.
const COLLECTIONS: [&str; 3] = ["mcp", "namespace", "tool_search"];

/// Names that calls may use.
enum Names {
    /// Every name must be taken.
    Any,
    /// The request has no tools at all.
    Absent,
    These(BTreeSet<String>),
}

/// What a request declares, and what was reported.
pub(super) struct Declared<'a> {
    names: Names,
    reported: BTreeSet<Cow<'a, str>>,
}

impl<'a> Declared<'a> {
    pub(super) fn of(reading: Reading<'_, 'a>, format: WireFormat) -> Self {
        Self { names: names(reading, format), reported: BTreeSet::new() }
    }

    /// From here on every name is taken: tools were added in a way that is not read here.
    pub(super) fn take_all(&mut self) {
        self.names = Names::Any;
    }

    /// Takes a defect of a call whose tool is not declared; of several calls of one name, of the first.
    pub(super) fn check(&mut self, name: Cow<'a, str>, offset: usize, found: &mut Findings) {
        match &self.names {
            Names::Any => {}
            Names::Absent => {
                found.add(Code::UndeclaredToolNames, offset, "a call, and the request declares no tools");
                self.take_all();
            }
            Names::These(names) => {
                if !names.contains(name.as_ref()) && self.reported.insert(name) {
                    found.add(Code::UndeclaredToolNames, offset, "`tools` does not hold the called tool");
                }
            }
        }
    }
}

fn names(reading: Reading<'_, '_>, format: WireFormat) -> Names {
    let root = reading.outline.root();
    if !reading.is_request() {
        return Names::Any;
    }
    let Some(tools) = reading.field(root, "tools") else {
        // "tool blocks in history require tool definitions": no line says so for the OpenAI formats. A body without the
        // required `max_tokens` is an excerpt of a request.
        let is_whole = format == WireFormat::Anthropic && reading.field(root, "max_tokens").is_some();
        return if is_whole { Names::Absent } else { Names::Any };
    };
    listed(reading.outline.bytes(tools), format).map_or(Names::Any, Names::These)
}

/// Reads the names in `tools`; `None` where it may stand for others.
fn listed(tools: &[u8], format: WireFormat) -> Option<BTreeSet<String>> {
    let tools = Outline::read_all(tools).ok()?;
    let tools = Reading::new(&tools);
    let mut names = BTreeSet::new();
    for tool in tools.elements(tools.outline.root()) {
        let inner = match format {
            WireFormat::Anthropic | WireFormat::OpenaiResponses => Some(tool),
            WireFormat::OpenaiChat => tools.field(tool, "function").or_else(|| tools.field(tool, "custom")),
        };
        // A namespace has a name, but calls name its members.
        let is_collection = COLLECTIONS.contains(&tools.word(tool, "type").as_ref());
        match inner.and_then(|inner| tools.string(inner, "name")) {
            Some(name) if !is_collection => {
                names.insert(name.into_owned());
            }
            None if !is_collection && is_hosted(tools, tool, format) => {}
            Some(_) | None => return None,
        }
    }
    let is_silent = names.is_empty() && format != WireFormat::Anthropic;
    (!is_silent).then_some(names)
}

/// Says whether an entry without a name is a tool that no call names.
fn is_hosted(tools: Reading<'_, '_>, tool: NodeIdx, format: WireFormat) -> bool {
    format == WireFormat::OpenaiResponses && tools.kind(tool) == NodeKind::Object
}
