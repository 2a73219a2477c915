/// Why a template could not be resolved.
#[derive(Debug)]
pub struct ResolveError {
    message: String,
}

impl ResolveError {
    pub(crate) fn new(message: String) -> Self {
        Self { message }
    }
}

impl std::fmt::Display for ResolveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for ResolveError {}
