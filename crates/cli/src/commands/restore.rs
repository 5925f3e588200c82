//! `liveset restore`: the body that a compacted one was made from, byte for byte.

use std::sync::Arc;

use liveset::{Liveset, Policy};

use crate::{args::Restore, failure::Failure, input, output, setup};

pub(crate) fn run(args: &Restore) -> Result<u8, Failure> {
    let place = setup::archive_place(args.archive.archive.as_deref())?;
    output::apart(&[("--archive", Some(&place)), ("--output", args.output.as_deref())])?;
    let archive = args.scope.of(setup::existing_archive(args.archive.archive.as_deref())?);
    let (name, bytes) = input::bytes(Some(&args.file))?;
    let liveset = Liveset::new(Policy::default()).with_archive(Arc::new(archive));
    let original = liveset.restore(&bytes).map_err(|error| Failure::from(error).in_file(&name))?;
    output::bytes(args.output.as_deref(), &original)?;
    Ok(0)
}
