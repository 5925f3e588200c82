//! What can an agent ask for? Four tools with one argument each, as providers see them; and recall, where it is offered.

use serde_json::{Value, json};

/// What kind of calls a tool makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallClass {
    /// Asks for state that a later call returns again.
    Retrieval,
    /// Tries to change the world.
    Execution,
    /// Asks the archive for what was cut.
    Recall,
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// What a task requires and needs, and whether it is done.
    GetTaskInfo,
    /// What a task still waits for, as far as the graph shows.
    CheckDependency,
    /// Whether a resource is free, and not when it will be.
    QueryResource,
    /// Does a task, or says why not.
    Execute,
    /// Gives an original back; only where a condition offers it.
    Recall,
}

impl Tool {
    /// Those of the world.
    pub const OF_WORLD: [Tool; 4] = [Self::GetTaskInfo, Self::CheckDependency, Self::QueryResource, Self::Execute];

    /// Gives its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GetTaskInfo => "get_task_info",
            Self::CheckDependency => "check_dependency",
            Self::QueryResource => "query_resource",
            Self::Execute => "execute",
            Self::Recall => "recall",
        }
    }

    /// Finds a tool by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::OF_WORLD.into_iter().chain([Self::Recall]).find(|tool| tool.name() == name)
    }

    /// Gives the name of its argument.
    #[must_use]
    pub fn argument(self) -> &'static str {
        match self {
            Self::GetTaskInfo | Self::CheckDependency | Self::Execute => "task",
            Self::QueryResource => "resource",
            Self::Recall => "id",
        }
    }

    /// Says what kind of call it makes.
    #[must_use]
    pub fn class(self) -> CallClass {
        match self {
            Self::GetTaskInfo | Self::CheckDependency | Self::QueryResource => CallClass::Retrieval,
            Self::Execute => CallClass::Execution,
            Self::Recall => CallClass::Recall,
        }
    }

    /// Gives what it does, in one sentence.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::GetTaskInfo => "What a task requires, the resource it needs, and whether it is done.",
            Self::CheckDependency => "Which required tasks of a task are not done yet.",
            Self::QueryResource => "Whether a resource is free right now.",
            Self::Execute => "Do a task. A task that cannot be done now is refused with the reason.",
            Self::Recall => "Get back tool output that was pruned from context, by the id its marker names.",
        }
    }

    /// Gives the JSON schema of its arguments: one string, nothing else.
    #[must_use]
    pub fn schema(self) -> Value {
        let argument = self.argument();
        json!({
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
            "additionalProperties": false,
        })
    }
}
