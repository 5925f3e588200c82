//! Does a password begin here? Short flags mean what their program says, so that the words before one count.
//!
//! Knows the programs whose `-p` is something else, and takes that of any other for a password.

/// Programs whose `-p` or `-P` is a package, a path, a port or the like, and which run no other program's arguments.
const PLAIN: [&str; 29] = [
    "bat", "cargo", "cc", "clang", "cp", "diff", "egrep", "find", "g++", "gcc", "git", "grep", "install", "ls", "lsof",
    "make", "mkdir", "mypy", "netstat", "patch", "pgrep", "ps", "pytest", "rg", "rsync", "scp", "tar", "tsc", "wget",
];

/// Programs that only run what follows them.
const BEFORE: [&str; 7] = ["sudo", "env", "nice", "nohup", "time", "timeout", "exec"];

/// Other short flags that hold a password, a key or a cookie, wherever their program stands before them.
const OTHERS: [(&str, &[&str]); 14] = [
    ("curl", &["-b"]),
    ("http", &["-a"]),
    ("https", &["-a"]),
    ("ldapadd", &["-w"]),
    ("ldapdelete", &["-w"]),
    ("ldapmodify", &["-w"]),
    ("ldapsearch", &["-w"]),
    ("openssl", &["-k", "-K"]),
    ("rar", &["-hp"]),
    ("redis-cli", &["-a"]),
    ("snmpget", &["-c", "-A", "-X"]),
    ("snmpwalk", &["-c", "-A", "-X"]),
    ("ssh-keygen", &["-N"]),
    ("xh", &["-a"]),
];

/// What in a word begins another command.
const OPERATORS: [char; 8] = [';', '|', '&', '(', ')', '{', '}', '`'];

/// Follows the words of a command line.
pub(super) struct PasswordFlags {
    /// Whether the command is one of [`PLAIN`].
    is_plain: bool,
    /// Whether the next word names a program.
    awaits_program: bool,
    /// Flags of [`OTHERS`] whose program was named.
    others: Vec<&'static str>,
}

impl PasswordFlags {
    /// Stands before the first word.
    pub(super) fn new() -> Self {
        Self { is_plain: false, awaits_program: true, others: Vec::new() }
    }

    /// Says whether the next word of the line holds a password, or announces one.
    pub(super) fn is_at(&mut self, word: &str) -> bool {
        // Quotes around a word are the shell's.
        let bare = word.trim_matches(['"', '\'']);
        if self.others.iter().any(|flag| bare.starts_with(flag)) {
            return true;
        }
        let is_short = bare.starts_with('-') && !bare.starts_with("--");
        if is_short && !self.is_plain && ["-p", "-P"].iter().any(|flag| bare.starts_with(flag)) {
            return true;
        }
        let letters = bare.get(1..2).filter(|_| is_short).unwrap_or_default();
        // The user or a header in one word with its flag: `-uNAME:PASSWORD`.
        if matches!(letters, "u" | "U" | "H") && bare.contains([':', '%']) {
            return true;
        }
        // Programs whose flags are words behind one dash: `-storepass`, `-passin`.
        if is_short && (bare.ends_with("pass") || bare.starts_with("-pass")) {
            return true;
        }
        self.pass(bare);
        false
    }

    /// Sees which program the words behind this one are for.
    fn pass(&mut self, word: &str) {
        let name = word.rsplit('/').next().unwrap_or_default();
        let others = OTHERS.iter().filter(|(program, _)| name == *program).flat_map(|(_, flags)| flags.iter().copied());
        self.others.extend(others);
        // What an assignment and a duration hold is no program.
        let is_before = BEFORE.contains(&name) || word.contains('=') || word.starts_with(|c: char| c.is_ascii_digit());
        if word.ends_with([';', '|', '&']) {
            (self.is_plain, self.awaits_program) = (false, true);
        } else if word.contains(OPERATORS) || word == "--" || word.starts_with("-exec") {
            // Which program it is would have to be read out of the word, or is said by the program before.
            (self.is_plain, self.awaits_program) = (false, false);
        } else if self.awaits_program && !is_before {
            (self.is_plain, self.awaits_program) = (PLAIN.contains(&name), false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a label may show of a line: its words before the first that holds or announces a password.
    fn shown(line: &str) -> String {
        let mut flags = PasswordFlags::new();
        line.split_whitespace().take_while(|word| !flags.is_at(word)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_short_flag_is_a_password_unless_its_program_says_otherwise() {
        for (line, expected) in [
            ("mysql -p hunter2 shop", "mysql"),
            ("mysql -phunter2 shop", "mysql"),
            ("/usr/bin/mysql '-phunter2'", "/usr/bin/mysql"),
            ("nobody-knows-it login -p hunter2", "nobody-knows-it login"),
            ("sqlcmd -S db -P hunter2", "sqlcmd -S db"),
            ("docker login -p hunter2", "docker login"),
            ("plink -pw hunter2", "plink"),
            ("7z x -phunter2 a.7z", "7z x"),
            ("unzip -P hunter2 a.zip", "unzip"),
            ("redis-cli -a hunter2", "redis-cli"),
            ("docker exec db redis-cli -ahunter2", "docker exec db redis-cli"),
            ("ldapsearch -x -w hunter2", "ldapsearch -x"),
            ("curl -ume:hunter2 x", "curl"),
            ("curl -b id=hunter2 x", "curl"),
            ("smbclient -Ume%hunter2", "smbclient"),
            ("keytool -list -storepass hunter2", "keytool -list"),
            ("openssl rsa -passin pass:hunter2", "openssl rsa"),
            ("cargo run -- -p hunter2", "cargo run --"),
            ("mkdir a;mysql -phunter2", "mkdir a;mysql"),
            ("mkdir a && mysql -phunter2", "mkdir a && mysql"),
            ("find a -exec mysql -phunter2", "find a -exec mysql"),
            ("mkdir $(mysql -phunter2)", "mkdir $(mysql"),
            ("sudo mysql -phunter2", "sudo mysql"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn packages_paths_and_ports_stay() {
        for line in [
            "cargo test -p engine",
            "cd a && mkdir -p b/c",
            "timeout 60 cargo test -p engine",
            "RUST_LOG=debug sudo mkdir -p b",
            "find src -path x -print",
            "git log -p src/a.rs",
            "patch -p1 a",
            "grep -rP x | tar -xpf a.tar",
            "gcc -pthread a.c",
            "curl -v -o out x -Hx",
            "echo a-p --pretty --path x",
        ] {
            assert_eq!(shown(line), line);
        }
    }
}
