//! How is a figure drawn? Lines, bars and points as SVG that takes its colours from the page around it.
//!
//! Every mark has a title that says its figures; nothing is told by colour alone.

use std::fmt::Write as _;

/// Width of a picture in its own units; pages scale it.
const WIDTH: f64 = 520.0;
/// Height of a picture with axes.
const HEIGHT: f64 = 300.0;
/// Room for the figures of the left axis.
const LEFT: f64 = 46.0;
/// Room for the words under a picture.
const BOTTOM: f64 = 40.0;
/// Room over and beside the marks.
const EDGE: f64 = 14.0;
/// Height of a bar with its gap.
const BAR: f64 = 22.0;
/// Room for the names of bars.
const NAMES: f64 = 190.0;
/// Lines of the grid.
const GRID: u32 = 4;

/// A series of a line chart: its name and one value for each place.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) values: Vec<f64>,
}

/// A bar, in parts that stand behind each other.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<(&'static str, f64)>,
}

/// A point with its name.
pub(super) struct Point {
    pub(super) name: String,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Makes a text safe inside markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn opened(height: f64, about: &str) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">", escaped(about))
}

/// Gives a round number that is no less.
fn rounded_up(value: f64) -> f64 {
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0, 150.0, 200.0, 300.0, 500.0, 1_000.0];
    step.into_iter().find(|step| *step >= value).unwrap_or(value)
}

/// Draws lines over places that are named below.
pub(super) fn lines(about: &str, places: &[String], series: &[Line]) -> String {
    let most = rounded_up(series.iter().flat_map(|line| line.values.iter().copied()).fold(0.0, f64::max));
    let across = (WIDTH - LEFT - EDGE) / (places.len().max(2) - 1) as f64;
    let x = |at: usize| LEFT + across * at as f64;
    let y = |value: f64| EDGE + (HEIGHT - EDGE - BOTTOM) * (1.0 - value / most);
    let mut out = opened(HEIGHT + 18.0 * series.len().div_ceil(2) as f64, about);
    out.push_str(&grid(most, y));
    let every = places.len().div_ceil(8).max(1);
    for (at, place) in places.iter().enumerate().filter(|(at, _)| at % every == 0) {
        let _ =
            write!(out, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"mid\">{}</text>", x(at), HEIGHT - 18.0, escaped(place));
    }
    for (nth, line) in series.iter().enumerate() {
        let hue = nth % HUES;
        let points: Vec<String> =
            line.values.iter().enumerate().map(|(at, value)| format!("{:.1},{:.1}", x(at), y(*value))).collect();
        let _ = write!(out, "<polyline class=\"line s{hue}\" points=\"{}\"/>", points.join(" "));
        for (at, value) in line.values.iter().enumerate() {
            let place = places.get(at).map(String::as_str).unwrap_or_default();
            let _ = write!(
                out,
                "<circle class=\"f{hue}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}, {}: {value:.1}</title></circle>",
                x(at),
                y(*value),
                escaped(&line.name),
                escaped(place)
            );
        }
        let (left, top) = (LEFT + (nth % 2) as f64 * 230.0, HEIGHT + 18.0 * (nth / 2) as f64);
        let _ = write!(
            out,
            "<rect class=\"f{hue}\" x=\"{left}\" y=\"{:.1}\" width=\"12\" height=\"12\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            top - 4.0,
            left + 18.0,
            top + 6.0,
            escaped(&line.name)
        );
    }
    out + "</svg>"
}

/// Colours that series take in turn.
const HUES: usize = 6;

fn grid(most: f64, y: impl Fn(f64) -> f64) -> String {
    let mut out = String::new();
    for step in 0..=GRID {
        let value = most * f64::from(step) / f64::from(GRID);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/><text x=\"{2:.1}\" y=\"{3:.1}\" class=\"end\">{value:.0}</text>",
            WIDTH - EDGE,
            y(value),
            LEFT - 6.0,
            y(value) + 4.0
        );
    }
    out
}

/// Draws bars with their figures; `mark` is a value that all are held against.
pub(super) fn bars(about: &str, rows: &[Bar], mark: Option<(&str, f64)>) -> String {
    let sum = |bar: &Bar| bar.parts.iter().map(|(_, value)| value).sum::<f64>();
    let most = rows.iter().map(sum).chain(mark.map(|(_, value)| value)).fold(1.0, f64::max);
    let scale = (WIDTH - NAMES - 60.0) / most;
    let height = BAR * rows.len() as f64 + if mark.is_some() { 24.0 } else { 6.0 };
    let mut out = opened(height, about);
    for (at, bar) in rows.iter().enumerate() {
        let top = BAR * at as f64;
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"end\">{}</text>",
            NAMES - 8.0,
            top + 15.0,
            escaped(&bar.name)
        );
        let mut left = NAMES;
        for (part, (name, value)) in bar.parts.iter().enumerate() {
            let width = value * scale;
            let _ = write!(
                out,
                "<rect class=\"f{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.1}\"><title>{}, {name}: {value:.1}</title></rect>",
                part % HUES,
                top + 3.0,
                BAR - 6.0,
                escaped(&bar.name)
            );
            left += width;
        }
        let _ = write!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{:.1}</text>", left + 6.0, top + 15.0, sum(bar));
    }
    if let Some((name, value)) = mark {
        let x = NAMES + value * scale;
        let _ = write!(
            out,
            "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\" class=\"mid\">{} {value:.1}</text>",
            height - 18.0,
            height - 4.0,
            escaped(name)
        );
    }
    out + "</svg>"
}

/// Draws named points; both axes hold 0.
pub(super) fn points(about: &str, (x_name, y_name): (&str, &str), all: &[Point]) -> String {
    let bounds = |value: fn(&Point) -> f64| {
        let values = || all.iter().map(value);
        let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let room = ((high - low) * 0.08).max(1.0);
        (low - room, high + room)
    };
    let ((x_low, x_high), (y_low, y_high)) = (bounds(|point| point.x), bounds(|point| point.y));
    let x = |value: f64| LEFT + (WIDTH - LEFT - EDGE) * (value - x_low) / (x_high - x_low);
    let y = |value: f64| EDGE + (HEIGHT - EDGE - BOTTOM) * (1.0 - (value - y_low) / (y_high - y_low));
    let mut out = opened(HEIGHT, about);
    let _ = write!(
        out,
        "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/><line class=\"grid\" x1=\"{2:.1}\" x2=\"{2:.1}\" y1=\"{EDGE}\" y2=\"{3:.1}\"/>",
        WIDTH - EDGE,
        y(0.0),
        x(0.0),
        HEIGHT - BOTTOM
    );
    for (value, at) in [(x_low, LEFT + 4.0), (x_high, WIDTH - EDGE - 14.0)] {
        let _ = write!(out, "<text x=\"{at:.1}\" y=\"{:.1}\" class=\"mid\">{value:.0}</text>", HEIGHT - 24.0);
    }
    for value in [y_low, y_high] {
        let _ =
            write!(out, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"end\">{value:.0}</text>", LEFT - 4.0, y(value) + 4.0);
    }
    for (nth, point) in all.iter().enumerate() {
        let _ = write!(
            out,
            "<circle class=\"f{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"><title>{}: {:.1}, {:.1}</title></circle>",
            nth % HUES,
            x(point.x),
            y(point.y),
            escaped(&point.name),
            point.x,
            point.y
        );
        let is_right = x(point.x) > WIDTH * 0.7;
        let (shift, class) = if is_right { (-8.0, "small end") } else { (8.0, "small") };
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"{class}\">{}</text>",
            x(point.x) + shift,
            y(point.y) + 4.0,
            escaped(&point.name)
        );
    }
    let _ = write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" class=\"mid\">{}</text><text x=\"4\" y=\"10\">{}</text>",
        WIDTH / 2.0,
        HEIGHT - 6.0,
        escaped(x_name),
        escaped(y_name)
    );
    out + "</svg>"
}
