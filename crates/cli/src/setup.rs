//! From policy file and flags to a compactor.

use std::{path::Path, sync::Arc};

use liveset::{Liveset, MemoryArchive, Policy, SqliteArchive, Thoroughness};
use liveset_archive::shown;
use liveset_tokens::Tokens;

use crate::{
    args::{InputArgs, PolicyArgs},
    failure::Failure,
    input::Input,
};

/// Reads the policy file; without one the defaults hold.
pub(crate) fn file_policy(file: Option<&Path>) -> Result<Policy, Failure> {
    let Some(path) = file else { return Ok(Policy::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    Policy::from_toml(&text).map_err(|error| Failure::from(error).in_file(&shown(path)))
}

/// Reads the policy file, if any, and lays the flags over it.
pub(crate) fn policy(args: &PolicyArgs) -> Result<Policy, Failure> {
    let mut policy = file_policy(args.policy.as_deref())?;
    policy.preset = args.preset.unwrap_or(policy.preset);
    policy.window = args.window.or(policy.window);
    policy.default_window = args.default_window.or(policy.default_window);
    policy.reserve = args.reserve.or(policy.reserve);
    policy.trigger = args.trigger.unwrap_or(policy.trigger);
    policy.target = match (args.target, args.trigger) {
        (Some(target), _) => target,
        // A trigger under the usual target brings it down with it.
        (None, Some(trigger)) => policy.target.min(trigger),
        (None, None) => policy.target,
    };
    policy.min_gain = args.min_gain.unwrap_or(policy.min_gain);
    policy.min_sweep_gain = args.min_sweep_gain.unwrap_or(policy.min_sweep_gain);
    policy.keep_media = args.keep_media.unwrap_or(policy.keep_media);
    policy.pins.extend(args.pin.iter().cloned());
    Ok(policy.checked()?)
}

/// Makes the compactor for one input.
pub(crate) fn liveset(input: &Input, args: &InputArgs, policy_args: &PolicyArgs) -> Result<Liveset, Failure> {
    let mut liveset = Liveset::new(policy(policy_args)?).with_overhead(Tokens(args.overhead));
    if let Some(format) = input.format {
        liveset = liveset.with_format(format);
    }
    if let Some(model) = &policy_args.model {
        liveset = liveset.with_model(model);
    }
    Ok(liveset)
}

/// The same, checking everything twice.
pub(crate) fn paranoid(liveset: Liveset) -> Liveset {
    liveset.with_thoroughness(Thoroughness::Whole)
}

/// The same, planning as with an archive and storing nothing: what is cut depends on whether originals are kept.
pub(crate) fn as_if_archived(liveset: Liveset) -> Liveset {
    liveset.with_archive(Arc::new(MemoryArchive::new()))
}

/// Opens an archive file.
pub(crate) fn archive(path: &Path) -> Result<Arc<SqliteArchive>, Failure> {
    SqliteArchive::open(path).map(Arc::new).map_err(Failure::from)
}
