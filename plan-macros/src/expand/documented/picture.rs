//! The graph as SVG inside Markdown, in the colors of rustdoc's theme.

use super::super::Context;
use super::escape::Text;
use super::words;
use crate::ast::{Body, Optional, Step};
use plan_graph::{Boxes, HEIGHT, Layout, cut, layout, width};
use std::collections::BTreeMap;
use std::fmt::Write;
use syn::ext::IdentExt;

/// The picture. No line of it is empty, since Markdown resumes after an empty line.
pub(super) fn svg(cx: &Context<'_>) -> String {
    let steps = &cx.plan.steps;
    if steps.is_empty() {
        return String::new();
    }
    let names: Vec<String> = steps.iter().map(|it| it.name.unraw().to_string()).collect();
    let does: Vec<String> = steps.iter().map(words::action_in_short).collect();
    let sizes: Vec<(f64, f64)> = names
        .iter()
        .zip(&does)
        .map(|(name, does)| (width(name, does), HEIGHT))
        .collect();
    // Whether a value goes along it; if not, it is order alone.
    let mut arrows: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    for to in 0..steps.len() {
        for from in cx.graph.needs(to) {
            arrows.insert((from, to), cx.graph.reads(to, from));
        }
    }
    let ends: Vec<(usize, usize)> = arrows.keys().copied().collect();
    let layout = layout(&Boxes {
        sizes: &sizes,
        arrows: &ends,
        levels: &cx.graph.levels(),
    });
    let (wide, high) = (layout.width.ceil(), layout.height.ceil());
    let mut svg = String::new();
    // The picture keeps its size, and scrolls. `div` is a tag after which Markdown reads HTML up to an empty line.
    let _ = writeln!(
        svg,
        "<div style=\"overflow:auto;max-height:64rem;margin:.75em 0\"><svg width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         style=\"display:block;max-width:none\" role=\"group\" aria-label=\"The steps and their dependencies\">\
         <defs><marker id=\"plan-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" \
         markerHeight=\"9\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"currentColor\"></path></marker></defs>\
         <g opacity=\".6\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.3\">"
    );
    for ((&(from, to), &data), curve) in arrows.iter().zip(layout.curves(&sizes)) {
        let (dashes, after) = if data {
            ("", "")
        } else {
            (" stroke-dasharray=\"5 4\"", " (after)")
        };
        let (from, to) = (Text(&names[from]).to_string(), Text(&names[to]).to_string());
        let _ = writeln!(
            svg,
            "<path d=\"{curve}\" marker-end=\"url(#plan-tip)\"{dashes}><title>{from} → {to}{after}</title></path>"
        );
    }
    svg.push_str("</g>\n");
    for (place, step) in steps.iter().enumerate() {
        write_box(&mut svg, step, &does[place], &layout, place, sizes[place].0);
    }
    svg.push_str("</svg></div>\n\n");
    svg
}

fn write_box(svg: &mut String, step: &Step, does: &str, layout: &Layout, place: usize, width: f64) {
    let (x, y) = layout.boxes[place];
    let (x, y) = (x - width / 2.0, y - HEIGHT / 2.0);
    let name = step.name.unraw().to_string();
    let optional = !matches!(step.policy.optional, Optional::No);
    let dashes = if optional || may_be_skipped(&step.body) {
        " stroke-dasharray=\"4 3\""
    } else {
        ""
    };
    let round = match step.body {
        Body::Compute(_) => HEIGHT / 2.0,
        _ => 5.0,
    };
    let _ = write!(svg, "<g><title>{}", Text(&name));
    if !step.intent.is_empty() {
        let _ = write!(svg, ": {}", Text(&step.intent));
    }
    // The colors that rustdoc gives to code, or, without them, those of the text.
    let _ = write!(
        svg,
        "</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{round}\" stroke-width=\"1.2\"{dashes} \
         style=\"fill:var(--code-block-background-color,transparent);stroke:var(--type-link-color,currentColor)\"></rect>"
    );
    let middle = x + width / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"{middle:.1}\" y=\"{:.1}\" style=\"font:600 13px 'Source Code Pro',monospace;fill:currentColor\" text-anchor=\"middle\">{}</text>\
         <text x=\"{middle:.1}\" y=\"{:.1}\" style=\"font:11.5px 'Source Code Pro',monospace;fill:currentColor;opacity:.8\" text-anchor=\"middle\">{}</text></g>",
        y + 18.5,
        Text(&cut(&name)),
        y + 34.5,
        Text(&cut(does)),
    );
}

fn may_be_skipped(body: &Body) -> bool {
    match body {
        Body::If(branches) => !branches.iter().any(|branch| branch.conditions.is_empty()),
        _ => false,
    }
}
