//! Do agents work through the proxy as they are? Claude Code, Codex and opencode, for one task of many calls.
//!
//! Installs each itself, into the folder of this build, and runs it without an account against a scripted upstream. Where
//! there is no npm or no registry the test of that agent says so on standard error and checks nothing.

mod script;

use std::{
    fs,
    io::{BufRead as _, BufReader},
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
const TASK: &str = "count with the tool, again and again";

/// An agent, and how it is started.
struct Agent {
    name: &'static str,
    package: &'static str,
    program: &'static str,
    /// Room for what it says of itself and its tools, and for some of the results.
    window_tokens: u64,
    /// Makes the command out of the proxy's address.
    prepare: fn(&mut Command, url: &str),
}

const CODEX: Agent = Agent {
    name: "agent-codex",
    package: "@openai/codex@0.171",
    program: "codex",
    window_tokens: 50_000,
    prepare: |command, url| {
        // Its own provider, which asks for a WebSocket first.
        let base_url = format!("openai_base_url=\"{url}/openai/v1\"");
        command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
        command.args(["-m", "gpt-5.1-codex", "-c", &base_url, TASK]).env("CODEX_API_KEY", "sk-none");
    },
};

const CLAUDE_CODE: Agent = Agent {
    name: "agent-claude-code",
    package: "@anthropic-ai/claude-code@2.1.197",
    program: "claude",
    window_tokens: 90_000,
    prepare: |command, url| {
        // The one command that the script asks for, and nothing else.
        command.args(["-p", "--allowedTools", "Bash(seq:*)", "--", TASK]);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "sk-none");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    },
};

const OPENCODE: Agent = Agent {
    name: "agent-opencode",
    package: "opencode-ai@1.18.33",
    program: "opencode",
    window_tokens: 30_000,
    prepare: |command, url| {
        let config = serde_json::json!({
            "share": "disabled", "autoupdate": false, "permission": {"bash": {"*": "deny", "seq *": "allow"}},
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {"tool_call": true}},
                "options": {"baseURL": format!("{url}/v1"), "apiKey": "sk-none"}}},
        });
        command.args(["run", "-m", "scripted/m", TASK]).env("OPENCODE_CONFIG_CONTENT", config.to_string());
        ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"].iter().for_each(|what| {
            command.env(format!("OPENCODE_DISABLE_{what}"), "1");
        });
    },
};

/// Lets the agent do the whole task through a proxy, and gives the proxy; `None` where there is no such agent here.
fn check(agent: &Agent) -> Option<Place> {
    let program = program_of(agent)?;
    let upstream = Upstream::new(script::to);
    let mut setup = Setup::to(&upstream);
    setup.policy.window = Some(agent.window_tokens);
    let place = setup.start();
    let said = run(agent, &program, &place);
    assert!(said.contains(script::LAST_WORDS), "{said}");
    let asked: Vec<_> = upstream.seen().into_iter().filter(script::is_of_the_task).collect();
    assert_eq!(asked.len(), script::CALLS + 1, "one request for each call, none asked again");
    assert!(place.metric("liveset_sweeps_total") > 0, "a task so long is cut");
    assert_eq!(place.metric("liveset_prefix_changes_total{declared=\"false\"}"), 0);
    // A sweep of nothing but what never left before changes no prefix: what the upstream saw is what counts.
    let changed = asked.windows(2).filter(|pair| !script::goes_on(&pair[0], &pair[1])).count();
    assert!(changed < script::CALLS, "some turns go on exactly");
    let declared = place.metric("liveset_prefix_changes_total{declared=\"true\"}");
    assert_eq!(declared, changed as u64, "each change of what had left was declared");
    for reason in ["body", "encoding", "too_large", "unknown_model", "archive", "verify", "time_limit", "stopped"] {
        assert_eq!(place.metric(&format!("liveset_fallbacks_total{{reason=\"{reason}\"}}")), 0, "{reason}");
    }
    Some(place)
}

#[test]
fn codex_works_as_it_is() {
    check(&CODEX);
}

#[test]
fn claude_code_works_as_it_is() {
    let Some(place) = check(&CLAUDE_CODE) else { return };
    assert!(place.metric("liveset_edits_total{rule=\"fold\"}") > 0, "the task goes on where calls are folded");
}

#[test]
fn opencode_works_as_it_is() {
    check(&OPENCODE);
}

/// An answer reaches the agent while the upstream still writes it.
#[test]
fn claude_code_hears_the_words_before_the_answer_ends() {
    let Some(program) = program_of(&CLAUDE_CODE) else { return };
    let upstream = Upstream::new(script::held);
    let place = Setup::to(&upstream).start();
    let home = tempfile::tempdir().unwrap();
    let mut command = command(&program, home.path());
    command.args(["--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    (CLAUDE_CODE.prepare)(&mut command, &format!("http://{}", place.address));
    let mut agent = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(agent.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The upstream waits for this very line before it goes on, so that it cannot come of an answer that has ended.
    let is_heard = said.any(|line| line.contains("text_delta") && line.contains(script::LAST_WORDS));
    assert!(is_heard, "the words came before the end of the answer");
    upstream.go_on();
    assert!(said.any(|line| line.contains("message_stop")), "and then the end");
    said.for_each(drop);
    assert!(agent.wait().unwrap().success());
}

/// Lets the agent do its task, and gives what it says.
fn run(agent: &Agent, program: &Path, place: &Place) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(program, home.path());
    (agent.prepare)(&mut command, &format!("http://{}", place.address));
    let run = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(run.status.success(), "{}: {}{}", run.status, said(&run.stdout), said(&run.stderr));
    said(&run.stdout)
}

/// Starts the program in a folder of its own, with neither the settings nor the accounts of whoever runs the test.
fn command(program: &Path, home: &Path) -> Command {
    // Not the home itself: agents keep copies of the folder they work in at home.
    let work = home.join("work");
    done(Command::new("git").args(["init", "--quiet"]).arg(&work)).unwrap();
    let mut command = Command::new("timeout");
    command.arg(RUN_TIME).arg(program).current_dir(work).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home);
    command
}

/// The agent's program; says so where there is none.
fn program_of(agent: &Agent) -> Option<PathBuf> {
    installed(agent).inspect_err(|why| skipped(agent.package, why)).ok()
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
