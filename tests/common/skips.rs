//! Tests that need more tools or files. The binary `skipped` runs last, and prints the number of skipped tests.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

/// Returns the folder with a file for each skipped test, since each binary is a process.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped")
}

/// Returns `Some` if the test can run; otherwise counts the test as skipped for this reason.
pub fn unless<T>(test: &str, needed: Result<T, String>) -> Option<T> {
    let thread = thread::current();
    // Test threads have the names of their tests, unless there is one thread for all tests.
    let name = thread.name().filter(|name| name.contains("::"));
    let file = folder().join(name.unwrap_or(test));
    match needed {
        Ok(needed) => {
            let _ = fs::remove_file(file);
            Some(needed)
        }
        Err(why) => {
            if !file.exists() {
                // Standard error directly, since the test harness captures the output of a test.
                let _ = writeln!(std::io::stderr(), "skipped {test}: {why}");
            }
            fs::create_dir_all(folder()).unwrap();
            fs::write(file, &why).unwrap();
            None
        }
    }
}

/// Returns the folder of recorded plans: `PLAN_CORPORA`, or `../shared/corpora` beside the workspace.
pub fn corpora() -> Result<PathBuf, String> {
    outside("PLAN_CORPORA", "../shared/corpora")
}

/// Returns the file of wrong documents: `PLAN_WRONG`, or `../shared/mistakes/json/documents.txt` beside the workspace.
pub fn wrong_documents() -> Result<PathBuf, String> {
    outside("PLAN_WRONG", "../shared/mistakes/json/documents.txt")
}

fn outside(variable: &str, default: &str) -> Result<PathBuf, String> {
    let path = match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => root().join(default),
    };
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("there is no {}", path.display()))
    }
}

/// Returns the folder of the workspace.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    match package.file_name() {
        Some(name) if name == "plan-runtime" => package.parent().unwrap(),
        _ => package,
    }
}
