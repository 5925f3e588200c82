//! Where are the tokens? Bars and columns, with colour only where it helps.

use std::{collections::BTreeMap, fmt::Write as _};

use liveset::{Inspection, Sizes};
use liveset_engine::{report::grouped, transcript::ItemKind};

/// Characters of the longest bar: a row then fits a terminal of 80 columns.
const BAR_CHARS: u64 = 28;
/// Characters of a name: longer ones (tools of servers) lose their beginning, since their end tells them apart.
const NAME_CHARS: usize = 22;
/// Rows of a picture; the rest is summed.
const MAX_ROWS: usize = 12;

/// Whether a picture may use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Colour,
}

impl Paint {
    pub(crate) fn of(colour: bool) -> Self {
        if colour { Self::Colour } else { Self::Plain }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with(text, "1")
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.with(text, "33")
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.with(text, "32")
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.with(text, "1;31")
    }

    fn bar(self, text: &str) -> String {
        self.with(text, "36")
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(text, "2")
    }

    fn with(self, text: &str, code: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour if text.is_empty() => String::new(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// One row: a name, how many items, how many tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) tokens: u64,
}

/// What is drawn of a body: its request and each item.
pub(crate) struct Parts<'a> {
    request: u64,
    items: Vec<(ItemKind, Option<&'a str>, u64)>,
}

impl<'a> From<&'a Inspection> for Parts<'a> {
    fn from(inspection: &'a Inspection) -> Self {
        let items = inspection.items.iter().map(|item| (item.kind, item.tool.as_deref(), item.tokens.0));
        Self { request: inspection.tools_tokens.0, items: items.collect() }
    }
}

impl<'a> From<&'a Sizes> for Parts<'a> {
    fn from(sizes: &'a Sizes) -> Self {
        let items = sizes.items.iter().map(|item| (item.kind, item.tool.as_deref(), item.tokens.0));
        Self { request: sizes.tools_tokens.0, items: items.collect() }
    }
}

/// What people call a kind.
pub(crate) fn kind_name(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::System => "system text",
        ItemKind::User => "user text",
        ItemKind::Assistant => "assistant text",
        ItemKind::Reasoning => "reasoning",
        ItemKind::ToolCall => "tool calls",
        ItemKind::ToolResult => "tool results",
        ItemKind::Media => "pictures, documents",
        ItemKind::Opaque => "unknown items",
    }
}

/// What people call one item of a kind.
pub(crate) fn one_name(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::ToolCall => "tool call",
        ItemKind::ToolResult => "tool result",
        ItemKind::Media => "picture or document",
        ItemKind::Opaque => "unknown item",
        ItemKind::System | ItemKind::User | ItemKind::Assistant | ItemKind::Reasoning => kind_name(kind),
    }
}

/// Sums tokens by kind, tools as a kind of their own.
pub(crate) fn by_kind(parts: &Parts<'_>) -> Vec<Row> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    sums.insert("tools, request", (1, parts.request));
    for (kind, _, tokens) in &parts.items {
        let sum = sums.entry(kind_name(*kind)).or_default();
        sum.0 += 1;
        sum.1 += tokens;
    }
    rows(sums)
}

/// Sums the tokens of results by tool.
pub(crate) fn by_tool(parts: &Parts<'_>) -> Vec<Row> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (_, tool, tokens) in parts.items.iter().filter(|(kind, ..)| *kind == ItemKind::ToolResult) {
        let sum = sums.entry(tool.unwrap_or("-")).or_default();
        sum.0 += 1;
        sum.1 += tokens;
    }
    rows(sums)
}

fn rows(sums: BTreeMap<&str, (u64, u64)>) -> Vec<Row> {
    let mut rows: Vec<Row> =
        sums.into_iter().map(|(name, (count, tokens))| Row { name: name.to_owned(), count, tokens }).collect();
    rows.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.name.cmp(&b.name)));
    if rows.len() > MAX_ROWS {
        let rest = rows.split_off(MAX_ROWS - 1);
        let (count, tokens) = rest.iter().fold((0, 0), |sum, row| (sum.0 + row.count, sum.1 + row.tokens));
        rows.push(Row { name: format!("{} others", rest.len()), count, tokens });
    }
    rows
}

/// Draws rows as bars, a line for the title first; `total` is what a full share means.
pub(crate) fn bars(title: &str, rows: &[Row], total: u64, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.bold(title));
    let longest = rows.iter().map(|row| row.tokens).max().unwrap_or(0);
    for row in rows {
        let share = row.tokens.saturating_mul(1_000).checked_div(total).unwrap_or(0);
        let _ = writeln!(
            out,
            "{} {:>4}.{} %  {}",
            bar_line(&row.name, row.tokens, longest, paint),
            share / 10,
            share % 10,
            paint.dim(&format!("x {}", row.count)),
        );
    }
    out
}

/// Draws one bar with its name and figure; `longest` is what a full bar means.
pub(crate) fn bar_line(name: &str, tokens: u64, longest: u64, paint: Paint) -> String {
    // Eighths of a character make short bars comparable.
    let bar = bar(tokens.saturating_mul(BAR_CHARS * 8).checked_div(longest).unwrap_or(0));
    let padding = usize::try_from(BAR_CHARS).unwrap_or(0).saturating_sub(bar.chars().count());
    format!("  {:<NAME_CHARS$}  {}{} {:>10}", short(name), paint.bar(&bar), " ".repeat(padding), grouped(tokens))
}

/// A name that keeps its column.
pub(crate) fn short(name: &str) -> String {
    let skip = name.chars().count().saturating_sub(NAME_CHARS);
    match skip {
        0 => name.to_owned(),
        _ => format!("…{}", name.chars().skip(skip + 1).collect::<String>()),
    }
}

fn bar(eighths: u64) -> String {
    let whole = usize::try_from(eighths / 8).unwrap_or(0);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let last = usize::try_from(eighths % 8).ok().and_then(|at| rest.get(at)).copied().unwrap_or_default();
    format!("{}{last}", "█".repeat(whole))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn bars_are_in_proportion_and_columns_line_up() {
        let row = |name: &str, tokens| Row { name: name.into(), count: 3, tokens };
        let rows = [row("tool results", 80_000), row("mcp__server__a_tool_of_many_words", 1_250)];
        expect![[r#"
            by kind
              tool results            ████████████████████████████     80,000   80.0 %  x 3
              …_a_tool_of_many_words  ▍                                 1,250    1.2 %  x 3
        "#]]
        .assert_eq(&bars("by kind", &rows, 100_000, Paint::Plain));
    }

    #[test]
    fn rows_past_the_last_are_summed() {
        let names: Vec<String> = (0..20).map(|at| format!("tool {at:02}")).collect();
        let rows = rows(names.iter().map(|name| (name.as_str(), (1, 5))).collect());
        assert_eq!((rows.len(), rows.last().map(|row| row.name.as_str())), (MAX_ROWS, Some("9 others")));
        assert_eq!(rows.iter().map(|row| row.tokens).sum::<u64>(), 100);
    }

    #[test]
    fn colour_marks_words_and_leaves_nothing_around_an_empty_bar() {
        assert_eq!(Paint::Colour.bold("a"), "\u{1b}[1ma\u{1b}[0m");
        assert!(!bar_line("window", 0, 0, Paint::Colour).contains('\u{1b}'));
    }
}
