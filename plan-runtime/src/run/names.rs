//! Patterns for names of tools: a name, or the beginning of names with a trailing `*`.
//!
//! `Run::allow_tools`, `Toolbox::only` and `Throttle` use these patterns.

/// Returns `true` if a pattern matches the name of a tool.
pub(crate) fn means(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == name,
    }
}

/// Returns `true` if any pattern matches the name of a tool.
pub(crate) fn allows<N: AsRef<str>>(names: &[N], tool: &str) -> bool {
    names.iter().any(|name| means(name.as_ref(), tool))
}
