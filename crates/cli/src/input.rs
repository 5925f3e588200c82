//! From a file, a folder's refusal or standard input to the bytes of one request body.

use std::{
    fs::File,
    io::{Read as _, stdin},
    path::Path,
};

use liveset::WireFormat;
use liveset_engine::{json::MAX_BODY_BYTES, report::Fidelity};
use liveset_traces::{Conversation, Detection, Trace, TraceFormat, detect};

use crate::{args::InputArgs, failure::Failure};

/// The largest file that is read: a trace of many bodies may be larger than a body.
const MAX_FILE_BYTES: u64 = 1 << 30;

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

/// Reads the bytes of a file or of standard input.
pub(crate) fn bytes(file: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        Some(path) => {
            let name = path.display().to_string();
            let found = std::fs::metadata(path).map_err(|error| Failure::reading(path, &error))?;
            if found.is_dir() {
                return Err(Failure::usage(format_args!("`{name}` is a folder")).hint("name one file in it"));
            }
            if found.len() > MAX_FILE_BYTES {
                return Err(too_large(found.len()).in_file(&name));
            }
            let mut bytes = Vec::new();
            let mut file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
            file.read_to_end(&mut bytes).map_err(|error| Failure::reading(path, &error))?;
            not_empty(&bytes, &name)?;
            Ok((name, bytes))
        }
        None => {
            let mut bytes = Vec::new();
            let name = "standard input".to_owned();
            stdin()
                .lock()
                .take(MAX_FILE_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::reading(Path::new("-"), &error))?;
            if bytes.len() as u64 > MAX_FILE_BYTES {
                return Err(too_large(bytes.len() as u64).in_file(&name));
            }
            not_empty(&bytes, &name)?;
            Ok((name, bytes))
        }
    }
}

fn too_large(found: u64) -> Failure {
    Failure::usage(format_args!("{found} bytes are over the limit of {MAX_FILE_BYTES}"))
        .hint(format!("a request body has at most {MAX_BODY_BYTES} bytes; cut a trace into sessions"))
}

fn not_empty(bytes: &[u8], name: &str) -> Result<(), Failure> {
    match bytes.iter().all(u8::is_ascii_whitespace) {
        true => Err(Failure::usage("the input is empty").in_file(name)),
        false => Ok(()),
    }
}

impl Input {
    /// Reads a body, or cuts one out of a trace.
    pub(crate) fn read(args: &InputArgs) -> Result<Self, Failure> {
        let (name, bytes) = bytes(args.file.as_deref())?;
        Self::of(name.clone(), bytes, args).map_err(|failure| failure.in_file(&name))
    }

    fn of(name: String, bytes: Vec<u8>, args: &InputArgs) -> Result<Self, Failure> {
        let asked = args.format.as_str();
        let wire = WireFormat::ALL.into_iter().find(|format| format.name() == asked);
        let trace = TraceFormat::named(asked);
        match (asked, wire, trace) {
            ("auto", _, _) => match detect(&bytes) {
                Detection::Trace(format) => Self::from_trace(name, format, &bytes, args),
                Detection::Ambiguous { candidates, seen } => Err(ambiguous(&candidates, &seen)),
                _ => Self::from_body(name, bytes, None, args),
            },
            (_, Some(format), _) => Self::from_body(name, bytes, Some(format), args),
            (_, None, Some(format)) => Self::from_trace(name, format, &bytes, args),
            (_, None, None) => Err(Failure::usage(format_args!("`--format {asked}` is unknown")).hint(format!(
                "known are auto, {}",
                WireFormat::ALL
                    .iter()
                    .map(|format| format.name())
                    .chain(TraceFormat::ALL.iter().map(|format| format.name()))
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
        }
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

fn ambiguous(candidates: &[TraceFormat], seen: &[&str]) -> Failure {
    let names: Vec<&str> = candidates.iter().map(|format| format.name()).collect();
    Failure::usage(format_args!("the file could be {}: it shows {}", names.join(" or "), seen.join(", ")))
        .hint(format!("say which it is with --format {}", names.join(", or --format ")))
}

fn choose<'t>(trace: &'t Trace, args: &InputArgs) -> Result<&'t Conversation, Failure> {
    let agents = || {
        let names: Vec<&str> = trace.conversations().iter().map(Conversation::agent).take(12).collect();
        names.join(", ")
    };
    if let Some(agent) = &args.agent {
        return trace.agent(agent).ok_or_else(|| {
            Failure::usage(format_args!("no agent `{agent}` in the trace")).hint(format!("there are: {}", agents()))
        });
    }
    match (trace.agent("main"), trace.conversations()) {
        (Some(main), _) => Ok(main),
        (None, [only]) => Ok(only),
        (None, several) => Err(Failure::usage(format_args!("the trace holds {} conversations", several.len()))
            .hint(format!("choose one with --agent: {}", agents()))),
    }
}
