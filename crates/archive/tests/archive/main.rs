//! What an archive promises, tested from outside: behaviour, crashes, damage, sharing, scope, upkeep.
#![expect(clippy::unwrap_used, reason = "a failed step of a test ends the test")]
#![expect(clippy::print_stdout, reason = "a child process tells its test what it did")]

mod alone;
mod contract;
mod crash;
mod damage;
mod faults;
#[cfg(target_os = "linux")]
mod nth_write;
mod scope;
mod searching;
mod sharing;
#[cfg(target_os = "linux")]
mod syncs;
mod upkeep;

use liveset_archive::{Release, Source};

/// A content id made of one number; what an id is made of is none of the archive's business.
fn id(number: u64) -> String {
    format!("{number:032x}")
}

/// A release of originals `(number, text)` with a body and a manifest of their own.
fn release(name: &str, originals: &[(u64, &str)]) -> Release {
    let originals = originals.iter().map(|&(number, text)| (id(number), text.as_bytes().to_vec())).collect();
    Release::new(name.as_bytes(), format!("manifest of {name}").into_bytes(), originals)
}

/// The same in a session, each original the answer of a call that its number names.
fn release_in(session: &str, name: &str, originals: &[(u64, &str)]) -> Release {
    let mut release = release(name, originals);
    release.session = session.to_owned();
    release.sources = originals.iter().map(|&(number, _)| (id(number), source(number))).collect();
    release
}

fn source(number: u64) -> Source {
    Source { tool: "read".to_owned(), label: format!("file-{number}.txt"), arguments: format!("{{\"n\":{number}}}") }
}

fn text(found: Option<Vec<u8>>) -> Option<String> {
    found.map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

/// How often something random is tried: few in each run, all that are asked for with `LIVESET_CRASHES=300`.
fn crashes(few: usize) -> usize {
    std::env::var("LIVESET_CRASHES").ok().and_then(|number| number.parse().ok()).unwrap_or(few)
}
