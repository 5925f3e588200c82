//! `liveset check`: what would a provider refuse?

use std::fmt::Write as _;

use liveset_engine::{json::Outline, validate, wire};

use crate::{
    args::Check,
    failure::{DEFECTS, Failure},
    input::{self, Input},
    output,
};

pub(crate) fn run(args: &Check) -> Result<u8, Failure> {
    let input = Input::read(&args.input)?;
    let named = |error: liveset_engine::Error| Failure::from(error).in_file(&input.name);
    let outline = Outline::read(&input.body).map_err(named)?;
    let format = match input.format {
        Some(format) => format,
        None => wire::detect(&outline).map_err(named)?,
    };
    let transcript = wire::read(format, &outline).map_err(named)?;
    let mut defects = validate::check(&transcript);
    if let Some(path) = &args.against {
        let (name, bytes) = input::bytes(Some(path))?;
        let named = |error: liveset_engine::Error| Failure::from(error).in_file(&name);
        let original = Outline::read(&bytes).map_err(named)?;
        let original = wire::read(format, &original).map_err(named)?;
        defects = validate::new_defects(&validate::check(&original), &defects);
        defects.extend(validate::check_against(&original, &transcript));
    }
    let mut out = String::new();
    for defect in &defects {
        let place = defect.message.map_or("request".to_owned(), |at| format!("message {at}"));
        let _ =
            writeln!(out, "{}: {place}, byte {}: {}: {}", input.name, defect.offset, defect.code.name(), defect.what);
    }
    output::text(&out)?;
    Ok(if defects.is_empty() { 0 } else { DEFECTS })
}
