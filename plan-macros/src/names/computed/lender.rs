//! The methods of the standard library that consume their receiver.

/// Returns the function of `check` that lends the receiver of a method with the name of a consuming method of the standard library.
pub(super) fn lender(method: &str) -> Option<&'static str> {
    match method {
        // Methods of an `Option` or a `Result`. A type of the application may have borrowing methods with these names.
        "err" | "expect_err" | "inspect" | "inspect_err" | "is_err_and" | "is_ok_and" | "ok"
        | "unzip" => Some("takable_result"),
        // This method accepts borrowed lists as well.
        "into_iter" => None,
        "and" | "and_then" | "clamp" | "expect" | "filter" | "flatten" | "into" | "is_none_or"
        | "is_some_and" | "map" | "max" | "min" | "or" | "or_else" | "transpose" | "try_into"
        | "xor" | "zip" => Some("takable"),
        method => {
            let mut starts = ["into_", "map_", "ok_or", "unwrap"].into_iter();
            let is_consuming = starts.any(|start| method.starts_with(start));
            is_consuming.then_some("takable")
        }
    }
}
