//! How is a session named where people and models read and write its name? The one without a name has a sign.
//!
//! Looks nothing up.

/// What stands for the session without a name, where it is shown and where it is asked for.
const UNNAMED: &str = "-";

/// Reads a session as lists name it.
///
/// ```
/// use liveset_archive::{read_session, session_shown};
/// assert_eq!((read_session("-").as_str(), read_session("0f").as_str()), ("", "0f"));
/// assert_eq!(read_session(session_shown("")), "");
/// ```
#[must_use]
pub fn read_session(name: &str) -> String {
    if name == UNNAMED { String::new() } else { name.to_owned() }
}

/// Names a session so that it can be asked for.
///
/// ```
/// assert_eq!(liveset_archive::session_shown(""), "-");
/// ```
#[must_use]
pub fn session_shown(name: &str) -> &str {
    if name.is_empty() { UNNAMED } else { name }
}
