//! The words of `liveset proxy`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use liveset::WireFormat;
use liveset_proxy::UpstreamConfig;

use super::{ArchiveUseArgs, PolicyArgs, SummaryArgs};

const EXAMPLES: &str = "Examples:
  liveset proxy
  liveset proxy --print-env
  liveset proxy --upstream /local=http://127.0.0.1:8080 --default-window 32768
  liveset proxy --upstream anthropic=https://gateway.example/anthropic --shadow --log proxy.jsonl

Requests to /v1/messages, /v1/chat/completions and /v1/responses are compacted, everything else goes through as it is.
Without --upstream they go to api.anthropic.com and api.openai.com. Pages: /healthz, /liveset/metrics, /liveset/sessions.
A request with the header `x-liveset-bypass: 1` goes through as it is.";

/// Arguments of `proxy`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Proxy {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Let other machines connect, where --listen can be reached from them
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Where requests go: /PREFIX=URL or FORMAT=URL; may be repeated
    #[arg(long, value_name = "WHAT=URL", value_parser = upstream)]
    pub(crate) upstream: Vec<UpstreamConfig>,
    /// Settings of the proxy (TOML); flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Say what to set for each client, and end
    #[arg(long)]
    pub(crate) print_env: bool,
    /// Compact and report only: send every body as it came
    #[arg(long)]
    pub(crate) shadow: bool,
    /// Refuse what cannot be compacted with certainty, instead of sending it as it came
    #[arg(long, conflicts_with = "shadow")]
    pub(crate) strict: bool,
    /// Answer only clients that send the token in this file as `x-liveset-token`
    #[arg(long, value_name = "FILE")]
    pub(crate) client_token_file: Option<PathBuf>,
    /// Append a line of JSON for each request: hashes and figures, never content
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write the full traffic to this folder, without credentials
    #[arg(long, value_name = "FOLDER")]
    pub(crate) capture: Option<PathBuf>,
    /// Milliseconds that a compaction may take beside what a summary waits for; then the body goes out as it came
    /// [default: 5000]
    #[arg(long, value_name = "MS")]
    pub(crate) time_limit_ms: Option<u64>,
    /// Read and count each edited body a second time before it goes out
    #[arg(long)]
    pub(crate) paranoid: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) archive: ArchiveUseArgs,
    #[command(flatten)]
    pub(crate) summarizer: SummaryArgs,
}

/// Reads `/PREFIX=URL` or `FORMAT=URL`.
fn upstream(text: &str) -> Result<UpstreamConfig, String> {
    let (what, url) = text.split_once('=').ok_or("expected /PREFIX=URL or FORMAT=URL")?;
    if what.starts_with('/') {
        return Ok(UpstreamConfig::new(what, url));
    }
    let format = WireFormat::ALL.into_iter().find(|format| format.name() == what);
    let names = WireFormat::ALL.map(WireFormat::name).join(", ");
    let format = format.ok_or_else(|| format!("`{what}` is no format: {names}"))?;
    let mut upstream = UpstreamConfig::new("", url);
    upstream.formats = vec![format];
    Ok(upstream)
}

#[cfg(test)]
mod tests {
    use liveset_proxy::ProxyConfig;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn an_upstream_is_named_by_prefix_or_format() {
        assert_eq!(upstream("/a=http://b").unwrap().prefix, "/a");
        assert_eq!(upstream("openai-chat=http://b").unwrap().formats, [WireFormat::OpenaiChat]);
        assert!(upstream("gemini=http://b").unwrap_err().contains("anthropic"));
        assert!(upstream("http://b").is_err());
    }

    #[test]
    fn the_help_names_the_defaults_of_the_proxy() {
        use clap::CommandFactory as _;
        let command = Arguments::command();
        let proxy = command.find_subcommand("proxy").unwrap();
        let default = ProxyConfig::default();
        for (flag, default) in
            [("listen", default.listen.to_string()), ("time_limit_ms", default.time_limit_ms.to_string())]
        {
            let flag = proxy.get_arguments().find(|argument| argument.get_id() == flag).unwrap();
            assert!(flag.get_help().unwrap().to_string().ends_with(&format!("[default: {default}]")), "{flag}");
        }
    }
}
