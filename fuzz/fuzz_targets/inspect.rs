//! Does any file make the importer of Inspect panic, or give a body that breaks a law?

#![no_main]

mod laws;

use libfuzzer_sys::fuzz_target;
use liveset_traces::TraceFormat;

fuzz_target!(|file: &[u8]| laws::check(TraceFormat::Inspect, file));
