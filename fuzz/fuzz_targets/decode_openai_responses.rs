//! Does any body make the reader of `openai-responses` panic, or give a place that is no value of the body?

#![no_main]

mod decode;

use libfuzzer_sys::fuzz_target;
use liveset_engine::transcript::WireFormat;

fuzz_target!(|body: &[u8]| decode::check(WireFormat::OpenaiResponses, body));
