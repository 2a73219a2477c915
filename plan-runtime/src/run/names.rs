//! Names of tools, and beginnings of such.

/// Returns `true` if a name or pattern matches a tool. A pattern is the beginning of names, with a trailing `*`.
pub(crate) fn means(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == name,
    }
}

/// Returns `true` if the names contain a match for a tool.
pub(crate) fn allows<N: AsRef<str>>(names: &[N], tool: &str) -> bool {
    names.iter().any(|name| means(name.as_ref(), tool))
}
