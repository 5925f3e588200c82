//! Does a call run something, rather than read or search? The study's tool class, from names and first words alone.
//!
//! The referee's own small table, so that a mistake in the engine's cannot hide here.

/// Keys of arguments that hold a command line.
pub(crate) const KEYS: [&str; 5] = ["command", "cmd", "script", "code", "input"];

/// Parts of the names of tools that run commands.
const SHELLS: [&str; 9] =
    ["bash", "shell", "exec", "terminal", "run_command", "run_cmd", "ipython", "python", "powershell"];

/// Commands that read or search.
const READERS: [&str; 27] = [
    "cat",
    "sed",
    "head",
    "tail",
    "less",
    "more",
    "nl",
    "bat",
    "awk",
    "wc",
    "grep",
    "egrep",
    "rg",
    "ag",
    "find",
    "fd",
    "ls",
    "tree",
    "stat",
    "file",
    "jq",
    "open",
    "search_dir",
    "search_file",
    "find_file",
    "view",
    "diff",
];

/// Commands that only say where the next one runs.
const MOVERS: [&str; 3] = ["cd", "sudo", "time"];

/// Says whether a call runs something that is neither a read nor a search.
pub(crate) fn is_execution(tool: &str, command: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    SHELLS.iter().any(|shell| tool.contains(shell)) && !reads(command)
}

/// Says whether the first command of a line reads or searches.
fn reads(line: &str) -> bool {
    let line = line.trim_start();
    let line = ["bash -lc ", "bash -c ", "sh -c "].iter().find_map(|shell| line.strip_prefix(shell)).unwrap_or(line);
    let commands = line.split(['&', ';', '\n']).map(|command| command.trim_start_matches(['\'', '"', ' ']));
    let first = commands.filter(|command| !command.is_empty()).find_map(|command| {
        let word = command.split_whitespace().next()?;
        (!MOVERS.contains(&word)).then_some((word, command))
    });
    first.is_some_and(|(word, command)| {
        let is_redirected = command.contains('>') && !command.contains("2>") || command.contains("<<");
        READERS.contains(&word) && !is_redirected && !command.starts_with("sed -i")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_searches_in_a_shell_are_no_executions() {
        for command in ["cat a.rs", "cd x && grep -n b c", "bash -lc sed -n 1,20p a", "ls -la; pwd"] {
            assert!(!is_execution("Bash", command), "{command}");
        }
        for command in ["cargo test", "cd x && make", "cat > a <<E", "sed -i s/a/b/ c", ""] {
            assert!(is_execution("exec_command", command), "{command}");
        }
        assert!(!is_execution("Read", "cargo test"));
    }
}
