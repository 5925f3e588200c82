//! What does an agent get for an id? A page of the original, or of the part that was asked for.
//!
//! Text that is no UTF-8 (lone surrogates of a body) is shown with U+FFFD: the protocol carries nothing else.

use liveset::recall::{Miss, Recall, recall};
use liveset_archive::Archive;

use crate::{
    arguments::RecallArguments,
    listing::Answer,
    page::{Page, page},
};

/// Answers a call of `recall`.
pub(crate) fn answer(archive: &dyn Archive, arguments: &RecallArguments) -> Answer {
    let view = match arguments.view() {
        Ok(view) => view,
        Err(why) => return Answer::error(why),
    };
    let found = match recall(archive, &arguments.id, &view) {
        Ok(Recall::Found(found)) => found,
        Ok(Recall::Missed(miss)) => return Answer::error(missed(&arguments.id, &miss)),
        Ok(_) => return Answer::error("this version does not know what the archive answered".to_owned()),
        Err(error) => return Answer::error(error.to_string()),
    };
    let text = String::from_utf8_lossy(&found.part.bytes);
    let page = page(&text, arguments.offset.unwrap_or(0));
    Answer::text(format!("{}\n{}{}", heading(&found.heading(), &page, text.len()), page.text, footer(&page)))
}

/// Says what this is a page of.
fn heading(whole: &str, page: &Page<'_>, total: usize) -> String {
    let is_all = page.from == 0 && page.next.is_none();
    match whole.strip_suffix(']') {
        Some(whole) if !is_all => {
            format!("{whole}; bytes {}-{} of {total} of that]", page.from, page.from + page.text.len())
        }
        Some(_) | None => whole.to_owned(),
    }
}

/// Says how to go on.
fn footer(page: &Page<'_>) -> String {
    let Some(next) = page.next else { return String::new() };
    let end = if page.text.ends_with('\n') { "" } else { "\n" };
    format!("{end}[not all of it: go on with `offset`: {next}]")
}

/// A miss is said once and for good, with the one thing that helps.
fn missed(id: &str, miss: &Miss) -> String {
    let told = miss.told(id);
    match miss.instead() {
        Some(call) => format!("{told}; run the call again that gave it: {call}"),
        None => format!("{told}; run the call again that gave it"),
    }
}
