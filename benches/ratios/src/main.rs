//! `plan-ratios resolving|running|instructions|scale|compiling|constructs [smoke]`: prints a table. `benches/run` calls it.

use plan_ratios::cases::resolving::{Ready, Reply, Split};
use plan_ratios::cases::running::{ByHand, block_on, closures, dynamic, plan, reported, typed};
use plan_ratios::cases::shapes::{SHAPES, shape};
use plan_ratios::engines::{Bars, Jinja, Text};
use plan_ratios::measure::{Case, Times, measure};
use plan_ratios::table::{Target, ns, number, row, target, times, title};
use plan_ratios::{compiling, constructs, counting, handing, plans};
use plan_runtime::plan::Executable;
use serde_json::Value;
use std::env;
use std::process::Command;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let smoke = arguments.contains(&"smoke");
    match arguments[..] {
        ["resolving", ..] => resolving(smoke),
        ["running", ..] => running(smoke),
        ["instructions", ..] => instructions(smoke),
        ["scale", ..] => scale(smoke),
        ["compiling", ..] => compiling::print(smoke),
        ["constructs"] => constructs::print(),
        ["times", case, rounds] => repeat(case, rounds.parse().unwrap()),
        _ => panic!("what is to be measured?"),
    }
}

fn seconds(smoke: bool, seconds: u64) -> Duration {
    if smoke {
        Duration::from_millis(50)
    } else {
        Duration::from_secs(seconds)
    }
}

fn resolving(smoke: bool) {
    let (ready, split) = (Ready::new(), Split::new());
    let (jinja, bars, text) = (Jinja::new(&ready), Bars::new(&ready), Text::new(&ready));
    let expected = ready.by_fields();
    let same = [
        ready.resolve(),
        ready.by_pointer(),
        ready.by_split(&split),
        ready.copied_by_pointer(),
        ready.copied_by_split(&split),
        jinja.resolve(),
        bars.resolve(),
        text.resolve(),
    ];
    assert!(same.iter().all(|reply| *reply == expected));

    let (ready, split, jinja, bars, text) = (&ready, &split, &jinja, &bars, &text);
    let found = measure(
        vec![
            Case::new("typed", 1, || ready.resolve::<Reply>()),
            Case::new("pointer", 1, || ready.by_pointer()),
            Case::new("split", 1, || ready.by_split(split)),
            Case::new("copied pointer", 1, || ready.copied_by_pointer()),
            Case::new("copied split", 1, || ready.copied_by_split(split)),
            Case::new("fields", 1, || ready.by_fields()),
            Case::new("from_value", 1, || {
                serde_json::from_value::<Reply>(ready.value_by_pointer()).unwrap()
            }),
            Case::new("minijinja", 1, || jinja.resolve()),
            Case::new("minijinja text", 1, || jinja.render()),
            Case::new("handlebars", 1, || bars.resolve()),
            Case::new("handlebars text", 1, || bars.render()),
            Case::new("regex", 1, || text.resolve()),
            Case::new("value", 1, || ready.resolve::<Value>()),
            Case::new("value pointer", 1, || ready.value_by_pointer()),
            Case::new("value split", 1, || ready.value_by_split(split)),
        ],
        seconds(smoke, 20),
    );

    title(
        "Resolving",
        &[
            "four references, resolved",
            "time",
            "of the other",
            "ratio",
            "at most",
            "met",
        ],
    );
    let line = |what: &str, ours: &str, other: &str, most: Target| {
        let ratio = found.ratio(ours, other);
        let [most, met] = target(ratio, &most, " ×");
        row(&[
            what.into(),
            ns(found.of(ours)),
            ns(found.of(other)),
            times(ratio),
            most,
            met,
        ]);
    };
    line(
        "typed, to `Value::pointer` + clone + `from_value` + struct literal",
        "typed",
        "pointer",
        Target::AtMost(0.6),
    );
    line(
        "typed, to the same with pointers split beforehand",
        "typed",
        "split",
        Target::AtMost(1.1),
    );
    line(
        "typed, to `Value::pointer`, each copied by hand",
        "typed",
        "copied pointer",
        Target::None,
    );
    line(
        "typed, to the same with pointers split beforehand",
        "typed",
        "copied split",
        Target::None,
    );
    line(
        "typed, to typed field access, no JSON",
        "typed",
        "fields",
        Target::None,
    );
    line(
        "typed, to a `Value` by hand, then `from_value`",
        "typed",
        "from_value",
        Target::None,
    );
    let fastest = if found.of("minijinja") < found.of("handlebars") {
        "minijinja"
    } else {
        "handlebars"
    };
    let engine = |name| {
        if name == fastest {
            Target::AtMost(0.25)
        } else {
            Target::None
        }
    };
    line(
        "typed, to `minijinja`, then parsed",
        "typed",
        "minijinja",
        engine("minijinja"),
    );
    line(
        "typed, to `minijinja`, text alone",
        "typed",
        "minijinja text",
        Target::None,
    );
    line(
        "typed, to `handlebars`, then parsed",
        "typed",
        "handlebars",
        engine("handlebars"),
    );
    line(
        "typed, to `handlebars`, text alone",
        "typed",
        "handlebars text",
        Target::None,
    );
    line(
        "typed, to JSON text, regex replace, parse",
        "typed",
        "regex",
        Target::AtMost(0.2),
    );
    line(
        "`Value`, to `Value::pointer` + clone + `json!`",
        "value",
        "value pointer",
        Target::None,
    );
    line(
        "`Value`, to the same with pointers split beforehand",
        "value",
        "value split",
        Target::None,
    );
}

fn running(smoke: bool) {
    let steps = if smoke { 400 } else { 10_000 };
    title(
        &format!("Running {steps} steps"),
        &[
            "shape",
            "typed",
            "closures",
            "by hand",
            "typed, to by hand",
            "at most",
            "met",
            "closures, to by hand",
            "typed with a report, to by hand with one",
            "typed, to `tokio::spawn` (1 thread)",
            "to `tokio::spawn` (2 threads)",
        ],
    );
    let (typed, closures) = (typed(), closures());
    let one = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let two = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    for name in SHAPES {
        let needs = shape(name, steps);
        let (of, plan) = (needs.len(), plan(&needs));
        let by_hand = &ByHand::new(needs);
        let found = measure(
            vec![
                Case::new("typed", of, || dynamic(&typed, &plan)),
                Case::new("closures", of, || dynamic(&closures, &plan)),
                Case::new("hand", of, || block_on(by_hand.run())),
                Case::new("reported", of, || reported(&typed, &plan)),
                Case::new("guarded", of, || block_on(by_hand.run_guarded())),
                Case::new("spawn", of, || one.block_on(by_hand.spawn())),
                Case::new("spawn 2", of, || two.block_on(by_hand.spawn())),
            ],
            seconds(smoke, 8),
        );
        let ratio = found.ratio("typed", "hand");
        let [most, met] = target(ratio, &Target::AtMost(1.5), " ×");
        row(&[
            name.into(),
            ns(found.of("typed")),
            ns(found.of("closures")),
            ns(found.of("hand")),
            times(ratio),
            most,
            met,
            times(found.ratio("closures", "hand")),
            times(found.ratio("reported", "guarded")),
            times(found.ratio("typed", "spawn")),
            times(found.ratio("typed", "spawn 2")),
        ]);
    }

    title(
        "Running 300 steps",
        &[
            "shape",
            "`plan!`",
            "read at run time",
            "by hand",
            "`plan!`, to by hand",
            "at most",
            "met",
        ],
    );
    for name in SHAPES {
        let needs = shape(name, 300);
        let (of, plan) = (needs.len(), plan(&needs));
        let by_hand = &ByHand::new(needs);
        let found: Times = measure(
            vec![
                Case::new("plan!", of, || plans::run(name)),
                Case::new("typed", of, || dynamic(&typed, &plan)),
                Case::new("hand", of, || block_on(by_hand.run())),
            ],
            seconds(smoke, 4),
        );
        let ratio = found.ratio("plan!", "hand");
        let [most, met] = target(ratio, &Target::AtMost(1.5), " ×");
        row(&[
            name.into(),
            ns(found.of("plan!")),
            ns(found.of("typed")),
            ns(found.of("hand")),
            times(ratio),
            most,
            met,
        ]);
    }
}

/// Repeats a case for a tool that counts instructions.
fn repeat(case: &str, rounds: u64) {
    let again = |mut once: Box<dyn FnMut()>| (0..rounds).for_each(|_| once());
    let ready = Ready::new();
    match case.split_once(' ') {
        Some(("plan!", name)) => again(Box::new(|| plans::run(name))),
        Some(("dynamic", name)) => {
            let (toolbox, plan) = (typed(), plan(&shape(name, 300)));
            again(Box::new(move || dynamic(&toolbox, &plan)));
        }
        Some(("closures", name)) => {
            let (toolbox, plan) = (closures(), plan(&shape(name, 300)));
            again(Box::new(move || dynamic(&toolbox, &plan)));
        }
        Some(("guarded", name)) => {
            let by_hand = ByHand::new(shape(name, 300));
            again(Box::new(move || drop(block_on(by_hand.run_guarded()))));
        }
        Some(("values", how)) => {
            let plan = Box::leak(Box::new(handing::chain(300)));
            let plan = Executable::new(plan);
            let run = match how {
                "handed" => handing::handed,
                _ => handing::through_json,
            };
            again(Box::new(move || run(&plan)));
        }
        Some(("large", size)) => {
            let size = size.parse().unwrap();
            again(Box::new(move || handing::large(size)));
        }
        Some(("reported", name)) => {
            let (toolbox, plan) = (typed(), plan(&shape(name, 300)));
            again(Box::new(move || reported(&toolbox, &plan)));
        }
        Some(("hand", name)) => {
            let by_hand = ByHand::new(shape(name, 300));
            again(Box::new(move || drop(block_on(by_hand.run()))));
        }
        _ => match case {
            "typed" => again(Box::new(move || {
                drop(std::hint::black_box(ready.resolve::<Reply>()))
            })),
            "pointer" => again(Box::new(move || {
                drop(std::hint::black_box(ready.by_pointer()))
            })),
            "split" => {
                let split = Split::new();
                again(Box::new(move || {
                    drop(std::hint::black_box(ready.by_split(&split)))
                }));
            }
            "copied pointer" => again(Box::new(move || {
                drop(std::hint::black_box(ready.copied_by_pointer()))
            })),
            "copied split" => {
                let split = Split::new();
                again(Box::new(move || {
                    drop(std::hint::black_box(ready.copied_by_split(&split)))
                }));
            }
            _ => panic!("there is no case `{case}`"),
        },
    }
}

fn instructions(smoke: bool) {
    let this = env::current_exe().unwrap();
    let this = this.to_str().unwrap();
    // The program that enables all features of the run time without using them.
    let idle = env::var("IDLE").ok();
    if counting::instructions(this, "typed", 1).is_none() {
        println!("\n(no valgrind, so no instruction counts)");
        return;
    }
    title(
        "Instructions, counted by valgrind",
        &["", "ours", "the other's", "ratio", "at most", "met"],
    );
    let line = |what: &str, [ours, other]: [f64; 2], most: Target| {
        let ratio = ours / other;
        let [limit, met] = target(ratio, &most, " ×");
        let shown = |ratio: f64| {
            if what.starts_with("idle") {
                format!("{ratio:.4} ×")
            } else {
                times(ratio)
            }
        };
        row(&[
            what.into(),
            number(ours),
            number(other),
            shown(ratio),
            limit,
            met,
        ]);
    };
    let count = |program: &str, case: &str, of: f64| {
        let rounds = if smoke {
            1
        } else if of > 1.0 {
            10
        } else {
            1000
        };
        counting::instructions(program, case, rounds).unwrap() / of
    };
    let typed = count(this, "typed", 1.0);
    for (what, case, most) in [
        (
            "`Value::pointer` + clone + `from_value`",
            "pointer",
            Target::AtMost(0.6),
        ),
        ("pointers split", "split", Target::AtMost(1.1)),
        (
            "`Value::pointer`, copied by hand",
            "copied pointer",
            Target::None,
        ),
        (
            "pointers split, copied by hand",
            "copied split",
            Target::None,
        ),
    ] {
        line(
            &format!("resolving typed, to {what}"),
            [typed, count(this, case, 1.0)],
            most,
        );
    }
    let shapes = if smoke { &SHAPES[..1] } else { &SHAPES[..] };
    for name in shapes {
        let hand = count(this, &format!("hand {name}"), 300.0);
        line(
            &format!("a step of 300, {name}, `plan!`, to by hand"),
            [count(this, &format!("plan! {name}"), 300.0), hand],
            Target::AtMost(1.5),
        );
        line(
            &format!("a step of 300, {name}, read at run time, to by hand"),
            [count(this, &format!("dynamic {name}"), 300.0), hand],
            Target::AtMost(1.5),
        );
        let guarded = count(this, &format!("guarded {name}"), 300.0);
        line(
            &format!("a step of 300, {name}, read at run time, with a report, to by hand with one"),
            [count(this, &format!("reported {name}"), 300.0), guarded],
            Target::None,
        );
    }
    line(
        "a step of 300 that passes on a value of three texts, handed over, to through JSON",
        [
            count(this, "values handed", 300.0),
            count(this, "values json", 300.0),
        ],
        Target::AtMost(1.0),
    );
    line(
        "50 KB from tool to tool three times, to 50 bytes",
        [
            count(this, "large 50000", 1.0),
            count(this, "large 50", 1.0),
        ],
        Target::None,
    );
    if let Some(idle) = &idle {
        for case in ["typed", "plan! chain", "plan! dag", "dynamic dag"] {
            let of = if case == "typed" { 1.0 } else { 300.0 };
            line(
                &format!("idle features: `{case}`, all on, to the default"),
                [count(idle, case, of), count(this, case, of)],
                Target::AtMost(1.01),
            );
        }
    }
}

fn scale(smoke: bool) {
    let program = env::current_exe().unwrap().with_file_name("scale");
    const LIMIT: &str = "60";
    // As many numbers as there are within the limit.
    let ask = |arguments: &[&str]| -> Vec<f64> {
        let output = Command::new("timeout")
            .arg(LIMIT)
            .arg(&program)
            .args(arguments)
            .output()
            .unwrap();
        let ended = output.status.success() || output.status.code() == Some(124);
        assert!(ended, "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        said.split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect()
    };
    let sizes: &[usize] = if smoke {
        &[1_000]
    } else {
        &[1_000, 10_000, 100_000, 1_000_000]
    };
    title(
        "Scale: a step of a plan that is read at run time",
        &[
            "steps",
            "JSON text",
            "read",
            "peak memory",
            "run",
            "peak memory",
            "check",
            "peak memory",
            "kept by the plan",
        ],
    );
    let mut all = Vec::new();
    for size in sizes {
        let mut runs: Vec<Vec<f64>> = Vec::new();
        while runs.len() < if *size > 10_000 { 2 } else { 5 }
            && runs.last().is_none_or(|run| run.len() == 8)
        {
            runs.push(ask(&["plan", &size.to_string()]));
        }
        let best: Vec<Option<f64>> = (0..8)
            .map(|n| {
                runs.iter()
                    .filter_map(|run| run.get(n).copied())
                    .reduce(f64::min)
            })
            .collect();
        let shown = |index: usize| match best[index] {
            None => format!("(> {LIMIT} s in all)"),
            Some(time) if matches!(index, 1 | 3 | 5) => ns(time),
            Some(bytes) => format!("{bytes:.0} B"),
        };
        let mut cells = vec![size.to_string()];
        cells.extend((0..8).map(shown));
        row(&cells);
        all.push((*size, best));
    }
    title("Scale: targets, of a step", &["", "", "at most", "met"]);
    let line = |what: &str, value: Option<f64>, unit: &str, most: f64| {
        let Some(value) = value else {
            row(&[
                what.into(),
                format!("no end within {LIMIT} s"),
                format!("≤ {}{unit}", number(most)),
                "**no**".into(),
            ]);
            return;
        };
        let [limit, met] = target(value, &Target::AtMost(most), unit);
        row(&[what.into(), format!("{}{unit}", number(value)), limit, met]);
    };
    let small = &all[0].1;
    let (size, large) = all.last().unwrap();
    let parts = [
        "time to read",
        "peak memory of reading",
        "time to run",
        "peak memory of running",
        "time to check",
        "peak memory of checking",
    ];
    for (index, part) in parts.iter().enumerate() {
        let growth = large[index + 1]
            .zip(small[index + 1])
            .map(|(large, small)| large / small);
        line(
            &format!("{part}, of {size} steps to 1000"),
            growth,
            " ×",
            1.2,
        );
    }
    for (index, part) in [(2, "read"), (4, "read and run"), (6, "read and checked")] {
        line(
            &format!("peak memory beyond the text, {size} steps, {part}"),
            large[index],
            " B",
            500.0,
        );
    }

    title("Scale: large outputs", &["", "time", "peak memory"]);
    let steps = if smoke { "1000" } else { "100000" };
    if let found @ [_, _, _] = &*ask(&["chain", steps]) {
        row(&[
            format!(
                "chain of {steps} steps, outputs of 10 KB, {:.1} MB if all were kept",
                found[2] / 1e6
            ),
            format!("{} a step", ns(found[0])),
            format!("{:.1} MB", found[1] / 1e6),
        ]);
    }
    let bytes = if smoke { "1000000" } else { "100000000" };
    if let found @ [_, _, _, _, _] = &*ask(&["large", bytes]) {
        row(&[
            format!(
                "an output of {:.0} MB, of which 1,000 steps take a string each, all of it",
                found[2] / 1e6
            ),
            format!("{} a step", ns(found[0])),
            format!("{:.1} MB", found[1] / 1e6),
        ]);
        row(&[
            "the step alone that gives it".into(),
            format!("{} in all", ns(found[3])),
            format!("{:.1} MB", found[4] / 1e6),
        ]);
    }
}
