//! Checks programs with cargo, and reads rustc's messages about each.

use crate::common::skips;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The compiler whose words are written down.
const PINNED: &str = "rustc 1.95.";

/// An error or a warning.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) is_error: bool,
    /// The headline and the labels of underlined tokens.
    pub(crate) shown: String,
    /// The whole message, including notes and helps.
    pub(crate) text: String,
    /// The underlined parts, in bytes of the program.
    pub(crate) spans: Vec<Range<usize>>,
}

/// Names that no headline and no label may contain, since they are internal to this crate.
const INTERNAL: &[&str] = &[
    "check::",
    "__",
    "_::",
    "check_of_",
    "AlwaysPresent",
    "MaybeAbsent",
    "UntypedJson",
    "Passed",
    "Unclear",
    "found `Unknown`",
];

impl Message {
    /// Returns the internal names in the headline and in the labels.
    pub(crate) fn internal_names(&self) -> impl Iterator<Item = &'static str> {
        let names = INTERNAL.iter().copied();
        names.filter(|name| self.shown.contains(name))
    }
}

/// The compiler, and its folders.
pub(crate) struct Rustc {
    folder: PathBuf,
    /// The compiled crates, for all tests.
    target: PathBuf,
}

/// The number of modules in a program: cargo checks as many programs in parallel as there are processors.
const TOGETHER: usize = 100;

/// Returns an error if this is not the compiler whose messages are recorded.
pub(crate) fn version() -> Result<(), String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if version.starts_with(PINNED) {
        return Ok(());
    }
    Err(format!(
        "the recorded messages are those of {PINNED}x, and this is {}",
        version.trim()
    ))
}

/// Returns the compiler for a test of this name, which is skipped if this is another compiler.
pub(crate) fn pinned(test: &str) -> Option<Rustc> {
    skips::unless(test, version())?;
    // The folder of this binary is `target/<profile>/deps`.
    let binary = env::current_exe().unwrap();
    let target = binary.ancestors().nth(3).unwrap();
    Some(Rustc {
        folder: target.join("tests").join(test),
        target: target.join("tests/programs"),
    })
}

impl Rustc {
    /// Returns the messages for each program, which has a name and source code.
    pub(crate) fn check(&self, programs: &[(String, String)]) -> Vec<Vec<Message>> {
        self.write(programs);
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(&self.folder)
            .env_remove("RUSTFLAGS")
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .args([
                "check",
                "--workspace",
                "--bins",
                "--keep-going",
                "--offline",
            ])
            .args(["--message-format", "json"])
            .output()
            .unwrap();
        let mut said: HashMap<String, Vec<Message>> = HashMap::new();
        let (mut finished, mut built) = (false, true);
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            finished |= line["reason"] == "build-finished";
            // The dependencies of all programs have no errors.
            let is_program = line["target"]["kind"][0] == "bin";
            built &= is_program || line["message"]["level"] != "error";
            if line["reason"] == "compiler-message" && line["target"]["kind"][0] == "bin" {
                let name = line["target"]["name"].as_str().unwrap().to_owned();
                said.entry(name)
                    .or_default()
                    .extend(message(&line["message"]));
            }
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(finished && built, "{stderr}");
        programs
            .iter()
            .map(|(name, _)| said.remove(name).unwrap_or_default())
            .collect()
    }

    /// Returns the messages for each module, with many modules in one program. An error in a module may hide errors of a later stage of the
    /// compiler in other modules.
    pub(crate) fn together(&self, head: &str, modules: &[&str]) -> Vec<Vec<Message>> {
        let mut said: Vec<Vec<Message>> = modules.iter().map(|_| Vec::new()).collect();
        let mut programs = Vec::new();
        let mut places: Vec<Vec<Range<usize>>> = Vec::new();
        for (number, part) in modules.chunks(TOGETHER).enumerate() {
            let mut source = head.to_owned();
            let mut part_places = Vec::new();
            for (number, module) in part.iter().enumerate() {
                let _ = write!(source, "mod m{number} {{");
                let start = source.len();
                source.push_str(module);
                part_places.push(start..source.len());
                source.push_str("}\n");
            }
            source.push_str("fn main() {}\n");
            programs.push((format!("part_{number}"), source));
            places.push(part_places);
        }
        for (part, messages) in self.check(&programs).into_iter().enumerate() {
            for mut message in messages {
                let at = message.spans[0].start;
                let within = places[part].partition_point(|place| place.end <= at);
                let Some(place) = places[part].get(within) else {
                    panic!("an error outside of all modules: {message:?}");
                };
                for span in &mut message.spans {
                    // A span before it is the call of the macro.
                    *span = span.start.saturating_sub(place.start)
                        ..span.end.saturating_sub(place.start);
                }
                said[part * TOGETHER + within].push(message);
            }
        }
        said
    }

    fn write(&self, programs: &[(String, String)]) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let bins = self.folder.join("src/bin");
        fs::create_dir_all(&bins).unwrap();
        let manifest = format!(
            "[package]\nname = \"mailbox\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nplan-runtime = {{ path = {:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\
             serde_json = \"1\"\n\n[workspace]\n",
            root.join("plan-runtime")
        );
        update(&self.folder.join("Cargo.toml"), &manifest);
        update(
            &self.folder.join("Cargo.lock"),
            &fs::read_to_string(root.join("Cargo.lock")).unwrap(),
        );
        update(&self.folder.join("src/lib.rs"), include_str!("mailbox.rs"));
        for (name, source) in programs {
            update(&bins.join(format!("{name}.rs")), source);
        }
        for entry in fs::read_dir(&bins).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            if !programs.iter().any(|(name, _)| name == stem) {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// Writes a file if it differs, so that cargo does not check it again.
fn update(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap();
    }
}

fn message(json: &Value) -> Option<Message> {
    let is_error = json["level"] == "error";
    let headline = json["message"].as_str().unwrap().to_owned();
    // "aborting due to …", "1 warning emitted"
    if json["spans"].as_array().is_none_or(Vec::is_empty) {
        return None;
    }
    let mut shown = headline.clone();
    let mut spans = Vec::new();
    for span in json["spans"].as_array().unwrap() {
        if let Some(label) = span["label"].as_str() {
            shown.push('\n');
            shown.push_str(label);
        }
        if span["is_primary"] == true {
            spans.push(range(span));
        }
    }
    let mut text = shown.clone();
    for child in json["children"].as_array().unwrap() {
        text.push('\n');
        text.push_str(child["message"].as_str().unwrap());
        for span in child["spans"].as_array().unwrap() {
            for part in ["label", "suggested_replacement"] {
                if let Some(part) = span[part].as_str() {
                    text.push('\n');
                    text.push_str(part);
                }
            }
        }
    }
    Some(Message {
        is_error,
        shown,
        text,
        spans,
    })
}

/// Returns the range of a span in the program. For a span in a macro's code, returns the call of the macro.
fn range(span: &Value) -> Range<usize> {
    let mut span = span;
    while !span["file_name"].as_str().unwrap().starts_with("src/bin/") {
        let Some(outer) = span["expansion"].get("span") else {
            break;
        };
        span = outer;
    }
    let at = |end: &str| usize::try_from(span[end].as_u64().unwrap()).unwrap();
    at("byte_start")..at("byte_end")
}
