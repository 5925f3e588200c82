//! From policy file and flags to a compactor.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use etcetera::{BaseStrategy as _, choose_base_strategy};
use liveset::{
    Archive, Liveset, MemoryArchive, Policy, RecallRoute, SqliteArchive, Summarizer, SummaryKind, Thoroughness,
};
use liveset_archive::{DEFAULT_CAPACITY_BYTES, Options, Spill, Spilling, shown};
use liveset_summarize::{DEFAULT_TIMEOUT, Endpoint, ModelSummarizer};
use liveset_tokens::Tokens;

use crate::{
    args::{InputArgs, PolicyArgs, SummaryArgs},
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
    policy.recall_route = args.recall_route.clone().unwrap_or(policy.recall_route);
    policy.pins.extend(args.pin.iter().cloned());
    policy.summary.kind = args.summary.unwrap_or(policy.summary.kind);
    Ok(policy.checked()?)
}

/// Makes the compactor for one input.
pub(crate) fn liveset(input: &Input, args: &InputArgs, policy_args: &PolicyArgs) -> Result<Liveset, Failure> {
    Ok(liveset_of(policy(policy_args)?, input, args, policy_args))
}

/// The same with a writer of summaries, where one is named.
pub(crate) fn liveset_with(
    input: &Input,
    args: &InputArgs,
    policy_args: &PolicyArgs,
    summary: &SummaryArgs,
) -> Result<Liveset, Failure> {
    let mut policy = policy(policy_args)?;
    let summarizer = summarizer(summary, &mut policy)?;
    let liveset = liveset_of(policy, input, args, policy_args);
    Ok(match summarizer {
        Some(summarizer) => liveset.with_summarizer(summarizer),
        None => liveset,
    })
}

fn liveset_of(policy: Policy, input: &Input, args: &InputArgs, policy_args: &PolicyArgs) -> Liveset {
    let mut liveset = Liveset::new(policy).with_overhead(Tokens(args.overhead));
    if let Some(format) = input.format {
        liveset = liveset.with_format(format);
    }
    if let Some(model) = &policy_args.model {
        liveset = liveset.with_model(model);
    }
    liveset
}

/// Makes the writer of summaries, where one is named; lets the policy ask for it.
pub(crate) fn summarizer(args: &SummaryArgs, policy: &mut Policy) -> Result<Option<Arc<dyn Summarizer>>, Failure> {
    let (Some(url), Some(model)) = (&args.summary_url, &args.summary_model) else {
        return match policy.summary.kind {
            SummaryKind::Model => Err(Failure::usage("summaries are to be written by a model, and none is named")
                .hint("name one with --summary-url and --summary-model, or take --summary extractive")),
            SummaryKind::None | SummaryKind::Extractive => Ok(None),
        };
    };
    policy.summary.kind = SummaryKind::Model;
    let mut endpoint = Endpoint::new(url, model).map_err(Failure::usage)?;
    if let Some(path) = &args.summary_prompt {
        let prompt = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
        endpoint = endpoint.with_prompt(prompt).map_err(|error| Failure::usage(error).in_file(&shown(path)))?;
    }
    if let Some(path) = &args.summary_key_file {
        endpoint = endpoint.with_key(token(path)?);
    }
    endpoint = endpoint.with_timeout(summary_timeout(args));
    Ok(Some(Arc::new(ModelSummarizer::new(endpoint).map_err(Failure::store)?)))
}

/// How long an answer of the writer of summaries may take.
pub(crate) fn summary_timeout(args: &SummaryArgs) -> Duration {
    args.summary_timeout.map_or(DEFAULT_TIMEOUT, Duration::from_secs)
}

/// The same, checking everything twice.
pub(crate) fn paranoid(liveset: Liveset) -> Liveset {
    liveset.with_thoroughness(Thoroughness::Whole)
}

/// The same, planning as with an archive and storing nothing: what is cut depends on whether originals are kept.
pub(crate) fn as_if_archived(liveset: Liveset) -> Liveset {
    liveset.with_archive(Arc::new(MemoryArchive::new()))
}

/// Where the archive is: the file that is named, or the one of this user.
pub(crate) fn archive_place(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let folders = choose_base_strategy().map_err(|error| {
        Failure::store(format_args!("no place for the archive of this user: {error}"))
            .hint("name a file with --archive PATH, or store nothing with --no-archive")
    })?;
    Ok(folders.data_dir().join(FOLDER).join(FILE))
}

/// Folder and file of the archive of this user, below the folder for data of programs.
const FOLDER: &str = "liveset";
const FILE: &str = "archive.db";

/// Opens an archive file, making it where it is missing.
pub(crate) fn archive(path: &Path) -> Result<Arc<SqliteArchive>, Failure> {
    archive_of(path, DEFAULT_CAPACITY_BYTES)
}

/// The same with a capacity.
pub(crate) fn archive_of(path: &Path, capacity_bytes: u64) -> Result<Arc<SqliteArchive>, Failure> {
    open(path, capacity_bytes).map(Arc::new)
}

fn open(path: &Path, capacity_bytes: u64) -> Result<SqliteArchive, Failure> {
    let mut options = Options::default();
    options.capacity_bytes = capacity_bytes;
    SqliteArchive::open_with(path, options).map_err(Failure::from)
}

/// The archive that a run stores in. Where bodies name spilled files, these stand below the working folder before a body
/// goes out.
pub(crate) fn archive_for_run(
    path: &Path,
    capacity_bytes: u64,
    policy: &PolicyArgs,
) -> Result<Arc<dyn Archive>, Failure> {
    archive_by_route(path, capacity_bytes, &self::policy(policy)?)
}

/// The same for a policy that is read already.
pub(crate) fn archive_by_route(path: &Path, capacity_bytes: u64, policy: &Policy) -> Result<Arc<dyn Archive>, Failure> {
    match &policy.recall_route {
        RecallRoute::Spill(folder) => {
            let base = std::env::current_dir().map_err(|error| Failure::reading(Path::new("."), &error))?;
            let spill = Spill::new(base, folder.as_str())?;
            Ok(Arc::new(Spilling::new(open(path, capacity_bytes)?, spill)))
        }
        _ => Ok(archive_of(path, capacity_bytes)?),
    }
}

/// Opens an archive that is read: what is not there is not made.
pub(crate) fn existing_archive(named: Option<&Path>) -> Result<SqliteArchive, Failure> {
    let path = archive_place(named)?;
    if !path.exists() {
        let failure = Failure::store(format_args!("no archive at `{}`", shown(&path)));
        return Err(failure.hint(match named {
            Some(_) => "name the file that `compact --archive` wrote",
            None => "`compact` makes it; name another with --archive PATH",
        }));
    }
    SqliteArchive::open(path).map_err(Failure::from)
}

/// Reads a token out of its file; blanks around it are none of it.
pub(crate) fn token(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::reading(file, &error))?;
    match text.trim() {
        "" => Err(Failure::usage(format_args!("`{}` holds no token", shown(file)))
            .hint("write one line of random letters and digits to it, readable by you alone")),
        token => Ok(token.to_owned()),
    }
}

/// Ends when the process is asked to end, by the user or by whoever started it.
pub(crate) async fn asked_to_end() {
    let interrupted = async {
        // Where no signal can be waited for the process ends by it, as always.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
