//! Which conversations are generated? A small script of rounds that shrinks well, played out into events.
//!
//! Never writes JSON: the same events are rendered in every format.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::arguments::{TOOLS, arguments};
use crate::dice::{Dice, derive};
use crate::events::{
    AssistantMessage, Call, Conversation, Event, Marks, Media, Part, Reasoning, ResultBatch, Shape, System, ToolResult,
    UserMessage,
};
use crate::json_writer::{Escapes, Json, Spacing, Style};
use crate::pieces::{PIN_MARKER, Recipe, chain_recipes, result_recipes};

/// First letters of a seal whose reasoning has no readable text.
pub(crate) const HIDDEN_REASONING: &str = "Hidden+";

/// How a client numbers its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Every id once.
    Unique,
    /// Ids start again in each message.
    PerMessage,
    /// All calls of a message share one id.
    Same,
}

#[derive(Clone, Debug)]
enum Round {
    User {
        text: Recipe,
        media: Option<Media>,
        shape: Shape,
    },
    Reply {
        text: Recipe,
        reasoning: Option<ReasoningScript>,
        is_cut_off: bool,
    },
    Work(WorkScript),
    /// Messages with one or two calls each, and nothing said between them.
    Run(Vec<Vec<CallScript>>),
}

#[derive(Clone, Debug)]
struct ReasoningScript {
    text: Recipe,
    seal: Option<u64>,
}

#[derive(Clone, Debug)]
struct WorkScript {
    reasoning: Option<ReasoningScript>,
    afterthought: Option<ReasoningScript>,
    text: Option<Recipe>,
    calls: Vec<CallScript>,
    delivery: Delivery,
    text_after: Option<Recipe>,
    unknown: Option<u8>,
}

impl WorkScript {
    fn of(calls: &[CallScript]) -> Self {
        Self {
            reasoning: None,
            afterthought: None,
            text: None,
            calls: calls.to_vec(),
            delivery: Delivery::Together,
            text_after: None,
            unknown: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Delivery {
    Together,
    Reversed,
    OneByOne,
}

#[derive(Clone, Debug)]
struct CallScript {
    tool: &'static str,
    seed: u64,
    quote: Recipe,
    result: Recipe,
    fate: Fate,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Answered,
    Error,
    Blank,
    Missing,
    Pinned,
    WithMedia(Media),
    WithUnknown(u8),
}

/// Generates conversations from one request up to about a dozen rounds.
pub fn conversations() -> impl Strategy<Value = Conversation> {
    (front(), ids(), vec(round(), 0..12)).prop_map(|(front, ids, rounds)| {
        let mut stage = Stage { ids, calls: 0, earlier: Vec::new(), events: Vec::new() };
        stage.play(&rounds);
        Conversation { events: stage.events, ..front }
    })
}

fn front() -> impl Strategy<Value = Conversation> {
    let spacing = prop_oneof![
        4 => Just(Spacing::Compact), 2 => Just(Spacing::Spaced), 1 => Just(Spacing::Pretty), 2 => Just(Spacing::Odd)
    ];
    let escapes = prop_oneof![3 => Just(Escapes::Shortest), 1 => Just(Escapes::Ascii), 2 => Just(Escapes::Mixed)];
    let marks = prop_oneof![
        2 => Just(Marks::None), 1 => Just(Marks::Fixed), 2 => Just(Marks::Newest), 1 => Just(Marks::NewestTwo)
    ];
    let system = prop_oneof![
        1 => Just(System::Absent),
        3 => chain_recipes().prop_map(|text| System::Text(text.write(&[]))),
        2 => vec(chain_recipes(), 1..3).prop_map(|texts| System::Blocks(texts.iter().map(|text| text.write(&[])).collect())),
    ];
    let tools = proptest::sample::subsequence(TOOLS, 0..=TOOLS.len());
    (spacing, escapes, any::<u64>(), system, tools, marks).prop_map(|(spacing, escapes, seed, system, tools, marks)| {
        Conversation {
            style: Style::quirky(spacing, escapes, seed),
            model: "gpt-4.1",
            system,
            tools,
            extras: extras(&mut Dice::new(derive(seed, 7))),
            marks,
            events: Vec::new(),
        }
    })
}

fn extras(dice: &mut Dice) -> Vec<(String, Json)> {
    let all = [
        (
            "x_vendor",
            Json::object([
                ("tenant", Json::raw("36893488147419103233")),
                ("ratio", Json::raw("1.0")),
                ("ratio", Json::raw("1E+2")),
            ]),
        ),
        ("temperature", Json::raw("0.70")),
        ("seed", Json::raw("9007199254740993")),
        ("metadata", Json::object([("user_id", Json::text("half \u{10DC00}, /slash")), ("z", Json::raw("null"))])),
    ];
    all.into_iter().filter(|_| dice.one_in(3)).map(|(key, value)| (key.to_owned(), value)).collect()
}

fn ids() -> impl Strategy<Value = Ids> {
    prop_oneof![10 => Just(Ids::Unique), 1 => Just(Ids::PerMessage), 1 => Just(Ids::Same)]
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![2 => Just(Shape::Plain), 1 => Just(Shape::Blocks)]
}

fn media() -> impl Strategy<Value = Media> {
    (1_u32..900, 1_u32..900, 0_usize..400).prop_map(|(width, height, filler)| Media { width, height, filler })
}

fn reasoning(share: f64) -> impl Strategy<Value = Option<ReasoningScript>> {
    let seal = option::weighted(0.7, any::<u64>());
    let script = (chain_recipes(), seal).prop_map(|(text, seal)| ReasoningScript { text, seal });
    option::weighted(share, script)
}

fn round() -> impl Strategy<Value = Round> {
    prop_oneof![
        2 => (chain_recipes(), option::weighted(0.15, media()), shapes())
            .prop_map(|(text, media, shape)| Round::User { text, media, shape }),
        1 => (chain_recipes(), reasoning(0.4), prop::bool::weighted(0.05))
            .prop_map(|(text, reasoning, is_cut_off)| Round::Reply { text, reasoning, is_cut_off }),
        7 => work().prop_map(Round::Work),
        1 => vec(vec(plain_call(), 1..3), 2..9).prop_map(Round::Run),
    ]
}

fn work() -> impl Strategy<Value = WorkScript> {
    let delivery =
        prop_oneof![8 => Just(Delivery::Together), 1 => Just(Delivery::Reversed), 1 => Just(Delivery::OneByOne)];
    (
        reasoning(0.3),
        reasoning(0.1),
        option::weighted(0.4, chain_recipes()),
        vec(call(), 1..4),
        delivery,
        option::weighted(0.1, chain_recipes()),
        option::weighted(0.05, any::<u8>()),
    )
        .prop_map(|(reasoning, afterthought, text, calls, delivery, text_after, unknown)| WorkScript {
            reasoning,
            afterthought,
            text,
            calls,
            delivery,
            text_after,
            unknown,
        })
}

/// Mostly small results, as of an agent that tries one thing after the other.
fn plain_call() -> impl Strategy<Value = CallScript> {
    (call(), option::weighted(0.7, chain_recipes()), any::<bool>()).prop_map(|(call, short, is_plain)| CallScript {
        result: short.unwrap_or(call.result),
        fate: if is_plain { Fate::Answered } else { call.fate },
        ..call
    })
}

fn call() -> impl Strategy<Value = CallScript> {
    let fate = prop_oneof![
        24 => Just(Fate::Answered),
        3 => Just(Fate::Error),
        2 => Just(Fate::Blank),
        1 => Just(Fate::Missing),
        1 => Just(Fate::Pinned),
        2 => media().prop_map(Fate::WithMedia),
        1 => any::<u8>().prop_map(Fate::WithUnknown),
    ];
    (proptest::sample::select(TOOLS), any::<u64>(), chain_recipes(), result_recipes(), fate, shapes())
        .prop_map(|(tool, seed, quote, result, fate, shape)| CallScript { tool, seed, quote, result, fate, shape })
}

/// The conversation so far, while the rounds are played out.
struct Stage {
    ids: Ids,
    calls: usize,
    earlier: Vec<String>,
    events: Vec<Event>,
}

impl Stage {
    fn play(&mut self, rounds: &[Round]) {
        if !matches!(rounds.first(), Some(Round::User { .. })) {
            self.user(Recipe::prose(12, 1).write(&[]));
        }
        for round in rounds {
            match round {
                Round::User { text, media, shape } => {
                    let mut parts = vec![Part::Text(text.write(&self.earlier))];
                    parts.extend(media.map(Part::Media));
                    let shape = if media.is_some() { Shape::Blocks } else { *shape };
                    self.events.push(Event::User(UserMessage { parts, shape }));
                }
                Round::Reply { text, reasoning, is_cut_off } => {
                    let reasoning = self.reasoning(reasoning.as_ref());
                    let text = Some(text.write(&self.earlier));
                    let is_cut_off = *is_cut_off && reasoning.is_some();
                    let (calls, unknown) = (Vec::new(), None);
                    let afterthought = None;
                    self.assistant(AssistantMessage { reasoning, afterthought, is_cut_off, text, calls, unknown });
                }
                Round::Work(work) => self.work(work),
                Round::Run(messages) => messages.iter().for_each(|calls| self.work(&WorkScript::of(calls))),
            }
        }
    }

    fn user(&mut self, text: String) {
        self.events.push(Event::User(UserMessage { parts: vec![Part::Text(text)], shape: Shape::Plain }));
    }

    fn reasoning(&self, script: Option<&ReasoningScript>) -> Option<Reasoning> {
        script.map(|script| Reasoning { text: script.text.write(&self.earlier), seal: script.seal.map(seal) })
    }

    fn assistant(&mut self, message: AssistantMessage) {
        // Two assistant messages in a row exist in no real client: the user goes on, or interrupted.
        if matches!(self.events.last(), Some(Event::Assistant(_))) {
            self.user("[Request interrupted by user] go on".to_owned());
        }
        self.events.push(Event::Assistant(message));
    }

    fn work(&mut self, work: &WorkScript) {
        let (reasoning, afterthought) =
            (self.reasoning(work.reasoning.as_ref()), self.reasoning(work.afterthought.as_ref()));
        let text = work.text.as_ref().map(|text| text.write(&self.earlier));
        let ids: Vec<_> = (0..work.calls.len()).map(|place| self.next_id(place)).collect();
        let calls = work.calls.iter().zip(&ids).map(|(script, id)| script.call(id.clone(), &self.earlier)).collect();
        let mut results: Vec<_> =
            work.calls.iter().zip(ids).filter_map(|(script, id)| script.result(id, &mut self.earlier)).collect();
        let unknown = work.unknown;
        self.assistant(AssistantMessage { reasoning, afterthought, is_cut_off: false, text, calls, unknown });
        let text_after = work.text_after.as_ref().map(|text| text.write(&self.earlier));
        match work.delivery {
            Delivery::Together => {}
            Delivery::Reversed => results.reverse(),
            Delivery::OneByOne => {
                let last = results.pop();
                let single = |result| Event::Results(ResultBatch { results: vec![result], text_after: None });
                self.events.extend(results.drain(..).map(single));
                results.extend(last);
            }
        }
        if !results.is_empty() {
            self.events.push(Event::Results(ResultBatch { results, text_after }));
        }
    }

    fn next_id(&mut self, place: usize) -> String {
        self.calls += 1;
        match self.ids {
            Ids::Unique => format!("toolu_{:02}", self.calls),
            Ids::PerMessage => format!("bash:{place}"),
            Ids::Same => "call_x".to_owned(),
        }
    }
}

/// A signature, or the data of a block that hides its text.
fn seal(seed: u64) -> String {
    let start = if seed.is_multiple_of(4) { HIDDEN_REASONING } else { "EvQFake+" };
    format!("{start}{seed:016x}/QQQQQQQQQQQQQQQQQQQQQQQQ==")
}

impl CallScript {
    fn call(&self, id: String, earlier: &[String]) -> Call {
        let quote = self.quote.write(earlier);
        Call { id, tool: self.tool, arguments: arguments(self.tool, &mut Dice::new(self.seed), &quote) }
    }

    /// Writes the result and remembers its text for later quotes; nothing if it never came.
    fn result(&self, call_id: String, earlier: &mut Vec<String>) -> Option<ToolResult> {
        let text = self.result.write(earlier);
        let (text, extra) = match self.fate {
            Fate::Missing => return None,
            Fate::Answered | Fate::Error => (text, None),
            Fate::Blank => (["", " \n"][(self.seed % 2) as usize].to_owned(), None),
            Fate::Pinned => (format!("{text}\n{PIN_MARKER}"), None),
            Fate::WithMedia(media) => (text, Some(Part::Media(media))),
            Fate::WithUnknown(kind) => (text, Some(Part::Unknown(kind))),
        };
        earlier.push(text.clone());
        let shape = if extra.is_some() { Shape::Blocks } else { self.shape };
        let parts = std::iter::once(Part::Text(text)).chain(extra).collect();
        let is_error = matches!(self.fate, Fate::Error);
        Some(ToolResult { call_id, tool: self.tool, parts, shape, is_error })
    }
}
