//! Which rule of a provider does a body break?
//!
//! Names only; the rules themselves stand with their formats.

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// A kind of defect. The lines cited are those of `wire-formats.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $variant,)*
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Self::$variant,)*];

            /// Gives the code's name: the words of section 6 joined by `_`.
            ///
            /// ```
            /// use liveset_engine::validate::Code;
            /// assert_eq!(Code::UnpairedCall.name(), "unpaired_call");
            /// ```
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    /// A call that nothing answers (1 and 2: answered at once; 3: missing output).
    UnpairedCall => "unpaired_call",
    /// A result of a call that is not there (1, 2 and 3).
    OrphanResult => "orphan_result",
    /// A second result of one call (1: once each; 2: one message per id).
    DuplicateResult => "duplicate_result",
    /// A result that does not follow its call at once (1 and 2).
    ResultNotAdjacent => "result_not_adjacent",
    /// Results of one batch that stand in different places (1: all ids in the very next message; 2: before any other role).
    BatchSplit => "batch_split",
    /// Something before the results in their user message (1; unproven).
    ResultsNotFirst => "results_not_first",
    /// A blank text or a message without content (1; 2: null content, unproven; 3: between reasoning and call; law 3).
    EmptyText => "empty_text",
    /// A role, or a block of a role, where it may not stand (1; 2: unknown roles).
    RoleOrder => "role_order",
    /// A conversation that opens with neither a user message nor a compaction block (1).
    FirstRole => "first_role",
    /// Reasoning of the original is gone although what it belongs to stays, or without an epoch (0, 1 and 3). Change.
    ReasoningLost => "reasoning_lost",
    /// Reasoning that says something else than in the original (1: verbatim). Change.
    ReasoningEdited => "reasoning_edited",
    /// Reasoning that stands elsewhere than in the original (1: in order). Change.
    ReasoningReordered => "reasoning_reordered",
    /// A reasoning item with an id whose following item is missing (3).
    ReasoningWithoutFollower => "reasoning_without_follower",
    /// A call whose reasoning item was removed (3). Change.
    CallWithoutItsReasoning => "call_without_its_reasoning",
    /// A server tool's result without its call in the same assistant message (1, server tools).
    ServerToolResultOrphan => "server_tool_result_orphan",
    /// A `tool_reference` or `tool_addition` of the original is gone: its tool is unloaded (1, tool search). Change.
    ToolReferenceLost => "tool_reference_lost",
    /// A citation of something that is not there, or a server tool's result cut in place (1, server tools; unproven).
    CitationTargetLost => "citation_target_lost",
    /// A part other than text in a result with `is_error: true` (1).
    MediaInsideIsError => "media_inside_is_error",
    /// A call id over 40 (2) or 64 (3) characters (both unproven).
    IdTooLong => "id_too_long",
    /// More than four `cache_control` marks (1, prompt caching).
    TooManyMarks => "too_many_marks",
    /// A mark of one hour after one of five minutes (1, prompt caching).
    TtlOrder => "ttl_order",
    /// A mark on thinking or empty text (1, prompt caching), or a breakpoint on the model's own output (3, caching).
    MarkOnBadBlock => "mark_on_bad_block",
    /// A compaction block that is not the first of its message (1).
    CompactionBlockNotFirst => "compaction_block_not_first",
    /// The newest compaction block is not what it was (1: keep its fields). Change.
    CompactionBlockEdited => "compaction_block_edited",
    /// A `compaction_trigger` that is not the last item (3, compaction).
    TriggerNotLast => "trigger_not_last",
    /// An `item_reference` beside `store: false` (3, state).
    ItemReferenceWhileStateless => "item_reference_while_stateless",
    /// Something before signed reasoning changed and no epoch was declared (0, rule 2, and 0a). Change.
    EditBeforeSignedReasoningWithoutEpoch => "edit_before_signed_reasoning_without_epoch",
    /// A call of a tool that `tools` does not hold (1 and 6; for the OpenAI formats only beside other tools, unproven).
    UndeclaredToolNames => "undeclared_tool_names",
    /// Arguments that are no JSON object, or no string that holds one (2: some servers tolerate it; law 3).
    ArgumentsNotAnObject => "arguments_not_an_object",
    /// `tool_calls: []` (2; unproven).
    EmptyToolCalls => "empty_tool_calls",
    /// A part of a result that results may not hold (1, 2 and 3; unproven).
    ResultPartNotAllowed => "result_part_not_allowed",
    /// Two calls of one id (1; unproven).
    DuplicateCallId => "duplicate_call_id",
    /// A call id with characters beside letters, digits, `_` and `-` (1; unproven).
    BadId => "bad_id",
    /// A `name` with characters that are refused (2; unproven).
    BadName => "bad_name",
    /// White space at the end of a reply that the model is to go on with (1).
    TrailingWhitespace => "trailing_whitespace",
    /// More messages or bytes than are taken (1; unproven).
    TooLarge => "too_large",
    /// Half of a surrogate pair in a string (0, rule 1: strict readers refuse the body).
    LoneSurrogate => "lone_surrogate",
    /// A field that the format demands is missing or has another type.
    WrongShape => "wrong_shape",
    /// A call or result whose id the original does not hold (0, rule 4). Change.
    IdChanged => "id_changed",
    /// A `cache_control` mark of the original is gone (`DESIGN.md`, section 3). Change.
    MarkLost => "mark_lost",
}
