//! A proxy that runs for one test.

use std::{path::PathBuf, sync::Arc, thread::JoinHandle};

use liveset::{Policy, SqliteArchive, Summarizer};
use liveset_archive::Options;
use liveset_proxy::{Proxy, ProxyConfig, Rules, UpstreamConfig};
use tokio::sync::oneshot;

use crate::{upstream::Upstream, wire::Client};

/// A proxy, its folder and its end.
pub(crate) struct Place {
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    folder: Arc<tempfile::TempDir>,
}

/// How a proxy is set up.
pub(crate) struct Setup {
    pub(crate) config: ProxyConfig,
    pub(crate) policy: Policy,
    pub(crate) archive: ArchiveOf,
    /// Bytes that the archive may take.
    pub(crate) capacity: Option<u64>,
    /// What writes summaries.
    pub(crate) summarizer: Option<Arc<dyn Summarizer>>,
    folder: Arc<tempfile::TempDir>,
}

/// Where originals go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveOf {
    Folder,
    Nowhere,
}

impl Setup {
    /// Sends everything to one upstream; bodies have a window of 20,000 tokens.
    pub(crate) fn to(upstream: &Upstream) -> Self {
        Self::to_url(&upstream.url())
    }

    pub(crate) fn to_url(url: &str) -> Self {
        let mut config = ProxyConfig::default();
        config.listen = "127.0.0.1:0".parse().unwrap();
        let mut every = UpstreamConfig::new("", url);
        every.formats = liveset::WireFormat::ALL.to_vec();
        config.upstream = vec![every];
        // A busy machine is no reason to send originals here.
        config.time_limit_ms = 60_000;
        let mut policy = Policy::default();
        policy.window = Some(20_000);
        policy.reserve = Some(2_000);
        Self {
            config,
            policy,
            archive: ArchiveOf::Folder,
            capacity: None,
            summarizer: None,
            folder: Arc::new(tempfile::tempdir().unwrap()),
        }
    }

    /// The same archive as another proxy's.
    pub(crate) fn beside(mut self, other: &Place) -> Self {
        self.folder = other.folder.clone();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn start(self) -> Place {
        let mut rules = Rules::new(self.policy);
        if self.archive == ArchiveOf::Folder {
            let mut options = Options::default();
            options.capacity_bytes = self.capacity.unwrap_or(options.capacity_bytes);
            let archive = SqliteArchive::open_with(self.folder.path().join("archive.db"), options).unwrap();
            let archive = Arc::new(archive);
            rules = rules.with_archive(archive.clone(), archive);
        }
        if let Some(summarizer) = self.summarizer {
            rules = rules.with_summarizer(summarizer);
        }
        let proxy = Proxy::bind(self.config, rules).unwrap();
        let address = proxy.url().strip_prefix("http://").unwrap().to_owned();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let stop = async { drop(stopped.await) };
            proxy.serve(stop, std::future::pending()).unwrap();
        });
        Place { address, stop: Some(stop), thread: Some(thread), folder: self.folder }
    }
}

impl Place {
    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.address)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A counter, by the start of its line.
    pub(crate) fn metric(&self, start: &str) -> u64 {
        let page = self.client().get("/liveset/metrics");
        let text = String::from_utf8(page.body).unwrap();
        let line = text.lines().find(|line| line.starts_with(start) && !line.starts_with('#'));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64)
    }

    /// Asks it to end; answers under way go on.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until it says of itself that it is about to end.
    pub(crate) fn wait_for_draining(&self) {
        for _ in 0..6_000 {
            let mut client = self.client();
            // A connection that came just before the end began is closed without a word.
            let _ = client.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
            if client.answer().is_some_and(|health| String::from_utf8_lossy(&health.body).contains("\"draining\"")) {
                return;
            }
            std::thread::yield_now();
        }
        panic!("it does not say that it is about to end");
    }

    /// Waits until it has ended.
    pub(crate) fn ended(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stop();
    }
}
