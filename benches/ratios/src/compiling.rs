//! The cost of compiling: generated crates in comparison with equal logic without a plan, clean builds, and the size of
//! programs.

use crate::table::{Target, number, row, target, times, title};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

pub(crate) const TYPES: &str = r#"
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, SHAPE)]
pub struct Item { pub label: String }

#[derive(Serialize, Deserialize, SHAPE)]
pub struct Totals { pub sum: f64 }

#[derive(Serialize, Deserialize, SHAPE)]
pub struct Out { pub id: String, pub count: i64, pub totals: Totals, pub items: Vec<Item> }

#[derive(Serialize, Deserialize, SHAPE TOOL)]
OUTPUT pub struct Start {}

#[derive(Serialize, Deserialize, SHAPE TOOL)]
OUTPUT pub struct Next { pub id: String, pub count: i64, pub sum: f64, pub label: String }
"#;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Plan,
    Async,
    Json,
}

impl Kind {
    /// Returns `true` if this kind is measured at a size: an `async fn` with 2,000 awaits takes rustc minutes and more
    /// than 8 GB.
    fn has(self, size: usize) -> bool {
        self != Self::Async || size <= 300
    }

    fn source(self, steps: usize) -> String {
        let mut text = String::from("#![allow(dead_code)]\n");
        match self {
            Self::Plan => {
                let types = TYPES.replace("SHAPE TOOL", "plan_runtime::Shape, plan_runtime::Tool");
                text += &types
                    .replace("SHAPE", "plan_runtime::Shape")
                    .replace("OUTPUT", "#[tool(output = Out)]");
                if steps > 0 {
                    text += "plan_runtime::plan! {\n    pub Long() -> Out {\n        step s0 = Start {};\n";
                }
            }
            Self::Async | Self::Json => {
                text += &TYPES
                    .replace("SHAPE TOOL", "Clone")
                    .replace("SHAPE", "Clone")
                    .replace("OUTPUT", "");
                text += "impl Start { pub async fn call(self) -> Result<Out, String> { Err(String::new()) } }\n";
                text += "impl Next { pub async fn call(self) -> Result<Out, String> { Err(self.id) } }\n";
                if steps > 0 && self == Self::Async {
                    text += "pub async fn long() -> Result<Out, String> {\n    let s0 = Start {}.call().await?;\n";
                } else if steps > 0 {
                    text += "pub fn long() -> Vec<serde_json::Value> {\n    let mut steps = Vec::new();\n";
                }
            }
        }
        for step in 1..=steps {
            let (one, two) = (step - 1, step / 2);
            match self {
                Self::Plan => writeln!(text, "        step s{step} = Next {{ id: s{one}.id, count: s{two}.count, sum: s{one}.totals.sum, label: s{two}.items[0].label }};"),
                Self::Async => {
                    let two = if two == step { one } else { two };
                    writeln!(text, "    let s{step} = Next {{ id: s{one}.id.clone(), count: s{two}.count, sum: s{one}.totals.sum, label: s{two}.items[0].label.clone() }}.call().await?;")
                }
                Self::Json => writeln!(text, "    steps.push(serde_json::json!({{ \"id\": \"s{step}\", \"tool\": \"next\", \"arguments\": {{ \"id\": \"$ref:s{one}.id\", \"count\": \"$ref:s{two}.count\", \"sum\": \"$ref:s{one}.totals.sum\", \"label\": \"$ref:s{two}.items.0.label\" }} }}));"),
            }
            .unwrap();
        }
        if steps > 0 {
            text += &match self {
                Self::Plan => format!("        s{steps}\n    }}\n}}\n"),
                Self::Async => format!("    Ok(s{steps})\n}}\n"),
                Self::Json => "    steps\n}\n".to_owned(),
            };
        }
        text
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Async => "async",
            Self::Json => "json",
        }
    }
}

/// The time and memory of a child process.
struct Used {
    wall: Duration,
    processor: Duration,
    /// Bytes of the largest process.
    memory: f64,
}

/// Runs a command to its end. Its time and memory include its own children.
fn used(command: &mut Command) -> Used {
    let start = Instant::now();
    let said = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = said.id() as libc::pid_t;
    let mut stderr = said.stderr.unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut text).unwrap();
    let mut status = 0;
    // SAFETY: all of it are integers, which may be 0.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours, no other code waits for it, and both references are valid.
    let waited = unsafe { libc::wait4(id, &mut status, 0, &mut usage) };
    assert!(waited == id && status == 0, "{text}");
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    Used {
        wall: start.elapsed(),
        processor: time(usage.ru_utime) + time(usage.ru_stime),
        memory: usage.ru_maxrss as f64 * 1024.0,
    }
}

pub(crate) fn cargo(folder: &Path, target: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS");
    command
}

pub(crate) fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn print(smoke: bool) {
    let scratch = env::temp_dir().join(format!("plan-ratios-{}", std::process::id()));
    let root = fs::canonicalize(ROOT).unwrap();
    checking(&scratch, &root, smoke);
    if !smoke {
        inserted(&scratch);
        clean(&scratch, &root);
        programs(&scratch, &root);
    }
    let _ = fs::remove_dir_all(&scratch);
}

fn checking(scratch: &Path, root: &Path, smoke: bool) {
    let sizes: &[usize] = if smoke {
        &[0, 30]
    } else {
        &[0, 1, 30, 300, 2_000]
    };
    let kinds = [Kind::Plan, Kind::Async, Kind::Json];
    let (folder, built) = (scratch.join("crates"), scratch.join("target"));
    let name = |kind: Kind, size: usize| format!("{}_{size}", kind.name());
    let mut members = Vec::new();
    for (kind, size) in kinds
        .iter()
        .flat_map(|kind| sizes.iter().map(|size| (*kind, *size)))
        .filter(|(kind, size)| kind.has(*size))
    {
        let name = name(kind, size);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nplan-runtime = {{ path = {:?} }}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n",
            root.join("plan-runtime")
        );
        write(folder.join(&name).join("Cargo.toml"), &manifest);
        write(folder.join(&name).join("src/lib.rs"), &kind.source(size));
        members.push(name);
    }
    write(
        folder.join("Cargo.toml"),
        &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
    );
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    used(cargo(&folder, &built).args(["check", "--workspace"]));

    let mut best: BTreeMap<(Kind, usize), (f64, f64)> = BTreeMap::new();
    for turn in 0..if smoke { 1 } else { 4 } {
        for (kind, size) in kinds
            .iter()
            .flat_map(|kind| sizes.iter().map(|size| (*kind, *size)))
            .filter(|(kind, size)| kind.has(*size))
        {
            // The largest size takes longest, and noise affects it least.
            if size == 2_000 && turn > 1 {
                continue;
            }
            let name = name(kind, size);
            write(
                folder.join(&name).join("src/lib.rs"),
                &format!("// Turn {turn}.\n{}", kind.source(size)),
            );
            let used = used(cargo(&folder, &built).args(["check", "-p", &name]));
            let entry = best
                .entry((kind, size))
                .or_insert((f64::INFINITY, f64::INFINITY));
            *entry = (
                entry.0.min(used.processor.as_secs_f64() * 1e3),
                entry.1.min(used.memory),
            );
        }
    }
    title(
        "Compiling: `cargo check`, processor time and memory a step of 4 references",
        &[
            "steps",
            "`plan!`",
            "at most",
            "met",
            "plain async",
            "`json!`",
            "to async",
            "to `json!`",
            "memory, `plan!`",
            "async",
            "`json!`",
        ],
    );
    let step = |kind: Kind, size: usize| {
        if !kind.has(size) {
            return (f64::NAN, f64::NAN);
        }
        let ((time, memory), (time_0, memory_0)) = (best[&(kind, size)], best[&(kind, 0)]);
        (
            ((time - time_0) / size as f64).max(0.0),
            ((memory - memory_0) / size as f64 / 1e3).max(0.0),
        )
    };
    for size in &sizes[1..] {
        let [plan, code, json] = kinds.map(|kind| step(kind, *size));
        // One step is within the noise of starting rustc.
        let most = if *size >= 30 {
            Target::AtMost(3.0)
        } else {
            Target::None
        };
        let [most, met] = target(plan.0, &most, " ms");
        let ratio = |other: f64| {
            if other > 0.0 && *size > 1 {
                times(plan.0 / other)
            } else {
                "–".into()
            }
        };
        let unless = |missing: bool, shown: String| if missing { "–".to_owned() } else { shown };
        let shown = |kind: (f64, f64)| unless(kind.0.is_nan(), format!("{} ms", number(kind.0)));
        let kilobytes = |kind: (f64, f64)| unless(kind.1.is_nan(), format!("{:.0} KB", kind.1));
        row(&[
            size.to_string(),
            shown(plan),
            most,
            met,
            shown(code),
            shown(json),
            ratio(code.0),
            ratio(json.0),
            kilobytes(plan),
            kilobytes(code),
            kilobytes(json),
        ]);
    }
    let (small, large) = (sizes[1], *sizes.last().unwrap());
    let expanded = |size: usize| {
        let output = cargo(&folder, &built)
            .env("RUSTC_BOOTSTRAP", "1")
            .args([
                "rustc",
                "--profile",
                "check",
                "-p",
                &name(Kind::Plan, size),
                "--",
                "-Zunpretty=expanded",
            ])
            .output()
            .unwrap();
        output.stdout.len() as f64
    };
    let expanded = |size: usize| match expanded(size) {
        0.0 => {
            let output = cargo(&folder, &built)
                .env("RUSTC_BOOTSTRAP", "1")
                .args([
                    "rustc",
                    "-p",
                    &name(Kind::Plan, size),
                    "--",
                    "-Zunpretty=expanded",
                ])
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            output.stdout.len() as f64
        }
        length => length,
    };
    if !smoke {
        let written = |size: usize| Kind::Plan.source(size).len() as f64;
        let size = 300;
        println!(
            "\nThe expansion of a step has {:.0} bytes as rustc prints it, for {:.0} bytes of source. A step of {large} takes {:.2} × as long as one of 300.",
            (expanded(size) - expanded(small)) / (size - small) as f64,
            (written(size) - written(small)) / (size - small) as f64,
            step(Kind::Plan, large).0 / step(Kind::Plan, size).0,
        );
    }
}

/// Checks a crate of 300 steps several times, each time with one more line above the plan.
fn inserted(scratch: &Path) {
    const PLAN: &str = "plan_runtime::plan!";
    let (folder, built) = (scratch.join("crates"), scratch.join("incremental"));
    let source = Kind::Plan.source(300);
    let time = |lines: usize| {
        let text = source.replace(PLAN, &("// A line.\n".repeat(lines) + PLAN));
        write(folder.join("plan_300/src/lib.rs"), &text);
        let mut check = cargo(&folder, &built);
        let check = check.env("CARGO_INCREMENTAL", "1");
        let used = used(check.args(["check", "-p", "plan_300"]));
        used.processor.as_secs_f64()
    };
    time(0);
    let best = (1..6).map(time).fold(f64::INFINITY, f64::min);
    title(
        "Compiling: a line inserted above 300 steps, incremental `cargo check`",
        &["processor time", "at most", "met"],
    );
    let [most, met] = target(best, &Target::AtMost(0.4), " s");
    row(&[format!("{} s", number(best)), most, met]);
}

/// Returns the number of crates in `cargo tree`, and the number of their lines.
fn tree(root: &Path, target: &Path, features: &[&str]) -> (usize, usize) {
    let output = cargo(root, target)
        .args([
            "tree",
            "-p",
            "plan-runtime",
            "-e",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .args(features)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut crates: Vec<&str> = text
        .lines()
        .map(|line| {
            line.trim_end_matches(" (*)")
                .trim_end_matches(" (proc-macro)")
        })
        .collect();
    crates.sort_unstable();
    crates.dedup();
    let metadata = cargo(root, target)
        .args(["metadata", "--format-version", "1", "--all-features"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let mut lines = 0;
    for package in metadata["packages"].as_array().unwrap() {
        let name = format!(
            "{} v{}",
            package["name"].as_str().unwrap(),
            package["version"].as_str().unwrap()
        );
        if crates
            .iter()
            .any(|one| *one == name || one.starts_with(&format!("{name} ")))
        {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            lines += lines_in(&manifest.with_file_name("src"));
        }
    }
    (crates.len(), lines)
}

fn lines_in(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let lines = entries.map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            lines_in(&path)
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            fs::read_to_string(&path).map_or(0, |text| text.lines().count())
        } else {
            0
        }
    });
    lines.sum()
}

fn clean(scratch: &Path, root: &Path) {
    title(
        "Compiling: a clean `cargo build -p plan-runtime`",
        &[
            "features",
            "time",
            "processor time",
            "crates",
            "lines of Rust",
            "at most",
            "met",
        ],
    );
    let features: [&[&str]; 8] = [
        &[],
        &["--no-default-features"],
        &["--features", "diagnostics"],
        &["--features", "docs-svg"],
        &["--features", "html"],
        &["--features", "progress"],
        &["--features", "schema"],
        &["--features", "tracing"],
    ];
    for features in features {
        let target_folder = scratch.join("clean");
        let _ = fs::remove_dir_all(&target_folder);
        let used = used(
            cargo(root, &target_folder)
                .args(["build", "--locked", "-p", "plan-runtime"])
                .args(features),
        );
        let (crates, lines) = tree(root, &target_folder, features);
        let [limit, met] = if features.is_empty() {
            let met = used.wall.as_secs_f64() <= 15.0 && crates <= 35;
            [
                "≤ 15 s, ≤ 35 crates".into(),
                if met {
                    "yes".into()
                } else {
                    "**no**".to_owned()
                },
            ]
        } else {
            [String::new(), String::new()]
        };
        let name = if features.is_empty() {
            "default"
        } else {
            features.last().unwrap()
        };
        row(&[
            name.into(),
            format!("{:.1} s", used.wall.as_secs_f64()),
            format!("{:.1} s", used.processor.as_secs_f64()),
            crates.to_string(),
            lines.to_string(),
            limit,
            met,
        ]);
    }
}

/// Measures `quickstart`, and an equivalent program without a plan.
fn programs(scratch: &Path, root: &Path) {
    let folder = scratch.join("programs");
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nplan-runtime = {{ path = {:?}, features = [\"terminal\"] }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\ntokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}\n\n\
         [profile.release]\nstrip = true\n",
        root.join("plan-runtime")
    );
    write(folder.join("Cargo.toml"), &manifest);
    write(
        folder.join("src/bin/quickstart.rs"),
        &fs::read_to_string(root.join("examples/quickstart.rs")).unwrap(),
    );
    write(folder.join("src/bin/plain.rs"), include_str!("plain.rs"));
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = scratch.join("programs-target");
    used(cargo(&folder, &target).args(["build", "--release"]));
    let size = |name: &str| {
        fs::metadata(target.join("release").join(name))
            .unwrap()
            .len() as f64
    };
    let (ours, plain) = (size("quickstart"), size("plain"));
    title(
        "Compiling: the size of a program, `--release`, stripped",
        &["", "size"],
    );
    row(&[
        "the example `quickstart`".into(),
        format!("{:.0} KB", ours / 1e3),
    ]);
    row(&[
        "the same as plain async Rust, without a printed plan and report".into(),
        format!("{:.0} KB", plain / 1e3),
    ]);
    row(&["ratio".into(), times(ours / plain)]);
}
