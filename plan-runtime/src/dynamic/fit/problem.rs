use crate::dynamic::finding::Code;

/// A value that does not fit, before it is known which of several forms counts.
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) warning: bool,
    /// Which template it is of.
    pub(super) at: Option<usize>,
    pub(super) part: Place,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Which part of a template is underlined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Value,
    /// Its name as a member.
    Key,
    /// The name of the tool whose arguments the template is.
    Tool,
}

impl Problem {
    pub(super) fn new(code: Code, at: Option<usize>, message: String) -> Self {
        Self {
            code,
            warning: false,
            at,
            part: Place::Value,
            message,
            help: None,
        }
    }

    pub(super) fn at(self, part: Place) -> Self {
        Self { part, ..self }
    }

    pub(super) fn help(self, help: impl Into<Option<String>>) -> Self {
        Self {
            help: help.into(),
            ..self
        }
    }

    pub(super) fn warning(self, warning: bool) -> Self {
        Self { warning, ..self }
    }

    /// How far from what was meant a form is that has this problem.
    pub(super) fn weight(&self) -> usize {
        match self.code {
            _ if self.warning => 1,
            Code::NotAllowed => 40,
            Code::WrongType | Code::ListOrElement => 30,
            Code::MissingArgument => 20,
            _ => 10,
        }
    }
}
