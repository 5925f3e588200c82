//! What does a tool's name say about its results? The table under the contract, read once.
//!
//! Decides nothing about what is kept: it says how a tombstone names a call and which lines it holds.

mod evidence;
mod shell;
mod verdict;
mod table;
mod password_flag;
mod label;
mod offered;

use std::{borrow::Cow, fmt};

use serde::Deserialize;

use crate::{
    json::{self, Leaf, NodeIdx, NodeKind, Outline},
    transcript::{ArgumentsForm, Call, Transcript},
};
use evidence::Suspects;
use label::{is_short, label, names_a_secret, one_line};
pub(crate) use offered::offered;
use shell::Command;
use table::{FromArchive, Row, RowClass, TABLE};
pub(crate) use verdict::ExitFrame;

/// Bytes of arguments that are looked at for a label.
const MAX_ARGUMENT_BYTES: usize = 1 << 20;
/// The argument of which each text is a command line of its own; other lists are a program and its arguments.
const COMMAND_LINES: &str = "commands";

/// What running a call again would give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolClass {
    /// The same answer.
    Retrieval,
    /// An answer, maybe another.
    Volatile,
    /// Nothing that brings this result back.
    Execution,
}

/// What the table knows of one tool.
///
/// ```
/// use liveset_engine::tools::Tool;
/// let write = Tool::named("mcp__filesystem__write_file").unwrap();
/// assert_eq!(write.written_arguments(), ["content"]);
/// assert!(!write.keeps_plan());
/// assert!(Tool::named("unheard_of").is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Tool {
    row: &'static Row,
}

impl Tool {
    /// Finds a tool by the name under which a client calls it, its server's name before it or not.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.row(name).map(|row| Self { row })
    }

    /// Names the arguments that hold whole text which the tool puts into a file.
    ///
    /// An argument is meant by its own key, at whatever depth it stands.
    ///
    /// ```
    /// use liveset_engine::tools::Tool;
    /// assert_eq!(Tool::named("str_replace_editor").unwrap().written_arguments(), ["file_text"]);
    /// assert!(Tool::named("Read").unwrap().written_arguments().is_empty());
    /// ```
    #[must_use]
    pub fn written_arguments(self) -> &'static [String] {
        &self.row.write
    }

    /// Names the arguments that hold what an edit takes out or puts in, or the edit as a patch.
    ///
    /// A call whose input is plain text instead of an object (a custom tool) holds nothing but its patch.
    ///
    /// ```
    /// use liveset_engine::tools::Tool;
    /// assert_eq!(Tool::named("Edit").unwrap().edit_arguments(), ["old_string", "new_string"]);
    /// ```
    #[must_use]
    pub fn edit_arguments(self) -> &'static [String] {
        &self.row.edit
    }

    /// Says whether it keeps the agent's plan, notes or memory, of which only the newest state counts.
    #[must_use]
    pub fn keeps_plan(self) -> bool {
        self.row.plan
    }
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// An original of ours, by its id: its label names the id.
    Recall,
    /// Anything else.
    Other,
}

/// A call as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallName {
    /// The tool's name.
    pub tool: String,
    /// The call's own words: a path, a query, the first words of a command; may be empty.
    pub label: String,
    /// What running it again would give.
    pub class: ToolClass,
}

/// The tool and the call's own words, as tombstones and folded runs name it.
impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        if self.label.is_empty() { Ok(()) } else { write!(f, " {}", self.label) }
    }
}

impl CallName {
    /// Names a call from its arguments; a result without a call is a `tool`.
    #[must_use]
    pub fn of(transcript: &Transcript<'_>, call: Option<&Call>) -> Self {
        Self::with_ask(transcript, call).0
    }

    /// The same, and what the call asks for.
    pub(crate) fn with_ask(transcript: &Transcript<'_>, call: Option<&Call>) -> (Self, Ask) {
        let Some(call) = call else {
            return (Self { tool: "tool".to_owned(), label: String::new(), class: ToolClass::Execution }, Ask::Other);
        };
        let tool = tool_name(transcript, call).map_or_else(|| "tool".to_owned(), |name| one_line(&name));
        let arguments = arguments(transcript, call);
        let (label, class, ask) = read_call(&tool, arguments.as_deref().unwrap_or_default());
        (Self { tool, label, class }, ask)
    }

    /// Says whether the result tells of something that ran, so that an exit status or verdict in it is its own: what
    /// a file says of some run is none.
    ///
    /// ```
    /// use liveset_engine::tools::{CallName, ToolClass};
    /// let name = |tool: &str| CallName { tool: tool.into(), label: String::new(), class: ToolClass::Retrieval };
    /// assert!(name("Bash").tells_of_a_run());
    /// assert!(!name("Read").tells_of_a_run());
    /// ```
    #[must_use]
    pub fn tells_of_a_run(&self) -> bool {
        let told = |row: &Row| row.runs || row.class == RowClass::Shell;
        self.class == ToolClass::Execution || TABLE.row(&self.tool).is_some_and(told)
    }
}

/// Gives the name of a call's tool, as the client wrote it.
pub(crate) fn tool_name(transcript: &Transcript<'_>, call: &Call) -> Option<String> {
    let name = json::decode(call.name?.of(transcript.body)).ok()?;
    Some(name.into_text().into_owned())
}

/// Gives a tool's own name: clients write the MCP server before it, each in its own way.
pub(crate) fn without_server(tool: &str) -> &str {
    TABLE.plain_name(tool)
}

/// Finds the first of a call's own words that `read` reads: words of its commands, or of the arguments that name it.
///
/// Looks at them whole, where a label is shortened.
pub(crate) fn find_word<T>(transcript: &Transcript<'_>, call: &Call, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    let row = TABLE.row(&tool_name(transcript, call)?)?;
    let arguments = arguments(transcript, call)?;
    if row.class == RowClass::Shell {
        let commands = commands(&arguments, &row.label);
        return commands.iter().flat_map(shell::known_words).flatten().find_map(|word| read(&word));
    }
    let leaves = json::string_leaves(&arguments).unwrap_or_default();
    let mut naming = leaves.iter().filter(|leaf| row.label.contains(&leaf.key)).map(|leaf| leaf.text.trim());
    // A path may hold blanks, and paths of a list stand in one text.
    naming.find_map(|text| read(text).or_else(|| text.split(' ').find_map(&read)))
}

/// Arguments in which tools take the path of the file that they are about.
const PATH_ARGUMENTS: [&str; 9] =
    ["file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "filename", "file", "uri"];

/// Gives the path that a call names in an argument of its own.
pub(crate) fn named_path(transcript: &Transcript<'_>, call: &Call) -> Option<String> {
    let arguments = arguments(transcript, call)?;
    let leaves = json::string_leaves(&arguments).unwrap_or_default();
    let path = PATH_ARGUMENTS.iter().find_map(|key| leaves.iter().find(|leaf| leaf.key == *key))?;
    Some(path.text.trim().to_owned()).filter(|path| !path.is_empty())
}

/// Says how a call is named, what running it again would give and what it asks for; `arguments` is a JSON object or
/// nothing.
fn read_call(tool: &str, arguments: &[u8]) -> (String, ToolClass, Ask) {
    let row = TABLE.row(tool);
    if let Some(row) = row.filter(|row| row.class == RowClass::Shell) {
        let commands = commands(arguments, &row.label);
        if !commands.is_empty() {
            return read_commands(&commands);
        }
    }
    let leaves = json::string_leaves(arguments).unwrap_or_default();
    let keys: &[String] = row.map(|row| row.label.as_slice()).unwrap_or_default();
    let found = keys.iter().find_map(|key| leaves.iter().find(|leaf| leaf.key == *key));
    let first = || leaves.iter().find(|leaf| is_short(&leaf.text) && !names_a_secret(&leaf.key));
    let text = found.or_else(first).map(|leaf| leaf.text.as_str()).unwrap_or_default();
    let recalls = row.is_some_and(|row| row.archive == Some(FromArchive::Recall));
    // Tools of other trades are called `recall` too: without an id it is none of ours.
    if recalls && found.is_none_or(|leaf| leaf.text.trim().is_empty()) {
        return (label(text), ToolClass::Execution, Ask::Other);
    }
    let class = match row {
        Some(row) if only_looks(row, &leaves) => ToolClass::Retrieval,
        Some(row) => match row.class {
            RowClass::Retrieval => ToolClass::Retrieval,
            RowClass::Volatile => ToolClass::Volatile,
            RowClass::Execution | RowClass::Shell => ToolClass::Execution,
        },
        None => ToolClass::Execution,
    };
    (label(text), class, if recalls { Ask::Recall } else { Ask::Other })
}

/// The same for the commands of a shell call. A line that recalls is named by that and the id alone.
fn read_commands(commands: &[Command]) -> (String, ToolClass, Ask) {
    let class = class_of(commands);
    if class == ToolClass::Retrieval
        && let Some(recall) = commands.iter().find_map(shell::recall)
    {
        return (recall, class, Ask::Recall);
    }
    let text: Vec<String> = commands.iter().map(Command::text).collect();
    (label(&text.join(" ")), class, Ask::Other)
}

/// Tools of many trades say in an argument which of them is asked for.
fn only_looks(row: &Row, leaves: &[Leaf]) -> bool {
    let says = |key: &String, values: &[String]| {
        let mut said = leaves.iter().filter(|leaf| leaf.key == *key).peekable();
        said.peek().is_some() && said.all(|leaf| values.contains(&leaf.text))
    };
    !row.looks.is_empty() && row.looks.iter().all(|(key, values)| says(key, values))
}

/// The most that any of the commands does.
fn class_of(commands: &[Command]) -> ToolClass {
    let classes = commands.iter().map(|command| shell::class_of(command, &TABLE.looking));
    let most = |class| match class {
        ToolClass::Retrieval => 0,
        ToolClass::Volatile => 1,
        ToolClass::Execution => 2,
    };
    classes.max_by_key(|class| most(*class)).unwrap_or(ToolClass::Execution)
}

/// Gives the arguments as JSON text.
fn arguments<'a>(transcript: &Transcript<'a>, call: &Call) -> Option<Cow<'a, [u8]>> {
    let raw = call.arguments.map(|span| span.of(transcript.body)).filter(|raw| raw.len() <= MAX_ARGUMENT_BYTES)?;
    match call.form {
        ArgumentsForm::Object => Some(Cow::Borrowed(raw)),
        ArgumentsForm::JsonString => json::decode(raw).ok().map(|inner| Cow::Owned(inner.text().as_bytes().to_vec())),
        ArgumentsForm::Text => None,
    }
}

/// Gives the commands in the first argument of `keys` that is there.
fn commands(arguments: &[u8], keys: &[String]) -> Vec<Command> {
    let Ok(outline) = Outline::read_all(arguments) else { return Vec::new() };
    let found = keys.iter().find_map(|key| Some((key, member(&outline, key)?)));
    let Some((key, idx)) = found else { return Vec::new() };
    let commands = match outline.string(idx) {
        Some(line) => vec![Command::Line(line.into_owned())],
        None => {
            let texts: Option<Vec<String>> =
                outline.children(idx).map(|child| outline.string(child).map(Cow::into_owned)).collect();
            match texts.filter(|texts| !texts.is_empty()) {
                Some(lines) if key == COMMAND_LINES => lines.into_iter().map(Command::Line).collect(),
                Some(words) => vec![Command::Words(words)],
                None => Vec::new(),
            }
        }
    };
    commands.into_iter().map(Command::unwrapped).collect()
}

/// Finds the member `key` of an object or of the objects in it.
fn member(outline: &Outline<'_>, key: &str) -> Option<NodeIdx> {
    // A stack, not recursion, so that depth costs no call stack.
    let mut waiting = vec![outline.root()];
    while let Some(idx) = waiting.pop() {
        if outline.node(idx).kind == NodeKind::Object
            && let Some(found) = outline.get(idx, key)
        {
            return Some(found);
        }
        waiting.extend(outline.children(idx));
    }
    None
}

/// Says whether a tool keeps the agent's plan, of which only the newest state counts.
#[must_use]
pub fn is_plan_tool(tool: &str) -> bool {
    Tool::named(tool).is_some_and(Tool::keeps_plan)
}

/// Says whether a line is evidence of a failure.
///
/// ```
/// use liveset_engine::tools::is_error_line;
/// assert!(is_error_line("test result: FAILED. 1 passed; 1 failed"));
/// assert!(!is_error_line("test result: ok. 2 passed; 0 failed"));
/// ```
#[must_use]
pub fn is_error_line(line: &str) -> bool {
    TABLE.evidence.is_in(line)
}

/// Finds the lines of a text that may be evidence of a failure (see [`is_error_line`]), in one pass.
pub(crate) fn suspects(text: &str) -> Suspects<'_> {
    Suspects::new(&TABLE.evidence, text)
}

/// Finds the line among the first of a run's text that states its exit status.
pub(crate) fn first_exit(text: &str) -> Option<ExitFrame> {
    TABLE.verdict.first_exit(text)
}

/// Finds the line among the last of a run's text that states its exit status.
pub(crate) fn last_exit(text: &str) -> Option<ExitFrame> {
    TABLE.verdict.last_exit(text)
}

/// Says whether a run's text closes with words by which test runners and compilers say that they failed.
pub(crate) fn has_failing_verdict(text: &str) -> bool {
    TABLE.verdict.tell_failure(text)
}

#[cfg(test)]
mod tests;
