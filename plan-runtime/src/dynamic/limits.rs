/// How much a reader takes before it refuses a document, so that nobody's plan uses up the memory or the stack.
///
/// ```
/// use plan_runtime::dynamic::{Limits, Reader};
///
/// let reader = Reader::new().limits(Limits { steps: 2, ..Limits::default() });
/// let step = r#"{"id": "a", "tool": "t", "arguments": {}}"#;
/// let findings = reader.read(&format!(r#"{{"steps": [{step}, {step}, {step}]}}"#)).unwrap_err();
/// assert_eq!(findings[0].message, "the plan has 3 steps, and at most 2 are read");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole document. By default 16 MiB.
    pub bytes: usize,
    /// Steps. By default 10,000.
    pub steps: usize,
    /// Levels of lists and objects in the arguments of a step, of conditions and of loops. By default 64, and never more than 127.
    pub depth: usize,
    /// Bytes of one string, without its escapes. By default 1 MiB.
    pub string: usize,
    /// Bytes of a name: the id of a step, the name of a tool or of an input, a type. By default 1,024.
    pub name: usize,
    /// Values that are read however short the document is. By default 4,096. A document that has more of them has eight bytes for each value
    /// beyond, of which each step counts for four, so that what is read takes no more memory than 20 times its size. That only long lists of short values do not have.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            steps: 10_000,
            depth: 64,
            string: 1 << 20,
            name: 1_024,
            values: 4_096,
        }
    }
}
