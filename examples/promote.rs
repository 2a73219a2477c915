//! A plan in JSON, written as Rust: a model drafts, the compiler checks, the author keeps.
//!
//! `cargo run --example promote --features rust -- examples/plans/refund.json` prints the `plan!`, ready to be pasted.
//!
//! If the plan contains code, the example lists the code, and prints the plan only with `--allow-code` as the last argument.

use plan_runtime::dynamic::Reader;
use plan_rust::RustSource;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/plans/refund.json");
    let file = std::env::args()
        .nth(1)
        .unwrap_or_else(|| default.to_owned());
    let allows_code = std::env::args()
        .nth(2)
        .is_some_and(|flag| flag == "--allow-code");
    match promote(Path::new(&file), allows_code) {
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

fn promote(file: &Path, allows_code: bool) -> Result<String, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file)?;
    // A list of steps has no name, so the name of the file is the name of the plan.
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let document = Reader::new().name(name).read(&text)?;
    for warning in document.warnings() {
        eprintln!("{}", warning.message);
    }
    let mut source = RustSource::new(document.plan());
    for code in source.foreign_code()? {
        eprintln!("look at the code in {code}");
    }
    if allows_code {
        source = source.allow_code();
    }
    Ok(source.write()?)
}
