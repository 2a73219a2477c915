// This file is included, since several test binaries need it.

/// Prints why a test does nothing, past the test harness, which keeps the output of a test that passes. The command that runs all
/// tests counts these lines.
fn skip(reason: &str) {
    use std::io::Write;
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}
