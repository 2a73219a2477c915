//! A workspace of generated crates, and the messages of rustc.

use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Scratch {
    folder: PathBuf,
    packages: Vec<String>,
}

/// A position in a generated file; columns count characters from 1, and the end is after the last one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub file: String,
    pub line: u64,
    pub start: u64,
    pub end: u64,
}

pub(crate) struct Diagnostic {
    pub level: String,
    pub rendered: String,
    pub message: String,
    pub primary: Vec<Place>,
}

impl Diagnostic {
    pub(crate) fn file(&self) -> &str {
        self.primary.first().map_or("", |place| &place.file)
    }
}

pub(crate) struct Checked {
    pub diagnostics: Vec<Diagnostic>,
    pub took: Duration,
}

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        Self {
            folder,
            packages: Vec::new(),
        }
    }

    /// Adds a crate with a file for each module, or with only the content of `lib.rs`.
    pub(crate) fn package(
        &mut self,
        name: &str,
        depends: &[&str],
        lib: &str,
        modules: &[(String, String)],
    ) {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             plan-runtime = {{ path = {:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n",
            Path::new(root).join("plan-runtime"),
        );
        for depends in depends {
            let _ = writeln!(manifest, "{depends} = {{ path = \"../{depends}\" }}");
        }
        let mods: String = modules
            .iter()
            .map(|(module, _)| format!("pub mod {module};\n"))
            .collect();
        self.write(&format!("{name}/Cargo.toml"), &manifest);
        self.write(&format!("{name}/src/lib.rs"), &format!("{lib}{mods}"));
        for (module, text) in modules {
            self.write(&format!("{name}/src/{module}.rs"), text);
        }
        self.packages.push(name.to_owned());
    }

    /// Writes a file if it is another one, so that what is unchanged is not checked again.
    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return;
        }
        std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("the folder can be made");
        std::fs::write(&path, text).expect("the file can be written");
    }

    /// Returns the generated file.
    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// Writes the manifest of the workspace, with the versions of this one. Nothing is checked incrementally: most is checked once.
    pub(crate) fn finish(&self) {
        self.write("Cargo.toml", &format!("[workspace]\nmembers = {:?}\nresolver = \"3\"\n\n[profile.dev]\nincremental = false\n", self.packages));
        let lock =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock"));
        if !self.folder.join("Cargo.lock").exists() {
            self.write("Cargo.lock", &lock.expect("the workspace has a lock file"));
        }
    }

    /// Runs `cargo check` on these crates.
    pub(crate) fn check(&self, packages: &[&str]) -> Checked {
        // The target folder of `tests/mistakes`, so that cargo checks the dependencies only once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests/programs");
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&self.folder).args([
            "check",
            "--offline",
            "--keep-going",
            "--quiet",
            "--message-format=json",
        ]);
        command.env("CARGO_TARGET_DIR", target);
        packages.iter().for_each(|package| {
            command.args(["-p", package]);
        });
        let start = Instant::now();
        let output = command.output().expect("cargo runs");
        let took = start.elapsed();
        let lines = String::from_utf8_lossy(&output.stdout);
        let messages = lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let messages = messages.filter(|message| message["reason"] == "compiler-message");
        let diagnostics: Vec<Diagnostic> = messages
            .map(|message| diagnostic(&message["message"]))
            .collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() || diagnostics.iter().any(|one| one.level == "error"),
            "cargo failed:\n{errors}"
        );
        Checked { diagnostics, took }
    }
}

fn diagnostic(message: &Value) -> Diagnostic {
    let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
    let spans = message["spans"].as_array().into_iter().flatten();
    Diagnostic {
        level: text("level"),
        rendered: text("rendered"),
        message: text("message"),
        primary: spans
            .filter(|span| span["is_primary"] == true)
            .map(place)
            .collect(),
    }
}

fn place(span: &Value) -> Place {
    let number = |key: &str| span[key].as_u64().unwrap_or_default();
    let file = span["file_name"].as_str().unwrap_or_default().to_owned();
    let several = number("line_start") != number("line_end");
    Place {
        file,
        line: number("line_start"),
        start: number("column_start"),
        end: if several {
            u64::MAX
        } else {
            number("column_end")
        },
    }
}
