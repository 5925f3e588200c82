//! What is done to the context before each call? Every condition by name, with its settings.
//!
//! Names and data only; how a condition cuts stands with its operator.

use std::{fmt, str::FromStr};

use liveset_engine::policy::Preset;

/// By how much a context is compressed, in tenths: 50 stands for 5 x.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(u64);

impl Ratio {
    /// 5 x, where most comparisons are made.
    pub const FIVE: Self = Self(50);
    /// The ratios of the severity sweep.
    pub const SWEEP: [Self; 4] = [Self(17), Self(25), Self(50), Self(100)];

    /// Gives the tokens that are left of so many.
    #[must_use]
    pub fn of(self, tokens: u64) -> u64 {
        tokens.saturating_mul(10).checked_div(self.0).unwrap_or(tokens)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{}", self.0 / 10),
            tenths => write!(f, "{}.{tenths}", self.0 / 10),
        }
    }
}

impl FromStr for Ratio {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
        let (whole, tenths): (u64, u64) = (whole.parse().map_err(|_| ())?, tenths.parse().map_err(|_| ())?);
        let ratio = Self(whole.saturating_mul(10).saturating_add(tenths));
        if tenths < 10 && ratio.0 >= 10 { Ok(ratio) } else { Err(()) }
    }
}

/// What an oracle message restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restored {
    /// What a look-up returns again.
    D,
    /// What only a refused execution reveals.
    R,
    /// Both.
    Both,
}

/// Whether a digest may take more than the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cap {
    /// The digest stands whole.
    Soft,
    /// What does not fit falls away, oldest first.
    Hard,
}

/// What a summary's digest is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestOf {
    /// Facts, without the turn in which they were observed.
    Facts,
    /// Facts, with the turn in which they were observed.
    DatedFacts,
    /// The newest answer to each call, as it came: what can be done without knowing what an answer means.
    Answers,
}

/// Whether a digest is written once or at every turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timing {
    /// At the compaction point; everything after it is kept.
    Once,
    /// From the compaction point on, before every call.
    Rolling,
}

/// Which facts a retention digest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Picks {
    /// No digest at all.
    Sliding,
    /// D facts, oldest first.
    RarD,
    /// R facts, oldest first.
    RarR,
    /// All facts, oldest first.
    RarAll,
    /// R facts, then D facts, each oldest first.
    TypeAware,
    /// In a seeded random order.
    Random,
    /// Newest first.
    Recent,
    /// What a reference run looked up again most often comes first.
    Hindsight,
    /// As type-aware, with each D fact about something of no world.
    DIrrelevant,
    /// As type-aware, with each D fact wrong.
    DWrong,
}

impl Picks {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 10] = [
        Self::Sliding,
        Self::RarAll,
        Self::TypeAware,
        Self::Hindsight,
        Self::Random,
        Self::Recent,
        Self::RarD,
        Self::RarR,
        Self::DIrrelevant,
        Self::DWrong,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Sliding => "sliding",
            Self::RarD => "rar-d",
            Self::RarR => "rar-r",
            Self::RarAll => "rar-all",
            Self::TypeAware => "typeaware",
            Self::Random => "random",
            Self::Recent => "recent",
            Self::Hindsight => "hindsight",
            Self::DIrrelevant => "d-irrelevant",
            Self::DWrong => "d-wrong",
        }
    }
}

/// Whether a condition offers the recall tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recalling {
    /// It does.
    Offered,
    /// What was cut can only be asked for again.
    Absent,
}

/// One condition.
///
/// ```
/// use liveset_eval::irbench::Condition;
/// for name in ["full", "sliding 5", "summary 1.7", "sliding 5 + D*", "once B=265 typeaware", "balanced 5 + recall"] {
///     assert_eq!(name.parse::<Condition>()?.to_string(), name);
/// }
/// assert!("slide 5".parse::<Condition>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Everything.
    Full,
    /// Everything, and what an oracle restores of what is out of view: nothing.
    FullRestored,
    /// The newest units.
    Sliding(Ratio),
    /// The newest units, and a message that restores what is out of view.
    Oracle(Ratio, Restored),
    /// A digest of what is out of view, and the newest units.
    Summary(Ratio, DigestOf, Cap),
    /// A digest of so many tokens in the place of the prefix.
    Retention(Timing, u64, Picks),
    /// A preset of ours, over real bodies.
    Preset(PresetName, Ratio, Recalling),
    /// The newest results that fit; of older ones a constant line.
    KeepLast(Ratio),
    /// So many of the newest results; of older ones a constant line.
    KeepLastCount(usize),
    /// As many units with results as are named; older results masked whole messages at a time.
    Masking(usize),
    /// Results behind the newest tokens go where enough of them are left.
    Protect(Ratio),
    /// A command that reads a body and writes one.
    Exec(Ratio, String),
}

/// A preset in an order that tables can sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PresetName(usize);

impl PresetName {
    /// Names a preset; `None` of one that this version does not list.
    #[must_use]
    pub fn of(preset: Preset) -> Option<Self> {
        Preset::ALL.iter().position(|known| *known == preset).map(Self)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Preset::ALL.len()).map(Self)
    }

    /// Gives the preset.
    #[must_use]
    pub fn preset(self) -> Preset {
        Preset::ALL.get(self.0).copied().unwrap_or_default()
    }
}

/// Summaries by name.
const SUMMARIES: [(&str, DigestOf, Cap); 6] = [
    ("summary", DigestOf::Facts, Cap::Soft),
    ("summary-hard", DigestOf::Facts, Cap::Hard),
    ("dated-summary", DigestOf::DatedFacts, Cap::Soft),
    ("dated-summary-hard", DigestOf::DatedFacts, Cap::Hard),
    ("newest-answers", DigestOf::Answers, Cap::Soft),
    ("newest-answers-hard", DigestOf::Answers, Cap::Hard),
];

fn summary_name(of: DigestOf, cap: Cap) -> &'static str {
    SUMMARIES.iter().find(|(_, known, capped)| (*known, *capped) == (of, cap)).map_or("summary", |(name, ..)| name)
}

/// What marks a condition that offers recall.
const WITH_RECALL: &str = " + recall";

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::FullRestored => f.write_str("full + R*"),
            Self::Sliding(ratio) => write!(f, "sliding {ratio}"),
            Self::Oracle(ratio, restored) => write!(f, "sliding {ratio} + {}", restored.name()),
            Self::Summary(ratio, of, cap) => write!(f, "{} {ratio}", summary_name(*of, *cap)),
            Self::Retention(timing, budget, picks) => write!(f, "{} B={budget} {}", timing.name(), picks.name()),
            Self::Preset(preset, ratio, recalling) => {
                let recall = if *recalling == Recalling::Offered { WITH_RECALL } else { "" };
                write!(f, "{} {ratio}{recall}", preset.preset().name())
            }
            Self::KeepLast(ratio) => write!(f, "keep-last {ratio}"),
            Self::KeepLastCount(count) => write!(f, "keep-last-{count}"),
            Self::Masking(count) => write!(f, "masking-{count}"),
            Self::Protect(ratio) => write!(f, "protect {ratio}"),
            Self::Exec(ratio, command) => write!(f, "exec {ratio}:{command}"),
        }
    }
}

impl Restored {
    fn name(self) -> &'static str {
        match self {
            Self::D => "D*",
            Self::R => "R*",
            Self::Both => "DR*",
        }
    }
}

impl Timing {
    fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Rolling => "rolling",
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::read(name).ok_or_else(|| {
            "a condition is `full`, `sliding R`, `sliding R + D*|R*|DR*`, `summary R`, `once B=TOKENS PICKS`, a preset and \
             R with or without ` + recall`, `keep-last R`, `keep-last-N`, `masking-N`, `protect R` or `exec R:COMMAND`; \
             R is a ratio like 5 or 1.7"
                .to_owned()
        })
    }
}

impl Condition {
    fn read(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("exec ") {
            let (ratio, command) = rest.split_once(':')?;
            return Some(Self::Exec(ratio.parse().ok()?, command.to_owned()));
        }
        match name {
            "full" => return Some(Self::Full),
            "full + R*" => return Some(Self::FullRestored),
            _ => {}
        }
        if let Some(count) = name.strip_prefix("keep-last-") {
            return count.parse().ok().map(Self::KeepLastCount);
        }
        if let Some(count) = name.strip_prefix("masking-") {
            return count.parse().ok().map(Self::Masking);
        }
        let (kind, rest) = name.split_once(' ')?;
        let timing = [Timing::Once, Timing::Rolling].into_iter().find(|timing| timing.name() == kind);
        if let Some(timing) = timing {
            let (budget, picks) = rest.strip_prefix("B=")?.split_once(' ')?;
            let picks = Picks::ALL.into_iter().find(|known| known.name() == picks)?;
            return Some(Self::Retention(timing, budget.parse().ok()?, picks));
        }
        let (ratio, more) = rest.split_once(" + ").map_or((rest, None), |(ratio, more)| (ratio, Some(more)));
        let ratio: Ratio = ratio.parse().ok()?;
        if let Some(preset) = PresetName::all().find(|preset| preset.preset().name() == kind) {
            return match more {
                None => Some(Self::Preset(preset, ratio, Recalling::Absent)),
                Some("recall") => Some(Self::Preset(preset, ratio, Recalling::Offered)),
                Some(_) => None,
            };
        }
        let restored = [Restored::D, Restored::R, Restored::Both];
        match (kind, more) {
            ("sliding", None) => Some(Self::Sliding(ratio)),
            ("sliding", Some(more)) => {
                restored.into_iter().find(|restored| restored.name() == more).map(|r| Self::Oracle(ratio, r))
            }
            (summary, None) if SUMMARIES.iter().any(|(name, ..)| *name == summary) => {
                SUMMARIES.iter().find(|(name, ..)| *name == summary).map(|(_, of, cap)| Self::Summary(ratio, *of, *cap))
            }
            ("keep-last", None) => Some(Self::KeepLast(ratio)),
            ("protect", None) => Some(Self::Protect(ratio)),
            _ => None,
        }
    }

    /// Says whether the agent is offered the recall tool.
    #[must_use]
    pub fn recalling(&self) -> Recalling {
        match self {
            Self::Preset(.., recalling) => *recalling,
            Self::Full
            | Self::FullRestored
            | Self::Sliding(_)
            | Self::Oracle(..)
            | Self::Summary(..)
            | Self::Retention(..)
            | Self::KeepLast(_)
            | Self::KeepLastCount(_)
            | Self::Masking(_)
            | Self::Protect(_)
            | Self::Exec(..) => Recalling::Absent,
        }
    }
}
