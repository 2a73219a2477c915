//! The graph of a plan before it runs, as SVG with classes for the page's colors.

use crate::view::StepView;
use plan_graph::{Boxes, HEIGHT, Html, MessageName, Safe, cut, cut_small, entity, layout, width};
use std::collections::HashMap;
use std::fmt::{Arguments, Write};

/// More steps than this are in the list alone.
const MOST: usize = 400;

/// Appends a string, with its markup escaped and its invisible characters removed.
pub(crate) fn escape(text: Arguments<'_>, out: &mut String) {
    struct Escaped<'o>(&'o mut String);
    impl Write for Escaped<'_> {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            for c in text.chars() {
                match entity(c) {
                    Some(entity) => self.0.push_str(entity),
                    None => self.0.push(c),
                }
            }
            Ok(())
        }
    }
    // Nothing that is written to a `String` fails.
    let _ = Safe::line(Escaped(out)).write_fmt(text);
}

/// Returns the graph of a plan as SVG, or `None` if there are too many steps.
pub(crate) fn svg(name: &str, steps: &[StepView]) -> Option<String> {
    if steps.is_empty() || steps.len() > MOST {
        return None;
    }
    let places: HashMap<&str, usize> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| (&*step.path, at))
        .collect();
    let sizes: Vec<(f64, f64)> = steps
        .iter()
        .map(|step| (width(&step.path, &step.what()), HEIGHT))
        .collect();
    let mut arrows: Vec<(usize, usize)> = Vec::new();
    for (to, step) in steps.iter().enumerate() {
        let known = step.needs.iter().filter_map(|need| places.get(&**need));
        arrows.extend(known.map(|from| (*from, to)));
    }
    let levels = levels(steps.len(), &arrows);
    let layout = layout(&Boxes {
        sizes: &sizes,
        arrows: &arrows,
        levels: &levels,
    });
    let (wide, high) = (layout.width.ceil(), layout.height.ceil());
    let of = match name {
        "" => String::new(),
        name => format!(" of {}", MessageName(name)),
    };
    let mut html = Html::new(escape);
    html.tag("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("class", "graph")
        .attr("width", wide)
        .attr("height", high)
        .attr("viewBox", format_args!("0 0 {wide} {high}"))
        .attr("role", "group")
        .attr("aria-label", format_args!("The steps{of} and their dependencies"))
        .inside(|svg| {
            svg.markup(
                "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" \
                 markerWidth=\"9\" markerHeight=\"9\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>",
            );
            for (&(from, to), curve) in arrows.iter().zip(layout.curves(&sizes)) {
                let (before, step) = (&steps[from].path, &steps[to]);
                let class = match step.undoes.as_ref() {
                    Some(undone) if undone == before => "edge undo",
                    _ if step.after.contains(before) => "edge after",
                    _ => "edge",
                };
                let edge = svg.tag("path").attr("class", class);
                let edge = edge.attr("data-from", &steps[from].path).attr("data-to", &steps[to].path);
                edge.attr("marker-end", "url(#tip)").attr("d", curve).empty();
            }
            for ((step, &(wide, high)), middle) in steps.iter().zip(&sizes).zip(&layout.boxes) {
                let node = svg
                    .tag("g")
                    .attr("class", format_args!("node {}", step.classes()))
                    .attr("data-path", &step.path)
                    .attr("tabindex", 0)
                    .attr("role", "button")
                    .attr("aria-label", step.spoken());
                node.inside(|node| write_step(node, step, (wide, high), middle));
            }
        });
    Some(html.finish())
}

/// Writes the box and the names of a step around a middle.
fn write_step(node: &mut Html, step: &StepView, (wide, high): (f64, f64), middle: &(f64, f64)) {
    let (x, y) = (middle.0 - wide / 2.0, middle.1 - high / 2.0);
    node.tag("title").text(step.spoken());
    // The box of a condition has round corners.
    let inset = if step.form == "if" { 10.0 } else { 0.0 };
    for (class, wide, round, inset) in [("box", wide, 7, 0.0), ("mark", 6.0, 3, inset)] {
        let rect = node.tag("rect").attr("class", class);
        let rect = rect.attr("x", Tenths(x)).attr("y", Tenths(y + inset));
        let rect = rect.attr("width", wide).attr("height", high - 2.0 * inset);
        rect.attr("rx", round).empty();
    }
    let texts = [
        ("id", 18.5, cut(&step.path)),
        ("what", 34.5, cut_small(&step.what())),
    ];
    for (class, down, text) in texts {
        let element = node.tag("text").attr("class", class);
        element
            .attr("x", Tenths(x + 15.0))
            .attr("y", Tenths(y + down))
            .text(text);
    }
}

/// Returns the length of the longest chain of steps before each step. A step in a cycle or after a cycle gets 0; no
/// plan read from a document has a cycle.
fn levels(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut needs = vec![Vec::new(); count];
    for (from, to) in arrows {
        needs[*to].push(*from);
    }
    let levels = plan_graph::Graph::new(needs).levels();
    levels.into_iter().map(Option::unwrap_or_default).collect()
}

/// A number with one decimal.
struct Tenths(f64);

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::view::StepView;

    #[test]
    fn edges_have_their_kinds() {
        let step = |path: &str, needs: &[&str]| StepView {
            path: path.into(),
            needs: needs.iter().map(ToString::to_string).collect(),
            ..StepView::default()
        };
        let (mut last, mut back) = (step("last", &["booked", "told"]), step("back", &["booked"]));
        last.after = vec!["told".into()];
        back.undoes = Some("booked".into());
        let svg = svg(
            "p<1>",
            &[step("booked", &[]), step("told", &[]), last, back],
        )
        .unwrap();
        assert!(
            svg.contains(r#"aria-label="The steps of p&lt;1&gt; and their dependencies""#),
            "{svg}"
        );
        for (class, from, to) in [
            ("edge", "booked", "last"),
            ("edge after", "told", "last"),
            ("edge undo", "booked", "back"),
        ] {
            let edge = format!(r#"class="{class}" data-from="{from}" data-to="{to}""#);
            assert!(svg.contains(&edge), "{edge} in {svg}");
        }
    }

    #[test]
    fn a_wait_is_named_once() {
        let wait = StepView {
            path: "reply".into(),
            waits: true,
            ..StepView::default()
        };
        assert_eq!(wait.spoken(), "reply: waits for a value");
        let call = StepView {
            tool: Some("send".into()),
            waits: false,
            ..wait
        };
        assert_eq!(call.spoken(), "reply: send, may change something");
    }

    #[test]
    fn hostile_names_stay_text() {
        let step = StepView {
            path: "<script>alert(1)</script>\u{202e}\u{0}\"'&".into(),
            tool: Some("\u{ffff}]]>".into()),
            ..StepView::default()
        };
        let svg = svg("", &[step]).unwrap();
        assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains('\u{0}'));
        assert!(svg.contains("&lt;script&gt;") && svg.contains("]]&gt;"));
        assert!(svg.contains(r"\u{202e}\u{0}&quot;") && svg.contains(r"\u{ffff}"));
    }
}
