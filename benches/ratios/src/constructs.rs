//! The cost of compiling each construct: instructions of rustc, counted by valgrind, for a crate with many of them in comparison with
//! one without.

use crate::compiling::{ROOT, TYPES, cargo, write};
use crate::table::{number, row, times, title};
use std::env;
use std::fmt::Write;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The program that cargo runs in place of rustc: it counts the crates of this table with valgrind.
const WRAPPER: &str = r#"#!/bin/sh
shift
case " $* " in
*" --crate-name counted_"*) exec valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file="$COUNTED" "$RUSTC_HERE" "$@" ;;
*) exec "$RUSTC_HERE" "$@" ;;
esac
"#;

const CALL: &str =
    "Next { id: s0.id, count: s0.count, sum: s0.totals.sum, label: s0.items[0].label }";

/// Each construct, and a step that has it; `@` is its number, and `CALL` a call with four references.
const CONSTRUCTS: [(&str, &str); 16] = [
    ("a step", "step a@ = CALL;"),
    ("`#[retry(3)]`", "#[retry(3)] step a@ = CALL;"),
    ("`#[optional]`", "#[optional] step a@ = CALL;"),
    ("`#[catch]`", "#[catch] step a@ = CALL;"),
    ("`#[always]`", "#[always] step a@ = Stop {};"),
    (
        "`#[undo]`, with the step that it undoes",
        "step a@ = CALL; #[undo(a@)] step u@ = Stop {};",
    ),
    (
        "the same without `#[undo]`",
        "step a@ = CALL; step u@ = Stop {};",
    ),
    (
        "a condition that is data",
        "step _a@: bool = s0.count > @ && !s0.id.is_empty();",
    ),
    (
        "the same as Rust code",
        "step _a@: bool = s0.count + 0 > @ && !s0.id.is_empty();",
    ),
    ("`if`", "step a@ = if s0.count > @ { CALL };"),
    (
        "`for`",
        "step a@ = for item in s0.items { Next { id: item.label, count: s0.count, sum: s0.totals.sum, label: item.label } };",
    ),
    ("a block of one step", "step a@ = { step b = CALL; b };"),
    (
        "a block of three steps",
        "step a@ = { step b = CALL; step c = CALL; step d = CALL; d };",
    ),
    (
        "`loop` around one step",
        "#[at_most(3)] step a@ = loop { step b = CALL; b } while b.count > @;",
    ),
    ("`await`", "step a@: Out = await;"),
    ("a plan", "step a@ = Inner { id: s0.id };"),
];

/// The number of uses of each construct.
const COUNT: usize = 30;

fn source(construct: Option<&str>) -> String {
    let types = TYPES.replace("SHAPE TOOL", "plan_runtime::Shape, plan_runtime::Tool");
    let mut text = types
        .replace("SHAPE", "plan_runtime::Shape")
        .replace("OUTPUT", "#[tool(output = Out)]");
    text += "#[derive(Serialize, Deserialize, plan_runtime::Shape, plan_runtime::Tool)]\n#[tool(output = ())] pub struct Stop {}\n";
    text += "plan_runtime::plan! { pub Inner(id: String) -> i64 { step a = Next { id, count: 1, sum: 1.0, label: \"a\" }; a.count } }\n";
    text += "plan_runtime::plan! {\n    pub Long() -> i64 {\n        step s0 = Start {};\n";
    for number in 0..construct.map_or(0, |_| COUNT) {
        let step = construct.unwrap_or_default().replace("CALL", CALL);
        let step = step.replace('@', &number.to_string());
        writeln!(text, "        {step}").unwrap();
    }
    text + "        s0.count\n    }\n}\n"
}

/// Counts the instructions of rustc for a crate.
fn counted(folder: &Path, scratch: &Path, name: &str) -> f64 {
    let log = scratch.join("counted");
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(rustc.unwrap().stdout).unwrap();
    let status = cargo(folder, &scratch.join("target"))
        .env("RUSTC_WRAPPER", scratch.join("wrapper"))
        .env("RUSTC_HERE", Path::new(sysroot.trim()).join("bin/rustc"))
        .env("COUNTED", &log)
        .args(["check", "--quiet", "-p", name])
        .status()
        .unwrap();
    assert!(status.success());
    let said = fs::read_to_string(&log).expect("valgrind counts");
    let line = said.lines().find(|line| line.contains("refs:")).unwrap();
    let (_, count) = line.split_once("refs:").unwrap();
    count.trim().replace(',', "").parse().unwrap()
}

/// Prints the table.
///
/// # Panics
///
/// Panics without valgrind.
pub fn print() {
    let scratch = env::temp_dir().join(format!("plan-constructs-{}", std::process::id()));
    let root = fs::canonicalize(ROOT).unwrap();
    let folder = scratch.join("crates");
    write(scratch.join("wrapper"), WRAPPER);
    fs::set_permissions(scratch.join("wrapper"), Permissions::from_mode(0o755)).unwrap();
    let cases = [None]
        .into_iter()
        .chain(CONSTRUCTS.map(|(_, step)| Some(step)));
    let mut members = Vec::new();
    for (number, construct) in cases.enumerate() {
        let name = format!("counted_{number}");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nplan-runtime = {{ path = {:?} }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n",
            root.join("plan-runtime")
        );
        write(folder.join(&name).join("Cargo.toml"), &manifest);
        write(folder.join(&name).join("src/lib.rs"), &source(construct));
        members.push(name);
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
    write(folder.join("Cargo.toml"), &workspace);
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();

    let counts: Vec<f64> = members
        .iter()
        .map(|name| counted(&folder, &scratch, name))
        .collect();
    title(
        &format!("Compiling: {COUNT} of each construct, instructions of rustc for one"),
        &["", "M instructions", "to a step"],
    );
    let each = |count: f64| (count - counts[0]) / COUNT as f64 / 1e6;
    for ((name, _), count) in CONSTRUCTS.iter().zip(&counts[1..]) {
        let ratio = times(each(*count) / each(counts[1]));
        row(&[(*name).to_owned(), number(each(*count)), ratio]);
    }
    let _ = fs::remove_dir_all(&scratch);
}
