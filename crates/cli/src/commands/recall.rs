//! `liveset recall`: an original, or a part of it.

use liveset::recall::{Miss, Recall as Answer, View, recall};

use crate::{
    args::{self, Recall, ViewArgs},
    failure::Failure,
    output, setup,
};

/// Reads an id that somebody gives.
pub(super) fn content_id(text: &str) -> Result<String, Failure> {
    let hint = "`liveset search WORDS` finds originals and names their ids";
    args::content_id(text).map_err(|why| Failure::usage(why).hint(hint))
}

pub(crate) fn run(args: &Recall) -> Result<u8, Failure> {
    let id = content_id(&args.id)?;
    let archive = args.scope.of(setup::existing_archive(args.archive.archive.as_deref())?);
    match recall(&archive, &id, &view(&args.view, args.context))? {
        Answer::Found(found) => {
            let heading = found.heading() + "\n";
            match is_whole(&args.view) {
                true => {
                    output::note(&heading);
                    output::bytes(None, &found.part.bytes)?;
                }
                false => output::bytes(None, &[heading.into_bytes(), found.part.bytes].concat())?,
            }
            Ok(0)
        }
        Answer::Missed(miss) => Err(missed(&id, &miss)),
        _ => Err(Failure::store("this version does not know what the archive answered")),
    }
}

/// A miss is said once, with the one thing that helps.
fn missed(id: &str, miss: &Miss) -> Failure {
    let failure = Failure::store(miss.told(id));
    match miss.instead() {
        Some(call) => failure.hint(format!("run the call again that gave it: {call}")),
        None => failure.hint("run the call again that gave it, or look for its words: `liveset search WORDS`"),
    }
}

fn is_whole(args: &ViewArgs) -> bool {
    matches!(view(args, 0), View::Whole)
}

fn view(args: &ViewArgs, context: usize) -> View {
    if args.outline {
        return View::Outline;
    }
    if let Some((first, last)) = args.lines {
        return View::Lines { first, last };
    }
    if let Some(pattern) = &args.grep {
        return View::Grep { pattern: pattern.clone(), context };
    }
    match (args.head, args.tail) {
        (Some(count), _) => View::Head(count),
        (None, Some(count)) => View::Tail(count),
        (None, None) => View::Whole,
    }
}
