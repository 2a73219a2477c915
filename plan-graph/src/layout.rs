//! The layout of a graph: positions of boxes and arrows, without knowledge of plans or SVG.

use crate::Graph;
use dagre::graph::GraphOptions;
use dagre::{EdgeLabel, GraphLabel, LayoutOptions, NodeLabel, RankDir, Ranker};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Above this [cost], a layout with few crossings takes many seconds, or minutes.
const MOST: usize = 1_200;
/// Above this cost, a faster method finds ranks that are nearly the best.
const EXACT: usize = 500;
/// The room between boxes of a rank, between ranks, and around all.
const GAPS: (f64, f64, f64) = (18.0, 46.0, 12.0);

/// Across and down, in pixels.
pub type Point = (f64, f64);

/// A graph before it is laid out.
#[derive(Debug)]
pub struct Boxes<'b> {
    /// The width and the height of each box.
    pub sizes: &'b [(f64, f64)],
    /// The start and the end of each arrow, as indices of `sizes`.
    pub arrows: &'b [(usize, usize)],
    /// The number of boxes on the longest path to each box.
    pub levels: &'b [usize],
}

/// A graph with positions.
#[derive(Default, Debug)]
pub struct Layout {
    /// The total width.
    pub width: f64,
    /// The total height.
    pub height: f64,
    /// The middle of each box.
    pub boxes: Vec<Point>,
    /// The points of each arrow, from its start to its end. The points between both are in the ranks that the arrow
    /// passes.
    pub arrows: Vec<Vec<Point>>,
    /// `true` if the ranks go down, `false` if they go to the right.
    pub down: bool,
}

/// Lays a graph out: in ranks with few crossings, or in columns if there are too many boxes for that.
pub fn layout(graph: &Boxes<'_>) -> Layout {
    let down = goes_down(graph);
    // The layout comes from another crate, which may panic. A plainer layout is better than none.
    let arranged = |graph: &Boxes<'_>| {
        catch_unwind(AssertUnwindSafe(|| arranged(graph, down))).unwrap_or_default()
    };
    if cost(graph) <= MOST {
        if let Some(layout) = arranged(graph) {
            return layout;
        }
    } else if let Some(arrows) = reduced(graph) {
        // The layout ignores each arrow whose ends are also the ends of a longer path.
        let graph_of = |arrows| Boxes { arrows, ..*graph };
        let reduced = graph_of(&arrows);
        let layout = (cost(&reduced) <= MOST).then(|| arranged(&reduced));
        if let Some(mut layout) = layout.flatten() {
            let known: HashMap<_, _> = arrows
                .iter()
                .zip(std::mem::take(&mut layout.arrows))
                .collect();
            for arrow in graph.arrows {
                let straight = || {
                    let (from, to) = ends(graph, &layout, *arrow);
                    vec![from, to]
                };
                let points = known.get(arrow).cloned().unwrap_or_else(straight);
                layout.arrows.push(points);
            }
            return layout;
        }
    }
    in_columns(graph, down)
}

/// Returns the number of boxes plus the number of ranks that all arrows pass.
fn cost(graph: &Boxes<'_>) -> usize {
    let span = |(from, to): &(usize, usize)| graph.levels[*from].abs_diff(graph.levels[*to]);
    graph
        .arrows
        .iter()
        .map(span)
        .fold(graph.sizes.len(), usize::saturating_add)
}

/// Returns the arrows without each arrow that a longer path replaces, or `None` if there are cycles or too many boxes.
fn reduced(graph: &Boxes<'_>) -> Option<Vec<(usize, usize)>> {
    let count = graph.sizes.len();
    let forward = |(from, to): &(usize, usize)| graph.levels[*from] < graph.levels[*to];
    if count > MOST || !graph.arrows.iter().all(forward) {
        return None;
    }
    let mut lists = vec![Vec::new(); count];
    for &(from, to) in graph.arrows {
        lists[from].push(to);
    }
    let kept = Graph::new(lists).reduced()?;
    let kept: Vec<HashSet<u32>> = (0..count)
        .map(|from| kept.of(from).iter().copied().collect())
        .collect();
    let arrows = graph.arrows.iter().copied();
    Some(
        arrows
            .filter(|&(from, to)| u32::try_from(to).is_ok_and(|to| kept[from].contains(&to)))
            .collect(),
    )
}

/// Returns `true` if a page has more room for the graph with ranks that go down.
fn goes_down(graph: &Boxes<'_>) -> bool {
    let ranks = graph.levels.iter().max().map_or(0, |most| most + 1);
    let mut boxes = vec![0_usize; ranks];
    for &level in graph.levels {
        boxes[level] += 1;
    }
    let widest = boxes.into_iter().max().unwrap_or(0) as f64;
    let ranks = ranks as f64;
    let excess = |width: f64, height: f64| (width / 1000.0).max(height / 600.0);
    excess(widest * 190.0, ranks * 92.0) < excess(ranks * 220.0, widest * 64.0)
}

/// Arranges boxes in ranks with few crossings. The boxes of a rank are in their order, unless this order has more crossings.
fn arranged(graph: &Boxes<'_>, down: bool) -> Option<Layout> {
    let mut work = dagre::graph::Graph::<NodeLabel, EdgeLabel>::with_options(GraphOptions {
        directed: true,
        // In a cycle, two boxes may have arrows in both directions.
        multigraph: true,
        compound: false,
    });
    for (place, &(width, height)) in graph.sizes.iter().enumerate() {
        let label = NodeLabel {
            width,
            height,
            ..NodeLabel::default()
        };
        work.set_node(place.to_string(), Some(label));
    }
    for (from, to) in graph.arrows {
        let label = Some(EdgeLabel::default());
        work.set_edge(from.to_string(), to.to_string(), label, None);
    }
    let (nodesep, ranksep, margin) = GAPS;
    let options = LayoutOptions {
        rankdir: if down { RankDir::TB } else { RankDir::LR },
        nodesep,
        edgesep: nodesep / 3.0,
        ranksep,
        marginx: margin,
        marginy: margin,
        tie_keep_first: true,
        ranker: if cost(graph) > EXACT {
            Ranker::TightTree
        } else {
            Ranker::NetworkSimplex
        },
        ..LayoutOptions::default()
    };
    dagre::layout(&mut work, Some(options));

    let size = work.graph_label::<GraphLabel>()?;
    let mut layout = Layout {
        width: size.width,
        height: size.height,
        down,
        ..Layout::default()
    };
    for place in 0..graph.sizes.len() {
        let label = work.node(&place.to_string())?;
        layout.boxes.push((label.x?, label.y?));
    }
    for &(from, to) in graph.arrows {
        let label = work.edge(&from.to_string(), &to.to_string(), None)?;
        let points = label.points.iter().map(|point| (point.x, point.y));
        layout.arrows.push(points.collect());
        let ends = ends(graph, &layout, (from, to));
        let points = layout.arrows.last_mut()?;
        // Every second point is between two ranks, without a box nearby. The arrow does not need the point.
        if points.len() % 2 == 1 {
            let mut place = 0_usize;
            points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        if let [first, .., last] = &mut points[..] {
            (*first, *last) = ends;
        }
    }
    if is_mirrored(graph, &layout) {
        layout.mirror();
    }
    let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let all = layout.boxes.iter().chain(layout.arrows.iter().flatten());
    all.chain(&[(size.width, size.height)])
        .all(finite)
        .then_some(layout)
}

impl Layout {
    /// Reverses the boxes of each rank.
    fn mirror(&mut self) {
        let (down, width, height) = (self.down, self.width, self.height);
        let points = self.arrows.iter_mut().flatten();
        for (x, y) in self.boxes.iter_mut().chain(points) {
            if down {
                *x = width - *x;
            } else {
                *y = height - *y;
            }
        }
    }
}

/// Returns `true` if the mirrored layout has more boxes in their order, or has the first boxes in their order.
fn is_mirrored(graph: &Boxes<'_>, layout: &Layout) -> bool {
    let across = |place: usize| {
        let (x, y) = layout.boxes[place];
        if layout.down { x } else { y }
    };
    let (mut excess, mut first) = (0_i64, 0);
    for (later, level) in graph.levels.iter().enumerate() {
        for earlier in (0..later).filter(|it| graph.levels[*it] == *level) {
            let sign = if across(earlier) < across(later) {
                1
            } else {
                -1
            };
            excess += sign;
            first = if first == 0 { sign } else { first };
        }
    }
    excess < 0 || excess == 0 && first < 0
}

/// Returns the start and the end of an arrow, at the sides of the boxes that face the next and the previous rank.
fn ends(graph: &Boxes<'_>, layout: &Layout, (from, to): (usize, usize)) -> (Point, Point) {
    let side = |place: usize, sign: f64| {
        let ((x, y), (width, height)) = (layout.boxes[place], graph.sizes[place]);
        if layout.down {
            (x, y + sign * height / 2.0)
        } else {
            (x + sign * width / 2.0, y)
        }
    };
    (side(from, 1.0), side(to, -1.0))
}

/// Arranges levels side by side, with straight arrows.
fn in_columns(graph: &Boxes<'_>, down: bool) -> Layout {
    let (beside, between, margin) = GAPS;
    let most = |of: fn(&(f64, f64)) -> f64| graph.sizes.iter().map(of).fold(0.0, f64::max);
    let (width, height) = (most(|size| size.0), most(|size| size.1));
    let mut rows = vec![0_usize; graph.levels.iter().max().map_or(0, |most| most + 1)];
    let mut layout = Layout {
        down,
        ..Layout::default()
    };
    for &level in graph.levels {
        let (rank, row) = (level as f64, rows[level] as f64);
        rows[level] += 1;
        let (x, y) = if down {
            (row * (width + beside), rank * (height + 2.0 * between))
        } else {
            (rank * (width + 2.0 * between), row * (height + beside))
        };
        let (x, y) = (x + margin + width / 2.0, y + margin + height / 2.0);
        layout.width = layout.width.max(x + width / 2.0 + margin);
        layout.height = layout.height.max(y + height / 2.0 + margin);
        layout.boxes.push((x, y));
    }
    for &arrow in graph.arrows {
        let (from, to) = ends(graph, &layout, arrow);
        layout.arrows.push(vec![from, to]);
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::{Boxes, MOST, arranged, cost, ends, in_columns, layout, reduced};
    use proptest::prelude::*;

    fn levels(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
        let mut levels = vec![0; count];
        for to in 0..count {
            let before = arrows.iter().filter(|arrow| arrow.1 == to && arrow.0 < to);
            levels[to] = before.map(|arrow| levels[arrow.0] + 1).max().unwrap_or(0);
        }
        levels
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn no_box_covers_another(
            count in 1..24_usize,
            arrows in prop::collection::btree_set((0..24_usize, 0..24_usize), 0..40),
            (width, cyclic, down) in (40.0..200.0_f64, any::<bool>(), any::<bool>()),
        ) {
            // A plan with a cycle does not run, but its report is drawn as well.
            let arrows = arrows.into_iter().filter(|(from, to)| from.max(to) < &count && (cyclic || from < to));
            let arrows: Vec<_> = arrows.collect();
            let sizes = vec![(width, 40.0); count];
            let levels = levels(count, &arrows);
            let graph = Boxes { sizes: &sizes, arrows: &arrows, levels: &levels };
            let layout = arranged(&graph, down).expect("it is laid out");
            for layout in [layout, in_columns(&graph, down)] {
                prop_assert_eq!((layout.boxes.len(), layout.arrows.len()), (count, arrows.len()));
                prop_assert!(layout.arrows.iter().all(|points| points.len() >= 2));
                for (place, (x, y)) in layout.boxes.iter().enumerate() {
                    let inside = |at: f64, half: f64, most: f64| at - half >= -0.01 && at + half <= most + 0.01;
                    prop_assert!(inside(*x, width / 2.0, layout.width) && inside(*y, 20.0, layout.height));
                    for (other_x, other_y) in &layout.boxes[..place] {
                        let apart = (x - other_x).abs() >= width - 0.01 || (y - other_y).abs() >= 39.99;
                        prop_assert!(apart, "{:?}", layout.boxes);
                    }
                }
            }
        }
    }

    /// Boxes that are equal to the layout are in the order of the plan.
    #[test]
    fn siblings_keep_their_order() {
        let fan: Vec<_> = (1..=12).map(|to| (0, to)).collect();
        let many = |count: usize| {
            (1..=count)
                .flat_map(|at| [(0, at), (at, count + 1)])
                .collect()
        };
        for (count, arrows) in [
            (8, Vec::new()),
            (13, fan),
            (14, many(12)),
            (5, vec![(0, 1), (2, 3), (2, 4)]),
        ] {
            for width in [40.0, 90.0] {
                let sizes: Vec<_> = (0..count)
                    .map(|at| (40.0 + width * (at % 3) as f64, 40.0))
                    .collect();
                let levels = levels(count, &arrows);
                let graph = Boxes {
                    sizes: &sizes,
                    arrows: &arrows,
                    levels: &levels,
                };
                for down in [true, false] {
                    let layout = arranged(&graph, down).unwrap();
                    let across = |(x, y): (f64, f64)| if down { x } else { y };
                    for (b, level) in levels.iter().enumerate() {
                        for a in (0..b).filter(|a| levels[*a] == *level) {
                            assert!(
                                across(layout.boxes[a]) < across(layout.boxes[b]),
                                "{a} and {b} of {arrows:?}: {layout:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// Each order of the four boxes without a crossing reverses two of them. The first two keep their order.
    #[test]
    fn the_first_boxes_keep_their_order() {
        let arrows = [(1, 2), (0, 3), (1, 3)];
        let sizes = [(100.0, 40.0); 4];
        let levels = levels(4, &arrows);
        let graph = Boxes {
            sizes: &sizes,
            arrows: &arrows,
            levels: &levels,
        };
        let layout = arranged(&graph, true).unwrap();
        let x = |place: usize| layout.boxes[place].0;
        assert!(x(0) < x(1) && x(3) < x(2), "{layout:?}");
        for ((from, to), points) in arrows.iter().zip(&layout.arrows) {
            let ends = (points[0], points[points.len() - 1]);
            assert_eq!(ends, super::ends(&graph, &layout, (*from, *to)));
        }
    }

    /// Each box leads to each later box, so arrows are many and long, and only the arrows to the next box are
    /// necessary.
    #[test]
    fn dispensable_arrows_do_not_decide() {
        let count = 40;
        let arrows: Vec<_> = (0..count)
            .flat_map(|to| (0..to).map(move |from| (from, to)))
            .collect();
        let sizes = vec![(100.0, 40.0); count];
        let levels = levels(count, &arrows);
        let graph = Boxes {
            sizes: &sizes,
            arrows: &arrows,
            levels: &levels,
        };
        assert!(cost(&graph) > MOST);
        let kept = reduced(&graph).unwrap();
        assert_eq!(kept, (1..count).map(|to| (to - 1, to)).collect::<Vec<_>>());
        let layout = layout(&graph);
        assert_eq!(
            (layout.boxes.len(), layout.arrows.len()),
            (count, arrows.len())
        );
        for ((from, to), points) in arrows.iter().zip(&layout.arrows) {
            assert_eq!(
                (points[0], points[points.len() - 1]),
                ends(&graph, &layout, (*from, *to))
            );
        }
    }

    #[test]
    fn many_are_laid_out_fast() {
        let count = 20_000;
        let arrows: Vec<_> = (1..count).map(|to| (to / 2, to)).collect();
        let sizes = vec![(100.0, 40.0); count];
        let levels = levels_of_tree(count);
        let layout = layout(&Boxes {
            sizes: &sizes,
            arrows: &arrows,
            levels: &levels,
        });
        assert_eq!(layout.boxes.len(), count);
    }

    fn levels_of_tree(count: usize) -> Vec<usize> {
        let mut levels = vec![0; count];
        for to in 1..count {
            levels[to] = levels[to / 2] + 1;
        }
        levels
    }
}
