//! How does one result leave, before it is part of any body? For an agent's tool layer, which shapes what it sends.
//!
//! Decides nothing of its own: the result is put into a body of one call and goes the way of every request, so that the
//! bytes are those that a compaction would make of it.

use liveset_engine::{
    budget,
    json::{self, NodeKind, Outline},
    report::{EditReport, Report},
    transcript::WireFormat,
};

use crate::{compact::Liveset, error::Result};

/// The id of the one call; it reaches no model.
const CALL_ID: &str = "call";
/// The recall tool as a body offers it.
const RECALL_TOOL: &str = r#"{"name":"recall","input_schema":{"type":"object","properties":{"id":{}}}}"#;

/// One result, and the call that it answers.
///
/// ```
/// use liveset::ShapeRequest;
/// let mut request = ShapeRequest::new("Bash", "a log");
/// request.arguments = Some(r#"{"command": "make"}"#.to_owned());
/// assert_eq!(request.tool, "Bash");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeRequest {
    /// The tool's name, as the agent calls it.
    pub tool: String,
    /// The arguments of the call, a JSON object as text.
    pub arguments: Option<String>,
    /// What the tool put out.
    pub text: String,
    /// Whether the result stays whole.
    pub pin: ShapePin,
    /// Whether the client says that the tool failed.
    pub outcome: ToolOutcome,
    /// Whether requests of this agent offer the recall tool: `recall_route = "tool"` holds only there.
    pub recall: RecallOffer,
}

/// Whether a result stays whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapePin {
    /// As the policy says.
    #[default]
    Free,
    /// No rule touches it.
    Pinned,
}

/// How a tool ended, by the client's word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolOutcome {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// The result is flagged as an error (`is_error`).
    Failed,
}

/// Whether the agent's requests offer the recall tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecallOffer {
    /// They do not.
    #[default]
    Absent,
    /// Their `tools` hold it.
    Offered,
}

impl ShapeRequest {
    /// Makes a request for a result of a tool.
    #[must_use]
    pub fn new(tool: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            arguments: None,
            text: text.into(),
            pin: ShapePin::default(),
            outcome: ToolOutcome::default(),
            recall: RecallOffer::default(),
        }
    }

    /// Writes a body in which this result answers its call.
    fn body(&self) -> Result<String> {
        let arguments = self.arguments.as_deref().unwrap_or("{}");
        let outline = Outline::read_all(arguments.as_bytes())?;
        if outline.node(outline.root()).kind != NodeKind::Object {
            return Err(liveset_engine::Error::Json { offset: 0, expected: "an object of arguments" }.into());
        }
        let tools = match self.recall {
            RecallOffer::Absent => String::new(),
            RecallOffer::Offered => format!(r#""tools":[{RECALL_TOOL}],"#),
        };
        let failed = self.outcome == ToolOutcome::Failed;
        let (tool, text) = (json::encode(&self.tool), json::encode(&self.text));
        let call = format!(r#"{{"type":"tool_use","id":"{CALL_ID}","name":{tool},"input":{arguments}}}"#);
        let result =
            format!(r#"{{"type":"tool_result","tool_use_id":"{CALL_ID}","is_error":{failed},"content":{text}}}"#);
        Ok(format!(
            r#"{{{tools}"messages":[{{"role":"user","content":"."}},{{"role":"assistant","content":[{call}]}},{{"role":"user","content":[{result}]}}]}}"#
        ))
    }
}

/// A result as it leaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shaped {
    /// What to send instead of the result; the result itself where it is under every limit.
    pub text: String,
    /// What was done and why.
    pub report: Report,
}

impl Shaped {
    /// Gives the change, if there was one: why, and how many tokens before and after.
    #[must_use]
    pub fn edit(&self) -> Option<&EditReport> {
        self.report.edits.first()
    }
}

impl Liveset {
    /// Shapes one result as intake would, and stores its original first where an archive is set.
    ///
    /// What it gives is left alone by every later compaction, so it may be sent again and again. Sizes are in tokens of
    /// the model that [`Liveset::with_model`] names; it decides nothing but whether a change is worth `min_gain`.
    ///
    /// ```
    /// use liveset::{Liveset, Policy, ShapeRequest};
    /// let policy = Policy::from_toml("[intake]\nstrategy = \"by_type\"\nmax_chars = 500\n")?;
    /// let log: String = (0..300).map(|at| format!("line {at} of a long log\n")).collect();
    /// let shaped = Liveset::new(policy).shape_result(&ShapeRequest::new("Bash", log))?;
    /// assert!(shaped.text.starts_with("line 0 of") && shaped.text.contains(" of 300 left out") && shaped.text.len() <= 500);
    /// # Ok::<(), liveset::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The arguments are no JSON object, or the archive cannot store the original.
    pub fn shape_result(&self, request: &ShapeRequest) -> Result<Shaped> {
        let mut liveset = self.clone().with_format(WireFormat::Anthropic);
        // Nothing is swept: the result is alone in a window that it cannot fill.
        liveset.policy.window = Some(budget::MAX_TOKENS);
        liveset.policy.reserve = Some(0);
        if request.pin == ShapePin::Pinned {
            liveset = liveset.with_pin(CALL_ID);
        }
        let body = request.body()?;
        let compaction = liveset.compact(body.as_bytes())?;
        let report = compaction.report().clone();
        let text = if report.edits.is_empty() { None } else { result_of(compaction.body())? };
        Ok(Shaped { text: text.unwrap_or_else(|| request.text.clone()), report })
    }
}

/// Gives what the last message of a body says.
fn result_of(body: &[u8]) -> Result<Option<String>> {
    let outline = Outline::read(body)?;
    let last = outline.get(outline.root(), "messages").and_then(|messages| outline.children(messages).last());
    let blocks = last.and_then(|last| outline.get(last, "content"));
    let result = blocks.and_then(|blocks| outline.children(blocks).last());
    let content = result.and_then(|result| outline.get(result, "content"));
    Ok(content.and_then(|content| outline.string(content)).map(std::borrow::Cow::into_owned))
}
