//! The plan's graph as SVG, with a box for each step.

use super::{Page, sign, took};
use crate::plan::{Body, Role, Source, Step, path};
use crate::print::{Line, MessageName};
use plan_graph::{Boxes, HEIGHT, Html, Point, cut, cut_small, layout, width};
use std::collections::{BTreeMap, HashSet};
use std::fmt::{Display, Formatter, Result};

pub(super) fn write(html: &mut Html, page: &Page<'_>) {
    let count = page.report.steps.len();
    let sizes: Vec<(f64, f64)> = (0..count)
        .map(|step| {
            let id = MessageName(&page.report.steps[step].id).to_string();
            (width(&id, &what(page, step)), HEIGHT)
        })
        .collect();
    let arrows = arrows(page);
    let ends: Vec<(usize, usize)> = arrows.keys().copied().collect();
    let levels = page.plan.needs().levels();
    let levels: Vec<usize> = levels.into_iter().map(Option::unwrap_or_default).collect();
    let layout = layout(&Boxes {
        sizes: &sizes,
        arrows: &ends,
        levels: &levels,
    });
    let critical: HashSet<_> = page
        .report
        .critical
        .windows(2)
        .map(|two| (two[0].step, two[1].step))
        .collect();
    let (width, height) = (layout.width.ceil(), layout.height.ceil());
    html.markup(
        "<div class=\"scroll\" tabindex=\"0\" aria-label=\"Scrollable graph\" role=\"region\">",
    );
    let svg = html
        .tag("svg")
        .attr("class", "graph")
        .attr("width", width)
        .attr("height", height)
        .attr("viewBox", format_args!("0 0 {width} {height}"))
        .attr("role", "group")
        .attr("aria-label", "The steps and their dependencies");
    svg.inside(|svg| {
        svg.markup(
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" \
             markerWidth=\"9\" markerHeight=\"9\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>",
        );
        for ((&(from, to), arrow), curve) in arrows.iter().zip(layout.curves(&sizes)) {
            let dashed = match arrow {
                Arrow { undo: true, .. } => " undo",
                Arrow { data: true, .. } => "",
                _ => " after",
            };
            let is_critical = critical.contains(&(from, to));
            let critical = if is_critical { " critical" } else { "" };
            let class = format_args!("edge{dashed}{critical}");
            let edge = svg.tag("path").attr("class", class);
            let edge = edge.attr("data-from", from).attr("data-to", to);
            edge.attr("d", curve)
                .inside(|edge| edge.tag("title").text(arrow.title(page, (from, to))));
        }
        for (step, size) in sizes.iter().enumerate() {
            svg.tag("a")
                .attr("class", format_args!("node {}{}", page.class(step), shape(page, step)))
                .attr("href", format_args!("#step-{step}"))
                .attr("data-step", step)
                .attr("aria-label", spoken(page, step))
                .inside(|node| write_box(node, page, layout.boxes[step], step, *size));
        }
    });
    // The legend stays below a graph that scrolls.
    html.markup("</div>");
    write_legend(html, page, &arrows);
}

/// Writes the meanings of the colors, lines and marks that occur in the graph.
fn write_legend(html: &mut Html, page: &Page<'_>, arrows: &BTreeMap<(usize, usize), Arrow>) {
    html.tag("ul").attr("class", "legend").inside(|list| {
        for (count, name) in page.report.totals.named() {
            if count > 0 {
                let item = list.tag("li").attr("class", name.replace(' ', "-"));
                item.text(format_args!("{} {name}", sign(name)));
            }
        }
        let steps = &page.plan.steps;
        let has_undo = steps.iter().any(|it| matches!(it.role, Role::Undo(_)));
        let has = |is: fn(&Arrow) -> bool| arrows.values().any(is);
        let has_shape = |class: &str| (0..steps.len()).any(|step| shape(page, step) == class);
        for (class, words) in SHAPES {
            if has_shape(class) {
                list.tag("li").attr("class", class.trim()).text(words);
            }
        }
        for (is_shown, class, words) in [
            (has_undo, "undo", "undoes a step"),
            (
                steps.iter().any(Step::starts_at_once),
                "start",
                "starts at once",
            ),
            (!page.critical.is_empty(), "critical", "critical path"),
            (has(|it| it.data && !it.undo), "line data", "uses an output"),
            (has(|it| !it.data && !it.undo), "line after", "order only"),
            (has(|it| it.undo), "line undo", "undo"),
        ] {
            if is_shown {
                list.tag("li").attr("class", class).text(words);
            }
        }
    });
}

/// The CSS classes of the shapes, with their meanings.
const SHAPES: [(&str, &str); 4] = [
    (" is-for", "runs for each element of a list"),
    (" is-loop", "repeats"),
    (" is-if", "has a condition"),
    (" is-block", "contains steps"),
];

/// Returns the CSS class for the shape of a step, after a space.
fn shape(page: &Page<'_>, step: usize) -> &'static str {
    let [each, repeats, condition, block] = SHAPES.map(|(class, _)| class);
    match page.plan.steps[step].body {
        Body::For(_) => each,
        Body::Loop(_) => repeats,
        Body::If(_) => condition,
        Body::Block(_) => block,
        Body::Action(_) | Body::Await(_) => "",
    }
}

/// The reason for a dependency between two steps.
#[derive(Default)]
struct Arrow {
    data: bool,
    /// `true` if the second step undoes the first.
    undo: bool,
    paths: Vec<String>,
}

impl Arrow {
    fn title(&self, page: &Page<'_>, (from, to): (usize, usize)) -> String {
        let id = |step: usize| MessageName(&page.plan.steps[step].id);
        let mut title = format!("{} → {}", id(from), id(to));
        if self.undo {
            title.push_str(" (undo)");
        } else if !self.data {
            title.push_str(" (after)");
        }
        for path in &self.paths {
            title.push('\n');
            title.push_str(&Line(path).to_string());
        }
        title
    }
}

fn arrows(page: &Page<'_>) -> BTreeMap<(usize, usize), Arrow> {
    let mut arrows: BTreeMap<(usize, usize), Arrow> = BTreeMap::new();
    let steps = &page.plan.steps;
    for (to, step) in steps.iter().enumerate() {
        for from in step.needs().into_iter().filter(|from| *from < steps.len()) {
            let arrow = arrows.entry((from, to)).or_default();
            arrow.undo = step.role == Role::Undo(from);
        }
        for source in step.reads() {
            if let Source::Step(from) = source
                && let Some(arrow) = arrows.get_mut(&(from, to))
            {
                arrow.data = true;
            }
        }
        for usage in step.references() {
            if let Source::Step(from) = usage.reference.source
                && let Some(arrow) = arrows.get_mut(&(from, to))
            {
                arrow
                    .paths
                    .push(path(usage.reference, page.plan.name_of(Source::Step(from))));
            }
        }
    }
    for arrow in arrows.values_mut() {
        arrow.paths.retain(|path| !path.is_empty());
    }
    arrows
}

fn write_box(
    node: &mut Html,
    page: &Page<'_>,
    middle: Point,
    step: usize,
    (width, height): (f64, f64),
) {
    node.tag("title").text(spoken(page, step));
    let (x, y) = (middle.0 - width / 2.0, middle.1 - height / 2.0);
    // The box of a condition has round corners.
    let (round, inset) = match page.plan.steps[step].body {
        Body::If(_) => (20, 10.0),
        _ => (7, 0.0),
    };
    for (class, width, round, inset) in [("box", width, round, 0.0), ("mark", 6.0, 3, inset)] {
        let rect = node.tag("rect").attr("class", class);
        let rect = rect.attr("x", Tenths(x)).attr("y", Tenths(y + inset));
        let rect = rect
            .attr("width", width)
            .attr("height", height - 2.0 * inset);
        rect.attr("rx", round).empty();
    }
    if page.plan.steps[step].starts_at_once() {
        let circle = node.tag("circle").attr("class", "start");
        let circle = circle.attr("cx", Tenths(middle.0)).attr("cy", Tenths(y));
        circle.attr("r", 4).empty();
    }
    let mut text = |class: &str, x: f64, y: f64, text: &dyn Display| {
        let element = node.tag("text").attr("class", class);
        element.attr("x", Tenths(x)).attr("y", Tenths(y)).text(text);
        // The space keeps the words apart.
        node.markup(" ");
    };
    let id = MessageName(&page.report.steps[step].id).to_string();
    text("id", x + 15.0, y + 18.5, &cut(&id));
    text("what", x + 15.0, y + 34.5, &cut_small(&what(page, step)));
    text("sign", x + width - 9.0, y + 18.5, &page.sign(step));
}

/// Returns the label of a box: the visible words, the status and the times.
fn spoken(page: &Page<'_>, step: usize) -> String {
    let report = &page.report.steps[step];
    let visible = format!("{} {}", MessageName(&report.id), what(page, step));
    let text = page.spoken_as(step, &visible);
    took(report, page.unit()).map_or_else(|| text.clone(), |took| format!("{text}, {took}"))
}

/// A number with one decimal.
struct Tenths(f64);

impl Display for Tenths {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:.1}", self.0)
    }
}

/// Returns the kind of a step with its tools, such as `for ×3: email_send`.
fn what(page: &Page<'_>, step: usize) -> String {
    let (of, report) = (&page.plan.steps[step], &page.report.steps[step]);
    let tools = of.actions().into_iter().filter_map(|it| it.tool.as_ref());
    let mut tools: Vec<String> = tools.map(|it| MessageName(&it.name).to_string()).collect();
    tools.dedup();
    let tools = match (&of.body, tools.is_empty()) {
        (Body::Await(_), _) => "waits for a value".to_owned(),
        (_, true) => "computes a value".to_owned(),
        _ => tools.join(", "),
    };
    let form = match &of.body {
        Body::Action(_) | Body::Await(_) => String::new(),
        Body::If(_) => "if: ".to_owned(),
        Body::Block(_) => "block: ".to_owned(),
        Body::Loop(_) => "loop: ".to_owned(),
        Body::For(_) => match report.elements {
            None => "for each: ".to_owned(),
            Some(elements) => format!("for ×{elements}: "),
        },
    };
    let role = match of.role {
        Role::Undo(_) => "undo: ",
        Role::Always => "at the end: ",
        Role::Work => "",
    };
    format!("{role}{form}{tools}")
}
