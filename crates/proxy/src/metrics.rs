//! What happened so far? Counters of the whole proxy, as OpenMetrics text.
//!
//! Holds figures and words of the proxy's own; nothing of a body.

use std::{collections::BTreeMap, fmt, time::Duration};

use liveset::WireFormat;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use crate::{
    conversation::Left,
    judgement::{Doubted, Judgement, Outcome, Prefix},
    observe::AnswerFigures,
    reacquisition::Returned,
    routes::Route,
};

/// Bounds of what a request waited for us, in seconds: from a small body to the time limit.
const WAITS: [f64; 12] = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    format: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FormatLabel {
    format: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RuleLabel {
    rule: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct WayLabel {
    way: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DeclaredLabel {
    declared: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StatusLabel {
    status: u16,
}

/// All counters.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    fallbacks: Family<ReasonLabel, Counter>,
    tokens_in: Family<FormatLabel, Counter>,
    tokens_out: Family<FormatLabel, Counter>,
    edits: Family<RuleLabel, Counter>,
    sweeps: Counter,
    prefix_changes: Family<DeclaredLabel, Counter>,
    upstream_input: Family<FormatLabel, Counter>,
    upstream_cached: Family<FormatLabel, Counter>,
    upstream_output: Family<FormatLabel, Counter>,
    dropped_reasoning: Counter,
    too_long: Counter,
    returned: Family<WayLabel, Counter>,
    returned_tokens: Counter,
    answers: Family<StatusLabel, Counter>,
    broken: Family<ReasonLabel, Counter>,
    log_lost: Counter,
    capture_lost: Counter,
    waited: Histogram,
    in_flight: Gauge,
    conversations: Gauge,
    cache_bytes: Gauge,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Begins at nothing.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("liveset"),
            requests: Family::default(),
            fallbacks: Family::default(),
            tokens_in: Family::default(),
            tokens_out: Family::default(),
            edits: Family::default(),
            sweeps: Counter::default(),
            prefix_changes: Family::default(),
            upstream_input: Family::default(),
            upstream_cached: Family::default(),
            upstream_output: Family::default(),
            dropped_reasoning: Counter::default(),
            too_long: Counter::default(),
            returned: Family::default(),
            returned_tokens: Counter::default(),
            answers: Family::default(),
            broken: Family::default(),
            log_lost: Counter::default(),
            capture_lost: Counter::default(),
            waited: Histogram::new(WAITS),
            in_flight: Gauge::default(),
            conversations: Gauge::default(),
            cache_bytes: Gauge::default(),
        };
        metrics.register();
        // What never happened is shown as 0, so that an alarm can be set on it.
        for why in Doubted::ALL {
            drop(metrics.fallbacks.get_or_create(&ReasonLabel { reason: why.name() }));
        }
        for declared in ["true", "false"] {
            drop(metrics.prefix_changes.get_or_create(&DeclaredLabel { declared }));
        }
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Requests by format and outcome", self.requests.clone());
        registry.register("fallbacks", "Originals sent for want of certainty", self.fallbacks.clone());
        registry.register("tokens_in", "Tokens of bodies as they came", self.tokens_in.clone());
        registry.register("tokens_out", "Tokens of bodies as they left", self.tokens_out.clone());
        registry.register("edits", "Edits of bodies that left, by rule", self.edits.clone());
        registry.register("sweeps", "Sweeps", self.sweeps.clone());
        registry.register(
            "prefix_changes",
            "Bodies whose earlier part left otherwise than before",
            self.prefix_changes.clone(),
        );
        registry.register(
            "upstream_input_tokens",
            "Input tokens as upstreams report them",
            self.upstream_input.clone(),
        );
        registry.register(
            "upstream_cached_tokens",
            "Cached input tokens as upstreams report them",
            self.upstream_cached.clone(),
        );
        registry.register(
            "upstream_output_tokens",
            "Output tokens as upstreams report them",
            self.upstream_output.clone(),
        );
        registry.register(
            "dropped_reasoning",
            "Pieces of reasoning that upstreams dropped",
            self.dropped_reasoning.clone(),
        );
        registry.register("too_long", "Requests that an upstream refused as too long", self.too_long.clone());
        registry.register("reacquisitions", "Cut texts that an agent got back, by way", self.returned.clone());
        registry.register(
            "reacquired_tokens",
            "Tokens of cut texts that an agent got back, about",
            self.returned_tokens.clone(),
        );
        registry.register("answers", "Answers of upstreams by status", self.answers.clone());
        registry.register("broken_answers", "Answers that did not come to their end", self.broken.clone());
        registry.register("log_lines_lost", "Lines of the log that could not be written", self.log_lost.clone());
        registry.register("capture_files_lost", "Files that could not be captured", self.capture_lost.clone());
        registry.register("added_seconds", "What a request waited for its compaction", self.waited.clone());
        registry.register("requests_in_flight", "Requests under way", self.in_flight.clone());
        registry.register("conversations", "Conversations that are remembered", self.conversations.clone());
        registry.register("cache_bytes", "Bytes that remembered conversations take, about", self.cache_bytes.clone());
    }

    /// Counts a request that was judged.
    pub(crate) fn judged(&self, route: Route, judgement: &Judgement, waited: Duration) {
        let format = route.format().map_or("none", WireFormat::name);
        self.requests.get_or_create(&RequestLabels { format, outcome: judgement.outcome.name() }).inc();
        match judgement.outcome {
            Outcome::Doubted(why) => drop(self.fallbacks.get_or_create(&ReasonLabel { reason: why.name() }).inc()),
            Outcome::Passed => return,
            Outcome::Unchanged | Outcome::Compacted | Outcome::CannotFit => {}
        }
        self.waited.observe(waited.as_secs_f64());
    }

    /// Counts what left of a request that a model will read.
    pub(crate) fn left(&self, format: WireFormat, judgement: &Judgement, left: Left) {
        let Some(report) = &judgement.report else { return };
        let format = format.name();
        self.tokens_in.get_or_create(&FormatLabel { format }).inc_by(report.tokens.before);
        let tokens_out = match left {
            Left::AsJudged => report.tokens.after,
            Left::Reported | Left::Original => report.tokens.before,
        };
        self.tokens_out.get_or_create(&FormatLabel { format }).inc_by(tokens_out);
        if left != Left::AsJudged {
            return;
        }
        self.sweeps.inc_by(judgement.new_sweeps as u64);
        match judgement.prefix {
            Prefix::Kept => {}
            Prefix::Declared => drop(self.prefix_changes.get_or_create(&DeclaredLabel { declared: "true" }).inc()),
            Prefix::Undeclared => drop(self.prefix_changes.get_or_create(&DeclaredLabel { declared: "false" }).inc()),
        }
        let mut by_rule: BTreeMap<&'static str, u64> = BTreeMap::new();
        for edit in &report.edits {
            *by_rule.entry(edit.kind.name()).or_default() += 1;
        }
        for (rule, edits) in by_rule {
            self.edits.get_or_create(&RuleLabel { rule }).inc_by(edits);
        }
        for Returned { way, tokens, .. } in &judgement.returned {
            self.returned.get_or_create(&WayLabel { way: way.name() }).inc();
            self.returned_tokens.inc_by(*tokens);
        }
    }

    /// Counts what an answer said.
    pub(crate) fn answer_figures(&self, format: Option<&'static str>, figures: &AnswerFigures) {
        let label = FormatLabel { format: format.unwrap_or("none") };
        let add = |family: &Family<FormatLabel, Counter>, tokens: Option<u64>| {
            if let Some(tokens) = tokens {
                family.get_or_create(&label).inc_by(tokens);
            }
        };
        add(&self.upstream_input, figures.input_tokens());
        add(&self.upstream_cached, figures.cached_tokens());
        add(&self.upstream_output, figures.output_tokens());
        self.dropped_reasoning.inc_by(figures.dropped_reasoning);
    }

    /// Counts an answer's status.
    pub(crate) fn answered(&self, status: u16) {
        self.answers.get_or_create(&StatusLabel { status }).inc();
    }

    /// Counts an answer that did not come to its end, and why.
    pub(crate) fn broke(&self, reason: &'static str) {
        self.broken.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Counts a request that was too long for its upstream.
    pub(crate) fn was_too_long(&self) {
        self.too_long.inc();
    }

    /// Where lines of the log that got lost are counted.
    pub(crate) fn lost_lines(&self) -> Counter {
        self.log_lost.clone()
    }

    /// Where files of the capture that got lost are counted.
    pub(crate) fn lost_files(&self) -> Counter {
        self.capture_lost.clone()
    }

    /// Requests under way.
    pub(crate) fn in_flight(&self) -> &Gauge {
        &self.in_flight
    }

    /// Writes everything down.
    pub(crate) fn text(&self, (conversations, bytes): (usize, usize)) -> String {
        self.conversations.set(i64::try_from(conversations).unwrap_or(i64::MAX));
        self.cache_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
