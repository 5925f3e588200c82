//! What names one call in a line of its own? A path, a query, the first words of a command.
//!
//! Never shows what may be secret, and never breaks the line it stands on.

use super::password_flag::PasswordFlags;

/// Characters of a call's label, the tool's name not counted: enough for a path, too few for a pasted text.
const MAX_LABEL_CHARS: usize = 80;
/// Words of a shell command in a label.
const MAX_LABEL_WORDS: usize = 8;

/// Says whether a text could name a call when the table names no argument for it.
pub(super) fn is_short(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_LABEL_CHARS * 2 && !text.contains('\n')
}

/// Makes one short line of a call's own words; addresses lose what may be secret.
pub(super) fn label(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let (mut out, mut flags) = (String::new(), PasswordFlags::new());
    for word in line.split_whitespace().take(MAX_LABEL_WORDS) {
        if flags.is_at(word) || may_be_secret(word) {
            break;
        }
        // Behind the first address of a word nothing says where a second one keeps its secrets.
        let holds_more = word.matches(SCHEME_END).count() > 1;
        let word = plain_address(word);
        if out.chars().count() + word.chars().count() >= MAX_LABEL_CHARS {
            if out.is_empty() {
                out = tail(&word);
            }
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
        if holds_more {
            break;
        }
    }
    one_line(&out)
}

/// The end of a long word tells more than its beginning: paths differ there.
fn tail(word: &str) -> String {
    let skip = word.chars().count().saturating_sub(MAX_LABEL_CHARS - 1);
    format!("…{}", word.chars().skip(skip).collect::<String>())
}

fn may_be_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    // Quotes around a word are the shell's.
    let bare = lower.trim_start_matches(['"', '\'', '(', '=']);
    NAMES.iter().any(|name| lower.contains(name))
        || FLAGS.contains(&lower.as_str())
        || (bare.starts_with('-') && names_a_secret(bare))
        || is_key_of_a_service(bare)
        || bare.split_once('=').is_some_and(|(name, value)| names_a_secret(name) || is_key_of_a_service(value))
        || has_user_info(word)
}

/// Where one of these stands, what follows may be a secret.
const NAMES: [&str; 12] = [
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "api_key",
    "api-key",
    "authorization",
    "bearer",
    "credential",
    "sshpass",
    "passphrase",
];

/// Flags whose value may be one.
const FLAGS: [&str; 6] = ["-h", "--header", "-u", "--user", "--cookie", "--key"];

/// Says whether an argument, or a variable, of this name holds a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    NAMES.iter().any(|name| lower.contains(name))
        || ["_key", "-key", "accesskey", "privatekey"].iter().any(|end| lower.ends_with(end))
        || parts.any(|part| ["pass", "pwd", "auth", "pat", "cookie", "cookies", "otp"].contains(&part))
}

/// Services mark their keys, so that they are found where they leak: what begins like one is taken for one.
fn is_key_of_a_service(lower: &str) -> bool {
    const MARKS: [&str; 13] =
        ["sk-", "pk-", "sk_", "rk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "akia", "eyj"];
    // Words that begin so are shorter, or are paths, or hold no number.
    const MIN_KEY_BYTES: usize = 16;
    let is_key = lower.len() >= MIN_KEY_BYTES && !lower.contains('/') && lower.contains(|c: char| c.is_ascii_digit());
    is_key && MARKS.iter().any(|mark| lower.starts_with(mark))
}

/// `name:password@host`, without a scheme before it.
fn has_user_info(word: &str) -> bool {
    let plain = word.split_once(SCHEME_END).map_or(word, |(before, _)| before);
    plain.rsplit_once('@').is_some_and(|(before, _)| before.contains(':'))
}

/// What stands between the scheme of an address and the rest.
const SCHEME_END: &str = "://";

/// Drops user info, query and fragment of an address, and what follows a second address.
fn plain_address(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once(SCHEME_END) else { return word.to_owned() };
    // Passwords are often not escaped: where there may be one, it reaches to the last `@`, whatever is in it. A plain
    // host keeps its path (`host/@scope/name`).
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    let rest = match rest.rsplit_once('@') {
        Some((_, behind)) if host.contains([':', '@']) || !path.starts_with('/') => behind,
        _ => rest,
    };
    let rest = rest.split(SCHEME_END).next().unwrap_or_default();
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}{SCHEME_END}{rest}")
}

/// A tombstone's label stays on its line and cannot end it.
pub(super) fn one_line(text: &str) -> String {
    let clean = |c: char| if c.is_control() || matches!(c, '[' | ']' | '\u{2028}' | '\u{2029}') { ' ' } else { c };
    text.chars().map(clean).take(2 * MAX_LABEL_CHARS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_hold_secrets_are_known_by_name() {
        for name in ["api_key", "apiKey", "x-api-key", "AUTH", "access_key", "db_pass", "github_pat", "sessionToken"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["key", "path", "keyboard", "author", "compass", "pattern"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn labels_lose_what_may_be_secret() {
        assert_eq!(label("https://me:pw@host/a/b?key=1#x"), "https://host/a/b");
        assert_eq!(label("curl -H \"Authorization: Bearer abc\" x"), "curl");
        assert_eq!(label("git clone 'https://me:pw@host/a.git?x=1' b"), "git clone 'https://host/a.git b");
        for secret in [
            "sk-proj-0123456789abcdef",
            "ghp_0123456789abcdef0123",
            "OPENAI_KEY=0123",
            "DB_PASS=hunter2",
            "K=sk-proj-0123456789abcdef",
            "--api-key=hunter2",
            "--cookie a=b",
            "--pass hunter2",
            "--auth hunter2",
            "--pwd hunter2",
            "--otp 123456",
            "--access-key hunter2",
            "-auth hunter2",
            "\"--db-pass\" hunter2",
            "--passphrase hunter2",
            "x@y,me:hunter2@host",
            "me:hunter2@host,https://b/y",
            "me:hunter2@host:/srv",
            "'eyJhbGciOiJIUzI1NiJ9.e30.x'",
        ] {
            assert_eq!(label(&format!("run {secret} now")), "run", "{secret}");
        }
        for (address, plain) in [
            ("postgres://admin:pa#ss@db/x", "postgres://db/x"),
            ("postgres://admin:pa/ss@db/x", "postgres://db/x"),
            ("postgres://admin:pa?ss@db/x", "postgres://db/x"),
            ("postgres://admin:p@ss@db/x", "postgres://db/x"),
            ("postgres://ad?min@db/x", "postgres://db/x"),
            ("postgres://admin:p://ss@db/x", "postgres://db/x"),
            ("https://a/x,https://me:pw@b/y z", "https://a/x,https"),
            ("https://a:80/x,https://me:pw@b/y z", "https://b/y"),
            ("https://me:pw@a/x,https://b/y z", "https://a/x,https"),
            ("https://registry.npmjs.org/@types/node z", "https://registry.npmjs.org/@types/node z"),
        ] {
            assert_eq!(label(&format!("get {address}")), format!("get {plain}"), "{address}");
        }
        assert_eq!(label("mysql -u root -phunter2 shop"), "mysql");
        assert_eq!(label("mysql -phunter2 shop"), "mysql");
        assert_eq!(label("cd a && cargo test -p engine -- -p x"), "cd a && cargo test -p engine --");
        let plain = "rsync -a git@host:org/repo sk-learn/monkey.rs --jobs=4";
        assert_eq!(label(plain), plain);
        assert_eq!(label("cargo test -p engine\nsecond line"), "cargo test -p engine");
        assert_eq!(label("a]b\u{7}"), "a b");
    }
}
