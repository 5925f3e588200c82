//! What an archive promises, tested from outside: behaviour, crashes, damage, sharing.
#![expect(clippy::unwrap_used, reason = "a failed step of a test ends the test")]

mod contract;
mod crash;
mod damage;
mod sharing;

use liveset_archive::Release;

/// A content id made of one number; what an id is made of is none of the archive's business.
fn id(number: u64) -> String {
    format!("{number:032x}")
}

/// A release of originals `(number, text)` with a body and a manifest of their own.
fn release(name: &str, originals: &[(u64, &str)]) -> Release {
    let originals = originals.iter().map(|&(number, text)| (id(number), text.as_bytes().to_vec())).collect();
    Release::new(name.as_bytes(), format!("manifest of {name}").into_bytes(), originals)
}

fn text(found: Option<Vec<u8>>) -> Option<String> {
    found.map(|bytes| String::from_utf8(bytes).unwrap())
}
