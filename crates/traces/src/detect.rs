//! What is this file? Told by its shape, never guessed: a file that could be two things is called ambiguous.

use crate::format::TraceFormat;
use crate::json::Object;
use crate::message_lists;
use crate::sample::{Fit, Layout, Sample};

/// What a file looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detection {
    /// A request body: the engine's business.
    RequestBody,
    /// A trace of this format.
    Trace(TraceFormat),
    /// It could be several formats: the user must name one.
    Ambiguous {
        /// The formats it could be.
        candidates: Vec<TraceFormat>,
        /// What speaks for each of them, in the same order.
        seen: Vec<&'static str>,
    },
    /// Nothing that an importer knows.
    Unknown,
}

/// Tells request body and trace formats apart by the first values of a file.
///
/// ```
/// use liveset_traces::{Detection, TraceFormat, detect};
///
/// let list = br#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"ok"}]"#;
/// assert_eq!(detect(list), Detection::Trace(TraceFormat::OpenaiChat));
/// assert_eq!(detect(br#"{"model":"m","messages":[]}"#), Detection::RequestBody);
/// assert_eq!(detect(b"hello"), Detection::Unknown);
/// ```
#[must_use]
pub fn detect(bytes: &[u8]) -> Detection {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The reader says where the bad byte is; here only the beginning counts.
        Err(error) => bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or(""),
    };
    let Some(sample) = Sample::of(valid) else { return Detection::Unknown };
    if let (Layout::Single, [value]) = (sample.layout, sample.values.as_slice())
        && Object::read(value).is_some_and(|object| message_lists::is_request(&object))
    {
        return Detection::RequestBody;
    }
    let mut strong = Vec::new();
    let mut weak = Vec::new();
    for format in TraceFormat::ALL {
        match (format.importer().fit)(&sample) {
            Fit::Strong(seen) => strong.push((format, seen)),
            Fit::Weak(seen) => weak.push((format, seen)),
            Fit::No => {}
        }
    }
    let candidates = if strong.is_empty() { weak } else { strong };
    match candidates.as_slice() {
        [] => Detection::Unknown,
        [(format, _)] => Detection::Trace(*format),
        _ => {
            let (candidates, seen) = candidates.into_iter().unzip();
            Detection::Ambiguous { candidates, seen }
        }
    }
}
