//! What decides the bytes of a body besides the body itself, and by which name does a log speak of it?

use liveset::{Policy, SessionEvent};
use liveset_archive::output_hash;
use liveset_engine::policy::CONTRACT;

/// A policy with everything that decides beside it, and the hash that stands for all of it.
#[derive(Clone, Debug)]
pub(crate) struct NamedPolicy {
    /// BLAKE3 of the rest.
    pub(crate) hash: String,
    /// Contract, settings, session events, whether there is an archive, and the model that stands for every other.
    pub(crate) settings: serde_json::Value,
}

impl NamedPolicy {
    /// Names a policy.
    pub(crate) fn of(policy: &Policy, events: &[SessionEvent], has_archive: bool, model: Option<&str>) -> Self {
        let settings = serde_json::json!({
            "contract": CONTRACT,
            "settings": policy,
            "events": events,
            "archive": has_archive,
            "model": model,
        });
        Self { hash: output_hash(settings.to_string().as_bytes()), settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_decides_is_part_of_the_name() {
        let mut other = Policy::default();
        other.target = 50;
        let policy = Policy::default();
        let names = [
            NamedPolicy::of(&policy, &[], true, None),
            NamedPolicy::of(&policy, &[], false, None),
            NamedPolicy::of(&other, &[], true, None),
            NamedPolicy::of(&policy, &[], true, Some("gpt-4.1")),
            NamedPolicy::of(&policy, &[SessionEvent::too_long(3, 900)], true, None),
        ];
        let hashes: std::collections::BTreeSet<_> = names.iter().map(|name| name.hash.clone()).collect();
        assert_eq!(hashes.len(), names.len());
        assert_eq!(NamedPolicy::of(&policy, &[], true, None).hash, names[0].hash);
    }
}
