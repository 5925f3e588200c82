//! How does a strategy do over one conversation? Every request in order, measured as it would leave.

use std::sync::Arc;
use std::time::Instant;

use liveset::WireFormat;
use liveset_engine::json::Outline;
use liveset_engine::wire;
use liveset_traces::Conversation;
use serde::Serialize;

use super::meter::Meter;
use super::served::{Scorer, Served};
use crate::money::Prices;
use crate::retention::{Evidence, Trajectory};
use crate::strategies::{Choice, Error, Setting};

/// What is replayed.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// The strategy.
    pub strategy: &'p Choice,
    /// Tokens of a request at most.
    pub window_tokens: u64,
    /// What each history of the conversation holds.
    pub histories: &'p [Arc<Evidence>],
    /// What input costs.
    pub prices: &'p Prices,
}

/// One request that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Request {
    /// Number of the request point.
    pub point: usize,
    /// Tokens that the trace sent.
    pub before_tokens: u64,
    /// Tokens that the strategy sends.
    pub sent_tokens: u64,
    /// Of these, the beginning that a warm cache still holds.
    pub read_tokens: u64,
    /// Whether it extends the request before.
    pub extends: bool,
    /// Whether the strategy changed, at this request, what it had sent before.
    pub is_change: bool,
}

/// What a replay showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Replay {
    /// Name of the strategy.
    pub strategy: String,
    /// Tokens of a request at most.
    pub window_tokens: u64,
    /// Every request.
    pub requests: Vec<Request>,
    /// Tokens of all requests that left.
    pub sent_tokens: u64,
    /// Tokens of all requests of the trace.
    pub before_tokens: u64,
    /// Requests that extend the one before.
    pub extending: usize,
    /// Requests that do not, where the strategy declared it or the trace's own client did it.
    pub declared: usize,
    /// Sweeps, by the strategy's own count.
    pub sweeps: usize,
    /// Requests over the window.
    pub over_window: usize,
    /// Tokens read from a warm cache.
    pub read_tokens: u64,
    /// Tokens written to it.
    pub written_tokens: u64,
    /// Price in tokens of plain input.
    pub price_tokens: f64,
    /// Price in dollars, where the model's is known.
    pub dollars: Option<f64>,
    /// What was still there when it was wanted.
    pub served: Served,
    /// Mean time of the strategy for a request; the only figure that another run gives otherwise.
    pub latency_ms: f64,
}

/// Gathers what each history of a conversation holds.
///
/// # Errors
/// A history that its format does not allow.
pub fn evidence(conversation: &Conversation) -> Result<Vec<Arc<Evidence>>, liveset_engine::Error> {
    let Some(format) = format_of(conversation) else { return Ok(Vec::new()) };
    let bodies = (0..conversation.histories()).filter_map(|history| conversation.history(history).ok());
    bodies.map(|body| Ok(Arc::new(Evidence::of(Trajectory::read(format, &body)?)))).collect()
}

fn format_of(conversation: &Conversation) -> Option<WireFormat> {
    WireFormat::ALL.into_iter().find(|format| format.name() == conversation.wire_format())
}

/// Replays a conversation through a strategy; `progress` hears of each request how many are done, of how many.
///
/// ```
/// use liveset_eval::{money::Prices, replay::{Plan, evidence, run}, strategies::Choice};
/// use liveset_traces::{Trace, TraceFormat};
/// let file = br#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},{"role":"user","content":"more"}]"#;
/// let trace = Trace::read(TraceFormat::OpenaiChat, file)?;
/// let conversation = &trace.conversations()[0];
/// let plan = Plan {
///     strategy: &Choice::Trace,
///     window_tokens: 1_000,
///     histories: &evidence(conversation)?,
///     prices: &Prices::of(None, None),
/// };
/// let replay = run(conversation, &plan, |_, _| ())?;
/// assert_eq!((replay.requests.len(), replay.extending), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A strategy that gave no body.
pub fn run(conversation: &Conversation, plan: &Plan<'_>, progress: impl Fn(usize, usize)) -> Result<Replay, Error> {
    let mut replay = Replay::new(plan);
    let Some(format) = format_of(conversation) else { return Ok(replay) };
    let setting = Setting { format, window_tokens: plan.window_tokens, histories: plan.histories.to_vec(), seed: 1 };
    let mut strategy = plan.strategy.start(&setting);
    let (mut meter, mut plain, mut scorer) = (Meter::new(format), Meter::new(format), Scorer::new());
    let (points, boundaries) = (conversation.requests(), conversation.boundaries());
    let (mut history, mut has_changed, mut seconds) = (0, false, 0.0);
    for (at, point) in points.iter().enumerate() {
        progress(at, points.len());
        let Ok(body) = conversation.body_at(*point) else { continue };
        let now_in = boundaries.partition_point(|boundary| boundary <= point);
        if std::mem::replace(&mut history, now_in) != now_in {
            scorer.next_history();
        }
        let began = Instant::now();
        let sent = strategy.send(&body)?;
        seconds += began.elapsed().as_secs_f64();
        let (reading, before) = (meter.read(&sent.body)?, plain.read(&body)?);
        let is_change = !reading.extends && before.extends;
        has_changed |= sent.body != body;
        replay.add(Request {
            point: *point,
            before_tokens: before.tokens,
            sent_tokens: reading.tokens,
            read_tokens: reading.read_tokens,
            extends: reading.extends,
            is_change,
        });
        replay.sweeps += sent.sweeps;
        replay.declared += usize::from(!reading.extends && (sent.is_declared || !before.extends));
        if let Some(evidence) = plan.histories.get(history) {
            let original = wire::read(format, &Outline::read(&body)?)?;
            let now = original.items.iter().map(|item| item.number).max().unwrap_or(0);
            scorer.request(evidence, &wire::read(format, &Outline::read(&sent.body)?)?, now, has_changed);
        }
    }
    replay.finish(plan.prices, scorer.finish(), seconds);
    Ok(replay)
}

impl Replay {
    fn new(plan: &Plan<'_>) -> Self {
        Self {
            strategy: plan.strategy.name(),
            window_tokens: plan.window_tokens,
            requests: Vec::new(),
            sent_tokens: 0,
            before_tokens: 0,
            extending: 0,
            declared: 0,
            sweeps: 0,
            over_window: 0,
            read_tokens: 0,
            written_tokens: 0,
            price_tokens: 0.0,
            dollars: None,
            served: Served::default(),
            latency_ms: 0.0,
        }
    }

    fn add(&mut self, request: Request) {
        self.sent_tokens += request.sent_tokens;
        self.before_tokens += request.before_tokens;
        self.read_tokens += request.read_tokens;
        self.written_tokens += request.sent_tokens.saturating_sub(request.read_tokens);
        self.extending += usize::from(request.extends);
        self.over_window += usize::from(request.sent_tokens > self.window_tokens);
        self.requests.push(request);
    }

    fn finish(&mut self, prices: &Prices, served: Served, seconds: f64) {
        self.price_tokens = prices.plain_tokens(self.read_tokens, self.written_tokens);
        self.dollars = prices.in_dollars(self.price_tokens);
        self.served = served;
        self.latency_ms = seconds * 1_000.0 / self.requests.len().max(1) as f64;
    }
}
