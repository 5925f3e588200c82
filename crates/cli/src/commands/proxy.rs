//! `liveset proxy`: the same over HTTP.

use std::{path::Path, sync::Arc};

use liveset::{RecallRoute, Thoroughness};
use liveset_archive::{Spill, Spilling, shown};
use liveset_proxy::{Doubt, Effect, Error, Proxy, ProxyConfig, Rules, clients};

use crate::{args, failure::Failure, output, setup};

/// The longest that the proxy lets a compaction take.
const MAX_TIME_LIMIT_MS: u64 = 600_000;

pub(crate) fn run(args: &args::Proxy) -> Result<u8, Failure> {
    let config = config(args)?;
    if args.print_env {
        return output::text(&clients::instructions(&format!("http://{}", config.listen))).map(|()| 0);
    }
    let doubt = config.doubt;
    let proxy = Proxy::bind(config, rules(args)?).map_err(failure)?;
    output::note(&format!("liveset: proxy at {}\n", proxy.url()));
    if doubt == Doubt::Original {
        output::note("note: what cannot be compacted with certainty is sent as it came; --strict refuses it\n");
    }
    let runtime = Signals::new();
    proxy.serve(runtime.first(), runtime.second()).map_err(failure)?;
    Ok(0)
}

/// Reads the settings file, if any, and lays the flags over it.
fn config(args: &args::Proxy) -> Result<ProxyConfig, Failure> {
    let mut config = match &args.config {
        None => ProxyConfig::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
            ProxyConfig::from_toml(&text).map_err(|error| failure(error).in_file(&shown(path)))?
        }
    };
    config.listen = args.listen.unwrap_or(config.listen);
    config.allow_remote |= args.allow_remote;
    config.upstream.splice(0..0, args.upstream.iter().cloned());
    if args.shadow {
        config.effect = Effect::Shadow;
    }
    if args.strict {
        config.doubt = Doubt::Refuse;
    }
    config.time_limit_ms = args.time_limit_ms.unwrap_or(config.time_limit_ms);
    if args.summarizer.summary_url.is_some() {
        let wait = u64::try_from(setup::summary_timeout(&args.summarizer).as_millis()).unwrap_or(u64::MAX);
        // For one body a model is asked twice at most.
        config.time_limit_ms = config.time_limit_ms.saturating_add(wait.saturating_mul(2)).min(MAX_TIME_LIMIT_MS);
    }
    config.log = args.log.clone().or(config.log);
    config.capture = args.capture.clone().or(config.capture);
    config.client_token = args.client_token_file.as_deref().map(setup::token).transpose()?;
    config.checked().map_err(failure)
}

fn rules(args: &args::Proxy) -> Result<Rules, Failure> {
    let mut policy = setup::policy(&args.policy)?;
    let summarizer = setup::summarizer(&args.summarizer, &mut policy)?;
    let route = policy.recall_route.clone();
    let mut rules = Rules::new(policy);
    if let Some(model) = &args.policy.model {
        rules = rules.with_model(model);
    }
    if let Some(summarizer) = summarizer {
        rules = rules.with_summarizer(summarizer);
    }
    if args.paranoid {
        rules = rules.with_thoroughness(Thoroughness::Whole);
    }
    if args.archive.no_archive {
        return Ok(rules);
    }
    let place = setup::archive_place(args.archive.archive.as_deref())?;
    let archive = setup::archive_of(&place, args.archive.archive_capacity)?;
    if args.archive.strict_sessions {
        rules = rules.with_strict_sessions();
    }
    Ok(match route {
        RecallRoute::Spill(folder) => {
            let base = std::env::current_dir().map_err(|error| Failure::reading(Path::new("."), &error))?;
            let spilling = Spilling::new(archive.clone(), Spill::new(base, folder.as_str())?);
            rules.with_archive(Arc::new(spilling), archive)
        }
        _ => rules.with_archive(archive.clone(), archive),
    })
}

/// The user's wish that the process ends: the first time in order, the second time at once.
struct Signals(Arc<tokio::sync::Semaphore>);

impl Signals {
    fn new() -> Self {
        Self(Arc::new(tokio::sync::Semaphore::new(0)))
    }

    /// Ends at the first signal; from then on the next one is waited for.
    fn first(&self) -> impl Future<Output = ()> + Send + use<> {
        let seen = self.0.clone();
        async move {
            setup::asked_to_end().await;
            seen.add_permits(1);
        }
    }

    /// Ends at the second signal.
    fn second(&self) -> impl Future<Output = ()> + Send + use<> {
        let seen = self.0.clone();
        async move {
            let _first = seen.acquire().await;
            setup::asked_to_end().await;
        }
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::NotLocal { .. } => {
            Failure::usage(error).hint("listen on 127.0.0.1, or add --allow-remote, best with --client-token-file")
        }
        Error::Listen { .. } => Failure::usage(error).hint("take another port, or port 0 for any free one"),
        Error::Setting { .. } | Error::Settings { .. } => {
            Failure::usage(error).hint("`liveset proxy --help` describes the settings")
        }
        Error::NoRoots { .. } => Failure::store(error).hint("install the system's certificates, or set SSL_CERT_FILE"),
        _ => Failure::store(error),
    }
}
