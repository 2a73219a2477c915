//! Plans, reports and findings in the width and the colors of a terminal.

mod plan;

use crate::plan::Plan;
use crate::print::{Tone, wrapped};
use crate::run::report::Report;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use std::fmt::Display;

/// The width of an unknown terminal, in columns.
const WIDTH: usize = 80;
/// The least width. A narrower report would lose columns.
const LEAST: usize = 50;

/// The further indentation of a continued line of a message.
const MORE: usize = 4;

/// The width and the colors of a terminal, and the text that fits them.
///
/// [`stdout`](Self::stdout) and [`stderr`](Self::stderr) return the terminal of a process. A file or a pipe has 80 columns and no colors. The variables
/// `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` override the choice of colors.
///
/// Each text fits the width. A plan's line that is broken continues after `…`, and a report's note is below its row. So a string from a document never looks
/// like a line of its own. Invisible characters are visible as Rust escapes.
///
/// ```
/// use plan_runtime::{Result, Terminal, plan, tool};
/// # #[tool] async fn greet(name: String) -> Result<String> { Ok(format!("hello, {name}")) }
///
/// let plan = plan! { step greeting = Greet { name: "Ada" }; greeting };
/// println!("{}", Terminal::stdout().plan(plan.plan()));
/// let (_, report) = smol::block_on(plan.run(&()).with_report());
/// println!("{}", Terminal::stdout().report(&report));
///
/// assert!(Terminal::new(80, true).report(&report).contains("\u{1b}[32mcompleted"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    columns: usize,
    colors: bool,
}

impl Terminal {
    /// Returns a terminal with this number of columns, which is at least 50, and with colors or without.
    pub fn new(columns: usize, colors: bool) -> Self {
        let columns = columns.max(LEAST);
        Self { columns, colors }
    }

    /// Returns the terminal of the standard output.
    pub fn stdout() -> Self {
        let stream = std::io::stdout();
        Self::of(terminal_size::terminal_size_of(&stream), stream)
    }

    /// Returns the terminal of the standard error.
    pub fn stderr() -> Self {
        let stream = std::io::stderr();
        Self::of(terminal_size::terminal_size_of(&stream), stream)
    }

    fn of(
        size: Option<(terminal_size::Width, terminal_size::Height)>,
        stream: impl RawStream,
    ) -> Self {
        let columns = size.map_or(WIDTH, |(width, _)| usize::from(width.0));
        // The stream also turns the colors of a Windows console on.
        let colors = AutoStream::auto(stream).current_choice() != ColorChoice::Never;
        Self::new(columns, colors)
    }

    /// Returns the plan as its `Display` writes it, with long lines broken.
    pub fn plan(self, plan: &Plan) -> String {
        plan::shown(&plan.to_string(), self)
    }

    /// Returns a message, such as an error, with long lines broken. A continued line has a larger indentation.
    ///
    /// ```
    /// use plan_runtime::Terminal;
    ///
    /// let message = "  plan `price` failed: step `items` (list_items): asking the warehouse: connection refused";
    /// let shown = Terminal::new(80, false).text(message);
    /// assert_eq!(shown.lines().count(), 2);
    /// ```
    pub fn text(self, message: impl Display) -> String {
        let mut lines = Vec::new();
        for line in message.to_string().lines() {
            let indent = (line.len() - line.trim_start().len()).min(self.columns / 2);
            if line.trim().is_empty() {
                lines.push(String::new());
            }
            let mut more = 0;
            for part in wrapped(line.trim_start(), self.columns - indent - MORE) {
                lines.push(format!("{:1$}{part}", "", indent + more));
                more = MORE;
            }
        }
        lines.join("\n")
    }

    /// Returns the table of the report. Its columns fit the width.
    pub fn report(self, report: &Report) -> String {
        let paint = |tone, text: &str| self.painted(sgr(tone), text);
        report.lines(self.columns, &paint).join("\n")
    }

    /// Returns the findings with their positions underlined, like [`Findings::render`](crate::dynamic::Findings::render).
    #[cfg(feature = "diagnostics")]
    pub fn findings(self, findings: &crate::dynamic::Findings, origin: &str) -> String {
        findings.render_in(origin, self.columns, self.colors)
    }

    /// Returns a string in a color, without the escape sequences if there are no colors.
    fn painted(self, sgr: &str, text: &str) -> String {
        if self.colors && !sgr.is_empty() && !text.trim().is_empty() {
            format!("\u{1b}[{sgr}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Returns the parameters of the escape sequence that selects a color (SGR).
fn sgr(tone: Tone) -> &'static str {
    match tone {
        Tone::Title => "1",
        Tone::Good => "32",
        Tone::Warning => "33",
        Tone::Bad => "31",
        Tone::Blocked => "35",
        Tone::Quiet => "2",
    }
}
