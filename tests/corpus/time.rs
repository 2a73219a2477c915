//! How long rustc takes for a step.

use crate::corpus::scratch::Scratch;
use std::fmt::Write;
use std::time::Duration;

const TOOLS: &str = r#"#![deny(warnings)]
use plan_runtime::{Shape, Tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
pub struct Item {
    pub label: String,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Totals {
    pub sum: f64,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Out {
    pub id: String,
    pub count: i64,
    pub totals: Totals,
    pub items: Vec<Item>,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Out)]
pub struct Start {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Out)]
pub struct Next {
    pub id: String,
    pub count: i64,
    pub sum: f64,
    pub label: String,
}
"#;

/// Checks plans of 1, 100 and 1,000 steps with four references each, and prints the time a step: what a plan takes beyond the same
/// crate without one, the best of five turns, with the sizes in turn, so that other load on the machine affects all of them.
pub(crate) fn measure(say: impl Fn(&str)) {
    let sizes = [0, 1, 100, 1000];
    let mut best = [Duration::MAX; 4];
    for turn in 0..6 {
        let mut scratch = Scratch::new("time");
        for size in sizes {
            scratch.package(&name(size), &[], &source(size, turn), &[]);
        }
        scratch.finish();
        for (size, best) in sizes.iter().zip(&mut best) {
            let checked = scratch.check(&[&name(*size)]);
            let said: String = checked
                .diagnostics
                .iter()
                .map(|one| &*one.rendered)
                .collect();
            assert!(said.is_empty(), "{said}");
            // The first turn builds what all depend on.
            if turn > 0 {
                *best = checked.took.min(*best);
            }
        }
    }
    let a_step = |index: usize| {
        best[index].saturating_sub(best[0]).as_secs_f64() * 1e3 / sizes[index] as f64
    };
    say(&format!(
        "`cargo check` without a plan: {:.0} ms",
        best[0].as_secs_f64() * 1e3
    ));
    for (index, size) in sizes.iter().enumerate().skip(1) {
        say(&format!(
            "{size} steps of 4 references: {:.0} ms, {:.2} ms a step",
            best[index].as_secs_f64() * 1e3,
            a_step(index)
        ));
    }
    say(&format!(
        "a step of 1,000 takes {:.2} times a step of 100",
        a_step(3) / a_step(2)
    ));
}

fn name(size: usize) -> String {
    format!("time_{size}")
}

fn source(size: usize, turn: usize) -> String {
    let mut text = format!("// Turn {turn}.\n{TOOLS}");
    if size == 0 {
        return text;
    }
    text.push_str(
        "\nplan_runtime::plan! {\n    pub Long() -> Out {\n        step s0 = Start {};\n",
    );
    for step in 1..=size {
        let (one, two) = (step - 1, step / 2);
        let _ = writeln!(
            text,
            "        step s{step} = Next {{ id: s{one}.id, count: s{two}.count, sum: s{one}.totals.sum, label: s{two}.items[0].label }};"
        );
    }
    let _ = writeln!(text, "        s{size}\n    }}\n}}");
    text
}
