//! What must not compile, with the compiler's words, and what must.

use std::env;
use std::process::Command;

include!("support/skip.rs");

/// The compiler whose words are written down.
const PINNED: &str = "rustc 1.95.";

#[test]
fn ui() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/*/pass/*.rs");
    if version.starts_with(PINNED) {
        cases.compile_fail("tests/ui/*/*.rs");
    } else {
        let version = version.trim();
        skip(&format!(
            "the messages in tests/ui are those of {PINNED}x, and this is {version}"
        ));
    }
}
