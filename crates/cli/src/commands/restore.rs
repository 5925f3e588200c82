//! `liveset restore`: the body that a compacted one was made from, byte for byte.

use liveset::{Liveset, Policy};
use liveset_archive::shown;

use crate::{args::Restore, failure::Failure, input, output, setup};

pub(crate) fn run(args: &Restore) -> Result<u8, Failure> {
    output::apart(&[("--archive", Some(&args.archive)), ("--output", args.output.as_deref())])?;
    if !args.archive.exists() {
        return Err(Failure::store(format_args!("no archive at `{}`", shown(&args.archive)))
            .hint("name the file that `compact --archive` wrote"));
    }
    let (name, bytes) = input::bytes(Some(&args.file))?;
    let liveset = Liveset::new(Policy::default()).with_archive(setup::archive(&args.archive)?);
    let original = liveset.restore(&bytes).map_err(|error| Failure::from(error).in_file(&name))?;
    output::bytes(args.output.as_deref(), &original)?;
    Ok(0)
}
