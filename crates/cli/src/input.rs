//! From a file, a folder's refusal or standard input to the bytes of one request body.

use std::{
    fs::File,
    io::{IsTerminal as _, Read, stdin},
    path::Path,
};

use liveset::WireFormat;
use liveset_archive::shown;
use liveset_engine::{json::MAX_BODY_BYTES, report::Fidelity};
use liveset_traces::{Conversation, Detection, Trace, TraceFormat, detect};

use crate::{
    args::{InputArgs, InputFormat},
    failure::Failure,
};

/// The largest file that is read: a trace of many bodies may be larger than a body.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Agents that a hint names: it stays one line.
const MAX_NAMED_AGENTS: usize = 12;

/// One request body and how it came about.
pub(crate) struct Input {
    /// What messages call it.
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    /// The format, where flag or trace says it.
    pub(crate) format: Option<WireFormat>,
    pub(crate) fidelity: Fidelity,
    /// What an importer left out or moved.
    pub(crate) warnings: Vec<String>,
}

/// Reads the bytes of a file or of standard input; an empty one is an error.
pub(crate) fn bytes(file: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    let (name, bytes) = bytes_or_nothing(file)?;
    match bytes.iter().all(u8::is_ascii_whitespace) {
        true => Err(Failure::usage("the input is empty").in_file(&name)),
        false => Ok((name, bytes)),
    }
}

/// The same where nothing is something: an empty policy file holds every default.
pub(crate) fn bytes_or_nothing(file: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => {
            let name = shown(path);
            let found = std::fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
            if found.is_dir() {
                return Err(Failure::usage(format_args!("`{name}` is a folder")).hint("name one file in it"));
            }
            if found.len() > MAX_FILE_BYTES {
                return Err(too_large(&found.len()).in_file(&name));
            }
            let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
            let bytes = bounded(file, MAX_FILE_BYTES, &name)?;
            Ok((name, bytes))
        }
        None => {
            let input = stdin().lock();
            if file.is_none() && input.is_terminal() {
                return Err(Failure::usage("no input").hint("name a FILE, pipe one in, or say `-` to type it"));
            }
            let name = "standard input".to_owned();
            let bytes = bounded(input, MAX_FILE_BYTES, &name)?;
            Ok((name, bytes))
        }
    }
}

/// Reads to the end, but never more than the limit: pipes do not say how much is in them.
fn bounded(from: impl Read, limit: u64, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes).map_err(|error| Failure::reading(Path::new(name), &error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(&"more").in_file(name));
    }
    Ok(bytes)
}

fn too_large(found: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format_args!("the input has {found} bytes, the limit is {MAX_FILE_BYTES}"))
        .hint(format!("a request body has at most {MAX_BODY_BYTES} bytes; cut a trace into sessions"))
}

impl Input {
    /// Reads a body, or cuts one out of a trace.
    pub(crate) fn read(args: &InputArgs) -> Result<Self, Failure> {
        let (name, bytes) = bytes(args.file.as_deref())?;
        Self::of(name.clone(), bytes, args).map_err(|failure| failure.in_file(&name))
    }

    /// Reads a body that stands beside the input, in the same format.
    pub(crate) fn beside(path: &Path) -> Result<Self, Failure> {
        let (name, body) = bytes(Some(path))?;
        Ok(Self { name, body, format: None, fidelity: Fidelity::ExactWire, warnings: Vec::new() })
    }

    /// Makes sense of bytes that were read.
    pub(crate) fn of(name: String, bytes: Vec<u8>, args: &InputArgs) -> Result<Self, Failure> {
        match args.format {
            InputFormat::Auto => match detect(&bytes) {
                Detection::Trace(format) => Self::from_trace(name, format, &bytes, args),
                Detection::Ambiguous { candidates, seen } => Err(ambiguous(&candidates, &seen)),
                // The engine says what is wrong with what nobody knows.
                _ => Self::from_body(name, bytes, None, args),
            },
            InputFormat::Wire(format) => Self::from_body(name, bytes, Some(format), args),
            InputFormat::Trace(format) => Self::from_trace(name, format, &bytes, args),
        }
    }

    /// Says of this input why it could not be used.
    pub(crate) fn failure(&self, error: impl Into<liveset::Error>) -> Failure {
        failure(&self.name, &self.body, error)
    }

    fn from_body(name: String, body: Vec<u8>, format: Option<WireFormat>, args: &InputArgs) -> Result<Self, Failure> {
        if args.at.is_some() || args.agent.is_some() {
            return Err(Failure::usage("`--at` and `--agent` are for traces, and this is a request body"));
        }
        Ok(Self { name, body, format, fidelity: Fidelity::ExactWire, warnings: Vec::new() })
    }

    fn from_trace(name: String, format: TraceFormat, bytes: &[u8], args: &InputArgs) -> Result<Self, Failure> {
        let trace = Trace::read(format, bytes).map_err(Failure::usage)?;
        let conversation = choose(&trace, args)?;
        let body = match args.at {
            Some(point) => conversation.body_at(point),
            None => conversation.body(),
        };
        let fidelity = match conversation.fidelity() {
            liveset_traces::Fidelity::ExactWire => Fidelity::ExactWire,
            liveset_traces::Fidelity::ModelVisible => Fidelity::ModelVisible,
            _ => Fidelity::AfterTruncation,
        };
        Ok(Self {
            name,
            body: body.map_err(Failure::usage)?,
            format: WireFormat::ALL.into_iter().find(|format| format.name() == conversation.wire_format()),
            fidelity,
            warnings: conversation.warnings().iter().map(ToString::to_string).collect(),
        })
    }
}

/// Reads a whole trace; a single body is none.
pub(crate) fn trace(args: &InputArgs) -> Result<(String, Trace), Failure> {
    let (name, bytes) = bytes(args.file.as_deref())?;
    let format = match args.format {
        InputFormat::Trace(format) => Ok(format),
        InputFormat::Wire(_) => Err(no_trace()),
        InputFormat::Auto => match detect(&bytes) {
            Detection::Trace(format) => Ok(format),
            Detection::Ambiguous { candidates, seen } => Err(ambiguous(&candidates, &seen)),
            _ => Err(no_trace()),
        },
    };
    let trace = format.and_then(|format| Trace::read(format, &bytes).map_err(Failure::usage));
    match trace {
        Ok(trace) => Ok((name, trace)),
        Err(failure) => Err(failure.in_file(&name)),
    }
}

fn no_trace() -> Failure {
    Failure::usage("this is no trace that any importer knows").hint("name its format with --format")
}

/// Says of a body why it could not be used.
pub(crate) fn failure(name: &str, body: &[u8], error: impl Into<liveset::Error>) -> Failure {
    let error = error.into();
    let end = body.trim_ascii_end().len();
    let cut = matches!(&error, liveset::Error::Input(liveset_engine::Error::Json { offset, .. }) if *offset >= end);
    let failure = Failure::from(error);
    let failure = if cut { failure.hint("the input ends too early: is it whole?") } else { failure };
    failure.in_file(name)
}

fn ambiguous(candidates: &[TraceFormat], seen: &[&str]) -> Failure {
    let names: Vec<&str> = candidates.iter().map(|format| format.name()).collect();
    Failure::usage(format_args!("the file could be {}: it shows {}", names.join(" or "), seen.join(", ")))
        .hint(format!("say which it is with --format {}", names.join(", or --format ")))
}

/// Finds the conversation that is asked for.
pub(crate) fn choose<'t>(trace: &'t Trace, args: &InputArgs) -> Result<&'t Conversation, Failure> {
    let agents = || {
        let all = trace.conversations();
        let names: Vec<&str> = all.iter().map(Conversation::agent).take(MAX_NAMED_AGENTS).collect();
        names.join(", ") + if all.len() > names.len() { ", …" } else { "" }
    };
    if let Some(agent) = &args.agent {
        return trace.agent(agent).ok_or_else(|| {
            let count = trace.conversations().len();
            Failure::usage(format_args!("no agent `{agent}` in the trace, conversations in it: {count}"))
                .hint(format!("there are: {}", agents()))
        });
    }
    match (trace.agent("main"), trace.conversations()) {
        (Some(main), _) => Ok(main),
        (None, [only]) => Ok(only),
        (None, several) => Err(Failure::usage(format_args!("the trace holds {} conversations", several.len()))
            .hint(format!("choose one with --agent: {}", agents()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_never_ends_is_read_no_further_than_the_limit() {
        assert!(bounded(std::io::repeat(b'{'), 10, "pipe").is_err());
        assert_eq!(bounded(&b"{}"[..], 2, "pipe").unwrap(), b"{}");
    }
}
