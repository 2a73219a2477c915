/// What a tool returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a tool failed. Any [`std::error::Error`] converts into it with `?`; it is transient (worth another try) unless said otherwise.
pub struct Error {
    source: Box<dyn std::error::Error + Send + Sync>,
    permanent: bool,
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self {
            source: Box::new(error),
            permanent: false,
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.source, self.permanent)
    }
}

/// Marks the error of a result as permanent.
pub trait ResultExt<T> {
    /// Another try would not help.
    fn permanent(self) -> Result<T>;
}
