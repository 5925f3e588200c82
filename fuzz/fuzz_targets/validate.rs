//! Does any pair of bodies make the validator panic, lose its order, or find a change where there is none?

#![no_main]

use libfuzzer_sys::fuzz_target;
use liveset_engine::json::Outline;
use liveset_engine::transcript::WireFormat;
use liveset_engine::validate::{self, Epoch};

/// Stands between the two bodies of an input; no valid UTF-8 holds it.
const BORDER: u8 = 0xff;

fuzz_target!(|input: &[u8]| {
    let mut bodies = input.splitn(2, |&byte| byte == BORDER);
    let (Some(original), output) = (bodies.next(), bodies.next()) else { return };
    let Ok(original) = Outline::read(original) else { return };
    let output = output.and_then(|output| Outline::read(output).ok());
    for format in WireFormat::ALL {
        let defects = validate::check(format, &original);
        assert!(defects.is_sorted() && defects.iter().all(|defect| defect.offset < original.body().len()));
        assert_eq!(validate::check_against(format, &original, &original, Epoch::Undeclared), defects);
        assert!(validate::new_defects(&defects, &defects).is_empty());
        let Some(output) = &output else { continue };
        for epoch in [Epoch::Declared, Epoch::Undeclared] {
            let changed = validate::check_against(format, &original, output, epoch);
            assert!(changed.is_sorted() && changed.iter().all(|defect| defect.offset < output.body().len()));
        }
    }
});
