//! What must not compile, with the compiler's words, and what must.

use std::env;
use std::io::Write;
use std::process::Command;

/// The compiler whose words are written down.
const PINNED: &str = "rustc 1.95.";

#[test]
fn ui() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if !version.starts_with(PINNED) {
        // Past the test harness, which keeps what a test prints that succeeds.
        let version = version.trim();
        let skipped = format!(
            "tests/ui: skipped, since its messages are those of {PINNED}x, and this is {version}\n"
        );
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
    cases.pass("tests/ui/*/pass/*.rs");
}
