//! Is the line of a folded run true? Its calls and tools are those that went right before its carrier.

use std::collections::BTreeMap;

use super::changes::Change;
use super::entries;
use super::outcome::Outcome;
use super::routes::is_fold_route;
use super::summaries;
use super::tombstones::{Scan, figure};
use crate::oracle::view::{Item, ItemKind, View};

/// What tools that the line does not name are counted as.
const OTHERS: &str = "others";
/// Tools that a line may name.
const MAX_NAMED: usize = 6;

/// Checks `[folded from context: N calls (TOOL n, …), T tokens; ROUTE]` in the result `carrier`, and what may follow it:
/// `; what they showed:` before the bracket, an entry on each line, and how many calls have none.
pub(crate) fn is_true(view: &View<'_>, outcome: &Outcome, changes: &[Change], carrier: &Item, text: &[u8]) -> bool {
    let run = run(view, outcome, changes, carrier);
    let Some(first) = text.iter().position(|byte| *byte == b'\n') else {
        return is_line_true(&run, text);
    };
    let (line, below) = text.split_at(first);
    let Some(line) = line.strip_suffix(b"; what they showed:") else { return false };
    let is_of_run =
        |result: &&Item| view.call_of(result).is_some_and(|call| run.iter().any(|other| std::ptr::eq(*other, call)));
    let results: Vec<&Item> = view.results().filter(is_of_run).collect();
    is_line_true(&run, &[line, b"]"].concat()) && entries::are_true(view, &results, below.get(1..).unwrap_or_default())
}

fn is_line_true(run: &[&Item], text: &[u8]) -> bool {
    read(text).is_some_and(|(calls, listed)| calls == run.len() && is_counted(run, &listed))
}

/// Says whether these are the tools of the calls, in order and with their counts.
pub(crate) fn is_counted(run: &[&Item], listed: &[(String, usize)]) -> bool {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let name = |item: &Item| item.name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
    run.iter().filter_map(|call| name(call)).for_each(|name| *counts.entry(name).or_default() += 1);
    // Calls whose item type names the tool have no name of their own here.
    let mut nameless = run.iter().filter(|call| name(call).is_none()).count();
    let named: Vec<_> = listed.iter().filter(|(tool, _)| tool != OTHERS).collect();
    let is_counted = named.iter().all(|(tool, count)| {
        let known = counts.get(tool).copied().unwrap_or(0);
        let Some(more) = count.checked_sub(known).filter(|more| *more <= nameless) else { return false };
        nameless -= more;
        true
    });
    let in_order = named.windows(2).all(|pair| (pair[1].1, &pair[0].0) <= (pair[0].1, &pair[1].0));
    let sum: usize = listed.iter().map(|(_, count)| count).sum();
    // Whatever can be named is, as long as there is room.
    let is_short = |tool: &String| tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && tool.len() <= 64;
    let is_named = |tool: &String| named.iter().any(|(name, _)| name == tool);
    let hides_none = named.len() == MAX_NAMED || counts.keys().all(|tool| is_named(tool) || !is_short(tool));
    let is_one_of_more = run.len() > 1 && named.len() <= MAX_NAMED;
    sum == run.len() && is_counted && in_order && hides_none && is_one_of_more
}

/// The calls that went for the line, and the one that the carrier answers.
fn run<'v>(view: &'v View<'_>, outcome: &Outcome, changes: &[Change], carrier: &'v Item) -> Vec<&'v Item> {
    let numbers = summaries::numbers(view, outcome, changes, carrier, "fold");
    let gone = view.items.iter().filter(|item| item.kind == ItemKind::Call && numbers.contains(&item.number));
    view.call_of(carrier).into_iter().chain(gone).collect()
}

fn read(text: &[u8]) -> Option<(usize, Vec<(String, usize)>)> {
    let mut scan = Scan::new(text, 0);
    scan.word(b"[folded from context: ")?;
    let calls = scan.number()?;
    scan.word(b" calls (")?;
    let listed = tools(&mut scan)?;
    scan.word(b"), ")?;
    figure(&mut scan)?;
    scan.word(b"; ")?;
    let route = scan.until(b"]\n");
    scan.word(b"]")?;
    let is_whole = scan.until(b"").is_empty() && text.last() == Some(&b']');
    (is_fold_route(route) && is_whole).then_some((calls, listed))
}

/// Tools and how many calls each has.
pub(crate) type Listed = Vec<(String, usize)>;

/// Reads a list of tools with their counts.
pub(crate) fn tools(scan: &mut Scan<'_>) -> Option<Listed> {
    let mut listed = Vec::new();
    loop {
        let tool = String::from_utf8(scan.until(b" ,();[]\n").to_vec()).ok()?;
        scan.word(b" ")?;
        listed.push((tool, scan.number()?));
        if scan.word(b", ").is_none() {
            return Some(listed);
        }
    }
}
