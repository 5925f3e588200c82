//! Does a shell command only look? Reads a line as a shell does, as far as that is needed to be sure.
//!
//! Never guesses: what it does not know for certain to leave everything as it is counts as execution.

mod line;
mod printing;

use serde::Deserialize;

use super::ToolClass;
use line::Word;

/// Shells whose `-c` argument is a command line of its own.
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];
/// Letters of the flags with which a shell is asked to run a command line.
const SHELL_FLAGS: &str = "lceiux";
/// Flags of `xargs` without and with a value that change nothing but how often its command runs.
const XARGS_ALONE: [&str; 4] = ["-0", "-r", "-t", "--null"];
const XARGS_VALUED: [&str; 5] = ["-n", "-P", "-I", "-L", "-d"];

/// A family of commands that only look, as the table writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Looking {
    /// First words of the commands.
    commands: Vec<String>,
    #[serde(default = "retrieval")]
    class: ToolClass,
    /// Flags with which they write or run something.
    #[serde(default)]
    never: Vec<String>,
    /// Whether they take nothing but flags, since a name would make them write.
    #[serde(default)]
    flags_only: bool,
    /// Whether their first operand is a `sed` script, which may print and no more.
    #[serde(default)]
    script: bool,
}

fn retrieval() -> ToolClass {
    ToolClass::Retrieval
}

impl Looking {
    /// Whether whatever is appended to such a command, it still only looks.
    fn is_free(&self) -> bool {
        self.never.is_empty() && !self.flags_only && !self.script
    }

    fn allows(&self, rest: &[Word]) -> bool {
        if self.script {
            return printing::only_prints(rest);
        }
        let is_flag = |word: &Word| word.text.starts_with(['-', '+']);
        rest.iter().all(|word| {
            let hidden = word.expands && (!self.never.is_empty() || self.flags_only);
            !hidden
                && (is_flag(word) || !self.flags_only)
                && !self.never.iter().any(|never| is_flag_in(never, &word.text))
        })
    }
}

/// What a call asks a shell, or the system itself, to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// A line for a shell.
    Line(String),
    /// A program and its arguments, no shell between.
    Words(Vec<String>),
}

impl Command {
    /// Looks through a shell that is only there to run a line: `["bash", "-lc", LINE]`.
    pub(super) fn unwrapped(self) -> Self {
        match self {
            Self::Words(mut words) if words.len() == 3 && is_shell(&words) => {
                words.pop().map_or_else(|| Self::Words(Vec::new()), Self::Line)
            }
            Self::Line(text) => match line::commands(&text) {
                // One command of three words is a wrapped line; its quotes are gone from the last word.
                Some(commands) => match commands.as_slice() {
                    [words] if words.iter().all(|word| !word.expands) => {
                        let words: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
                        if words.len() == 3 && is_shell(&words) {
                            Self::Words(words).unwrapped()
                        } else {
                            Self::Line(text)
                        }
                    }
                    _ => Self::Line(text),
                },
                None => Self::Line(text),
            },
            words @ Self::Words(_) => words,
        }
    }

    /// Gives the text by which people know the command.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Words(words) => words.join(" "),
        }
    }
}

fn is_shell(words: &[String]) -> bool {
    let [program, flags, ..] = words else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let letters = flags.strip_prefix('-').unwrap_or_default();
    SHELLS.contains(&name) && letters.contains('c') && letters.chars().all(|letter| SHELL_FLAGS.contains(letter))
}

/// Gives the class of what a command answers; execution where it may do more than look.
pub(super) fn class_of(command: &Command, table: &[Looking]) -> ToolClass {
    let commands = match command {
        Command::Words(words) => vec![words.iter().map(|word| Word { text: word.clone(), expands: false }).collect()],
        Command::Line(line) => match line::commands(line) {
            Some(commands) => commands,
            None => return ToolClass::Execution,
        },
    };
    let mut class = None;
    for words in &commands {
        if words.first().is_some_and(|word| word.text == "cd") {
            continue;
        }
        class = match (class_of_one(words, table), class) {
            (None, _) => return ToolClass::Execution,
            (Some(ToolClass::Volatile), _) | (_, Some(ToolClass::Volatile)) => Some(ToolClass::Volatile),
            (found, _) => found,
        };
    }
    // To change the folder and nothing else is no question that could be asked again.
    class.unwrap_or(ToolClass::Execution)
}

/// First words of the command that gives an original back.
const RECALL: [&str; 2] = ["liveset", "recall"];
/// Digits of an id.
const ID_DIGITS: usize = 32;

fn is_id(word: &str) -> bool {
    word.len() == ID_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Gives the first command that asks for an original by its id, without whatever else it says: the id must be seen in a
/// label, however long or secret a pattern before it is.
pub(super) fn recall(command: &Command) -> Option<String> {
    let asks = |words: &Vec<String>| {
        let [program, verb, rest @ ..] = words.as_slice() else { return None };
        let id = rest.iter().find(|word| is_id(word)).filter(|_| [program.as_str(), verb] == RECALL)?;
        Some(format!("{program} {verb} {id}"))
    };
    known_words(command).iter().find_map(asks)
}

/// Gives the words of each command that the shell changes nothing of.
pub(super) fn known_words(command: &Command) -> Vec<Vec<String>> {
    match command {
        Command::Words(words) => vec![words.clone()],
        Command::Line(line) => {
            let mut commands = line::commands(line).unwrap_or_default();
            commands.retain(|words| words.iter().all(|word| !word.expands));
            commands.into_iter().map(|words| words.into_iter().map(|word| word.text).collect()).collect()
        }
    }
}

fn class_of_one(words: &[Word], table: &[Looking]) -> Option<ToolClass> {
    if words.first().is_some_and(|word| word.text == "xargs") {
        return find(xargs_command(words.get(1..)?)?, table)
            .filter(|(rule, _)| rule.is_free())
            .map(|(rule, _)| rule.class);
    }
    let words = without_git_options(words);
    let (rule, rest) = find(&words, table)?;
    rule.allows(rest).then_some(rule.class)
}

/// The longest row wins: `git diff` is not `git`.
fn find<'t, 'w>(words: &'w [Word], table: &'t [Looking]) -> Option<(&'t Looking, &'w [Word])> {
    let matching = table.iter().flat_map(|rule| rule.commands.iter().map(move |command| (rule, command)));
    let matching = matching.filter_map(|(rule, command)| Some((rule, rest_after(command, words)?)));
    matching.min_by_key(|(_, rest)| rest.len())
}

fn rest_after<'w>(command: &str, words: &'w [Word]) -> Option<&'w [Word]> {
    let mut rest = words;
    for part in command.split(' ') {
        let (first, after) = rest.split_first()?;
        if first.text != part || first.expands {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

/// `git --no-pager -C DIR log` asks what `git log` asks.
fn without_git_options(words: &[Word]) -> Vec<Word> {
    let mut rest = words.get(1..).unwrap_or_default();
    if words.first().is_none_or(|word| word.text != "git") {
        return words.to_vec();
    }
    loop {
        rest = match rest {
            [option, after @ ..] if option.text == "--no-pager" || option.text == "-P" => after,
            [option, _, after @ ..] if option.text == "-C" => after,
            _ => break,
        };
    }
    words.iter().take(1).chain(rest).cloned().collect()
}

fn xargs_command(words: &[Word]) -> Option<&[Word]> {
    let mut rest = words;
    loop {
        let (first, after) = rest.split_first()?;
        let flag = first.text.as_str();
        rest = if XARGS_ALONE.contains(&flag) {
            after
        } else if XARGS_VALUED.contains(&flag) {
            after.get(1..)?
        } else if XARGS_VALUED.iter().any(|valued| flag.starts_with(valued)) {
            after
        } else {
            return (!flag.starts_with('-')).then_some(rest);
        };
    }
}

/// Says whether a word is, or may hold, a flag: short ones come in clusters, long ones shortened or with a value.
fn is_flag_in(flag: &str, word: &str) -> bool {
    if flag.starts_with("--") {
        let name = word.split('=').next().unwrap_or_default();
        return name.len() > 2 && flag.starts_with(name);
    }
    let mut letters = flag.chars().skip(1);
    match (letters.next(), letters.next()) {
        (Some(letter), None) => word.starts_with('-') && !word.starts_with("--") && word.contains(letter),
        _ => word == flag,
    }
}
