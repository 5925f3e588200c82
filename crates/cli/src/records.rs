//! Is this file a body, a report, or a log of one of them?

use std::path::Path;

use liveset::{Report, WireFormat};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{
    args::{InputArgs, InputFormat},
    failure::Failure,
    input::{self, Input},
};

/// A file with what it holds.
pub(crate) struct Records {
    /// What messages call it.
    pub(crate) name: String,
    pub(crate) entries: Entries,
    /// The format of its bodies, where flag or trace says it.
    pub(crate) format: Option<WireFormat>,
}

/// What a file holds; a log has any number, other files one.
pub(crate) enum Entries {
    Bodies(Vec<Vec<u8>>),
    Reports(Vec<Report>),
}

impl Entries {
    /// What messages call what it holds.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Bodies(_) => "body",
            Self::Reports(_) => "report",
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bodies(bodies) => bodies.len(),
            Self::Reports(reports) => reports.len(),
        }
    }
}

/// The fields by which a value shows what it is.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Signs {
    contract: Option<IgnoredAny>,
    outcome: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    input: Option<IgnoredAny>,
}

/// What one value of a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Body,
    Report,
    Other,
}

impl Records {
    /// Reads a file; what is neither report nor log is read as every command reads its input.
    pub(crate) fn read(path: &Path, format: InputFormat) -> Result<Self, Failure> {
        let (name, bytes) = input::bytes(Some(path))?;
        if let InputFormat::Trace(_) = format {
            return Self::of_input(name, bytes, format);
        }
        let values: Vec<&RawValue> = match serde_json::Deserializer::from_slice(&bytes).into_iter().collect() {
            Ok(values) => values,
            // What is wrong with it is said by the reader of bodies and traces.
            Err(_) => return Self::of_input(name, bytes, format),
        };
        let sorts: Vec<Sort> = values.iter().map(|value| Sort::of(value)).collect();
        let wire = if let InputFormat::Wire(format) = format { Some(format) } else { None };
        match sorts.first() {
            Some(Sort::Report) if sorts.iter().all(|sort| *sort == Sort::Report) => {
                let reports: Result<Vec<Report>, Failure> =
                    values.iter().enumerate().map(|(at, value)| report(value, at)).collect();
                let entries = Entries::Reports(reports.map_err(|failure| failure.in_file(&name))?);
                Ok(Self { name, entries, format: wire })
            }
            Some(Sort::Body) if sorts.len() > 1 && sorts.iter().all(|sort| *sort == Sort::Body) => {
                let bodies = values.iter().map(|value| value.get().as_bytes().to_vec()).collect();
                Ok(Self { name, entries: Entries::Bodies(bodies), format: wire })
            }
            Some(first) if *first != Sort::Other && sorts.len() > 1 => {
                let odd = sorts.iter().position(|sort| sort != first).unwrap_or_default();
                Err(Failure::usage(format_args!("entry {odd} is not of the sort of entry 0"))
                    .hint("a log holds reports alone or bodies alone")
                    .in_file(&name))
            }
            _ => Self::of_input(name, bytes, format),
        }
    }

    fn of_input(name: String, bytes: Vec<u8>, format: InputFormat) -> Result<Self, Failure> {
        let args = InputArgs { file: None, format, at: None, agent: None, overhead: 0 };
        let input = Input::of(name.clone(), bytes, &args).map_err(|failure| failure.in_file(&name))?;
        Ok(Self { name, entries: Entries::Bodies(vec![input.body]), format: input.format })
    }
}

impl Sort {
    fn of(value: &RawValue) -> Self {
        // A list would be read as the fields in order.
        let is_object = value.get().trim_start().starts_with('{');
        let signs: Signs = Some(value.get())
            .filter(|_| is_object)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        match signs {
            Signs { contract: Some(_), outcome: Some(_), .. } => Self::Report,
            Signs { messages: Some(_), .. } | Signs { input: Some(_), .. } => Self::Body,
            _ => Self::Other,
        }
    }
}

fn report(value: &RawValue, at: usize) -> Result<Report, Failure> {
    serde_json::from_str(value.get()).map_err(|error| {
        Failure::usage(format_args!("entry {at} is no report of this version (its line {})", error.line()))
            .hint("was it written by another version of liveset? `liveset schema report` prints this version's schema")
    })
}
