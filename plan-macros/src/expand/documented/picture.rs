//! The graph as SVG inside Markdown, in the colors of rustdoc's theme.

use super::super::Context;
use super::words::{self, Text};
use crate::ast::{Body, Extent, Role, Step};
use crate::docs::text_of;
use plan_graph::{Boxes, HEIGHT, Html, Point, cut, layout, width};
use std::collections::BTreeMap;
use std::fmt::Write;

const DASHED: &str = "stroke-dasharray=\"5 4\"";

/// Returns the graph as SVG without empty lines, because Markdown resumes after an empty line.
pub(super) fn svg(cx: &Context<'_>) -> String {
    let steps = &cx.plan.steps;
    if steps.is_empty() {
        return String::new();
    }
    let names: Vec<String> = steps.iter().map(|it| text_of(&it.name)).collect();
    let does: Vec<String> = {
        let does = steps.iter();
        does.map(|step| words::action_in_short(step, cx.names))
            .collect()
    };
    let sizes: Vec<(f64, f64)> = names
        .iter()
        .zip(&does)
        .map(|(name, does)| (width(name, does), HEIGHT))
        .collect();
    // `true` for an arrow with a value, `false` for order alone.
    let mut arrows: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for to in 0..steps.len() {
        for from in cx.graphs.of(0).needs(to) {
            arrows.insert((from, to), cx.graphs.of(0).reads(to, from));
        }
    }
    let ends: Vec<(usize, usize)> = arrows.keys().copied().collect();
    let layout = layout(&Boxes {
        sizes: &sizes,
        arrows: &ends,
        levels: &cx.graphs.of(0).levels(),
    });
    let (wide, high) = (layout.width.ceil(), layout.height.ceil());
    let mut html = Html::new(|text, out| {
        let _ = write!(out, "{}", Text(&text.to_string()));
    });
    // The graph keeps its size, and the frame scrolls. `div` is a tag after which Markdown reads HTML up to an empty
    // line.
    html.markup("<div style=\"overflow:auto;max-height:64rem;margin:.75em 0\">");
    html.tag("svg")
        .attr("width", wide)
        .attr("height", high)
        .attr("viewBox", format_args!("0 0 {wide} {high}"))
        .markup("style=\"display:block;max-width:none\" role=\"group\" aria-label=\"The steps and their dependencies\"")
        .inside(|svg| {
            svg.markup(
                "<defs><marker id=\"plan-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" \
                 markerHeight=\"9\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"currentColor\"></path></marker></defs>\
                 <g opacity=\".6\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.3\">\n",
            );
            for ((&(from, to), &data), curve) in arrows.iter().zip(layout.curves(&sizes)) {
                let path = svg.tag("path").attr("d", curve);
                let path = path.markup("marker-end=\"url(#plan-tip)\"");
                let undo = matches!(&steps[to].role, Role::Undo(undone) if *undone == steps[from].name);
                let (path, kind) = match (undo, data) {
                    (true, _) => (path.markup(DASHED), " (undo)"),
                    (false, true) => (path, ""),
                    (false, false) => (path.markup(DASHED), " (after)"),
                };
                let title = format!("{} → {}{kind}", names[from], names[to]);
                path.inside(|path| path.tag("title").text(&title));
                svg.markup("\n");
            }
            svg.markup("</g>\n");
            for (place, step) in steps.iter().enumerate() {
                let (at, width) = (layout.boxes[place], sizes[place].0);
                svg.tag("g").inside(|g| {
                    write_box(g, step, &does[place], at, width);
                    let works = !matches!(step.body, Body::Compute(_) | Body::Broken(_))
                        && matches!(step.role, Role::Work);
                    if works && cx.graphs.of(0).needs(place).is_empty() {
                        write_start(g, at);
                    }
                });
                svg.markup("\n");
            }
        });
    html.markup("</div>\n\n");
    html.finish()
}

fn write_box(g: &mut Html, step: &Step, does: &str, middle: Point, width: f64) {
    let (x, y) = (middle.0 - width / 2.0, middle.1 - HEIGHT / 2.0);
    let name = text_of(&step.name);
    g.tag("title").text(match &*step.intent {
        "" => name.clone(),
        intent => format!("{name}: {intent}"),
    });
    let round = match step.body {
        Body::Compute(_) => HEIGHT / 2.0,
        _ => 5.0,
    };
    let rect = g.tag("rect");
    let rect = rect.attr("x", format_args!("{x:.1}"));
    let rect = rect.attr("y", format_args!("{y:.1}"));
    let rect = rect.attr("width", width).attr("height", HEIGHT);
    let mut rect = rect.attr("rx", round);
    let optional = step.policy.optional != Extent::Nothing;
    let undo = matches!(step.role, Role::Undo(_));
    if optional || undo || step.body.may_be_absent() {
        rect = rect.markup("stroke-dasharray=\"4 3\"");
    }
    // The colors of code in rustdoc, or else the color of the surrounding prose.
    rect.markup(
        "stroke-width=\"1.2\" style=\"fill:var(--code-block-background-color,transparent);stroke:var(--type-link-color,currentColor)\"",
    )
    .empty();
    let id = "style=\"font:600 13px 'Source Code Pro',monospace;fill:currentColor\" text-anchor=\"middle\"";
    let what = "style=\"font:11.5px 'Source Code Pro',monospace;fill:currentColor;opacity:.8\" text-anchor=\"middle\"";
    for (text, below, style) in [(&*name, 18.5, id), (does, 34.5, what)] {
        let element = g.tag("text").attr("x", format_args!("{:.1}", middle.0));
        let element = element.attr("y", format_args!("{:.1}", y + below));
        element.markup(style).text(cut(text));
    }
}

/// Draws an open circle on the upper edge of a box.
fn write_start(g: &mut Html, middle: Point) {
    let circle = g.tag("circle").attr("cx", format_args!("{:.1}", middle.0));
    let circle = circle.attr("cy", format_args!("{:.1}", middle.1 - HEIGHT / 2.0));
    let circle = circle.attr("r", 4);
    circle
        .markup("style=\"fill:var(--main-background-color,transparent);stroke:currentColor\"")
        .empty();
}
