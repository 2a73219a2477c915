//! Idempotency keys, as the language's description has them.
//!
//! The key of a call is its path. A part of the path that was undone has its count. A call of an undo step has the count of the step that it undoes. An always step runs once
//! in each attempt of its scope, so its key has the attempts of all scopes around it.

/// The key of a step, or the beginning of the keys of the calls in a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The key that all attempts of the scopes around the step share.
    lasting: String,
    /// The key that belongs to one attempt of the scopes around the step.
    of_attempt: String,
}

pub(crate) fn elements(element: &[usize]) -> String {
    element.iter().map(|index| format!("[{index}]")).collect()
}

impl Keys {
    /// Returns the name of the count of a step of the scope.
    pub(crate) fn counted(&self, step: &str) -> String {
        format!("{}{step}", self.lasting)
    }

    /// Returns the key of a step of the scope.
    pub(crate) fn of_step(&self, step: &str, times: u32, is_always: bool) -> Self {
        let Self {
            lasting,
            of_attempt,
        } = self;
        let step = match times {
            0 => step.to_owned(),
            _ => format!("{step}~{times}"),
        };
        let lasting = if is_always { of_attempt } else { lasting };
        Self {
            lasting: format!("{lasting}{step}"),
            of_attempt: format!("{of_attempt}{step}"),
        }
    }

    /// Returns the key of a call that is an element of the step.
    pub(crate) fn of_element(&self, element: &[usize]) -> String {
        format!("{}{}", self.lasting, elements(element))
    }

    /// Returns the beginning of the keys in an attempt of an element of the step.
    pub(crate) fn inside(&self, element: &[usize], attempt: u32) -> Self {
        let element = elements(element);
        let attempt = match attempt {
            1 => String::new(),
            _ => format!("@{attempt}"),
        };
        Self {
            lasting: format!("{}{element}.", self.lasting),
            of_attempt: format!("{}{element}{attempt}.", self.of_attempt),
        }
    }
}
