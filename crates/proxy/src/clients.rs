//! What does each client have to be told? Lines to paste, for people; nothing here changes a client's configuration.
//!
//! Each vendor's client gets that vendor's prefix, so that no key goes to another one where a path names no dialect.
//! Checked against each client's own documentation; a client that reads no variable shows the lines of its file.

use std::fmt::Write as _;

/// One client, and what it has to be told; `{url}` stands for the proxy's address.
struct Client {
    name: &'static str,
    lines: &'static [&'static str],
}

const CLIENTS: [Client; 8] = [
    Client { name: "Claude Code, Anthropic SDKs", lines: &["export ANTHROPIC_BASE_URL={url}/anthropic"] },
    Client { name: "OpenAI SDKs", lines: &["export OPENAI_BASE_URL={url}/openai/v1"] },
    Client {
        name: "Codex, in ~/.codex/config.toml",
        lines: &[
            "model_provider = \"liveset\"",
            "[model_providers.liveset]",
            "name = \"OpenAI through liveset\"",
            "base_url = \"{url}/openai/v1\"",
            "env_key = \"OPENAI_API_KEY\"",
            "wire_api = \"responses\"",
        ],
    },
    Client {
        name: "opencode, in opencode.json",
        lines: &[
            "{\"provider\": {",
            "  \"anthropic\": {\"options\": {\"baseURL\": \"{url}/anthropic/v1\"}},",
            "  \"openai\": {\"options\": {\"baseURL\": \"{url}/openai/v1\"}}",
            "}}",
        ],
    },
    Client { name: "goose", lines: &["export ANTHROPIC_HOST={url}/anthropic", "export OPENAI_HOST={url}/openai"] },
    Client {
        name: "aider",
        lines: &["export ANTHROPIC_API_BASE={url}/anthropic", "export OPENAI_API_BASE={url}/openai/v1"],
    },
    Client {
        name: "LiteLLM, in the `litellm_params` of a model",
        lines: &["api_base: {url}/anthropic     # anthropic/...", "api_base: {url}/openai/v1     # openai/..."],
    },
    Client {
        name: "another vendor or a local server: start with",
        lines: &["liveset proxy --upstream /local=http://127.0.0.1:8080", "export OPENAI_BASE_URL={url}/local/v1"],
    },
];

/// Tells for each client what to set, so that it goes through the proxy at `url`.
///
/// ```
/// let instructions = liveset_proxy::clients::instructions("http://127.0.0.1:8787");
/// assert!(instructions.contains("export ANTHROPIC_BASE_URL=http://127.0.0.1:8787/anthropic\n"));
/// ```
#[must_use]
pub fn instructions(url: &str) -> String {
    let mut instructions = String::new();
    for client in CLIENTS {
        // Writing to memory does not fail.
        let _ = writeln!(instructions, "# {}", client.name);
        for line in client.lines {
            let _ = writeln!(instructions, "{}", line.replace("{url}", url));
        }
        instructions.push('\n');
    }
    instructions
}
