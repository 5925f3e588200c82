//! Do real MCP clients understand the server? The official Python and TypeScript SDKs, over both transports.
//!
//! Installs the SDKs itself, into the folder of this build. Where there is no Python, no Node.js or no registry the test
//! of that SDK says so on standard error and checks nothing.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]
#![expect(clippy::print_stderr, reason = "a test that checks nothing says so")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use liveset_archive::{Archive as _, Release, Source, SqliteArchive};
use serde_json::{Value, json};

/// Versions that the scripts are written for.
const PYTHON_SDK: &str = "mcp>=2,<3";
const TYPESCRIPT_SDK: &str = "@modelcontextprotocol/sdk@1";

const BINARY: &str = env!("CARGO_BIN_EXE_liveset");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_clients");

/// How one SDK is started.
struct Sdk {
    program: PathBuf,
    script: PathBuf,
}

/// An archive with one original of three lines.
struct Store {
    folder: tempfile::TempDir,
    id: String,
}

impl Store {
    fn new() -> Self {
        let store = Self { folder: tempfile::tempdir().unwrap(), id: "0f3c5e0d9a1b2c3d4e5f60718293a4b5".to_owned() };
        let text = "one\nfn parse_header() {}\nthree — ü\n";
        let mut release = Release::new(b"body", vec![1], vec![(store.id.clone(), text.into())]);
        let source = Source { tool: "read_file".into(), label: "src/head.rs".into(), arguments: "{}".into() };
        release.sources = vec![(store.id.clone(), source)];
        release.session = "session-1".into();
        SqliteArchive::open(store.path()).unwrap().put(&release).unwrap();
        store
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("archive.db")
    }
}

/// A server on a free port; ends with the test.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(store: &Store) -> Self {
        let mut command = Command::new(BINARY);
        command.args(["mcp", "--http", "127.0.0.1:0", "--archive"]).arg(store.path());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("liveset: MCP server at ").unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check(sdk: &Sdk) {
    let store = Store::new();
    let archive = store.path();
    let stdio = ["stdio", BINARY, "mcp", "--archive", archive.to_str().unwrap()];
    let server = HttpServer::start(&store);
    let http = ["http", &server.url];
    for transport in [stdio.as_slice(), http.as_slice()] {
        let run =
            Command::new(&sdk.program).arg(&sdk.script).args(transport).args([&store.id, "parse_header"]).output();
        let run = run.unwrap();
        assert!(run.status.success(), "{}: {}", transport[0], String::from_utf8_lossy(&run.stderr));
        let told: Value = serde_json::from_slice(&run.stdout).unwrap();
        let text = "one\nfn parse_header() {}\nthree — ü\n";
        let wanted = json!({
            "tools": ["recall", "search"],
            "read_only": [true, true],
            "recalled": format!("[all 3 lines; read_file src/head.rs]\n{text}"),
            "lines": "[lines 2-3 of 3; read_file src/head.rs]\nfn parse_header() {}\nthree — ü\n",
            "found": format!("{}  read_file src/head.rs, line 2 of 3\n    fn parse_header() {{}}\n", store.id),
            "missed": [true, format!("no original `{}` here, and asking again will not find it; run the call again \
                that gave it", "0".repeat(32))],
            "session": format!("1 originals of {} bytes, 1 bodies. Ids are for `recall`.\n{}  read_file src/head.rs, \
                {} bytes\n", text.len(), store.id, text.len()),
        });
        assert_eq!(told, wanted, "over {}", transport[0]);
    }
}

#[test]
fn the_python_sdk_lists_and_calls_both_tools_over_both_transports() {
    match python() {
        Ok(sdk) => check(&sdk),
        Err(why) => skipped("Python", &why),
    }
}

#[test]
fn the_typescript_sdk_lists_and_calls_both_tools_over_both_transports() {
    match typescript() {
        Ok(sdk) => check(&sdk),
        Err(why) => skipped("TypeScript", &why),
    }
}

fn skipped(sdk: &str, why: &str) {
    eprintln!("SKIPPED: the official {sdk} SDK was not tried: {why}");
}

/// Installs the SDK where an earlier run did not.
fn python() -> Result<Sdk, String> {
    let folder = home("mcp-python")?;
    let program = folder.join("bin/python");
    let script = Path::new(SCRIPTS).join("client.py");
    let has_sdk = || done(Command::new(&program).args(["-c", "from mcp import Client"]));
    if has_sdk().is_err() {
        done(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        done(Command::new(&program).args(["-m", "pip", "install", "--quiet", PYTHON_SDK]))?;
        has_sdk()?;
    }
    Ok(Sdk { program, script })
}

fn typescript() -> Result<Sdk, String> {
    let folder = home("mcp-typescript")?;
    if !folder.join("node_modules/@modelcontextprotocol/sdk/package.json").is_file() {
        fs::write(folder.join("package.json"), r#"{"private": true}"#).map_err(|error| error.to_string())?;
        let flags = ["install", "--no-audit", "--no-fund", "--silent", TYPESCRIPT_SDK];
        done(Command::new("npm").args(flags).current_dir(&folder))?;
    }
    // A module is looked for beside the script.
    let script = folder.join("client.mjs");
    fs::copy(Path::new(SCRIPTS).join("client.mjs"), &script).map_err(|error| error.to_string())?;
    Ok(Sdk { program: "node".into(), script })
}

fn home(name: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn done(command: &mut Command) -> Result<(), String> {
    let name = format!("`{}`", command.get_program().to_string_lossy());
    let Output { status, stderr, .. } =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let told = String::from_utf8_lossy(&stderr);
    let last = told.lines().last().unwrap_or_default();
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {last}")) }
}
