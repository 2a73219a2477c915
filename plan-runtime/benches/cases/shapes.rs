//! Graphs of steps that do nothing.

use std::fmt::Write;

/// For each step, the earlier steps that it refers to.
pub type Needs = Vec<Vec<usize>>;

pub const SHAPES: [&str; 4] = ["chain", "fan", "grid", "dag"];

/// A graph of about this number of steps.
pub fn shape(name: &str, steps: usize) -> Needs {
    match name {
        "chain" => chain(steps),
        "fan" => fan(steps),
        "grid" => grid(steps.isqrt()),
        "dag" => dag(steps),
        _ => panic!("there is no shape `{name}`"),
    }
}

/// Each step needs the one before it.
pub fn chain(steps: usize) -> Needs {
    (0..steps)
        .map(|step| step.checked_sub(1).into_iter().collect())
        .collect()
}

/// All need the first, and the last needs them.
pub fn fan(steps: usize) -> Needs {
    let mut needs = vec![vec![0]; steps];
    needs[0].clear();
    needs[steps - 1] = (1..steps - 1).collect();
    needs
}

/// Each needs the one above it and the one to its left.
pub fn grid(side: usize) -> Needs {
    let cell = |cell: usize| {
        let above = cell.checked_sub(side);
        let left = (!cell.is_multiple_of(side)).then(|| cell - 1);
        above.into_iter().chain(left).collect()
    };
    (0..side * side).map(cell).collect()
}

/// Each needs three random ones before it.
pub fn dag(steps: usize) -> Needs {
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut below = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % bound as u64) as usize
    };
    let mut step = |step: usize| {
        let mut needs = Vec::new();
        while needs.len() < step.min(3) {
            let need = below(step);
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    };
    (0..steps).map(&mut step).collect()
}

/// The tool of a step with this number of references, and its arguments.
pub fn tool(needs: &[usize]) -> (&'static str, &'static [&'static str]) {
    match needs.len() {
        0 => ("zero", &[]),
        1 => ("one", &["a"]),
        2 => ("two", &["a", "b"]),
        3 => ("three", &["a", "b", "c"]),
        _ => ("join", &["all"]),
    }
}

/// The graph as the JSON of a tool plan.
pub fn json(needs: &Needs) -> String {
    let mut text = String::from("{\"steps\": [");
    for (step, needs) in needs.iter().enumerate() {
        let (tool, names) = tool(needs);
        let comma = if step == 0 { "" } else { ", " };
        write!(
            text,
            "{comma}{{\"id\": \"s{step}\", \"tool\": \"{tool}\", \"arguments\": {{"
        )
        .unwrap();
        if tool == "join" {
            let all: Vec<String> = needs
                .iter()
                .map(|need| format!("\"$ref:s{need}\""))
                .collect();
            write!(text, "\"all\": [{}]", all.join(", ")).unwrap();
        } else {
            let one = |(name, need): (&&str, &usize)| format!("\"{name}\": \"$ref:s{need}\"");
            let all: Vec<String> = names.iter().zip(needs).map(one).collect();
            text.push_str(&all.join(", "));
        }
        text.push_str("}}");
    }
    write!(text, "], \"output_steps\": [\"s{}\"]}}", needs.len() - 1).unwrap();
    text
}

/// The graph as the source of a `plan!`.
#[allow(dead_code, reason = "only a build script writes sources")]
pub fn source(name: &str, needs: &Needs) -> String {
    let mut text = format!("plan_runtime::plan! {{\n    pub {name}() -> u64 {{\n");
    for (step, needs) in needs.iter().enumerate() {
        let all: Vec<String> = needs.iter().map(|need| format!("s{need}")).collect();
        let (call, arguments) = match needs.len() {
            0 => ("Zero", String::new()),
            1 => ("One", format!("a: {}", all[0])),
            2 => ("Two", format!("a: {}, b: {}", all[0], all[1])),
            3 => (
                "Three",
                format!("a: {}, b: {}, c: {}", all[0], all[1], all[2]),
            ),
            _ => ("Join", format!("all: [{}]", all.join(", "))),
        };
        writeln!(text, "        step s{step} = {call} {{ {arguments} }};").unwrap();
    }
    writeln!(text, "        s{}\n    }}\n}}", needs.len() - 1).unwrap();
    text
}
