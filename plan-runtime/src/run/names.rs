//! Names of tools, and beginnings of such.

/// Whether a name means a tool: it is its name, or its beginning with a `*`.
pub(crate) fn means(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == name,
    }
}

/// Whether one of these names means a tool.
pub(crate) fn allows<N: AsRef<str>>(names: &[N], tool: &str) -> bool {
    names.iter().any(|name| means(name.as_ref(), tool))
}
