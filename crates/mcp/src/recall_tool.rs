//! What does an agent get for an id? A page of the original, or of the part that was asked for.
//!
//! Text that is no UTF-8 (lone surrogates of a body) is shown with U+FFFD: the protocol carries nothing else.

use std::sync::Arc;

use liveset::recall::{Miss, Recall, View, recall};
use liveset_archive::SqliteArchive;

use crate::{
    arguments::RecallArguments,
    listing::Answer,
    open_views::{OpenViews, Shown},
    page::{Page, page},
};

/// Answers a call of `recall`.
pub(crate) fn answer(archive: &SqliteArchive, views: &OpenViews, arguments: &RecallArguments) -> Answer {
    let view = match arguments.view() {
        Ok(view) => view,
        Err(why) => return Answer::error(why),
    };
    let id = arguments.id.as_str();
    let shown = match shown(archive, views, id, &view) {
        Ok(shown) => shown,
        Err(answer) => return answer,
    };
    let page = page(&shown.text, arguments.offset.unwrap_or(0));
    let heading = heading(&shown.heading, &page, shown.text.len());
    let answer = Answer::text(format!("{heading}\n{}{}", page.text, footer(&page)));
    // Who has read to the end asks for no more.
    if page.next.is_some() {
        views.keep(id, view, shown);
    }
    answer
}

/// Gives all that is asked for: as the page before was cut from it, or out of the archive.
fn shown(archive: &SqliteArchive, views: &OpenViews, id: &str, view: &View) -> Result<Arc<Shown>, Answer> {
    if let Some(shown) = views.take(id, view) {
        match archive.holds(id) {
            Ok(true) => return Ok(shown),
            // It was removed meanwhile: what is left to say about it, the archive says.
            Ok(false) => views.forget(id),
            Err(error) => return Err(Answer::error(error.to_string())),
        }
    }
    match recall(archive, id, view) {
        Ok(Recall::Found(found)) => {
            let text = String::from_utf8_lossy(&found.part.bytes).into_owned();
            Ok(Arc::new(Shown { heading: found.heading(), text }))
        }
        Ok(Recall::Missed(miss)) => Err(Answer::error(missed(id, &miss))),
        Ok(_) => Err(Answer::error("this version does not know what the archive answered".to_owned())),
        Err(error) => Err(Answer::error(error.to_string())),
    }
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

#[cfg(test)]
mod tests {
    use liveset_archive::{Archive as _, Purge, Release};

    use super::*;

    const ID: &str = "0f3c5e0d9a1b2c3d4e5f60718293a4b5";

    fn asked(more: &str) -> RecallArguments {
        serde_json::from_str(&format!("{{\"id\":\"{ID}\"{more}}}")).unwrap()
    }

    #[test]
    fn a_later_page_is_cut_from_what_the_first_one_was_and_never_of_what_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(folder.path().join("archive")).unwrap();
        let text: String = (0..9_000).map(|line| format!("line {line}\n")).collect();
        archive.put(&Release::new(b"body", vec![1], vec![(ID.to_owned(), text.into_bytes())])).unwrap();
        let views = OpenViews::default();
        let first = answer(&archive, &views, &asked(""));
        assert!(!first.is_error && first.text.contains("go on with `offset`"));
        let kept = views.take(ID, &View::Whole).unwrap();
        let (one, two) = (Arc::as_ptr(&kept), asked(",\"offset\":32000"));
        views.keep(ID, View::Whole, kept);
        assert!(!answer(&archive, &views, &two).is_error);
        let kept = views.take(ID, &View::Whole).unwrap();
        assert_eq!(Arc::as_ptr(&kept), one, "nothing was read or cut anew");
        views.keep(ID, View::Whole, kept);
        let last = answer(&archive, &views, &asked(",\"offset\":96000"));
        assert!(!last.is_error && !last.text.contains("go on with"), "{}", last.text);
        assert!(views.take(ID, &View::Whole).is_none(), "it was read to its end");
        let grep = answer(&archive, &views, &asked(",\"grep\":\"line\",\"offset\":32000"));
        assert!(grep.text.starts_with("[9000 of 9000 lines match; bytes "), "{}", grep.text);
        answer(&archive, &views, &asked(""));
        archive.purge(&Purge::Id(ID.to_owned())).unwrap();
        let gone = answer(&archive, &views, &two);
        assert!(gone.is_error && gone.text.contains("for good"), "{}", gone.text);
    }
}
