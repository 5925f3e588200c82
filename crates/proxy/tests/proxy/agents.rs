//! Do agents work through the proxy as they are? Codex, for one task of many calls.
//!
//! Installs it itself, into the folder of this build, and runs it without an account against a scripted upstream. Where
//! there is no npm or no registry the test of that agent says so on standard error and checks nothing.

mod script;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    installing::{done, home, skipped},
    place::{Place, Setup},
    upstream::Upstream,
};

/// Seconds that an agent, or its installation, may take on a busy machine.
const RUN_TIME: &str = "240";
const INSTALL_TIME: &str = "600";
/// Room for what each agent says of itself and its tools, and for some of the results.
const WINDOW_TOKENS: u64 = 50_000;
const TASK: &str = "count with the tool, again and again";

/// An agent, and how it is started.
struct Agent {
    name: &'static str,
    package: &'static str,
    program: &'static str,
    /// Makes the command out of the proxy's address.
    prepare: fn(&mut Command, url: &str),
}

const CODEX: Agent = Agent {
    name: "agent-codex",
    package: "@openai/codex@0.171",
    program: "codex",
    prepare: |command, url| {
        // Its own provider, which asks for a WebSocket first.
        let base_url = format!("openai_base_url=\"{url}/openai/v1\"");
        command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
        command.args(["-m", "gpt-5.1-codex", "-c", &base_url, TASK]).env("CODEX_API_KEY", "sk-none");
    },
};

fn check(agent: &Agent) {
    let program = match installed(agent) {
        Ok(program) => program,
        Err(why) => return skipped(agent.package, &format!("was {why}")),
    };
    let upstream = Upstream::new(script::to);
    let mut setup = Setup::to(&upstream);
    setup.policy.window = Some(WINDOW_TOKENS);
    let place = setup.start();
    let said = run(agent, &program, &place);
    assert!(said.contains(script::LAST_WORDS), "{said}");
    let asked = upstream.seen().into_iter().filter(script::is_of_the_task).count();
    assert_eq!(asked, script::CALLS + 1, "one request for each call, none asked again");
    let sweeps = place.metric("liveset_sweeps_total");
    assert!(sweeps > 0, "a task so long is cut");
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"true\"}"), sweeps, "each turn goes on exactly");
    for reason in ["body", "encoding", "too_large", "unknown_model", "archive", "verify", "time_limit", "stopped"] {
        assert_eq!(place.metric(&format!("liveset_fallbacks_total{{reason=\"{reason}\"}}")), 0, "{reason}");
    }
}

#[test]
fn codex_works_as_it_is() {
    check(&CODEX);
}

/// Lets the agent do its task in a folder of its own, and gives what it says.
fn run(agent: &Agent, program: &Path, place: &Place) -> String {
    let folder = tempfile::tempdir().unwrap();
    done(Command::new("git").args(["init", "--quiet"]).current_dir(folder.path())).unwrap();
    let mut command = Command::new("timeout");
    // Neither the settings nor the accounts of whoever runs the test.
    command.arg(RUN_TIME).arg(program).current_dir(folder.path()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder.path());
    (agent.prepare)(&mut command, &format!("http://{}", place.address));
    let run = command.stdin(Stdio::null()).output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{}: {}{}", run.status, said(&run.stdout), said(&run.stderr));
    said(&run.stdout)
}

/// Installs the agent where an earlier run did not.
fn installed(agent: &Agent) -> Result<PathBuf, String> {
    let folder = home(agent.name)?;
    let program = folder.join("node_modules/.bin").join(agent.program);
    if !program.exists() {
        fs::write(folder.join("package.json"), r#"{"private": true}"#).map_err(|error| error.to_string())?;
        let flags = [INSTALL_TIME, "npm", "install", "--no-audit", "--no-fund", "--silent", agent.package];
        done(Command::new("timeout").args(flags).current_dir(&folder))?;
    }
    Ok(program)
}
