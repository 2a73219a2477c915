//! The plan's graph as SVG, with a box for each step.

use super::Page;
use super::escape::Text;
use crate::plan::{Body, Source, path};
use crate::print::{Line, Told};
use plan_graph::{Boxes, HEIGHT, Layout, cut, layout, width};
use std::collections::{BTreeMap, HashSet};
use std::fmt::{Display, Formatter, Result};

pub(super) struct Graph<'p>(pub(super) &'p Page<'p>);

impl Display for Graph<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let page = self.0;
        let count = page.report.steps.len();
        let sizes: Vec<(f64, f64)> = (0..count)
            .map(|step| {
                let id = Told(&page.report.steps[step].id).to_string();
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
        let (width, height) = (layout.width.ceil(), layout.height.ceil());
        write!(
            f,
            "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"group\" \
             aria-label=\"The steps and their dependencies\"><defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
             markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>"
        )?;
        let critical: HashSet<_> = page
            .report
            .critical
            .windows(2)
            .map(|two| (two[0], two[1]))
            .collect();
        for ((ends, arrow), curve) in arrows.iter().zip(layout.curves(&sizes)) {
            let class = match (arrow.data, critical.contains(ends)) {
                (true, true) => "edge critical",
                (true, false) => "edge",
                (false, true) => "edge after critical",
                (false, false) => "edge after",
            };
            let (from, to) = ends;
            write!(
                f,
                "<path class=\"{class}\" data-from=\"{from}\" data-to=\"{to}\" d=\"{curve}\"><title>{}</title></path>",
                Text(arrow.title(page, *ends))
            )?;
        }
        for (step, size) in sizes.iter().enumerate() {
            write_box(f, page, &layout, step, *size)?;
        }
        f.write_str("</svg>")
    }
}

/// Why a step needs another.
#[derive(Default)]
struct Arrow {
    data: bool,
    paths: Vec<String>,
}

impl Arrow {
    fn title(&self, page: &Page<'_>, (from, to): (usize, usize)) -> String {
        let id = |step: usize| Told(&page.plan.steps[step].id);
        let mut title = format!("{} → {}", id(from), id(to));
        if !self.data {
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
        for &from in step.needs.iter().filter(|from| **from < steps.len()) {
            arrows.entry((from, to)).or_default();
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
    f: &mut Formatter<'_>,
    page: &Page<'_>,
    layout: &Layout,
    step: usize,
    (width, height): (f64, f64),
) -> Result {
    let (x, y) = layout.boxes[step];
    let (x, y) = (x - width / 2.0, y - height / 2.0);
    let report = &page.report.steps[step];
    let class = page.class(step);
    write!(
        f,
        "<a class=\"node {class}\" href=\"#step-{step}\" data-step=\"{step}\" aria-label=\"{}\"><title>{}</title>\
         <rect class=\"box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>\
         <rect class=\"mark\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"6\" height=\"{height}\" rx=\"3\"/>",
        Text(page.spoken(step)),
        Text(page.spoken(step)),
    )?;
    let (left, right) = (x + 15.0, x + width - 9.0);
    write!(
        f,
        "<text class=\"id\" x=\"{left:.1}\" y=\"{:.1}\">{}</text><text class=\"what\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>\
         <text class=\"sign\" x=\"{right:.1}\" y=\"{:.1}\">{}</text></a>",
        y + 18.5,
        Text(cut(&Told(&report.id).to_string())),
        y + 34.5,
        Text(cut(&what(page, step))),
        y + 18.5,
        page.sign(step),
    )
}

/// What a step is, in a word or two.
fn what(page: &Page<'_>, step: usize) -> String {
    let report = &page.report.steps[step];
    let tool = report
        .tool()
        .map_or_else(String::new, |tool| Told(tool).to_string());
    match &page.plan.steps[step].body {
        Body::Action(_) if tool.is_empty() => "computed".into(),
        Body::Action(_) => tool,
        Body::If(_) => format!("if … {tool}"),
        Body::For(_) => {
            let calls = report.attempts.len();
            format!("for … {tool} ×{calls}")
        }
    }
}
