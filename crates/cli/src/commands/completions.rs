//! `liveset completions`: what a shell needs to complete commands and flags.

use clap::CommandFactory as _;

use crate::{
    args::{Arguments, Completions},
    failure::Failure,
    output,
};

pub(crate) fn run(args: &Completions) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "liveset", &mut script);
    output::bytes(None, &script)?;
    Ok(0)
}
