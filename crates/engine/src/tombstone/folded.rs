//! What stands for a run of calls that was folded? One counted line, and how it is told from what only looks like one.
//!
//! Below the line may stand what the calls showed (see `digest`).
//!
//! Recognition is by the whole grammar: counts that add up, tools in order. It may lead to less cutting, never to trust.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use liveset_tokens::Tokens;

use super::{
    digest, figure,
    route::{Route, is_fold_route},
    summarised,
};
use crate::tools::ToolClass;

/// First words of the line that stands for a folded run.
pub const FOLD_START: &str = "[folded from context: ";
/// What the tools that the line does not name are counted as.
pub const FOLD_OTHERS: &str = "others";
/// Tools that a line names: enough for what an agent has at hand, few enough for one line.
pub const MAX_FOLD_TOOLS: usize = 6;
/// Bytes of a tool's name in the line: no provider allows more in a name that it checks.
pub const MAX_FOLD_NAME_BYTES: usize = 64;

/// A size whose figure is as long as they come.
const LONGEST_FIGURE: Tokens = Tokens(888_888);

/// The counted facts of a folded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldFacts {
    /// Calls of each tool.
    tools: BTreeMap<String, u64>,
    /// Size of their results in o200k tokens, whatever the model.
    tokens: Tokens,
    is_volatile: bool,
    is_execution: bool,
}

impl FoldFacts {
    /// Counts one more call.
    pub fn add(&mut self, tool: &str, class: ToolClass, tokens: Tokens) {
        let name = if is_name(tool) { tool } else { FOLD_OTHERS };
        *self.tools.entry(name.to_owned()).or_default() += 1;
        self.tokens += tokens;
        match class {
            ToolClass::Retrieval => {}
            ToolClass::Volatile => self.is_volatile = true,
            ToolClass::Execution => self.is_execution = true,
        }
    }

    /// Gives the same calls with a figure that takes as many tokens as any other.
    #[must_use]
    pub fn at_most(mut self) -> Self {
        self.tokens = LONGEST_FIGURE;
        self
    }

    /// Adds to the size what is no call.
    pub(super) fn add_tokens(&mut self, tokens: Tokens) {
        self.tokens += tokens;
    }

    /// Adds the calls of another run.
    pub(super) fn merge(&mut self, other: &Self) {
        for (tool, count) in &other.tools {
            *self.tools.entry(tool.clone()).or_default() += count;
        }
        self.tokens += other.tokens;
        self.is_volatile |= other.is_volatile;
        self.is_execution |= other.is_execution;
    }

    pub(super) fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Gives how many calls there are.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.tools.values().sum()
    }

    /// The most that any of the calls does.
    pub(super) fn class(&self) -> ToolClass {
        match (self.is_execution, self.is_volatile) {
            (true, _) => ToolClass::Execution,
            (false, true) => ToolClass::Volatile,
            (false, false) => ToolClass::Retrieval,
        }
    }

    /// Gives the tools by count, then by name; what is not named comes last.
    fn listed(&self) -> Vec<(&str, u64)> {
        let known = self.tools.iter().filter(|(name, _)| *name != FOLD_OTHERS);
        let mut named: Vec<(&str, u64)> = known.map(|(name, &count)| (name.as_str(), count)).collect();
        named.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        let rest = named.split_off(named.len().min(MAX_FOLD_TOOLS));
        let unnamed = self.tools.get(FOLD_OTHERS).copied().unwrap_or_default();
        let others = rest.iter().map(|&(_, count)| count).sum::<u64>() + unnamed;
        named.extend((others > 0).then_some((FOLD_OTHERS, others)));
        named
    }
}

/// Writes the line that stands for a folded run.
///
/// ```
/// use liveset_engine::{tombstone::{FoldFacts, Route, fold_line, is_fold}, tools::ToolClass};
/// use liveset_tokens::Tokens;
/// let mut facts = FoldFacts::default();
/// facts.add("read_file", ToolClass::Retrieval, Tokens(900));
/// facts.add("read_file", ToolClass::Retrieval, Tokens(300));
/// let line = fold_line(&facts, &Route::Rerun);
/// assert_eq!(line, "[folded from context: 2 calls (read_file 2), 1.2k tokens; run a call again to see its result]");
/// assert!(is_fold(&line));
/// ```
#[must_use]
pub fn fold_line(facts: &FoldFacts, route: &Route) -> String {
    let mut out = format!("{FOLD_START}{} calls (", facts.calls());
    write_tools(&mut out, facts);
    let _ = write!(out, "), {}; {}]", figure(facts.tokens), route.fold_words(facts.class()));
    out
}

/// Writes the tools of a run with their counts.
pub(super) fn write_tools(out: &mut String, facts: &FoldFacts) {
    for (at, (name, count)) in facts.listed().into_iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{name} {count}");
    }
}

/// Writes the line and, below it, what the calls showed: a line for each entry, and how many calls have none.
///
/// ```
/// use liveset_engine::{tombstone::{FoldFacts, Route, fold_text, is_fold}, tools::ToolClass};
/// use liveset_tokens::Tokens;
/// let mut facts = FoldFacts::default();
/// facts.add("lookup", ToolClass::Retrieval, Tokens(30));
/// facts.add("lookup", ToolClass::Retrieval, Tokens(30));
/// let text = fold_text(&facts, &Route::Rerun, ["lookup ann: team 7"].into_iter());
/// let line = "[folded from context: 2 calls (lookup 2), 60 tokens; run a call again to see its result; what they showed:";
/// assert_eq!(text, format!("{line}\nlookup ann: team 7\n1 more results]"));
/// assert!(is_fold(&text));
/// ```
#[must_use]
pub fn fold_text<'e>(facts: &FoldFacts, route: &Route, entries: impl ExactSizeIterator<Item = &'e str>) -> String {
    digest::with_entries(fold_line(facts, route), entries, facts.calls())
}

/// Says whether a text is the line of a folded run or of a summary, whole, alone or with what stands below it.
#[must_use]
pub fn is_fold(text: &str) -> bool {
    parse(text).is_some() || summarised::is_summary(text)
}

fn parse(text: &str) -> Option<()> {
    // Most texts are told by their first words.
    let text = Some(text).filter(|text| text.starts_with(FOLD_START))?;
    counts_all(text, |line| {
        let (calls, size) = parse_line(line, FOLD_START)?;
        is_figure(size).then_some(calls)
    })
}

/// Reads a line and the entries below it, of which there are as many as the line counts.
pub(super) fn counts_all(text: &str, line: impl Fn(&str) -> Option<u64>) -> Option<()> {
    let (first, told) = digest::part(text)?;
    let counted = line(&first)?;
    told.is_none_or(|told| told == counted).then_some(())
}

/// Reads a line alone that opens so; gives its calls, and what stands between its tools and its route.
pub(super) fn parse_line<'t>(text: &'t str, start: &str) -> Option<(u64, &'t str)> {
    let (calls, rest) = text.strip_prefix(start)?.split_once(" calls (")?;
    let (tools, rest) = rest.split_once("), ")?;
    let (sizes, rest) = rest.split_once("; ")?;
    let route = rest.strip_suffix(']')?;
    let calls = number(calls)?;
    (is_fold_route(route) && calls == counted(tools)?).then_some((calls, sizes))
}

/// Adds up a list of tools that is in order and names none twice.
fn counted(tools: &str) -> Option<u64> {
    let mut before: Option<(bool, std::cmp::Reverse<u64>, &str)> = None;
    let (mut sum, mut named) = (0_u64, BTreeSet::new());
    for tool in tools.split(", ") {
        let (name, count) = tool.rsplit_once(' ')?;
        let count = number(count)?;
        let key = (name == FOLD_OTHERS, std::cmp::Reverse(count), name);
        let is_new = name == FOLD_OTHERS || (is_name(name) && named.insert(name));
        if !is_new || named.len() > MAX_FOLD_TOOLS || before.is_some_and(|before| before >= key) {
            return None;
        }
        before = Some(key);
        sum = sum.checked_add(count)?;
    }
    Some(sum)
}

/// Says whether a name can stand in the line without breaking it.
fn is_name(name: &str) -> bool {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';' | '(' | ')' | '[' | ']');
    (1..=MAX_FOLD_NAME_BYTES).contains(&name.len()) && name != FOLD_OTHERS && !name.contains(breaks)
}

/// A count from 1 as it is written.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

/// `1 token`, `842 tokens`, `4.2k tokens`, `1.3M tokens`.
pub(super) fn is_figure(text: &str) -> bool {
    let Some(count) = text.strip_suffix(" tokens") else { return text == "1 token" };
    let Some((whole, tenth)) = count.split_once('.') else { return count == "0" || number(count).is_some() };
    let tenth = tenth.strip_suffix(['k', 'M']).unwrap_or_default();
    number(whole).is_some() && tenth.len() == 1 && tenth.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn facts(calls: &[(&str, u64, ToolClass)]) -> FoldFacts {
        let mut facts = FoldFacts::default();
        for &(tool, count, class) in calls {
            (0..count).for_each(|_| facts.add(tool, class, Tokens(1_757)));
        }
        facts
    }

    #[test]
    fn a_run_is_told_by_counts_tools_and_route() {
        let run = facts(&[("run_tests", 3, ToolClass::Execution), ("read_file", 4, ToolClass::Retrieval)]);
        expect!["[folded from context: 7 calls (read_file 4, run_tests 3), 12.3k tokens; run a call again only if repeating it is safe]"]
            .assert_eq(&fold_line(&run, &Route::Rerun));
        let run = facts(&[("b", 1, ToolClass::Retrieval), ("a", 1, ToolClass::Volatile)]);
        expect![
            "[folded from context: 2 calls (a 1, b 1), 3.5k tokens; run a call again to see its result, it may differ]"
        ]
        .assert_eq(&fold_line(&run, &Route::Rerun));
    }

    #[test]
    fn a_line_is_bounded_whatever_the_tools_are_called() {
        let long = "x".repeat(MAX_FOLD_NAME_BYTES + 1);
        let names: Vec<String> = (0..40).map(|at| format!("tool_{at:02}")).chain([long, "a, b".into()]).collect();
        let calls: Vec<_> = names.iter().map(|name| (name.as_str(), 1, ToolClass::Retrieval)).collect();
        let line = fold_line(&facts(&calls), &Route::Rerun);
        expect!["[folded from context: 42 calls (tool_00 1, tool_01 1, tool_02 1, tool_03 1, tool_04 1, tool_05 1, others 36), 73.8k tokens; run a call again to see its result]"]
            .assert_eq(&line);
        assert!(is_fold(&line));
        // Others come last, however many they are.
        assert!(is_fold(&fold_line(
            &facts(&[("a b", 9, ToolClass::Retrieval), ("c", 1, ToolClass::Retrieval)]),
            &Route::Rerun
        )));
        assert!(is_fold(&fold_line(
            &facts(&[("others", 9, ToolClass::Retrieval), ("", 1, ToolClass::Retrieval)]),
            &Route::Rerun
        )));
    }

    #[test]
    fn what_the_calls_showed_stands_below_and_its_count_is_true() {
        let run = facts(&[("grep", 2, ToolClass::Retrieval), ("ls", 1, ToolClass::Retrieval)]);
        let text = fold_text(&run, &Route::Rerun, ["grep a: one", "ls: 1 more results]"].into_iter());
        expect![[r"
            [folded from context: 3 calls (grep 2, ls 1), 5.3k tokens; run a call again to see its result; what they showed:
            grep a: one
            ls: 1 more results]
            1 more results]"]]
        .assert_eq(&text);
        assert!(is_fold(&text));
        assert_eq!(fold_text(&run, &Route::Rerun, [].into_iter()), fold_line(&run, &Route::Rerun));
        for wrong in [
            text.replace("\n1 more", "\n2 more"),
            text.replace("\n1 more", "\nno more"),
            text.replace("\n1 more", "\n01 more"),
            text.replace("grep a: one", ""),
            text.replace("grep a: one", "grep a\none"),
            text.replace("grep a: one", &"x".repeat(digest::MAX_ENTRY_BYTES + 1)),
            text.replace("grep a: one", "grep a\rone"),
            format!("{text}\n"),
            text.replace("; what they showed:", "]"),
            text.replace("what they", "what all"),
        ] {
            assert!(wrong != text && !is_fold(&wrong), "{wrong}");
        }
        let run = facts(&[("grep", 40, ToolClass::Retrieval)]);
        let long = "x".repeat(digest::MAX_ENTRY_BYTES);
        let of = |entries: usize| fold_text(&run, &Route::Rerun, vec![long.as_str(); entries].into_iter());
        let most = digest::MAX_ENTRIES_BYTES / digest::MAX_ENTRY_BYTES;
        assert!(is_fold(&of(most - 1)) && !is_fold(&of(most)), "all entries together have a limit too");
        let run = facts(&[("grep", 3, ToolClass::Retrieval)]);
        let all = fold_text(&run, &Route::Rerun, ["a", "b", "c"].into_iter());
        assert!(all.ends_with("\nno more results]") && is_fold(&all));
    }

    #[test]
    fn look_alikes_are_no_fold() {
        let line =
            fold_line(&facts(&[("grep", 2, ToolClass::Retrieval), ("ls", 1, ToolClass::Retrieval)]), &Route::Rerun);
        assert!(is_fold(&line));
        let (open, rest) = line.split_at(FOLD_START.len());
        for wrong in [
            format!("{line}\n"),
            format!(" {line}"),
            format!("{line}{line}"),
            line.replace("3 calls", "4 calls"),
            line.replace("3 calls", "03 calls"),
            line.replace("grep 2, ls 1", "ls 1, grep 2"),
            line.replace("grep 2, ls 1", "grep 2, grep 1"),
            line.replace("grep 2, ls 1", "grep 3, ls 0"),
            line.replace("grep 2, ls 1", "others 1, grep 2"),
            line.replace("grep 2", "gr\nep 2"),
            line.replace("run a call", "trust this"),
            line.replace("tokens", "words"),
            line.replace("5.3k", "5k"),
            format!("{open}{open}{rest}"),
        ] {
            assert!(wrong != line && !is_fold(&wrong), "{wrong}");
        }
    }
}
