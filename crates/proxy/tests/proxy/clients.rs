//! Do the official SDKs see through the proxy what they see without it? Python and TypeScript, of both vendors.
//!
//! Installs the SDKs itself, into the folder of this build. Where there is no Python, no Node.js or no registry the test
//! of that SDK says so on standard error and checks nothing.

mod answers;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    installing::{done, home, python_with, skipped},
    place::Setup,
    upstream::Upstream,
};

/// Versions that the scripts are written for.
const PYTHON: [&str; 2] = ["openai>=3,<4", "anthropic>=2,<3"];
const TYPESCRIPT: [&str; 2] = ["openai@6", "@anthropic-ai/sdk@1"];
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proxy/clients");

/// How the SDKs of one language are started.
struct Sdk {
    program: PathBuf,
    script: PathBuf,
}

impl Sdk {
    /// What the client saw, as it prints it.
    fn sees(&self, base_url: &str, rounds: usize) -> Value {
        let mut command = Command::new(&self.program);
        command.arg(&self.script).arg(base_url).arg(rounds.to_string());
        // Whatever this machine is set up to go through is not what is tried.
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(name);
        }
        let run = command.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        serde_json::from_slice(&run.stdout).unwrap()
    }
}

fn check(sdk: &Sdk) {
    let upstream = Upstream::new(answers::to);
    let place = Setup::to(&upstream).start();
    let direct = sdk.sees(&upstream.url(), 1);
    let bodies =
        |from: usize| -> Vec<Vec<u8>> { upstream.seen().into_iter().skip(from).map(|seen| seen.body).collect() };
    let (asked, sent) = (bodies(0), upstream.seen().len());
    let url = format!("http://{}", place.address);
    assert_eq!(sdk.sees(&url, 1), direct, "short conversations");
    assert_eq!(bodies(sent), asked, "to the byte");
    let sent = upstream.seen().len();
    assert_eq!(sdk.sees(&url, 40), direct, "long ones, cut on their way");
    let cut = bodies(sent);
    assert_eq!(cut.len(), asked.len());
    // Pictures come in conversations of their own; all others have lost most of their results.
    let longest = cut.iter().map(Vec::len).max().unwrap();
    assert!(longest < 40 * 2_500 * 2 / 3, "{longest} bytes");
    assert_eq!(place.metric("liveset_fallbacks_total{reason=\"body\"}"), 0);
    upstream.wait_for_gone(3);
}

#[test]
fn the_python_sdks_see_what_they_would_see_without_us() {
    match python() {
        Ok(sdk) => check(&sdk),
        Err(why) => skipped("the official Python SDKs were", &why),
    }
}

#[test]
fn the_typescript_sdks_see_what_they_would_see_without_us() {
    match typescript() {
        Ok(sdk) => check(&sdk),
        Err(why) => skipped("the official TypeScript SDKs were", &why),
    }
}

/// Installs the SDKs where an earlier run did not.
fn python() -> Result<Sdk, String> {
    let program = python_with("proxy-python", "import openai, anthropic", &PYTHON)?;
    Ok(Sdk { program, script: Path::new(SCRIPTS).join("client.py") })
}

fn typescript() -> Result<Sdk, String> {
    let folder = home("proxy-typescript")?;
    let is_there = |name: &str| folder.join("node_modules").join(name).join("package.json").is_file();
    if !is_there("openai") || !is_there("@anthropic-ai/sdk") {
        fs::write(folder.join("package.json"), r#"{"private": true}"#).map_err(|error| error.to_string())?;
        let flags = ["install", "--no-audit", "--no-fund", "--silent"];
        done(Command::new("npm").args(flags).args(TYPESCRIPT).current_dir(&folder))?;
    }
    // A module is looked for beside the script.
    let script = folder.join("client.mjs");
    fs::copy(Path::new(SCRIPTS).join("client.mjs"), &script).map_err(|error| error.to_string())?;
    Ok(Sdk { program: "node".into(), script })
}
