//! With what arguments does an agent call its tools? Names as real agents use them, values with every quirk of JSON.

use crate::dice::Dice;
use crate::json_writer::Json;
use crate::words;

/// Tools of several agents: retrieval, volatile, execution, writing, planning, recall, unknown.
pub(crate) const TOOLS: &[&str] = &[
    "read_file",
    "Read",
    "Bash",
    "run",
    "Grep",
    "search_web",
    "write_file",
    "Write",
    "create_file",
    "Edit",
    "apply_patch",
    "TodoWrite",
    "update_plan",
    "recall",
    "mcp__tickets__find",
    "exec_command",
    "list_dir",
];

const PATHS: &[&str] =
    &["src/parser.rs", "src/pool.rs", "tests/test_pay.py", "docs/設定.md", "a b/c\\d.txt", "config.toml"];

/// Writes the arguments of a call; `quote` is text of an earlier result, for edits and writes.
pub(crate) fn arguments(tool: &str, dice: &mut Dice, quote: &str) -> Json {
    let path = Json::text(dice.pick(PATHS));
    let mut object = match tool {
        "read_file" | "list_dir" => Json::object([("path", path)]),
        "Read" => Json::object([("file_path", path), ("offset", Json::raw("1e2")), ("limit", Json::raw("40"))]),
        "Bash" | "run" | "exec_command" => {
            Json::object([(if tool == "exec_command" { "cmd" } else { "command" }, command(dice))])
        }
        "Grep" => Json::object([("pattern", Json::text(words::word(dice))), ("path", path), ("-n", Json::raw("true"))]),
        "search_web" | "mcp__tickets__find" => Json::object([("query", Json::text(words::line(dice, 4)))]),
        "write_file" | "create_file" | "Write" => Json::object([
            (if tool == "Write" { "file_path" } else { "path" }, path),
            ("content", content(dice, quote)),
        ]),
        "Edit" => Json::object([
            ("file_path", path),
            ("old_string", Json::text(quote)),
            ("new_string", Json::text(words::prose(dice, 20))),
        ]),
        "apply_patch" => Json::object([(
            "input",
            Json::text(format!("*** Begin Patch\n-{quote}\n+{}\n*** End Patch", words::line(dice, 6))),
        )]),
        "TodoWrite" | "update_plan" => plan(tool, dice),
        "recall" => Json::object([("id", Json::text(format!("{:032x}", dice.roll(1 << 30))))]),
        _ => Json::object([]),
    };
    quirk(&mut object, dice);
    object
}

fn command(dice: &mut Dice) -> Json {
    Json::text(match dice.roll(4) {
        0 => "cat src/parser.rs".to_owned(),
        1 => "cargo test --workspace 2>&1 | tail -n 40".to_owned(),
        2 => format!("curl -s 'https://admin:hunter2@example.org/{}?key=AKIAFAKE'", words::word(dice)),
        _ => format!("grep -rn \"{}\" src/\n", words::word(dice)),
    })
}

fn content(dice: &mut Dice, quote: &str) -> Json {
    // Long enough that a file in arguments may hold most of a body.
    let words = if dice.one_in(3) { 150 + dice.roll(450) } else { dice.roll(150) };
    Json::text(match dice.roll(3) {
        0 => quote.to_owned(),
        1 => words::prose(dice, words),
        _ => format!("{quote}\n{}", words::prose(dice, words)),
    })
}

fn plan(tool: &str, dice: &mut Dice) -> Json {
    let states = ["pending", "in_progress", "completed"];
    let steps = (0..1 + dice.roll(4)).map(|_| {
        Json::object([("content", Json::text(words::line(dice, 5))), ("status", Json::text(dice.pick(&states)))])
    });
    Json::object([(if tool == "TodoWrite" { "todos" } else { "plan" }, Json::Array(steps.collect()))])
}

/// Adds a member that generic JSON libraries spoil.
fn quirk(object: &mut Json, dice: &mut Dice) {
    match dice.roll(8) {
        0 => object.push("big", Json::raw("123456789012345678901234567890")),
        1 => object.push("ratio", Json::raw(dice.pick(&["1e2", "-0.0", "0.70", "1E+2", "1.0"]))),
        2 => {
            object.push("dup", Json::raw("1"));
            object.push("dup", Json::raw("[ ]"));
        }
        3 => object.push("emoji", Json::text("half \u{10D83D} whole 😀 \u{2028}")),
        _ => {}
    }
}
