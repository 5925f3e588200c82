//! Which settings does the proxy have? Each once, with its default; flags and the settings file come from here.
//!
//! Reads text it is handed, never a file or the environment. What is cut is the policy's business, not this one's.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use liveset::WireFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// More connections than a process may have descriptors for.
const MAX_CONNECTIONS: usize = 65_536;
/// More threads than any machine has use for.
const MAX_COMPACTIONS: usize = 1_024;
/// A quarter of the memory that all bodies together may take.
const MAX_BODY_BYTES: usize = 256 << 20;
/// No client waits longer for the first byte of an answer.
const MAX_TIME_MS: u64 = 600_000;

/// Every setting of the proxy, besides the policy.
///
/// ```
/// use liveset_proxy::ProxyConfig;
/// let config = ProxyConfig::from_toml("time_limit_ms = 500\n[[upstream]]\nprefix = \"/local\"\nbase_url = \"http://127.0.0.1:8080\"\n")?;
/// assert_eq!(config.time_limit_ms, 500);
/// assert_eq!(config.upstream[0].prefix, "/local");
/// # Ok::<(), liveset_proxy::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProxyConfig {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Lets other machines connect, where `listen` can be reached from them.
    pub allow_remote: bool,
    /// Where requests go, beside the two vendors that are known; the first that fits is taken.
    pub upstream: Vec<UpstreamConfig>,
    /// What is done with a compacted body.
    pub effect: Effect,
    /// What is done where a body cannot be compacted with certainty.
    pub doubt: Doubt,
    /// Milliseconds that a compaction may take, the wait for a free thread included; then the original goes out.
    pub time_limit_ms: u64,
    /// Compactions at one time; 0 is one for each core.
    pub compactions: usize,
    /// Bytes of memory for what conversations have counted and decided; losing it costs time and changes no byte.
    pub cache_bytes: usize,
    /// Connections of clients at one time; others wait to be accepted.
    pub connections: usize,
    /// Largest request body that is looked at; a larger one streams through untouched.
    pub max_body_bytes: usize,
    /// File that gets a line of JSON for each request: hashes and figures, never content.
    pub log: Option<PathBuf>,
    /// Folder that gets the full traffic, without credentials.
    pub capture: Option<PathBuf>,
    /// Token that clients must send as `x-liveset-token`; set from a file, never in the settings.
    #[serde(skip)]
    pub client_token: Option<String>,
}

/// One place that requests go to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct UpstreamConfig {
    /// Path that leads there, such as `/local`; it is taken off. Empty: requests without a known prefix.
    pub prefix: String,
    /// Scheme, host and path that the rest of the request's path is put behind.
    pub base_url: String,
    /// Formats of requests without a prefix that go there; none: only by prefix.
    pub formats: Vec<WireFormat>,
}

impl UpstreamConfig {
    /// Makes the place that `prefix` leads to.
    ///
    /// ```
    /// let local = liveset_proxy::UpstreamConfig::new("/local", "http://127.0.0.1:8080");
    /// assert!(local.formats.is_empty());
    /// ```
    #[must_use]
    pub fn new(prefix: impl Into<String>, base_url: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), base_url: base_url.into(), formats: Vec::new() }
    }
}

/// What is done with a compacted body.
///
/// ```
/// assert_eq!(liveset_proxy::Effect::default(), liveset_proxy::Effect::Send);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It is sent.
    #[default]
    Send,
    /// It is reported, and the original is sent.
    Shadow,
}

/// What is done where a body cannot be compacted with certainty.
///
/// ```
/// assert_eq!(liveset_proxy::Doubt::default(), liveset_proxy::Doubt::Original);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The original is sent, counted and named in the answer's headers.
    #[default]
    Original,
    /// The request is refused, in the vendor's words.
    Refuse,
}

impl Default for ProxyConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8787),
            allow_remote: false,
            upstream: Vec::new(),
            effect: Effect::Send,
            doubt: Doubt::Original,
            // A first sight of a million tokens takes a few hundred milliseconds on one core; a busy machine ten times that.
            time_limit_ms: 5_000,
            compactions: 0,
            cache_bytes: 256 << 20,
            connections: 1_024,
            // Twice the largest request that a vendor takes.
            max_body_bytes: 64 << 20,
            log: None,
            capture: None,
            client_token: None,
        }
    }
}

impl ProxyConfig {
    /// Reads a settings file; what it does not name keeps its default.
    ///
    /// ```
    /// use liveset_proxy::{Effect, ProxyConfig};
    /// assert_eq!(ProxyConfig::from_toml("effect = 'shadow'")?.effect, Effect::Shadow);
    /// assert!(ProxyConfig::from_toml("efect = 'shadow'").is_err());
    /// # Ok::<(), liveset_proxy::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Settings`].
    pub fn from_toml(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| Error::Settings { why: error.message().replace('\n', " ") })
    }

    /// Gives the published JSON schema of settings files.
    ///
    /// ```
    /// assert!(liveset_proxy::ProxyConfig::json_schema().contains("time_limit_ms"));
    /// ```
    #[must_use]
    pub fn json_schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(Self)).unwrap_or_default()
    }

    /// Looks whether the settings can hold together.
    ///
    /// ```
    /// use liveset_proxy::ProxyConfig;
    /// let mut config = ProxyConfig::default();
    /// config.listen = "0.0.0.0:8787".parse()?;
    /// assert!(config.clone().checked().is_err(), "others could connect");
    /// config.allow_remote = true;
    /// assert!(config.checked().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotLocal`], [`Error::Setting`].
    pub fn checked(self) -> Result<Self> {
        if !self.listen.ip().is_loopback() && !self.allow_remote {
            return Err(Error::NotLocal { address: self.listen });
        }
        let wrong = |key, found: &str, expected| Err(Error::Setting { key, found: format!("`{found}`"), expected });
        if (self.effect, self.doubt) == (Effect::Shadow, Doubt::Refuse) {
            return wrong("effect", "shadow", "`send` where `doubt` is `refuse`: a shadow refuses nothing");
        }
        if !(1..=MAX_CONNECTIONS).contains(&self.connections) {
            return wrong("connections", &self.connections.to_string(), "1 to 65536");
        }
        if self.compactions > MAX_COMPACTIONS {
            return wrong("compactions", &self.compactions.to_string(), "at most 1024");
        }
        if self.max_body_bytes > MAX_BODY_BYTES {
            return wrong("max_body_bytes", &self.max_body_bytes.to_string(), "at most 268435456");
        }
        if self.time_limit_ms > MAX_TIME_MS {
            return wrong("time_limit_ms", &self.time_limit_ms.to_string(), "at most 600000");
        }
        for upstream in &self.upstream {
            let prefix = &upstream.prefix;
            if !prefix.is_empty() && (!prefix.starts_with('/') || prefix.ends_with('/')) {
                return wrong("upstream.prefix", prefix, "a path such as `/local`");
            }
            if prefix.starts_with("/liveset") || prefix == "/healthz" {
                return wrong("upstream.prefix", prefix, "a path that is not the proxy's own");
            }
            if prefix.is_empty() && upstream.formats.is_empty() {
                return wrong("upstream.formats", "empty", "a format, where there is no `prefix`");
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_nobody_knows_is_an_error_that_names_it() {
        let error = ProxyConfig::from_toml("listne = '127.0.0.1:1'").unwrap_err().to_string();
        assert!(error.contains("listne") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn settings_that_could_not_work_are_refused_by_name() {
        let refused = |text: &str| {
            let error = ProxyConfig::from_toml(text).unwrap().checked().unwrap_err().to_string();
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        };
        refused("connections = 0");
        refused("connections = 4611686018427387904");
        refused("compactions = 4611686018427387904");
        refused("max_body_bytes = 4611686018427387904");
        refused("time_limit_ms = 4611686018427387904");
        refused("effect = 'shadow'\ndoubt = 'refuse'");
    }

    #[test]
    fn a_place_must_be_reachable_by_something() {
        let of = |prefix: &str| {
            let upstream = vec![UpstreamConfig::new(prefix, "http://localhost:1")];
            ProxyConfig { upstream, ..ProxyConfig::default() }.checked()
        };
        assert!(of("/local").is_ok());
        for wrong in ["", "local", "/local/", "/liveset"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
