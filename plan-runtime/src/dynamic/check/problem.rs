//! What is wrong with a value, and which part of it is underlined.

use crate::dynamic::finding::Code;

/// How many problems of one value are kept. No more of them can be listed.
const MOST: usize = 256;

/// A value that does not fit, before it is known which of several forms counts.
#[derive(Clone)]
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) warning: bool,
    /// Which template it is of.
    pub(super) at: Option<usize>,
    pub(super) part: ProblemPlace,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Which part of a template is underlined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProblemPlace {
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
            part: ProblemPlace::Value,
            message,
            help: None,
        }
    }

    pub(super) fn at(self, part: ProblemPlace) -> Self {
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
    fn weight(&self) -> usize {
        match self.code {
            _ if self.warning => 1,
            Code::NotAllowed => 40,
            Code::WrongType | Code::ListOrElement => 30,
            Code::MissingArgument => 20,
            _ => 10,
        }
    }
}

/// What does not fit in one value. Errors go before warnings where there are many.
#[derive(Clone, Default)]
pub(super) struct Problems {
    pub(super) kept: Vec<Problem>,
    pub(super) more_errors: usize,
    pub(super) more_warnings: usize,
    errors: usize,
    weight: usize,
}

impl Problems {
    pub(super) fn push(&mut self, problem: Problem) {
        self.weight = self.weight.saturating_add(problem.weight());
        if self.kept.len() < MOST {
            self.errors += usize::from(!problem.warning);
            self.kept.push(problem);
        } else if problem.warning {
            self.more_warnings += 1;
        } else if let Some(last) = self.kept.iter().rposition(|problem| problem.warning) {
            self.kept.remove(last);
            self.kept.push(problem);
            self.errors += 1;
            self.more_warnings += 1;
        } else {
            self.more_errors += 1;
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.more_errors += other.more_errors;
        self.more_warnings += other.more_warnings;
        other
            .kept
            .into_iter()
            .for_each(|problem| self.push(problem));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Whether there are more errors than are kept, so that nobody needs to look for further ones.
    pub(super) fn is_full(&self) -> bool {
        self.errors == MOST && self.more_errors > 0
    }

    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        let mut problems = Self::default();
        problems.push(problem);
        problems
    }
}
