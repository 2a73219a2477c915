//! Draws rustc's messages in the colors of a terminal.

use plan_graph::{Html, entity};
use std::fmt::{Arguments, Write};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Style {
    color: Color,
    bold: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Color {
    Plain,
    Red,
    Yellow,
    Green,
    Blue,
    Cyan,
}

impl Color {
    const fn bold(self) -> Style {
        Style {
            color: self,
            bold: true,
        }
    }

    const fn thin(self) -> Style {
        Style {
            color: self,
            bold: false,
        }
    }

    /// The color of the word that begins a message, and of the marks below its code.
    fn of_level(word: &str) -> Option<Self> {
        Some(match word.split('[').next()? {
            "error" => Self::Red,
            "warning" => Self::Yellow,
            "note" => Self::Green,
            "help" => Self::Cyan,
            _ => return None,
        })
    }

    /// Each can be read on [`BACKGROUND`].
    fn hex(self) -> &'static str {
        match self {
            Self::Plain => "#e6edf3",
            Self::Red => "#ff7b72",
            Self::Yellow => "#e3b341",
            Self::Green => "#56d364",
            Self::Blue => "#79c0ff",
            Self::Cyan => "#56d4dd",
        }
    }
}

/// A part of a line in one style.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run<'l> {
    text: &'l str,
    style: Style,
}

/// The parts of each line of rustc's messages. A line that rustc does not write is a panic.
fn paint(messages: &str) -> Vec<Vec<Run<'_>>> {
    let lines: Vec<&str> = messages.lines().collect();
    let mut level = Color::Plain;
    let mut in_header = false;
    let mut painted = Vec::new();
    for (number, &line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let mut runs = Runs::default();
        let header = line.split_once(": ").and_then(|(word, _)| {
            let color = Color::of_level(word)?;
            Some((word, color))
        });
        if let Some((word, color)) = header {
            level = color;
            // The headline of a message is bold, and the headline of a note is not.
            in_header = matches!(color, Color::Red | Color::Yellow);
            let style = if in_header { Color::bold } else { Color::thin };
            runs.add(word, color.bold());
            runs.add(&line[word.len()..], style(Color::Plain));
        } else if text.starts_with("--> ") || text.starts_with("::: ") {
            in_header = false;
            runs.add(&line[..indent + 3], Color::Blue.bold());
            runs.add(&line[indent + 3..], Color::Plain.thin());
        } else if let Some(note) = text.strip_prefix("= ") {
            let word = note.find(':').unwrap_or_else(|| panic!("no `:` in {line}"));
            let (word, rest) = note.split_at(word);
            runs.add(&line[..indent + 2], Color::Blue.bold());
            runs.add(word, Color::Plain.bold());
            runs.add(rest, Color::Plain.thin());
        } else if text == "..." {
            runs.add(line, Color::Blue.bold());
        } else if let Some((gutter, sign, rest)) = gutter(line) {
            runs.add(gutter, Color::Blue.bold());
            match sign {
                "-" | "+" => {
                    let style = if sign == "-" {
                        Color::Red
                    } else {
                        Color::Green
                    }
                    .thin();
                    let other = if sign == "-" {
                        number.checked_add(1)
                    } else {
                        number.checked_sub(1)
                    };
                    let other = other.and_then(|other| self::gutter(lines.get(other)?));
                    let (_, _, other) =
                        other.unwrap_or_else(|| panic!("a change of nothing: {line}"));
                    let (before, changed, after) = changed(rest, other);
                    runs.add(sign, style);
                    runs.add(before, Color::Plain.thin());
                    runs.add(changed, style);
                    runs.add(after, Color::Plain.thin());
                }
                _ if gutter.trim().is_empty() => {
                    runs.add(sign, Color::Blue.bold());
                    let style = match rest.trim_start().chars().next() {
                        None | Some('^') => level.bold(),
                        Some('-') => Color::Blue.bold(),
                        Some('+') => Color::Green.thin(),
                        Some(_) => panic!("neither code nor a mark: {line}"),
                    };
                    runs.add(rest, style);
                }
                _ => {
                    runs.add(sign, Color::Blue.bold());
                    runs.add(rest, Color::Plain.thin());
                }
            }
        } else {
            assert!(
                in_header || line.is_empty(),
                "not a line of rustc's: {line}"
            );
            runs.add(line, Color::Plain.bold());
        }
        painted.push(runs.0);
    }
    painted
}

#[derive(Default)]
struct Runs<'l>(Vec<Run<'l>>);

impl<'l> Runs<'l> {
    fn add(&mut self, text: &'l str, style: Style) {
        if !text.is_empty() {
            self.0.push(Run { text, style });
        }
    }
}

/// The number of a line of code, or the space where there is none, the sign after it, and the rest.
fn gutter(line: &str) -> Option<(&str, &str, &str)> {
    let end = line.find(['|', '-', '+'])?;
    let (number, rest) = line.split_at(end);
    let is_gutter = number.ends_with(' ') && number.trim().bytes().all(|c| c.is_ascii_digit());
    let is_change = !number.trim().is_empty() && rest[1..].starts_with(' ');
    let (sign, rest) = rest.split_at(1);
    (is_gutter && (sign == "|" || is_change)).then_some((number, sign, rest))
}

/// Returns the part of a line that differs from another line, with complete words at its ends, and the parts around it.
fn changed<'l>(line: &'l str, other: &str) -> (&'l str, &'l str, &'l str) {
    let same = |(a, b): &(char, char)| a == b;
    let start = line.chars().zip(other.chars()).take_while(same);
    let start: usize = start.map(|(c, _)| c.len_utf8()).sum();
    let end = line[start..]
        .chars()
        .rev()
        .zip(other[start..].chars().rev());
    let end: usize = end.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let end = line.len() - end;
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = line[..start].trim_end_matches(in_word);
    let after = line[end..].trim_start_matches(in_word);
    let changed = &line[before.len()..line.len() - after.len()];
    (before, changed, after)
}

const BACKGROUND: &str = "#161b22";
/// The size of a character's cell, and of the font in it.
const CELL: (f64, f64) = (7.8, 17.0);
const FONT: f64 = 13.0;
/// The space around the messages.
const MARGIN: f64 = 18.0;
/// The height of the bar above it.
const BAR: f64 = 32.0;

/// Draws a terminal. `title` describes the content, and `command` is in its bar.
pub(super) fn draw(title: &str, command: &str, messages: &str) -> String {
    let lines = paint(messages);
    let columns = messages.lines().map(|line| line.chars().count()).max();
    let width = (columns.unwrap_or(0) as f64 * CELL.0 + 2.0 * MARGIN).ceil();
    let height = BAR + lines.len() as f64 * CELL.1 + 1.5 * MARGIN;
    let mut svg = Html::new(escape);
    let root = svg.tag("svg").attr("xmlns", "http://www.w3.org/2000/svg");
    let root = root.attr("width", width).attr("height", height);
    let root = root.attr("viewBox", format_args!("0 0 {width} {height}"));
    let root = root.attr("role", "img").attr("font-size", FONT);
    let font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    root.attr("font-family", font).inside(|svg| {
        svg.markup("\n");
        svg.tag("title").text(title);
        svg.markup("\n");
        let frame = svg.tag("rect").attr("x", 0.5).attr("y", 0.5);
        let frame = frame
            .attr("width", width - 1.0)
            .attr("height", height - 1.0);
        let frame = frame.attr("rx", 8).attr("fill", BACKGROUND);
        frame.attr("stroke", "#444c56").empty();
        for (number, color) in ["#ff5f57", "#febc2e", "#28c840"].into_iter().enumerate() {
            let x = MARGIN + 4.0 + 19.0 * number as f64;
            let button = svg.tag("circle").attr("cx", x).attr("cy", BAR / 2.0 + 2.0);
            button.attr("r", 5.5).attr("fill", color).empty();
        }
        let bar = svg
            .tag("text")
            .attr("x", width / 2.0)
            .attr("y", BAR / 2.0 + 6.0);
        let bar = bar.attr("text-anchor", "middle").attr("fill", "#9198a1");
        bar.text(command);
        svg.markup("\n");
        for (number, runs) in lines.iter().enumerate() {
            let y = BAR + MARGIN + number as f64 * CELL.1 + FONT / 2.0;
            let mut column = 0;
            for run in runs {
                write_run(svg, run, column, y);
                column += run.text.chars().count();
            }
            if !runs.is_empty() {
                svg.markup("\n");
            }
        }
    });
    svg.markup("\n");
    svg.finish()
}

/// Writes each word where its first character is, as wide as its characters, so that carets are below what they point at in any font.
fn write_run(svg: &mut Html, run: &Run<'_>, column: usize, y: f64) {
    let mut at = 0;
    // SVG would collapse several spaces in a row.
    for part in run.text.split("  ") {
        let text = part.trim();
        if !text.is_empty() {
            let before = &run.text[..at + part.len() - part.trim_start().len()];
            let x = MARGIN + (column + before.chars().count()) as f64 * CELL.0;
            let length = text.chars().count() as f64 * CELL.0;
            let tag = svg.tag("text").attr("x", format_args!("{x:.1}"));
            let tag = tag
                .attr("y", y)
                .attr("textLength", format_args!("{length:.1}"));
            let tag = tag.attr("fill", run.style.color.hex());
            let weight = if run.style.bold { "bold" } else { "normal" };
            tag.attr("font-weight", weight).text(text);
        }
        at += part.len() + 2;
    }
}

fn escape(text: Arguments<'_>, out: &mut String) {
    let mut plain = String::new();
    write!(plain, "{text}").expect("texts can be written");
    for c in plain.chars() {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
}

/// Returns the lines of a drawing, with each string at its column and row.
pub(super) fn read(svg: &str) -> String {
    let mut rows: Vec<Vec<char>> = Vec::new();
    for tag in svg
        .split("<text ")
        .skip(1)
        .filter(|tag| tag.contains(" textLength="))
    {
        let number = |name: &str| -> f64 {
            let (_, rest) = tag.split_once(&format!("{name}=\"")).expect(name);
            rest.split_once('"')
                .expect("its end")
                .0
                .parse()
                .expect("a number")
        };
        let (_, text) = tag.split_once('>').expect("a text");
        let (text, _) = text.split_once("</text>").expect("its end");
        let text = text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&#39;", "'")
            .replace("&quot;", "\"");
        let text = text.replace("&amp;", "&");
        let column = ((number("x") - MARGIN) / CELL.0).round() as usize;
        let row = ((number("y") - BAR - MARGIN - FONT / 2.0) / CELL.1).round() as usize;
        rows.resize(rows.len().max(row + 1), Vec::new());
        let line = &mut rows[row];
        assert!(line.len() <= column, "{text} is over another text");
        line.resize(column, ' ');
        line.extend(text.chars());
    }
    rows.into_iter()
        .map(|row| row.into_iter().collect::<String>() + "\n")
        .collect()
}

#[test]
fn colors_are_those_of_rustc() {
    // The output of `rustc --color=always`, with the codes of bold, of colors and of neither.
    let colored = "\
\u{1b}[1m\u{1b}[91merror[E0609]\u{1b}[0m\u{1b}[1m: no field `threadId` on type `Email`\u{1b}[0m
  \u{1b}[1m\u{1b}[94m--> \u{1b}[0msrc/main.rs:12:38
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m
\u{1b}[1m\u{1b}[94m12\u{1b}[0m \u{1b}[1m\u{1b}[94m|\u{1b}[0m             thread_id: inbox.data[0].threadId,
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m                                      \u{1b}[1m\u{1b}[91m^^^^^^^^\u{1b}[0m \u{1b}[1m\u{1b}[91munknown field\u{1b}[0m
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m
\u{1b}[1m\u{1b}[96mhelp\u{1b}[0m: a field with a similar name exists
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m
\u{1b}[1m\u{1b}[94m12\u{1b}[0m \u{1b}[91m- \u{1b}[0m            thread_id: inbox.data[0].\u{1b}[91mthreadId\u{1b}[0m,
\u{1b}[1m\u{1b}[94m12\u{1b}[0m \u{1b}[92m+ \u{1b}[0m            thread_id: inbox.data[0].\u{1b}[92mthread_id\u{1b}[0m,
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m

\u{1b}[1m\u{1b}[91merror\u{1b}[0m\u{1b}[1m: `inbox` may have failed\u{1b}[0m
       \u{1b}[1mhelp: write `inbox?`\u{1b}[0m
  \u{1b}[1m\u{1b}[94m--> \u{1b}[0msrc/main.rs:9:1
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m
\u{1b}[1m\u{1b}[94m 9\u{1b}[0m \u{1b}[1m\u{1b}[94m|\u{1b}[0m inbox
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m \u{1b}[1m\u{1b}[91m^^^^^\u{1b}[0m
   \u{1b}[1m\u{1b}[94m= \u{1b}[0m\u{1b}[1mnote\u{1b}[0m: `#[catch]` makes it a `Result`
\u{1b}[1m\u{1b}[92mnote\u{1b}[0m: required by a bound in `json`
  \u{1b}[1m\u{1b}[94m--> \u{1b}[0msrc/json.rs:28:22
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m
\u{1b}[1m\u{1b}[94m28\u{1b}[0m \u{1b}[1m\u{1b}[94m|\u{1b}[0m json
   \u{1b}[1m\u{1b}[94m|\u{1b}[0m \u{1b}[1m\u{1b}[92m^^^^\u{1b}[0m \u{1b}[1m\u{1b}[92mrequired by this bound\u{1b}[0m
";
    // Each character that is seen, with its style.
    let mut expected = Vec::new();
    let mut plain = String::new();
    let mut style = Color::Plain.thin();
    for part in colored.split("\u{1b}[").enumerate() {
        let text = match part {
            (0, text) => text,
            (_, part) => {
                let (code, text) = part.split_once('m').expect("the end of a code");
                match code {
                    "0" => style = Color::Plain.thin(),
                    "1" => style.bold = true,
                    "91" => style.color = Color::Red,
                    "92" => style.color = Color::Green,
                    "94" => style.color = Color::Blue,
                    "96" => style.color = Color::Cyan,
                    code => panic!("unknown: {code}"),
                }
                text
            }
        };
        plain.push_str(text);
        let seen = text.chars().filter(|c| !c.is_whitespace());
        expected.extend(seen.map(|c| (c, style)));
    }
    let painted = paint(&plain);
    let found = painted.iter().flatten().flat_map(|run| {
        let seen = run.text.chars().filter(|c| !c.is_whitespace());
        seen.map(|c| (c, run.style))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
