//! `liveset check`: what would a provider refuse, and what did a change break?

use std::fmt::Write as _;

use liveset::WireFormat;
use liveset_engine::{
    json::Outline,
    report::Fidelity,
    validate::{self, Code, Epoch},
    wire,
};

use crate::{
    args::Check,
    failure::{DEFECTS, Failure},
    input::Input,
    output,
};

pub(crate) fn run(args: &Check) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let (format, outline) = read(&input, input.format).map_err(|error| input.failure(error))?;
    let mut defects = match &args.against {
        None => validate::check(format, &outline),
        Some(path) => {
            let original = Input::beside(path)?;
            let (_, before) = read(&original, Some(format)).map_err(|error| original.failure(error))?;
            // A body does not say whether its report declares a sweep, so an edit alone is no defect here.
            let after = validate::check_against(format, &before, &outline, Epoch::Declared);
            validate::new_defects(&validate::check(format, &before), &after)
        }
    };
    if input.fidelity != Fidelity::ExactWire {
        // A trace mostly lacks the tools that its requests declared.
        defects.retain(|defect| defect.code != Code::UndeclaredToolNames);
    }
    let mut out = String::new();
    for defect in &defects {
        let _ = writeln!(out, "{}: {defect}", input.name);
    }
    output::text(&out)?;
    Ok(if defects.is_empty() { 0 } else { DEFECTS })
}

/// Reads a body; one that is no list of messages is bad input, not a defect.
fn read(input: &Input, format: Option<WireFormat>) -> liveset_engine::Result<(WireFormat, Outline<'_>)> {
    let outline = Outline::read(&input.body)?;
    let format = format.map_or_else(|| wire::detect(&outline), Ok)?;
    wire::read(format, &outline)?;
    Ok((format, outline))
}
