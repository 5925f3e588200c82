//! How is a case run? A body at a budget, under every law, with what came out laid open.

use std::{fs, path::PathBuf};

use liveset::{Archive, Policy, RecallRoute};
use liveset_testkit::{
    Format,
    laws::{self, defects},
};
use serde_json::Value;

use crate::{
    bench::Bench,
    view::{self, Answer},
};

/// What a stated budget may be raised by, in percent: 'about' leaves this much.
const ABOUT_PERCENT: [u64; 4] = [0, 5, 10, 15];

/// A body and its dialect, and how the agent gets back what is cut.
pub(crate) struct Case {
    pub(crate) format: Format,
    pub(crate) body: Vec<u8>,
    route: RecallRoute,
}

/// What came out of a run.
pub(crate) struct Outcome {
    pub(crate) format: Format,
    pub(crate) body: Vec<u8>,
    pub(crate) report: Value,
    pub(crate) cannot_fit: bool,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    input: Vec<u8>,
    bench: Bench,
}

/// The settings of all cases.
pub(crate) fn policy(window: u64) -> Policy {
    let mut policy = Policy::default();
    policy.window = Some(window);
    policy.reserve = Some(0);
    policy.trigger = 100;
    policy.target = 100;
    policy.min_sweep_gain = 0;
    policy
}

impl Case {
    /// Reads the bodies of a case by the number its name starts with, in the order of their names.
    pub(crate) fn all(format: Format, number: &str) -> Vec<Self> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(format.name());
        let folders = fs::read_dir(&root).expect("the fixtures are there").flatten();
        let named = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(&format!("{number}-"));
        let folder = folders.into_iter().find(|folder| named(&folder.file_name())).expect("the case is there");
        let files = fs::read_dir(folder.path()).expect("a case is a folder").flatten().map(|file| file.path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
        files.sort();
        files.iter().map(|path| Self::new(format, fs::read(path).expect("a body reads"))).collect()
    }

    /// Reads a case of one body.
    pub(crate) fn read(format: Format, number: &str) -> Self {
        let mut all = Self::all(format, number);
        assert_eq!(all.len(), 1, "{number} has one body");
        all.remove(0)
    }

    pub(crate) fn of(format: Format, body: &Value) -> Self {
        Self::new(format, body.to_string().into_bytes())
    }

    pub(crate) fn new(format: Format, body: Vec<u8>) -> Self {
        Self { format, body, route: RecallRoute::None }
    }

    /// The same case under a `recall_route`.
    pub(crate) fn by_route(&self, route: &str) -> Self {
        Self { format: self.format, body: self.body.clone(), route: route.parse().expect("a route") }
    }

    pub(crate) fn value(&self) -> Value {
        view::parse(&self.body)
    }

    /// Runs it under a policy; every law is checked, whether it fits or not.
    pub(crate) fn under(&self, policy: Policy) -> Outcome {
        let window = policy.window;
        let bench = Bench::new(self.format, policy);
        let outcome = bench.check(&self.body).unwrap_or_else(|error| panic!("window {window:?}: {error}"));
        let outcome = Outcome {
            format: self.format,
            body: outcome.body,
            report: outcome.report,
            cannot_fit: outcome.cannot_fit,
            tokens_before: outcome.tokens_before,
            tokens_after: outcome.tokens_after,
            input: self.body.clone(),
            bench,
        };
        outcome.holds_what_every_case_asks();
        outcome
    }

    /// Runs it under a policy, and checks nothing but the laws.
    pub(crate) fn by_law(&self, policy: Policy) -> laws::Outcome {
        let bench = Bench::new(self.format, policy);
        bench.check(&self.body).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs it at exactly this budget.
    pub(crate) fn at(&self, window: u64) -> Outcome {
        let mut policy = policy(window);
        policy.recall_route = self.route.clone();
        self.under(policy)
    }

    /// Runs it at about this budget, and it fits.
    pub(crate) fn about(&self, window: u64) -> Outcome {
        let tries = ABOUT_PERCENT.map(|percent| window + window * percent / 100);
        let mut runs = tries.into_iter().map(|window| self.at(window));
        let fits = runs.find(|outcome| !outcome.cannot_fit);
        fits.unwrap_or_else(|| panic!("does not fit about {window}: {}", self.at(window).report["reason"]))
    }
}

impl Outcome {
    /// Results of the input that are left in the output, side by side.
    pub(crate) fn pairs(&self) -> Vec<(Answer, Answer)> {
        let mut old = view::answers(self.format, &view::parse(&self.input)).into_iter();
        let new = view::answers(self.format, &self.value());
        let left = old.len() - new.len();
        let pairs: Vec<_> =
            new.into_iter().filter_map(|new| old.find(|old| old.id == new.id).map(|old| (old, new))).collect();
        let all = view::answers(self.format, &self.value()).len();
        assert!(
            pairs.len() == all && (left == 0 || self.folds()),
            "results keep ids and order, unless they are folded"
        );
        pairs
    }

    fn edits(&self) -> impl Iterator<Item = &Value> {
        self.report["edits"].as_array().into_iter().flatten()
    }

    /// Says whether runs of calls were folded, so that some calls went with their results.
    pub(crate) fn folds(&self) -> bool {
        self.edits().any(|edit| edit["kind"] == "fold")
    }

    /// Everything that the archive holds of this run, one text after the other.
    pub(crate) fn archived(&self) -> String {
        let handles = self.edits().filter_map(|edit| edit["archive_id"].as_str());
        handles.filter_map(|handle| self.original(handle)).collect()
    }

    /// The one result of this call, before and after.
    pub(crate) fn result(&self, id: &str) -> (String, String) {
        let mut pairs = self.pairs().into_iter().filter(|(old, _)| old.id == id);
        let (old, new) = pairs.next().unwrap_or_else(|| panic!("no result of {id}"));
        (old.text(), new.text())
    }

    pub(crate) fn is_whole(&self, id: &str) -> bool {
        let (old, new) = self.result(id);
        old == new
    }

    pub(crate) fn value(&self) -> Value {
        view::parse(&self.body)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the output is UTF-8")
    }

    pub(crate) fn input(&self) -> &[u8] {
        &self.input
    }

    pub(crate) fn is_input(&self) -> bool {
        self.body == self.input
    }

    pub(crate) fn has_warning(&self, code: &str) -> bool {
        self.report["warnings"].as_array().is_some_and(|all| all.iter().any(|warning| warning["code"] == code))
    }

    /// Names of the archived originals of results, in the order of items.
    pub(crate) fn handles(&self) -> Vec<String> {
        // What a folded unit leaves behind is the unit itself, not the text of a result.
        let is_text = |edit: &&Value| {
            edit["kind"] != "media" && edit["kind"] != "rule" && (edit["kind"] != "fold" || edit["tokens_after"] != 0)
        };
        self.edits().filter(is_text).map(handle).collect()
    }

    /// Calls of which a rule cut the arguments, before and after, with the archived original.
    pub(crate) fn cut_calls(&self) -> Vec<(Value, Value, String)> {
        let mut old = view::calls(self.format, &view::parse(&self.input)).into_iter();
        let new = view::calls(self.format, &self.value()).into_iter();
        let pairs = new.filter_map(|new| {
            let old = old.find(|old| old.id == new.id)?;
            Some((old.arguments, new.arguments))
        });
        let cut = pairs.filter(|(old, new)| old != new);
        let handles: Vec<String> = self.edits().filter(|edit| edit["kind"] == "rule").map(handle).collect();
        let cut: Vec<_> = cut.map(|(old, new)| (object(&old), object(&new))).collect();
        assert_eq!(cut.len(), handles.len(), "each cut call has its original");
        let original = |handle: &String| self.original(handle).expect("the original is stored");
        cut.into_iter().zip(&handles).map(|((old, new), handle)| (old, new, original(handle))).collect()
    }

    /// Asks the archive for an original.
    pub(crate) fn original(&self, handle: &str) -> Option<String> {
        let bytes = self.bench.archive.original(handle).ok().flatten()?;
        Some(String::from_utf8(bytes).expect("these originals are UTF-8"))
    }

    /// What is taken out comes back exactly, also where ids repeat.
    fn recalls_exactly(&self) {
        let changed: Vec<_> = self.pairs().into_iter().filter(|(old, new)| is_cut(old, new)).collect();
        let handles = self.handles();
        assert_eq!(changed.len(), handles.len(), "each shortened result has its original");
        for ((old, _), handle) in changed.iter().zip(&handles) {
            assert_eq!(self.original(handle).as_deref(), Some(old.text().as_str()), "the original of {}", old.id);
        }
    }

    fn holds_what_every_case_asks(&self) {
        assert!(self.tokens_after <= self.tokens_before);
        // A body with a lone surrogate is none that this reader takes; the laws were checked by another.
        let Ok(input) = serde_json::from_slice::<Value>(&self.input) else { return };
        let (output, format) = (self.value(), self.format);
        assert_eq!(view::user_texts(format, &input), view::user_texts(format, &output), "user text stays");
        let named = |body| view::calls(format, body).into_iter().map(|asked| (asked.id, asked.tool));
        let mut before = named(&input);
        assert!(named(&output).all(|call| before.any(|was| was == call)), "calls stay in order");
        let left = named(&output).len();
        assert!(left == named(&input).len() || self.folds(), "calls stay, or are folded");
        for (old, new, original) in self.cut_calls() {
            assert_eq!(old["content"].as_str(), Some(original.as_str()), "what was written comes back");
            let mut expected = old;
            expected["content"] = "[Content saved to file]".into();
            assert_eq!(new, expected, "nothing but the content goes");
        }
        for key in ["system", "instructions", "tools", "model"] {
            assert_eq!(input[key], output[key], "`{key}` stays");
        }
        assert_eq!(defects(format, &self.input), defects(format, &self.body), "valid stays valid");
        self.recalls_exactly();
    }
}

fn handle(edit: &Value) -> String {
    edit["archive_id"].as_str().expect("an edit names its original").to_owned()
}

/// Reads arguments, which OpenAI's formats hold as text.
fn object(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => serde_json::from_str(text).expect("arguments are JSON"),
        other => other.clone(),
    }
}

/// A picture that became a notice is a new text, and no cut of the old ones.
fn is_cut(old: &Answer, new: &Answer) -> bool {
    old.texts.iter().any(|text| !new.texts.contains(text))
}
