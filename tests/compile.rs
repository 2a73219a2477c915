//! What must not compile, with the compiler's words, and what must.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
    cases.pass("tests/ui/*/pass/*.rs");
}
