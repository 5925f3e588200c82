//! Does any file make the importers of lists panic, or give a body that breaks a law?

#![no_main]

mod laws;

use libfuzzer_sys::fuzz_target;
use liveset_traces::TraceFormat;

fuzz_target!(|file: &[u8]| {
    for format in [TraceFormat::AnthropicMessages, TraceFormat::OpenaiChat, TraceFormat::OpenaiResponses] {
        laws::check(format, file);
    }
});
