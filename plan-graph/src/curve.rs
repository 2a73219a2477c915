//! Arrows as smooth lines.

use crate::layout::{Layout, Point};
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};
use std::rc::Rc;

/// A smooth line, which leaves, passes ranks and arrives in the direction of the graph; as the `d` of a path in SVG.
#[derive(Debug)]
pub struct Curve<'l> {
    points: &'l [Point],
    down: bool,
    ranks: Rc<Ranks>,
}

impl Layout {
    /// Returns the arrows as lines, for boxes of these sizes.
    pub fn curves(&self, sizes: &[(f64, f64)]) -> impl Iterator<Item = Curve<'_>> {
        let ranks = Rc::new(Ranks::new(self, sizes));
        self.arrows.iter().map(move |points| Curve {
            points,
            down: self.down,
            ranks: Rc::clone(&ranks),
        })
    }
}

/// The largest half extent of the boxes of each rank, by the position of the rank's middle.
#[derive(Debug)]
struct Ranks(BTreeMap<i64, f64>);

impl Ranks {
    fn new(layout: &Layout, sizes: &[(f64, f64)]) -> Self {
        let mut ranks = BTreeMap::new();
        for (&(x, y), &(width, height)) in layout.boxes.iter().zip(sizes) {
            let (at, half) = if layout.down {
                (y, height / 2.0)
            } else {
                (x, width / 2.0)
            };
            let rank: &mut f64 = ranks.entry(at.round() as i64).or_default();
            *rank = rank.max(half);
        }
        Self(ranks)
    }

    fn half(&self, at: f64) -> f64 {
        self.0.get(&(at.round() as i64)).copied().unwrap_or(0.0)
    }
}

impl Display for Curve<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let [first, between @ .., last] = self.points else {
            return Ok(());
        };
        write!(f, "M{:.1} {:.1}", first.0, first.1)?;
        let mut at = *first;
        for &(x, y) in between {
            // The arrow is straight as long as boxes are on both sides of it.
            let half = self.ranks.half(if self.down { y } else { x });
            let (dx, dy) = if self.down { (0.0, half) } else { (half, 0.0) };
            write_bend(f, at, (x - dx, y - dy), self.down)?;
            at = (x + dx, y + dy);
            write!(f, "L{:.1} {:.1}", at.0, at.1)?;
        }
        write_bend(f, at, *last, self.down)
    }
}

fn write_bend(f: &mut Formatter<'_>, from: Point, to: Point, down: bool) -> Result {
    let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
    let (one, two) = if down {
        ((from.0, middle.1), (to.0, middle.1))
    } else {
        ((middle.0, from.1), (middle.0, to.1))
    };
    write!(
        f,
        "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
        one.0, one.1, two.0, two.1, to.0, to.1
    )
}

#[cfg(test)]
mod tests {
    use crate::layout::Layout;

    #[test]
    fn a_line_passes_ranks_straight_on() {
        let layout = Layout {
            boxes: vec![(10.0, 10.0), (10.0, 100.0), (80.0, 100.0)],
            arrows: vec![vec![(10.0, 20.0), (40.0, 100.0), (10.0, 190.0)], vec![]],
            down: true,
            ..Layout::default()
        };
        let sizes = [(20.0, 20.0), (20.0, 20.0), (20.0, 40.0)];
        let curves: Vec<String> = layout.curves(&sizes).map(|c| c.to_string()).collect();
        assert_eq!(
            curves[0],
            "M10.0 20.0C10.0 50.0 40.0 50.0 40.0 80.0L40.0 120.0C40.0 155.0 10.0 155.0 10.0 190.0"
        );
        assert_eq!(curves[1], "");
    }
}
