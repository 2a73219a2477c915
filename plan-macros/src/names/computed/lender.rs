//! The methods of the standard library that consume their receiver.

/// Returns the function of `check` that lends the receiver of a method with the name of a consuming method of the standard library.
pub(super) fn lender(method: &str) -> Option<&'static str> {
    /// Methods of an `Option` or a `Result`. A type of the application may have borrowing methods with these names.
    const CONSUMING: &[&str] = &[
        "err",
        "expect_err",
        "inspect",
        "inspect_err",
        "is_err_and",
        "is_ok_and",
        "ok",
        "unzip",
    ];
    const NAMES: &[&str] = &[
        "and",
        "and_then",
        "clamp",
        "expect",
        "filter",
        "flatten",
        "into",
        "is_none_or",
        "is_some_and",
        "map",
        "max",
        "min",
        "or",
        "or_else",
        "transpose",
        "try_into",
        "xor",
        "zip",
    ];
    const STARTS: &[&str] = &["into_", "map_", "ok_or", "unwrap"];
    let starts = STARTS.iter().any(|start| method.starts_with(start));
    // `into_iter` accepts borrowed lists as well.
    if NAMES.contains(&method) || starts && method != "into_iter" {
        Some("takable")
    } else {
        CONSUMING.contains(&method).then_some("takable_result")
    }
}
