//! What did the agent see and say, text by text? One history of a trace as the metric reads it.
//!
//! Decides nothing; the chain is what no sweep touches, results are what sweeps are about.

use std::borrow::Cow;

use liveset_engine::Error;
use liveset_engine::json::{self, Outline};
use liveset_engine::transcript::{ArgumentsForm, Item, ItemKind, Transcript, WireFormat};
use liveset_engine::wire;

use super::text::{Reader, Text};
use crate::commands;

/// Characters of a result that count.
const RESULT_CHARS: usize = 100_000;
/// Keys of arguments that hold what an edit replaces.
const OLD_TEXT_KEYS: [&str; 3] = ["old_string", "old_str", "search"];

/// Who wrote a text of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    System,
    User,
    Agent,
}

/// A text that no sweep touches.
#[derive(Clone, Debug)]
pub(crate) struct ChainText {
    pub(crate) speaker: Speaker,
    /// Number of its message; of the one before for system and user text.
    pub(crate) number: u32,
    /// How many results stand before it.
    pub(crate) results_before: usize,
    pub(crate) text: Text,
    /// Whether all of it is old text of an edit; only such text of patches is no chain text itself.
    pub(crate) role: Role,
}

/// What a text of the chain is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Plain chain text.
    Said,
    /// Chain text that is also the old text of an edit.
    SaidAndOld,
    /// The old lines of a patch, which stands in the chain as a whole already.
    OldOnly,
}

/// A result, with what the metric and the policies ask of it.
#[derive(Clone, Debug)]
pub(crate) struct ResultText {
    /// Number of the message that it answers.
    pub(crate) number: u32,
    pub(crate) text: Text,
    pub(crate) is_execution: bool,
}

/// One history of a trace, from its beginning or from a compaction by its client to the next one or the end.
///
/// ```
/// use liveset_engine::transcript::WireFormat;
/// use liveset_eval::retention::Trajectory;
/// let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"done"}]}"#;
/// let trajectory = Trajectory::read(WireFormat::OpenaiChat, body)?;
/// assert_eq!((trajectory.messages(), trajectory.results()), (1, 0));
/// # Ok::<(), liveset_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trajectory {
    pub(crate) chain: Vec<ChainText>,
    pub(crate) results: Vec<ResultText>,
    pub(crate) messages: u32,
    pub(crate) shingles: usize,
    pub(crate) values: usize,
    reader: Reader,
}

impl Trajectory {
    /// Reads the whole history that a body holds.
    ///
    /// # Errors
    /// The body is not of its format.
    pub fn read(format: WireFormat, body: &[u8]) -> Result<Self, Error> {
        let outline = Outline::read(body)?;
        let transcript = wire::read(format, &outline)?;
        Ok(Self::of(&transcript))
    }

    /// Reads the whole history that a transcript holds.
    #[must_use]
    pub fn of(transcript: &Transcript<'_>) -> Self {
        let mut builder = Builder { transcript, reader: Reader::default(), chain: Vec::new(), results: Vec::new() };
        transcript.items.iter().for_each(|item| builder.item(item));
        let Builder { reader, chain, mut results, .. } = builder;
        // Results of parallel calls may stand apart from their messages: the metric knows numbers only.
        results.sort_by_key(|result| result.number);
        let messages = transcript.items.iter().map(|item| item.number).max().unwrap_or(0);
        Self { chain, results, messages, shingles: reader.shingles(), values: reader.values(), reader }
    }

    /// Counts the messages of the assistant.
    #[must_use]
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// Counts the results.
    #[must_use]
    pub fn results(&self) -> usize {
        self.results.len()
    }

    /// Finds the shingles and values of the trajectory that some body still holds in its results.
    pub(crate) fn present(&self, transcript: &Transcript<'_>) -> Presence {
        let mut presence = Presence { shingles: vec![false; self.shingles], values: vec![false; self.values] };
        let results = transcript.items.iter().filter(|item| item.kind == ItemKind::ToolResult);
        for text in results.map(|item| result_text(transcript, item)) {
            let (shingles, values) = self.reader.find(&text);
            for (ids, marks) in [(shingles, &mut presence.shingles), (values, &mut presence.values)] {
                for id in ids {
                    if let Some(mark) = marks.get_mut(id as usize) {
                        *mark = true;
                    }
                }
            }
        }
        presence
    }

    /// Walks the shingles of a result.
    pub(crate) fn result_shingles(&self, result: usize) -> impl Iterator<Item = u32> + '_ {
        self.results.get(result).into_iter().flat_map(|result| result.text.shingles.iter().map(|(id, _)| *id))
    }

    /// Counts the results with numbers up to one.
    pub(crate) fn delivered(&self, number: u32) -> usize {
        self.results.partition_point(|result| result.number <= number)
    }

    /// Counts the words of all results.
    #[must_use]
    pub fn result_words(&self) -> u64 {
        self.results.iter().map(|result| result.text.words()).sum()
    }
}

/// What of a trajectory stands in the results of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    pub(crate) shingles: Vec<bool>,
    pub(crate) values: Vec<bool>,
}

struct Builder<'t, 'a> {
    transcript: &'t Transcript<'a>,
    reader: Reader,
    chain: Vec<ChainText>,
    results: Vec<ResultText>,
}

impl Builder<'_, '_> {
    fn item(&mut self, item: &Item) {
        match item.kind {
            ItemKind::System => self.say(item, Speaker::System, 0),
            ItemKind::User => self.say(item, Speaker::User, item.number),
            ItemKind::Assistant | ItemKind::Reasoning => self.say(item, Speaker::Agent, item.number),
            ItemKind::ToolCall => self.call(item),
            ItemKind::ToolResult => {
                let text = self.reader.read(&result_text(self.transcript, item));
                let is_execution = self.is_execution(item);
                self.results.push(ResultText { number: item.number, text, is_execution });
            }
            ItemKind::Media | ItemKind::Opaque => {}
        }
    }

    fn say(&mut self, item: &Item, speaker: Speaker, number: u32) {
        let text = text_of(self.transcript, item);
        self.push(&text, speaker, number, Role::Said);
    }

    fn push(&mut self, text: &str, speaker: Speaker, number: u32, role: Role) {
        if text.is_empty() {
            return;
        }
        let results_before = self.results.len();
        let read = self.reader.read(&without_marks(text));
        self.chain.push(ChainText { speaker, number, results_before, text: read, role });
        if is_patch(text) && role == Role::Said && speaker == Speaker::Agent {
            let old = self.reader.read(&old_lines(text));
            self.chain.push(ChainText { speaker, number, results_before, text: old, role: Role::OldOnly });
        }
    }

    fn call(&mut self, item: &Item) {
        let Some(call) = item.call() else { return };
        let Some(raw) = call.arguments.map(|span| span.of(self.transcript.body)) else { return };
        let decoded = match call.form {
            ArgumentsForm::Object => String::from_utf8_lossy(raw),
            ArgumentsForm::JsonString | ArgumentsForm::Text => literal(raw),
        };
        match json::string_leaves(decoded.as_bytes()) {
            Some(leaves) => {
                for leaf in leaves {
                    let is_old = OLD_TEXT_KEYS.contains(&leaf.key.as_str());
                    let role = if is_old { Role::SaidAndOld } else { Role::Said };
                    self.push(&leaf.text, Speaker::Agent, item.number, role);
                }
            }
            None => self.push(&decoded, Speaker::Agent, item.number, Role::Said),
        }
    }

    fn is_execution(&self, item: &Item) -> bool {
        let call = item.answer().and_then(|answer| answer.call).and_then(|at| self.transcript.items.get(at.at()));
        let Some(call) = call.and_then(Item::call) else { return false };
        let name = call.name.map_or(Cow::Borrowed(""), |span| literal(span.of(self.transcript.body)));
        let raw = call.arguments.map_or(&b""[..], |span| span.of(self.transcript.body));
        let arguments = match call.form {
            ArgumentsForm::Object => String::from_utf8_lossy(raw),
            ArgumentsForm::JsonString | ArgumentsForm::Text => literal(raw),
        };
        let leaves = json::string_leaves(arguments.as_bytes()).unwrap_or_default();
        let command = leaves.iter().find(|leaf| commands::KEYS.contains(&leaf.key.as_str()));
        commands::is_execution(&name, command.map_or(&arguments, |leaf| &leaf.text))
    }
}

fn text_of(transcript: &Transcript<'_>, item: &Item) -> String {
    let texts = item.texts.iter().map(|span| literal(span.of(transcript.body)).into_owned());
    texts.collect::<Vec<_>>().join("\n")
}

/// Gives a result's text as the metric reads it.
fn result_text(transcript: &Transcript<'_>, item: &Item) -> String {
    let text: String = unwrapped(text_of(transcript, item)).chars().take(RESULT_CHARS).collect();
    without_marks(&text).into_owned()
}

fn literal(raw: &[u8]) -> Cow<'_, str> {
    json::decode(raw).map_or_else(|_| String::from_utf8_lossy(raw), json::Decoded::into_text)
}

/// Takes the output out of the object that older Codex clients wrap it in.
fn unwrapped(text: String) -> String {
    let is_wrapped = text.starts_with('{') && text.contains("\"metadata\"");
    let output = || serde_json::from_str::<serde_json::Value>(&text).ok()?.get("output")?.as_str().map(str::to_owned);
    match is_wrapped.then(output).flatten() {
        Some(output) => output,
        None => text,
    }
}

fn is_patch(text: &str) -> bool {
    text.contains("Begin Patch") || text.starts_with("diff --git")
}

/// Takes the marks of added, removed and kept lines off a patch.
fn without_marks(text: &str) -> Cow<'_, str> {
    if !is_patch(text) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| line.strip_prefix(['+', '-', ' ']).unwrap_or(line));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Gives the lines of a patch that were there before: removed and kept ones.
fn old_lines(text: &str) -> String {
    let lines = text.split('\n').filter(|line| !line.starts_with("---"));
    lines.filter_map(|line| line.strip_prefix(['-', ' '])).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_of_the_arguments_is_a_text_and_old_text_is_marked() {
        let body = br#"{"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"edit","arguments":"{\"old_string\":\"one\\ntwo\",\"new_string\":\"three\",\"n\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"ok fine"},{"role":"assistant","content":"end"}]}"#;
        let read = Trajectory::read(WireFormat::OpenaiChat, body).unwrap();
        let seen: Vec<(Speaker, u32, u64, Role)> =
            read.chain.iter().map(|text| (text.speaker, text.number, text.text.words(), text.role)).collect();
        assert_eq!(
            seen,
            [
                (Speaker::User, 0, 1, Role::Said),
                (Speaker::Agent, 1, 2, Role::SaidAndOld),
                (Speaker::Agent, 1, 1, Role::Said),
                (Speaker::Agent, 2, 1, Role::Said)
            ]
        );
        assert_eq!((read.messages(), read.results(), read.result_words()), (2, 1, 2));
    }

    #[test]
    fn a_patch_is_read_without_its_marks_and_its_old_lines_apart() {
        let patch = "*** Begin Patch\n@@\n-old\n+new\n kept";
        assert_eq!(without_marks(patch), "*** Begin Patch\n@@\nold\nnew\nkept");
        assert_eq!(old_lines(patch), "old\nkept");
        assert_eq!(without_marks("- a list"), "- a list");
    }

    #[test]
    fn a_wrapped_output_is_taken_out_and_other_json_stays() {
        assert_eq!(unwrapped(r#"{"output":"a\nb","metadata":{"exit_code":0}}"#.to_owned()), "a\nb");
        assert_eq!(unwrapped(r#"{"output":"a"}"#.to_owned()), r#"{"output":"a"}"#);
    }
}
