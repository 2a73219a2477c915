//! A plan in JSON, written as Rust: a model drafts, the compiler checks, the author keeps.
//!
//! `cargo run --example promote -- examples/plans/refund.json` prints the `plan!`, ready to be pasted.

use plan_runtime::dynamic::Reader;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/plans/refund.json");
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| default.to_owned());
    match promote(Path::new(&file)) {
        Ok(source) => {
            print!("{source}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn promote(file: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file)?;
    // A list of steps has no name of its own: the plan is called as the file is.
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let document = Reader::new().name(name).read(&text)?;
    for warning in document.warnings().iter() {
        eprintln!("{}", warning.message);
    }
    Ok(document.plan().to_rust()?)
}
