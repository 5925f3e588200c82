//! What does an agent get to see? The texts of a delivered body, read as a provider would hand them on.
//!
//! Reads bodies of any strategy, in any wire format of ours, and knows nothing of how they were cut.

use liveset_engine::{
    Result,
    json::{self, Outline},
    transcript::{ItemKind, Transcript, WireFormat},
    wire,
};

use super::tool::Tool;

/// A text and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// System text, or text of the user.
    Told(String),
    /// What the agent said itself.
    Said(String),
    /// What came back for a call.
    Result {
        /// The tool that was called, where that is still in view and known.
        tool: Option<Tool>,
        /// The text.
        text: String,
    },
}

/// A delivered body as an agent sees it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// Its texts, in order.
    pub seen: Vec<Seen>,
    /// Assistant messages in it.
    pub units: usize,
}

impl View {
    /// Reads a body.
    ///
    /// ```
    /// use liveset_engine::transcript::WireFormat;
    /// use liveset_eval::irbench::{Seen, View};
    /// let view = View::of(WireFormat::OpenaiChat, br#"{"messages":[{"role":"user","content":"turn 1 of 24"}]}"#)?;
    /// assert_eq!(view.seen, [Seen::Told("turn 1 of 24".into())]);
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The body is no body of this format.
    pub fn of(format: WireFormat, body: &[u8]) -> Result<Self> {
        let outline = Outline::read(body)?;
        let transcript = wire::read(format, &outline)?;
        let mut seen = Vec::with_capacity(transcript.items.len());
        for item in &transcript.items {
            let text = || -> Result<String> {
                let texts: Result<Vec<String>> =
                    item.texts.iter().map(|text| Ok(json::decode(text.of(body))?.into_text().into_owned())).collect();
                Ok(texts?.join("\n"))
            };
            match item.kind {
                ItemKind::System | ItemKind::User => seen.push(Seen::Told(text()?)),
                ItemKind::Assistant => seen.push(Seen::Said(text()?)),
                ItemKind::ToolResult => {
                    let call = item.answer().and_then(|answer| answer.call);
                    let tool = call.and_then(|call| called(&transcript, call.at()));
                    seen.push(Seen::Result { tool, text: text()? });
                }
                ItemKind::Reasoning | ItemKind::ToolCall | ItemKind::Media | ItemKind::Opaque => {}
            }
        }
        Ok(Self { seen, units: transcript.units.len() })
    }
}

fn called(transcript: &Transcript<'_>, at: usize) -> Option<Tool> {
    let name = transcript.items.get(at)?.call()?.name?;
    Tool::named(json::decode(name.of(transcript.body)).ok()?.text())
}
