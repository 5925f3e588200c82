//! What do people and tools write? Words, lines and logs with the repetition of real work.

use crate::dice::Dice;

const COMMON: &[&str] = &[
    "the", "of", "is", "in", "a", "to", "and", "for", "value", "returns", "error", "line", "test", "when", "not",
    "with", "file", "we", "it", "if", "this", "from", "call", "list", "map", "pool", "queue", "cache", "token", "user",
];
const RARE: &[&str] = &[
    "parser",
    "settle",
    "ledger",
    "batch",
    "orphan",
    "retry",
    "socket",
    "mutex",
    "cursor",
    "index",
    "schema",
    "migrate",
    "rollback",
    "deadline",
    "checksum",
    "payload",
    "frobnicate",
    "quorum",
    "watermark",
    "shard",
    "snapshot",
    "E0308",
    "ECONNRESET",
    "0x7ffe91",
    "src/parser.rs",
    "tests/test_pay.py",
    "/var/log/app.log",
    "config.toml",
    "CardError",
    "ImportError",
    "TODO",
    "parse_header",
    "maxRetries",
    "user_id=4711",
    "v2.13.7",
    "18446744073709551616",
    "3.1415",
    "50051",
    "a1b2c3d4e5f6",
    "https://example.org/a?b=c",
];

/// One word: mostly common ones, so that lines look alike without being equal.
pub(crate) fn word(dice: &mut Dice) -> String {
    match dice.roll(10) {
        0..=5 => dice.pick(COMMON).to_owned(),
        6..=8 => dice.pick(RARE).to_owned(),
        _ => format!("{}_{}", dice.pick(COMMON), dice.roll(100)),
    }
}

/// A line of `count` words.
pub(crate) fn line(dice: &mut Dice, count: usize) -> String {
    (0..count).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

/// About `count` words in lines of uneven length.
pub(crate) fn prose(dice: &mut Dice, count: usize) -> String {
    let mut lines = Vec::new();
    let mut left = count;
    while left > 0 {
        let width = (3 + dice.roll(12)).min(left);
        lines.push(line(dice, width));
        left -= width;
    }
    lines.join("\n")
}

/// A line of source code.
pub(crate) fn code_line(dice: &mut Dice, number: usize) -> String {
    let indent = "    ".repeat(dice.roll(3));
    match dice.roll(4) {
        0 => format!("{indent}let row_{number} = {}.entry({number})?;", word(dice)),
        1 => format!("{indent}fn {}_{number}(x: &str) -> bool {{", dice.pick(COMMON)),
        2 => format!("{indent}}}"),
        _ => format!("{indent}// {}", line(dice, 5)),
    }
}

/// A line of a service's log.
pub(crate) fn log_line(dice: &mut Dice, number: usize) -> String {
    let level = dice.pick(&["INFO", "INFO", "INFO", "WARN", "DEBUG"]);
    format!(
        "2026-03-01T00:{:02}:{:02} {level} batch {number} accepted, {} rows",
        number % 60,
        dice.roll(60),
        dice.roll(1_000)
    )
}
