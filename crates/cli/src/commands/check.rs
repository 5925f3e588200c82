//! `liveset check`: what would a provider refuse?

use crate::{args::Check, failure::Failure};

pub(crate) fn run(_args: &Check) -> Result<u8, Failure> {
    Err(Failure::usage("not there yet"))
}
