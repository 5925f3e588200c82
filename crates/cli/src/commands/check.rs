//! `liveset check`: what would a provider refuse, and what did a change break?

use std::fmt::Write as _;

use liveset::WireFormat;
use liveset_engine::{
    json::Outline,
    transcript::Transcript,
    validate::{self, Defect},
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
    let (format, transcript) = read(&input, input.format).map_err(|error| input.failure(error))?;
    let defects = match &args.against {
        None => validate::check(&transcript),
        Some(path) => {
            let original = Input::beside(path)?;
            let (_, before) = read(&original, Some(format)).map_err(|error| original.failure(error))?;
            against(&before, &transcript)
        }
    };
    let mut out = String::new();
    for Defect { code, offset, what, message, .. } in &defects {
        let place = message.map_or(String::new(), |at| format!(" (message {at})"));
        let _ = writeln!(out, "{}: {} at byte {offset}: {what}{place}", input.name, code.name());
    }
    output::text(&out)?;
    Ok(if defects.is_empty() { 0 } else { DEFECTS })
}

fn read(input: &Input, format: Option<WireFormat>) -> liveset_engine::Result<(WireFormat, Transcript<'_>)> {
    let outline = Outline::read(&input.body)?;
    let format = format.map_or_else(|| wire::detect(&outline), Ok)?;
    Ok((format, wire::read(format, &outline)?))
}

/// Finds what the original does not have, and what changed that may not change.
fn against(original: &Transcript<'_>, output: &Transcript<'_>) -> Vec<Defect> {
    let mut defects = validate::new_defects(&validate::check(original), &validate::check(output));
    defects.extend(validate::check_against(original, output));
    defects
}
