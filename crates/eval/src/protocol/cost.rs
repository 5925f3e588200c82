//! What did a run ask and do? Its calls by class, each counted once, over its own compactions too.

use std::collections::{BTreeMap, BTreeSet};

use liveset_engine::{
    Result, json,
    json::Outline,
    tools::{CallName, Tool, ToolClass},
    transcript::WireFormat,
    wire,
};
use serde::Serialize;

/// What kind of interaction a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CostClass {
    /// Asks for state.
    Retrieval,
    /// Changes something.
    Execution,
    /// Moves about.
    Navigation,
    /// Nobody said.
    Unclassified,
}

impl CostClass {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Retrieval, Self::Execution, Self::Navigation, Self::Unclassified];

    /// Gives the name that flags and tables use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Execution => "execution",
            Self::Navigation => "navigation",
            Self::Unclassified => "unclassified",
        }
    }
}

/// Which tools have which class: those named here, else what the table of tools knows.
///
/// ```
/// use liveset_eval::protocol::{CostClass, CostClasses};
/// let classes = CostClasses::new([("go".to_owned(), CostClass::Navigation)]);
/// assert_eq!(classes.named("go"), Some(CostClass::Navigation));
/// assert_eq!(classes.named("examine"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CostClasses {
    named: BTreeMap<String, CostClass>,
}

impl CostClasses {
    /// Takes classes by the names of tools.
    #[must_use]
    pub fn new(named: impl IntoIterator<Item = (String, CostClass)>) -> Self {
        Self { named: named.into_iter().collect() }
    }

    /// Gives the class that was said of a tool.
    #[must_use]
    pub fn named(&self, tool: &str) -> Option<CostClass> {
        self.named.get(tool).copied()
    }

    fn of(&self, name: &CallName) -> CostClass {
        let known = || match name.class {
            ToolClass::Retrieval | ToolClass::Volatile => CostClass::Retrieval,
            ToolClass::Execution => CostClass::Execution,
        };
        self.named(&name.tool).unwrap_or_else(|| match Tool::named(&name.tool) {
            Some(_) => known(),
            None => CostClass::Unclassified,
        })
    }
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Calls by class.
    pub calls: BTreeMap<CostClass, u64>,
    /// Assistant messages.
    pub turns: u64,
    /// Look-ups by assistant message, from the first.
    pub retrieval_by_turn: Vec<u64>,
    /// Tools of no known class.
    pub unclassified: BTreeSet<String>,
}

impl Cost {
    /// Counts the calls of a run from its bodies, one for each stretch between two compactions of its own: a call that
    /// stands in several is counted once.
    ///
    /// ```
    /// use liveset_engine::transcript::WireFormat;
    /// use liveset_eval::protocol::{Cost, CostClass, CostClasses};
    /// let body = br#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{}}]}]}"#;
    /// let cost = Cost::of(&[(WireFormat::Anthropic, body.to_vec())], &CostClasses::default())?;
    /// assert_eq!(cost.calls[&CostClass::Retrieval], 1);
    /// # Ok::<(), liveset_engine::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A body cannot be read.
    pub fn of(bodies: &[(WireFormat, Vec<u8>)], classes: &CostClasses) -> Result<Self> {
        let mut cost = Self::default();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (format, body) in bodies {
            let outline = Outline::read(body)?;
            let transcript = wire::read(*format, &outline)?;
            let mut turn = None;
            for (item, call) in transcript.items.iter().filter_map(|item| item.call().map(|call| (item, call))) {
                let id = call.id.and_then(|id| json::decode(id.of(body)).ok().map(|id| id.text().to_owned()));
                if id.is_some_and(|id| !seen.insert(id)) {
                    continue;
                }
                if turn != Some(item.number) {
                    turn = Some(item.number);
                    cost.retrieval_by_turn.push(0);
                }
                cost.add(&CallName::of(&transcript, Some(call)), classes);
            }
            cost.turns = cost.turns.max(transcript.units.len() as u64);
        }
        Ok(cost)
    }

    fn add(&mut self, name: &CallName, classes: &CostClasses) {
        let class = classes.of(name);
        *self.calls.entry(class).or_default() += 1;
        match class {
            CostClass::Retrieval => {
                if let Some(turn) = self.retrieval_by_turn.last_mut() {
                    *turn += 1;
                }
            }
            CostClass::Unclassified => {
                self.unclassified.insert(name.tool.clone());
            }
            CostClass::Execution | CostClass::Navigation => {}
        }
    }

    /// Counts the calls of a class.
    #[must_use]
    pub fn of_class(&self, class: CostClass) -> u64 {
        self.calls.get(&class).copied().unwrap_or(0)
    }

    /// Counts all calls.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.calls.values().sum()
    }
}
