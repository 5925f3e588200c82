//! What does an answer say of itself? Reads a copy of it: usage, cached tokens, why it stopped, reasoning that was dropped.
//!
//! Holds little, changes nothing, and gives up on what it does not understand: the answer goes on either way.

mod decoder;
mod figures;

use hyper::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};

use decoder::Decoder;
pub(crate) use figures::AnswerFigures;

/// The longest event of a stream that is looked into; what usage stands in is short.
const MAX_EVENT_BYTES: usize = 1 << 20;
/// The longest answer in one piece that is looked into.
const MAX_WHOLE_BYTES: usize = 8 << 20;

/// Reads one answer as it passes.
#[derive(Debug)]
pub(crate) struct Observer {
    /// What takes the encoding off; `None` once nothing more is to be learned.
    decoder: Option<Decoder>,
    reader: Reader,
}

/// What reads a text without encoding.
#[derive(Debug)]
struct Reader {
    form: Form,
    /// The line, or the whole, as far as it has come.
    pending: Vec<u8>,
    figures: AnswerFigures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Events; the flag says that a line is too long and is skipped to its end.
    Events { is_skipping: bool },
    /// One value.
    Whole,
}

impl Observer {
    /// Looks at an answer's head for how it is to be read. What is neither JSON nor a stream of events is not looked at.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let value = |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
        let kind = value(CONTENT_TYPE).unwrap_or_default().split(';').next().unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        let form = match kind.as_str() {
            "text/event-stream" => Some(Form::Events { is_skipping: false }),
            "application/json" => Some(Form::Whole),
            kind => kind.ends_with("+json").then_some(Form::Whole),
        };
        let decoder = form.and_then(|_| Decoder::named(value(CONTENT_ENCODING).unwrap_or_default()));
        let reader =
            Reader { form: form.unwrap_or(Form::Whole), pending: Vec::new(), figures: AnswerFigures::default() };
        Self { decoder, reader }
    }

    /// Looks at nothing.
    pub(crate) fn blind() -> Self {
        Self::of(&HeaderMap::new())
    }

    /// Looks at the next bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let Some(mut decoder) = self.decoder.take() else { return };
        let reader = &mut self.reader;
        let goes_on = decoder.decode(bytes, |plain| reader.reads(plain));
        self.decoder = goes_on.then_some(decoder);
    }

    /// Says what was found, at the answer's end.
    pub(crate) fn finish(&mut self) -> AnswerFigures {
        match self.reader.form {
            Form::Whole => self.reader.figures.read(&self.reader.pending),
            Form::Events { .. } => self.reader.line_ends(),
        }
        std::mem::take(&mut self.reader.figures)
    }
}

impl Reader {
    /// Reads on; says whether more is of any use.
    fn reads(&mut self, plain: &[u8]) -> bool {
        match self.form {
            Form::Whole if self.pending.len() + plain.len() <= MAX_WHOLE_BYTES => self.pending.extend_from_slice(plain),
            Form::Whole => {
                // Half a value says nothing, and its other half neither.
                self.pending = Vec::new();
                return false;
            }
            Form::Events { .. } => {
                let mut rest = plain;
                while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
                    let (line, after) = rest.split_at(at);
                    self.line_goes_on(line);
                    self.line_ends();
                    rest = after.get(1..).unwrap_or_default();
                }
                self.line_goes_on(rest);
            }
        }
        true
    }

    fn line_goes_on(&mut self, part: &[u8]) {
        let Form::Events { is_skipping } = &mut self.form else { return };
        *is_skipping |= self.pending.len() + part.len() > MAX_EVENT_BYTES;
        if *is_skipping {
            self.pending = Vec::new();
        } else {
            self.pending.extend_from_slice(part);
        }
    }

    fn line_ends(&mut self) {
        self.form = Form::Events { is_skipping: false };
        if let Some(data) = self.pending.strip_prefix(b"data:").filter(|data| AnswerFigures::may_be_in(data)) {
            self.figures.read(data);
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use hyper::header::HeaderValue;

    use super::*;

    const ANTHROPIC: &str = concat!(
        "event: message_start\r\n",
        r#"data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":90,"cache_creation_input_tokens":7,"output_tokens":1}}}"#,
        "\r\n\r\n: keep-alive\r\n\r\n",
        r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"\"usage\" → ü"}}"#,
        "\r\n\r\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42},"input_transformations":[{"a":1}]}"#,
        "\r\n\r\n",
    );

    fn observer(of: &'static str, encoding: &'static str) -> Observer {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(of));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        Observer::of(&headers)
    }

    fn figures(of: &'static str, encoding: &'static str, chunks: &[&[u8]]) -> AnswerFigures {
        let mut observer = observer(of, encoding);
        chunks.iter().for_each(|chunk| observer.feed(chunk));
        observer.finish()
    }

    #[test]
    fn a_stream_cut_anywhere_says_the_same() {
        for text in [ANTHROPIC.to_owned(), ANTHROPIC.replace("\r\n", "\n"), ANTHROPIC.replace("\r\n", "\r")] {
            let bytes = text.as_bytes();
            for at in 0..=bytes.len() {
                let figures = figures("text/event-stream; charset=utf-8", "identity", &[&bytes[..at], &bytes[at..]]);
                assert_eq!(
                    (figures.input_tokens(), figures.cached_tokens(), figures.output_tokens()),
                    (Some(100), Some(90), Some(42))
                );
                assert_eq!((figures.stop.as_deref(), figures.dropped_reasoning), (Some("tool_use"), 1));
            }
        }
    }

    #[test]
    fn chat_and_responses_are_read_in_both_forms() {
        let chat = concat!(
            r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            "\n\n",
            r#"data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":40}}}"#,
            "\n\ndata: [DONE]\n\n"
        );
        let responses = r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":50,"output_tokens":5,"input_tokens_details":{"cached_tokens":40}}}}"#;
        let whole = r#"{"status":"completed","usage":{"input_tokens":50,"output_tokens":5,"input_tokens_details":{"cached_tokens":40}}}"#;
        for (of, text, stop) in [
            ("text/event-stream", chat, "stop"),
            ("text/event-stream", responses, "completed"),
            ("application/json", whole, "completed"),
        ] {
            let figures = figures(of, "", &[text.as_bytes()]);
            assert_eq!(
                (figures.input_tokens(), figures.cached_tokens(), figures.output_tokens()),
                (Some(50), Some(40), Some(5)),
                "{text}"
            );
            assert_eq!(figures.stop.as_deref(), Some(stop));
        }
    }

    #[test]
    fn compressed_answers_are_read_too_and_unknown_ones_left_alone() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(ANTHROPIC.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(ANTHROPIC.as_bytes(), 3).unwrap();
        for (encoding, bytes) in [("gzip", gzip), ("zstd", zstd)] {
            let halves = bytes.split_at(bytes.len() / 2);
            let figures = figures("text/event-stream", encoding, &[halves.0, halves.1]);
            assert_eq!(figures.input_tokens(), Some(100), "{encoding}");
        }
        assert_eq!(figures("text/event-stream", "compress", &[ANTHROPIC.as_bytes()]), AnswerFigures::default());
        assert_eq!(figures("text/event-stream", "gzip", &[ANTHROPIC.as_bytes()]), AnswerFigures::default());
    }

    #[test]
    fn brotli_is_read_at_any_cut() {
        // Three events `message_start` with 3 and 97 tokens.
        const BROTLI: &str = "GysBACwKbOdGtHn8IwimZ6PlQy3ypTO3FPpaZCZnT4HUpc4Ni04O2H/7/ZY0TxKLTHMbG46niBUG2rMGCjwXizCs4GT3g3VMN+qyI/8L+uwB";
        let bytes = base64::engine::general_purpose::STANDARD.decode(BROTLI).unwrap();
        for at in 0..=bytes.len() {
            let figures = figures("text/event-stream", "br", &[&bytes[..at], &bytes[at..]]);
            assert_eq!((figures.input_tokens(), figures.cached_tokens()), (Some(100), Some(97)), "cut at {at}");
        }
    }

    #[test]
    fn what_is_too_long_takes_no_memory_and_hides_nothing_behind_it() {
        let mut observer = observer("text/event-stream", "");
        observer.feed(b"data: ");
        for _ in 0..3 {
            observer.feed(&vec![b'x'; MAX_EVENT_BYTES]);
        }
        assert!(observer.reader.pending.is_empty());
        observer.feed(b"\n\n");
        observer.feed(ANTHROPIC.as_bytes());
        assert_eq!(observer.finish().output_tokens(), Some(42));
    }

    #[test]
    fn a_value_that_is_too_long_is_not_begun_again_in_its_middle() {
        let mut observer = observer("application/json", "");
        observer.feed(&vec![b' '; MAX_WHOLE_BYTES + 1]);
        observer.feed(br#"{"usage":{"input_tokens":1}}"#);
        assert!(observer.reader.pending.is_empty());
        assert_eq!(observer.finish(), AnswerFigures::default());
    }

    #[test]
    fn what_is_no_json_is_not_held() {
        for of in ["application/octet-stream", "text/html", ""] {
            let mut observer = observer(of, "");
            observer.feed(&[b'x'; 1 << 20]);
            assert!(observer.reader.pending.is_empty(), "{of}");
        }
    }

    #[test]
    fn a_bomb_takes_no_memory() {
        let bomb = zstd::encode_all(&vec![0; 256 << 20][..], 3).unwrap();
        let mut observer = observer("text/event-stream", "zstd");
        observer.feed(&bomb);
        assert!(observer.decoder.is_none(), "it is given up");
        assert!(observer.reader.pending.capacity() <= 2 * MAX_EVENT_BYTES);
    }

    #[test]
    fn a_figure_of_another_kind_hides_none_of_the_others() {
        let odd = r#"{"stop_reason":7,"status":200,"input_transformations":"x","choices":{},"usage":{"prompt_tokens":5,"completion_tokens":1.5,"prompt_tokens_details":3}}"#;
        let figures = figures("application/json", "", &[odd.as_bytes()]);
        assert_eq!((figures.input_tokens(), figures.output_tokens(), figures.stop), (Some(5), None, None));
    }
}
