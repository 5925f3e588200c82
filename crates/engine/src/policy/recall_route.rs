//! How does the agent get an original back? The setting `recall_route`, and the folder that one of its values names.
//!
//! Says nothing of whether a way is open in a body: that is for the plan to find.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// How the agent gets an original back. Any way but `none` needs an archive; without one the words are those of `none`.
///
/// ```
/// use liveset_engine::policy::RecallRoute;
/// let route: RecallRoute = "spill:./out//cut".parse()?;
/// assert_eq!(route.to_string(), "spill:out/cut");
/// assert!("spill:../out".parse::<RecallRoute>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum RecallRoute {
    /// By running the call again.
    #[default]
    None,
    /// By the recall tool, where the body's tools hold one; elsewhere as `none`.
    Tool,
    /// By the recall tool, whether or not the body lists it: some clients load the tools of a server on demand.
    Mcp,
    /// By `liveset recall ID` in a shell.
    Shell,
    /// By reading the file that the archive spilled the original to.
    Spill(SpillFolder),
}

/// The plain values, with what each does.
const PLAIN: [(&str, RecallRoute, &str); 4] = [
    ("none", RecallRoute::None, "By running the call again."),
    (
        "tool",
        RecallRoute::Tool,
        "By the recall tool, where the body's tools hold one; elsewhere as none. Needs an archive.",
    ),
    (
        "mcp",
        RecallRoute::Mcp,
        "By the recall tool, whether or not the body lists it, as clients that load tools on demand do not. Needs an archive.",
    ),
    ("shell", RecallRoute::Shell, "By `liveset recall ID` in a shell of the agent. Needs an archive."),
];

/// Before the folder, in the one value that names something.
const SPILL: &str = "spill:";
/// What the schema calls that value.
const SPILL_NAME: &str = "spill:RELATIVE";
const SPILL_ABOUT: &str =
    "By reading the file RELATIVE/ID.txt, to which an archive that spills writes each original. Needs an archive.";

impl FromStr for RecallRoute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(folder) = text.strip_prefix(SPILL) {
            return SpillFolder::new(folder).map(Self::Spill).ok_or_else(|| {
                format!(
                    "`{SPILL}` is followed by a folder below the one the agent works in: names of letters, digits and \
                     `._-+@~`, parted by `/`, the first not led by `~` or `-`, at most {MAX_FOLDER_BYTES} bytes"
                )
            });
        }
        let plain = PLAIN.iter().find(|(name, ..)| *name == text).map(|(_, route, _)| route.clone());
        plain.ok_or_else(|| {
            let names: Vec<&str> = PLAIN.iter().map(|(name, ..)| *name).chain([SPILL_NAME]).collect();
            format!("a recall route is one of {}", names.join(", "))
        })
    }
}

impl TryFrom<String> for RecallRoute {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for RecallRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spill(folder) => write!(f, "{SPILL}{}", folder.as_str()),
            plain => f.write_str(PLAIN.iter().find(|(_, route, _)| route == plain).map_or("none", |(name, ..)| name)),
        }
    }
}

impl From<RecallRoute> for String {
    fn from(route: RecallRoute) -> Self {
        route.to_string()
    }
}

impl JsonSchema for RecallRoute {
    fn schema_name() -> Cow<'static, str> {
        "RecallRoute".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let plain =
            PLAIN.iter().map(|(name, _, about)| json_schema!({"description": about, "type": "string", "const": name}));
        let spill = json_schema!({
            "title": SPILL_NAME, "description": SPILL_ABOUT, "type": "string", "pattern": format!("^{SPILL}.+$"),
        });
        let choices: Vec<Schema> = plain.chain([spill]).collect();
        json_schema!({"description": "How the agent gets an original back.", "oneOf": choices})
    }
}

/// A folder below the one in which the agent works, parts parted by `/` on every system.
///
/// Invariant: no part is empty, `.` or `..`, no character could end the line of ours in which the folder is named, and
/// the first one is no `~` or `-`, which a shell or a command would take for a home or a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillFolder(String);

/// Bytes of the folder's name: it stands in every line that we leave.
pub const MAX_FOLDER_BYTES: usize = 100;
/// Digits of an id.
const ID_DIGITS: usize = 32;
/// What ends the name of a spilled file.
const FILE_END: &str = ".txt";

impl SpillFolder {
    /// Reads a folder; `None` where it leads elsewhere or could not be named in a line.
    #[must_use]
    pub fn new(relative: &str) -> Option<Self> {
        if relative.len() > MAX_FOLDER_BYTES || relative.starts_with('/') {
            return None;
        }
        let parts: Vec<&str> = relative.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@' | '~');
        let is_sound = |part: &&str| **part != *".." && part.chars().all(is_plain);
        if parts.first().is_some_and(|first| first.starts_with(['~', '-'])) {
            return None;
        }
        (!parts.is_empty() && parts.iter().all(is_sound)).then(|| Self(parts.join("/")))
    }

    /// Gives the folder as it is named.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Names the file of an original in it, as the archive's spill does.
    ///
    /// ```
    /// use liveset_engine::policy::SpillFolder;
    /// assert_eq!(SpillFolder::new("out").unwrap().file("0f"), "out/0f.txt");
    /// ```
    #[must_use]
    pub fn file(&self, id: &str) -> String {
        format!("{}/{id}{FILE_END}", self.0)
    }

    /// Reads the id out of a path, from wherever, that ends in the name of such a file.
    pub(crate) fn id_under<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (folder, file) = path.rsplit_once('/')?;
        let above = folder.strip_suffix(self.0.as_str())?;
        let id = file.strip_suffix(FILE_END)?;
        let is_here = above.is_empty() || above.ends_with('/');
        (is_here && id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
    }

    /// Reads the id out of such a name, whatever the folder.
    pub(crate) fn id_in(name: &str) -> Option<&str> {
        let (folder, file) = name.rsplit_once('/')?;
        Self::new(folder).filter(|known| known.0 == folder)?;
        file.strip_suffix(FILE_END)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_written_as_it_is_read() {
        for name in PLAIN.iter().map(|(name, ..)| *name).chain(["spill:a/b.c"]) {
            assert_eq!(name.parse::<RecallRoute>().unwrap().to_string(), name);
        }
        for wrong in ["", "Tool", "spill", "shell ", "spill:"] {
            assert!(wrong.parse::<RecallRoute>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_folder_leads_nowhere_and_ends_no_line() {
        for wrong in ["", ".", "/", "/a", "..", "a/../b", "a b", "a;b", "a]", "a\\b", "C:", "a\nb", &"x".repeat(101)] {
            assert!(SpillFolder::new(wrong).is_none(), "{wrong}");
        }
        for wrong in ["~", "~/x", "~me/x", "-out", "./-out", "--/x"] {
            assert!(SpillFolder::new(wrong).is_none(), "{wrong}: a shell or a command would read it as its own");
        }
        assert!(SpillFolder::new("a/~b/-c").is_some());
        let (folder, id) = (SpillFolder::new("a/b").unwrap(), "0f".repeat(16));
        for path in [format!("a/b/{id}.txt"), format!("/home/a/b/{id}.txt")] {
            assert_eq!(folder.id_under(&path), Some(id.as_str()), "{path}");
        }
        for path in [format!("{id}.txt"), format!("b/{id}.txt"), format!("xa/b/{id}.txt"), "a/b/0f.txt".to_owned()] {
            assert_eq!(folder.id_under(&path), None, "{path}");
        }
        assert_eq!(SpillFolder::id_in("a/b/0f.txt"), Some("0f"));
        for wrong in ["0f.txt", "/0f.txt", "a//0f.txt", "./a/0f.txt", "a/0f.md"] {
            assert_eq!(SpillFolder::id_in(wrong), None, "{wrong}");
        }
    }
}
