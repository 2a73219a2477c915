//! A report as a single HTML page.

mod details;
mod escape;
mod graph;
mod hint;
mod timeline;

use super::Report;
use crate::Plan;
use crate::error::Elements;
use crate::plan::Role;
use crate::print::MessageName;
use crate::run::report::wait::LEAST;
use crate::run::report::{Status, StepReport};
use escape::escape;
use plan_graph::{Html, Time, TimeUnit};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write};
use std::time::{Duration, SystemTime};

/// The largest number of failed steps with a link at the top of a page.
const MOST_FAILED: usize = 20;

/// The largest number of steps inside steps on a page.
const MOST_INSIDE: usize = 2_000;

impl Report {
    /// Returns the report as an HTML page: the plan's graph, colored by the status of its steps, and a timeline with each step's
    /// attempts. A click on a step shows its arguments, its output, its error, and the reports inside it, up to a limit.
    ///
    /// The page is one file, which loads nothing. [`to_html_with`](Self::to_html_with) is for a server that forbids styles and
    /// scripts inside pages. The page is readable in light and dark mode, with only a keyboard, and without scripts. The page escapes
    /// the output of tools, so it never contains their markup.
    ///
    /// The page contains arguments and outputs, with any secrets in them, only if the run
    /// [captures arguments](crate::run::Run::capture_arguments) and [outputs](crate::run::Run::capture_outputs). It truncates long values
    /// and lists of attempts, with a note.
    ///
    /// ```no_run
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    /// let (_, report) = smol::block_on(run.with_report());
    /// std::fs::write("report.html", report.to_html())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn to_html(&self) -> String {
        self.to_html_with(&HtmlParts::default())
    }

    /// Writes the page of [`to_html`](Self::to_html) with these parts.
    ///
    /// Use this method on a server that sends a `Content-Security-Policy`: with [`style`](HtmlParts::style) and
    /// [`scripts`](HtmlParts::scripts), the page works under `default-src 'none'; style-src 'self'; script-src 'self'`. The server must also
    /// serve [`HTML_STYLE`](Self::HTML_STYLE), as `text/css`, and [`HTML_SCRIPT`](Self::HTML_SCRIPT), as `text/javascript`.
    ///
    /// Other versions of this crate may have another style sheet and another script: put the version into the addresses if browsers
    /// cache the files.
    ///
    /// ```
    /// use plan_runtime::Report;
    /// use plan_runtime::run::HtmlParts;
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    ///
    /// /// The body of an answer and its type, for a path.
    /// fn answer(path: &str, report: &Report) -> Option<(&'static str, String)> {
    ///     let mut parts = HtmlParts::default();
    ///     parts.title = "Order 17: ";
    ///     parts.head = "<p>Approved by Ada</p>";
    ///     parts.style = "/report.css";
    ///     parts.scripts = &["/report.js"];
    ///     Some(match path {
    ///         "/report" => ("text/html", report.to_html_with(&parts)),
    ///         "/report.css" => ("text/css", Report::HTML_STYLE.into()),
    ///         "/report.js" => ("text/javascript", Report::HTML_SCRIPT.into()),
    ///         _ => return None,
    ///     })
    /// }
    ///
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let (_, report) = smol::block_on(plan.run(&()).with_report());
    /// let (_, page) = answer("/report", &report).unwrap();
    /// assert!(page.contains("<h1>Order 17: plan</h1><p>Approved by Ada</p>"));
    /// assert!(page.contains("href=\"/report.css\"") && !page.contains("<style"));
    /// ```
    pub fn to_html_with(&self, parts: &HtmlParts<'_>) -> String {
        Page::new(self).write(parts)
    }

    /// The style sheet of a page with [`HtmlParts::style`].
    pub const HTML_STYLE: &'static str = include_str!("style.css");

    /// The script of a page with [`HtmlParts::scripts`].
    pub const HTML_SCRIPT: &'static str = include_str!("script.js");
}

/// The parts of a report's page that its server adds, for [`Report::to_html_with`]. The default is a page in one file.
///
/// `head` and `tail` are markup, and a page runs the scripts at its addresses. Escape values of users and tools in the markup, and never take
/// an address from an untrusted source.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HtmlParts<'p> {
    /// The string before the name of the plan, in the title and in the first heading.
    pub title: &'p str,
    /// The markup below the first heading.
    pub head: &'p str,
    /// The markup below the timeline.
    pub tail: &'p str,
    /// The address of the style sheet. If the address is empty, the page contains the style sheet.
    pub style: &'p str,
    /// The addresses of the scripts. If there is no address, the page contains the script.
    pub scripts: &'p [&'p str],
}

/// The data of a page's parts. The plan has a step for each step of the report.
struct Page<'p> {
    report: &'p Report,
    plan: &'p Plan,
    critical: HashSet<usize>,
    /// The undo step of each step that was undone.
    undone: HashMap<usize, usize>,
    /// The time since the start of a run that has not ended.
    now: Option<Duration>,
    /// The number of steps inside steps that still fit on the page.
    inside: Cell<usize>,
}

impl<'p> Page<'p> {
    fn new(report: &'p Report) -> Self {
        let steps = report.plan.steps.iter().zip(&report.steps).enumerate();
        let undone = steps.filter_map(|(undo, (step, report))| match step.role {
            Role::Undo(of) if matches!(report.status, Status::Completed) => Some((of, undo)),
            _ => None,
        });
        Self {
            report,
            plan: &report.plan,
            now: report.steps.iter().any(StepReport::is_open).then(|| {
                let now = SystemTime::now().duration_since(report.started_at);
                now.unwrap_or_default().max(report.duration)
            }),
            critical: report.critical.iter().map(|link| link.step).collect(),
            undone: undone.collect(),
            inside: Cell::new(MOST_INSIDE),
        }
    }
}

impl Page<'_> {
    /// Returns the time that the scale covers.
    fn whole(&self) -> Duration {
        let ended = self.report.steps.iter().filter_map(|step| step.ended).max();
        let now = self.now.unwrap_or(self.report.duration);
        now.max(ended.unwrap_or_default())
    }

    /// Returns the unit of all times of steps on the page.
    fn unit(&self) -> TimeUnit {
        TimeUnit::of([self.whole()])
    }

    /// Returns the end of a step, and the current time for a step that has not ended.
    fn ended(&self, step: &StepReport) -> Option<Duration> {
        step.ended.or(self.now.filter(|_| step.is_open()))
    }

    /// Returns the CSS classes for the status of a step.
    fn class(&self, step: usize) -> String {
        let status = self.report.steps[step].status.name().replace(' ', "-");
        let critical = self.critical.contains(&step);
        let is_undo = matches!(self.plan.steps[step].role, Role::Undo(_));
        let undo = if is_undo { " undo" } else { "" };
        let undone = self.undone.get(&step).map_or("", |_| " undone");
        status + undo + undone + if critical { " critical" } else { "" }
    }

    /// Returns the status as an icon, for people who cannot distinguish the colors.
    fn sign(&self, step: usize) -> char {
        sign(self.report.steps[step].state())
    }

    /// Returns the label of a step for screen readers, which begins with the name of the step.
    fn spoken(&self, step: usize) -> String {
        let report = &self.report.steps[step];
        let mut text = self.spoken_as(step, &MessageName(&report.id));
        if let Some(took) = took(report, self.unit()) {
            let _ = write!(text, ", {took}");
        }
        text
    }

    /// Returns the label of a step for screen readers without its times. The label begins with these visible words.
    fn spoken_as(&self, step: usize, visible: &dyn Display) -> String {
        let report = &self.report.steps[step];
        let mut text = format!("{visible}, {}", report.status.name());
        if let Some(undo) = self.undone.get(&step) {
            let _ = write!(
                text,
                ", undone by {}",
                MessageName(&self.report.steps[*undo].id)
            );
        }
        if self.critical.contains(&step) {
            text.push_str(", on the critical path");
        }
        text
    }
}

/// Returns the duration of a step, with its waits.
fn took(report: &StepReport, unit: TimeUnit) -> Option<String> {
    let took = unit.time(report.duration()?);
    Some(match report.waits_in_words(unit) {
        Some(waits) => format!("{took}, {waits}"),
        None => took,
    })
}

fn sign(status: &str) -> char {
    match status {
        "completed" => '✓',
        "undone" => '⤺',
        "recovered" => '↺',
        "skipped" => '↷',
        "failed" => '✗',
        "blocked" => '⊘',
        "cancelled" => '◌',
        "running" => '▸',
        "waiting" => '…',
        _ => '·',
    }
}

impl Page<'_> {
    fn write(&self, parts: &HtmlParts<'_>) -> String {
        // Styles apply and scripts run only with this number, which no output of a tool can contain.
        let nonce = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let mut html = Html::new(escape);
        html.markup(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-",
        );
        html.text(&nonce);
        html.markup("'; script-src 'nonce-");
        html.text(&nonce);
        html.markup(
            "'; base-uri 'none'; form-action 'none'\"><meta name=\"color-scheme\" content=\"light dark\">",
        );
        let name = MessageName(self.report.plan());
        html.tag("title")
            .text(format_args!("{}{name}", parts.title));
        html.markup("\n");
        if parts.style.is_empty() {
            let style = html.tag("style").attr("nonce", &nonce);
            style.inside(|style| style.markup(concat!("\n", include_str!("style.css"))));
        } else {
            let link = html.tag("link").attr("rel", "stylesheet");
            link.attr("nonce", &nonce).attr("href", parts.style).void();
        }
        html.markup("</head>\n<body>\n");
        html.tag("header")
            .inside(|header| self.write_head(header, parts));
        html.markup(
            "\n<div class=\"columns\"><main>\n<section aria-label=\"Graph\"><div class=\"bar-of\"><h2>Graph</h2>\
             <button type=\"button\" data-zoom=\"0.8\" aria-label=\"Smaller\">−</button>\
             <button type=\"button\" data-zoom=\"1.25\" aria-label=\"Larger\">+</button>\
             <input type=\"checkbox\" id=\"fit\"><label for=\"fit\">fit into the page</label></div>",
        );
        graph::write(&mut html, self);
        html.markup("</section>\n<section aria-label=\"Timeline\"><h2>Timeline</h2>");
        hint::write(&mut html, self);
        timeline::write(&mut html, self);
        html.markup("</section>\n");
        html.add(parts.tail);
        html.markup(
            "</main><aside aria-label=\"The chosen step\">\
             <p class=\"none\">Choose a step to see its arguments and its output.</p>",
        );
        details::write(&mut html, self);
        html.markup("</aside></div>\n");
        if parts.scripts.is_empty() {
            let script = html.tag("script").attr("nonce", &nonce);
            script.inside(|script| script.markup(concat!("\n", include_str!("script.js"))));
        }
        for address in parts.scripts {
            let script = html.tag("script").attr("nonce", &nonce);
            script.attr("src", address).empty();
        }
        html.markup("\n</body></html>\n");
        html.finish()
    }

    /// Writes the number of the failed elements of a step, and the first of these elements.
    fn write_failed_elements(&self, header: &mut Html, number: usize, step: &StepReport) {
        let (failed, all) = step.failed_elements();
        if failed.is_empty() {
            return;
        }
        header.tag("p").attr("class", "failures").inside(|p| {
            details::write_links(p, self, &[number]);
            p.text(format_args!(
                ": {} of {all} elements failed: ",
                failed.len()
            ));
            let shown = failed.iter().take(MOST_FAILED);
            let shown: Vec<String> = shown.map(|it| Elements(it).to_string()).collect();
            p.text(shown.join(", "));
            if failed.len() > MOST_FAILED {
                p.text(", …");
            }
        });
    }

    fn write_head(&self, header: &mut Html, parts: &HtmlParts<'_>) {
        let report = self.report;
        let name = MessageName(report.plan());
        header.tag("h1").text(format_args!("{}{name}", parts.title));
        header.add(parts.head);
        let description = self.plan.description.trim();
        if !description.is_empty() {
            header.tag("p").text(description);
        }
        header.tag("p").attr("class", "facts").inside(|facts| {
            match report.steps.len() {
                0 => facts.text("No steps"),
                1 => facts.text("1 step"),
                count => facts.text(format_args!("{count} steps")),
            }
            // The waits of an open run have not ended.
            let (before, time, after) = match self.now {
                Some(now) => (", not ended after ", now, String::new()),
                None => (" in ", report.duration, report.long_wait()),
            };
            facts.text(before);
            facts.tag("strong").text(Time(time));
            facts.text(format_args!("{after}, started "));
            write_time(facts, report.started_at);
        });
        header.tag("ul").attr("class", "totals").inside(|list| {
            for (count, name) in report.totals.named() {
                if count > 0 {
                    let item = list.tag("li").attr("class", name.replace(' ', "-"));
                    item.inside(|item| {
                        write_sign(item, sign(name));
                        item.text(format_args!("{count} {name}"));
                    });
                }
            }
        });
        let steps = report.steps.iter().enumerate();
        let failed = steps.filter(|(_, step)| matches!(step.status, Status::Failed(_)));
        let failed: Vec<usize> = failed.map(|(step, _)| step).take(MOST_FAILED).collect();
        if !failed.is_empty() {
            header
                .tag("p")
                .attr("class", "failures")
                .inside(|failures| {
                    failures.text("Go to the failure: ");
                    details::write_links(failures, self, &failed);
                });
        }
        for (number, step) in report.steps.iter().enumerate() {
            self.write_failed_elements(header, number, step);
        }
        if report.critical.len() > 1 {
            header.tag("details").attr("class", "path").inside(|path| {
                let count = report.critical.len();
                let took = self.unit().time(report.critical_duration());
                let mut summary = format!("The critical path took {took}: {count} steps");
                let waited = report.critical_waits();
                if waited >= LEAST {
                    let _ = write!(
                        summary,
                        ", with {} between the steps",
                        self.unit().time(waited)
                    );
                }
                path.tag("summary").text(summary);
                let steps: Vec<usize> = report.critical.iter().map(|link| link.step).collect();
                details::write_links(path, self, &steps);
            });
        }
        header.markup(
            "<label class=\"find\"><span>Find steps</span><input type=\"search\" id=\"find\" autocomplete=\"off\" \
             placeholder=\"name, tool or status\"></label> <span id=\"found\" class=\"hint\" role=\"status\"></span>",
        );
    }
}

/// Writes a time in UTC. The script of the page replaces UTC by the local time of the reader.
fn write_time(html: &mut Html, time: SystemTime) {
    let time = humantime::format_rfc3339_seconds(time).to_string();
    let shown = time.replace('T', " ").replace('Z', " UTC");
    html.tag("time").attr("datetime", time).text(shown);
}

fn write_sign(html: &mut Html, sign: char) {
    // Hidden from screen readers, since text beside the sign contains the status.
    let tag = html.tag("span").attr("class", "sign");
    tag.attr("aria-hidden", true).text(sign);
}

#[cfg(test)]
mod tests {
    use super::{Report, sign};
    use crate::run::Totals;
    use std::collections::HashSet;

    /// Without a color, a status is black, which is invisible on a dark page.
    #[test]
    fn each_status_has_a_color_and_a_sign() {
        let style = Report::HTML_STYLE;
        let mut signs = HashSet::new();
        for (_, name) in Totals::default().named() {
            let class = name.replace(' ', "-");
            let tone = format!(".{class} {{ --tone: var(--{class}); }}");
            assert!(style.contains(&tone), "{tone}");
            // Once for the light theme, and once for the dark theme.
            assert_eq!(
                style.matches(&format!("--{class}: #")).count(),
                2,
                "{class}"
            );
            assert!(signs.insert(sign(name)), "{name}");
        }
    }
}
