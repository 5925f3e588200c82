//! Examples of the commands that work on bodies, as their help shows them.

/// Of `compact`.
pub(super) const COMPACT: &str = "Examples:
  liveset compact body.json > small.json
  liveset compact body.json -o small.json --archive originals.liveset
  liveset compact session.jsonl --at 12 --dry-run
  liveset compact - --window 100000 --report run.report --report-format json < body.json";

/// Of `shape`.
pub(super) const SHAPE: &str = "Examples:
  liveset shape --tool Read --path src/parser.py --strategy outline < src/parser.py
  cargo test 2>&1 | liveset shape --tool Bash --max-chars 4000
  liveset recall ID --lines 120-180

What is under every limit leaves as it came. What was shaped is left alone by every later compaction.";

/// Of `inspect`.
pub(super) const INSPECT: &str = "Examples:
  liveset inspect body.json
  liveset inspect session.jsonl --top 30
  liveset inspect body.json --json | jq '.by_tool'";

/// Of `explain`.
pub(super) const EXPLAIN: &str = "Examples:
  liveset explain body.json --window 40000
  liveset explain body.json --window 40000 --item 17";

/// Of `count`.
pub(super) const COUNT: &str = "Examples:
  liveset count body.json
  liveset count --text --model claude-sonnet-4-5 < notes.md";

/// Of `check`.
pub(super) const CHECK: &str = "Examples:
  liveset check body.json
  liveset check small.json --against body.json
  liveset check turn-8.json --against turn-7.json --report turn-8.report

Prints one defect a line and exits 1 when there are any.";

/// Of `restore`.
pub(super) const RESTORE: &str = "Examples:
  liveset restore small.json -o body.json
  liveset restore small.json --archive originals.liveset > body.json";

/// Of `schema`.
pub(super) const SCHEMA: &str = "Examples:
  liveset schema policy > policy.schema.json";
