//! What can go wrong while the proxy starts or runs? Never what goes wrong with one request: that has an answer.

use std::{io, net::SocketAddr};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the proxy did not start, or stopped.
///
/// ```
/// use liveset_proxy::{Error, ProxyConfig};
/// let error = ProxyConfig::from_toml("listne = '127.0.0.1:1'").unwrap_err();
/// assert!(matches!(error, Error::Settings { .. }) && error.to_string().contains("listne"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is not what it should be.
    #[error("setting `{key}` is {found}, expected {expected}")]
    Setting {
        /// Its name in the file.
        key: &'static str,
        /// What stands there.
        found: String,
        /// What could.
        expected: &'static str,
    },
    /// The settings file is no TOML, or has a key that nobody knows.
    #[error("proxy settings: {why}")]
    Settings {
        /// What the reader says, in one line.
        why: String,
    },
    /// The address can be reached from other machines, and that was not asked for.
    #[error("{address} can be reached from other machines")]
    NotLocal {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        why: io::Error,
    },
    /// No certificate says whom to trust, and an upstream asks for TLS.
    #[error("no certificate authorities for upstreams over https: {why}")]
    NoRoots {
        /// What was found instead.
        why: io::Error,
    },
    /// A file of the log or of the capture cannot be written.
    #[error("cannot write `{path}`: {why}")]
    Write {
        /// The file or folder.
        path: String,
        /// What the system says.
        why: io::Error,
    },
    /// The system did not give what the server needs to run.
    #[error("the proxy cannot run: {why}")]
    Runtime {
        /// What the system says.
        why: io::Error,
    },
}
