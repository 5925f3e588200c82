//! Law 7 over generated conversations, in every format and under every preset, with the archive that lasts.

use liveset::{Preset, WireFormat};
use liveset_testkit::{Format, conversations};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::growing::{Growth, grow};

/// Conversations: each writes a file for each format. `LIVESET_CASES` asks for more; the laws of one body run thousands.
const FEW: u32 = 10;

fn wire(format: Format) -> WireFormat {
    match format {
        Format::Anthropic => WireFormat::Anthropic,
        Format::OpenaiChat => WireFormat::OpenaiChat,
        Format::OpenaiResponses => WireFormat::OpenaiResponses,
    }
}

#[test]
fn every_body_of_a_generated_session_comes_back_after_its_sweeps() {
    let asked = std::env::var("LIVESET_CASES").ok().and_then(|cases| cases.parse::<u32>().ok());
    let cases = asked.map_or(FEW, |asked| asked / 20 + 1);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
    let swept = std::cell::Cell::new(0);
    let presets = prop::sample::select(Preset::ALL.to_vec());
    let outcome =
        TestRunner::new(config).run(&(conversations(), presets, 2..8_u64), |(conversation, preset, share)| {
            for format in Format::ALL {
                let bodies = conversation.prefix_bodies(format);
                let Some(last) = bodies.last().cloned() else { continue };
                let growth = Growth { format: wire(format), last: &last, windows_in_body: share, preset };
                swept.set(swept.get() + grow(format.name(), &growth, bodies.into_iter()));
            }
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(swept.get() > 0, "nothing was swept");
}
