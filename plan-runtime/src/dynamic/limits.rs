//! The largest size of a document.

use crate::plan::depth::DEEPEST_VALUE;
use std::time::Duration;

/// The limits of a reader, which refuses larger documents to protect the memory and the stack.
///
/// ```
/// use plan_runtime::dynamic::{DocumentLimits, Reader};
///
/// let reader = Reader::new().limits(DocumentLimits::DEFAULT.steps(2));
/// let step = r#"{"id": "a", "tool": "t", "arguments": {}}"#;
/// let findings = reader.read(&format!(r#"{{"steps": [{step}, {step}, {step}]}}"#)).unwrap_err();
/// assert_eq!(findings[0].message, "the plan has 3 steps, but the limit is 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentLimits {
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
    /// Values of a document, in addition to one value for each eight bytes of the document. By default 16,384. A step counts as four
    /// values. The limit bounds the memory for reading to 2 MiB and 20 times the size of the document. Only long lists of short values exceed the limit.
    pub values: usize,
    /// Inputs, including inputs that only occur in references. The default is 10,000.
    pub inputs: usize,
    /// References in the arguments, conditions, loops and the output. By default 100,000.
    pub references: usize,
    /// Attempts of one step: the `attempts` of a policy, or a `retryCount` and the first attempt. By default 10,000.
    pub attempts: u32,
    /// The longest wait, time limit or deadline of a step. The default is 365 days.
    pub time: Duration,
    /// The largest number of listed findings. The last finding contains the number of omitted findings. If the list is full of
    /// errors, the reader skips the rest of the document. The default is 256.
    pub findings: usize,
}

impl DocumentLimits {
    /// The default limits of a reader.
    pub const DEFAULT: Self = Self {
        bytes: 16 << 20,
        steps: 10_000,
        depth: 64,
        string: 1 << 20,
        name: 1_024,
        values: 16_384,
        inputs: 10_000,
        references: 100_000,
        attempts: 10_000,
        time: Duration::from_secs(365 * 24 * 60 * 60),
        findings: 256,
    };

    /// The limits for a plan in memory, which needs only the limit that protects the stack.
    pub(super) const OF_PLANS: Self = Self {
        bytes: usize::MAX,
        steps: usize::MAX,
        depth: DEEPEST_VALUE,
        string: usize::MAX,
        name: usize::MAX,
        values: usize::MAX,
        inputs: usize::MAX,
        references: usize::MAX,
        attempts: u32::MAX,
        time: Duration::MAX,
        findings: Self::DEFAULT.findings,
    };

    setters! {
        /// Limits the bytes of the whole document.
        bytes: usize;
        /// Limits the number of steps.
        steps: usize;
        /// Limits the levels of lists and objects in arguments, conditions and loops, to at most 127.
        depth: usize;
        /// Limits the bytes of one string.
        string: usize;
        /// Limits the bytes of a name.
        name: usize;
        /// Limits the values of a document, in addition to one value for each eight bytes.
        values: usize;
        /// Limits the number of inputs.
        inputs: usize;
        /// Limits the number of references.
        references: usize;
        /// Limits the attempts of one step.
        attempts: u32;
        /// Limits the waits, time limits and deadlines of steps.
        time: Duration;
        /// Limits the findings that are listed.
        findings: usize;
    }
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
