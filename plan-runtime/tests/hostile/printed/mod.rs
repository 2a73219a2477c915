//! Printed output shows the actual behavior.

mod errors;
mod findings;
#[cfg(feature = "html")]
mod html;
mod pictures;
mod plans;
mod reports;
mod same;
mod sinks;
#[cfg(feature = "terminal")]
mod terminals;

use crate::support::unseen::is_unseen;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Parts of strings with an effect on a terminal, a page or a reader.
const PARTS: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{7}",
    "\u{8}",
    "\u{1b}[8m",
    "\u{1b}]0;x\u{7}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}2J",
    "\u{ad}",
    "\u{200b}",
    "\u{200d}",
    "\u{200e}",
    "\u{2028}",
    "\u{2029}",
    "\u{202a}",
    "\u{202e}",
    "\u{2060}",
    "\u{2066}",
    "\u{2069}",
    "\u{feff}",
    "\u{61c}",
    "\u{34f}",
    "\u{fe0f}",
    "\u{115f}",
    "\u{1160}",
    "\u{3164}",
    "\u{ffa0}",
    "\u{2800}",
    "\u{e0041}",
    "\u{e0100}",
    "\u{fff9}",
    "\u{ffff}",
    "\u{e000}",
    "\u{301}",
    "\u{20e3}",
    " ",
    "  ",
    "a",
    "b",
    "名前",
    "ß",
    "`",
    "\"",
    "'",
    "\\",
    "//",
    "  // needs a",
    "\nstep x = ",
    "{",
    "}",
    ": ",
    ", ",
    " = ",
    " -> ",
    "null",
    "1",
    "<b>",
    "<!--",
    "]]>",
    "&#60;",
    "#quot;",
    "|",
    "→",
    "[0]",
    ".",
    "(",
    "…",
];

/// Returns a string of a few such parts.
fn hostile() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PARTS), 0..5).prop_map(|parts| parts.concat())
}

/// Asserts that a string has no invisible characters except line breaks.
#[track_caller]
fn assert_seen(text: &str) {
    let unseen = text.chars().find(|c| *c != '\n' && is_unseen(*c));
    assert_eq!(unseen, None, "{text}");
}

/// Asserts that, and that no mark is on something that is not a letter.
#[track_caller]
fn assert_safe(text: &str) {
    assert_seen(text);
    let is_mark = |c: char| matches!(c, '\u{301}' | '\u{20e3}');
    let mut before = ' ';
    for c in text.chars() {
        let on_letter = before.is_alphanumeric() || is_mark(before);
        assert!(!is_mark(c) || on_letter, "{text}");
        before = c;
    }
}

#[track_caller]
fn assert_line(text: &str) {
    assert_safe(text);
    assert!(!text.contains('\n'), "{text}");
}

/// Returns a plan with a different string in each position that people read.
fn document(mut text: impl FnMut(usize) -> String) -> Value {
    let mut number = 0;
    let mut next = |kind: &str| {
        number += 1;
        format!("{kind}{}{number}", text(number))
    };
    let ids: Vec<String> = (0..5).map(|_| next("id")).collect();
    let (input, tool) = (next("in"), next("t"));
    json!({
        "name": next("p"), "description": next("d"),
        "inputs": [{"name": input, "type": next("T"), "description": next("d")}],
        "steps": [
            {"id": ids[0], "intent": next("d"), "tool": {"name": tool, "description": next("d")}, "arguments": {"object": {
                next("k"): next("s"), next("k"): {"reference": {"input": input, "pointer": ""}},
                "inner": {"object": {next("k"): [next("s"), 1], "other": 2}}}}},
            {"id": ids[1], "intent": next("d"), "tool": {"name": tool}, "arguments": {"object": {
                next("k"): {"reference": {"step": ids[0], "path": [next("k"), "3"]}},
                "text": {"text": [next("s"), {"value": {"reference": {"step": ids[0], "pointer": ""}}}]}}},
             "policy": {"optional": "whole", "fallback": next("s")}},
            {"id": ids[2], "intent": next("d"), "for": {"pattern": next("x"), "list": {"computed": {"written": next("s"), "reads": []}}, "body":
                {"if": [{"condition": {"computed": {"written": next("c"), "reads": [{"step": ids[0]}]}},
                         "then": {"tool": {"name": tool}, "arguments": {"object": {"x": {"reference": {"local": 0, "pointer": ""}}}}}}]}}},
            {"id": ids[3], "intent": next("d"), "value": {"computed": {"written": next("c"), "reads": [{"step": ids[0]}]}}},
            {"id": ids[4], "tool": {"name": tool}, "after": [ids[1], ids[2]]}],
        "output": {"type": next("T"), "value": {"reference": {"step": ids[4], "pointer": ""}}}
    })
}

/// The number of that plan's steps.
const STEPS: usize = 5;

/// Texts for it.
fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(hostile(), 40)
}
