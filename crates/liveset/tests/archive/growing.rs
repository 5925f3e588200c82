//! A conversation grows as a session; after 1, 3 and 10 sweeps, and at its end, every body that was handed out comes back
//! from the file, read by somebody who knows nothing of the session.

use liveset::{Archive, Liveset, Policy, Preset, WireFormat};
use liveset_archive::{Lookup, output_hash};

use crate::{Store, sweeps};

/// How a conversation is compacted while it grows.
pub(crate) struct Growth<'b> {
    pub(crate) format: WireFormat,
    /// The body it ends with.
    pub(crate) last: &'b [u8],
    /// How many windows that body would fill.
    pub(crate) windows_in_body: u64,
    pub(crate) preset: Preset,
}

/// Bodies that were handed out, and what each was made of.
type HandedOut = Vec<(Vec<u8>, Vec<u8>)>;

/// Grows one conversation; gives the sweeps it saw.
pub(crate) fn grow(name: &str, growth: &Growth<'_>, bodies: impl Iterator<Item = Vec<u8>>) -> usize {
    let store = Store::new();
    let size = Liveset::new(Policy::default()).with_format(growth.format).with_model("gpt-4.1").inspect(growth.last);
    let mut policy = Policy::default();
    policy.preset = growth.preset;
    policy.window = Some((size.expect("the body is read").tokens.before / growth.windows_in_body).max(1_000));
    policy.reserve = Some(0);
    let base = Liveset::new(policy).with_format(growth.format).with_model("gpt-4.1");
    let mut session = base.clone().with_archive(store.archive.clone()).session();
    let (mut handed_out, mut seen, mut wanted) = (HandedOut::new(), 0, vec![10, 3, 1]);
    for (at, body) in bodies.enumerate() {
        let compaction = session.compact(&body).expect("the body is read");
        seen = sweeps(compaction.report()).max(seen);
        for edit in &compaction.report().edits {
            let kept = store.archive.look_up(&edit.archive_id).expect("it is read");
            assert!(matches!(kept, Lookup::Kept(_)), "{name}, body {at}: {} is not there", edit.archive_id);
        }
        if compaction.body() != body {
            let output = compaction.body().to_vec();
            assert!(store.archive.manifest(&output_hash(&output)).expect("it is read").is_some());
            handed_out.push((output, body));
        }
        if wanted.last().is_some_and(|wanted| seen >= *wanted) {
            wanted.retain(|wanted| seen < *wanted);
            check(&store, &base, &handed_out, &format!("{name}, body {at}, {seen} sweeps"));
        }
    }
    check(&store, &base, &handed_out, &format!("{name} at its end"));
    seen
}

fn check(store: &Store, base: &Liveset, handed_out: &HandedOut, place: &str) {
    let again = base.clone().with_archive(store.opened_again());
    for (output, input) in handed_out {
        let restored = again.restore(output).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(restored == *input, "{place}: another body comes back");
    }
}
