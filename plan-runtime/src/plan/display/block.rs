//! Blocks, printed for people.

use super::{names_of, write_beside};

use crate::plan::{Block, InPlan, Loop, Template, seen};
use crate::print::Name;
use std::fmt::{Formatter, Result, Write};

impl InPlan<'_, &Block> {
    /// Writes the content of a block's braces: the inputs whose names differ from their sources, the steps, and the value. The first input of a
    /// loop's round is the value of the previous round.
    pub(super) fn write(&self, f: &mut Formatter<'_>, indent: usize, is_round: bool) -> Result {
        let Block { inputs, plan } = self.part;
        match self.part.reads() {
            Some(reads) => {
                for (place, (name, value)) in reads.into_iter().enumerate() {
                    if !(self.of(value).is_called(name) || is_round && place == 0) {
                        let value = self.of(value);
                        writeln!(f, "{:indent$}input {} = {value}", "", Name(name))?;
                    }
                }
            }
            // The block and its plan have different inputs, so no run starts the block.
            None => writeln!(f, "{:indent$}input {}", "", self.of(inputs))?,
        }
        let known = names_of(plan);
        let inside = InPlan {
            names: Some(&known),
            ..InPlan::new(plan, ())
        };
        for step in self.part.named_steps() {
            inside.of(step).write(f, indent)?;
        }
        match (self.part.tail(), self.part.value()) {
            (Some(tail), _) => {
                write!(f, "{:indent$}", "")?;
                inside.of(tail).write(f, indent, "")
            }
            (None, Some(value)) => writeln!(f, "{:indent$}{}", "", inside.of(value)),
            (None, None) => Ok(()),
        }
    }
}

impl InPlan<'_, &Loop> {
    /// Writes a loop whose first line is indented by `indent`, with a comment beside that line.
    pub(super) fn write(&self, f: &mut Formatter<'_>, indent: usize, comment: &str) -> Result {
        let (Loop { round, last, again }, inside) = (self.part, indent + 2);
        f.write_str("loop ")?;
        if let Some(last) = round.plan.inputs.first().filter(|_| *last) {
            write!(f, "|{}| ", Name(&last.name))?;
        }
        f.write_char('{')?;
        write_beside(f, comment, inside)?;
        self.of(round).write(f, inside, *last)?;
        // The step and the value of the round share a name.
        let known = names_of(&round.plan);
        let again = InPlan {
            names: Some(&known),
            ..InPlan::new(&round.plan, again)
        };
        writeln!(f, "{:indent$}}} while {again}", "")
    }
}

impl InPlan<'_, &Template> {
    /// Returns `true` if the template is a whole source with this name.
    fn is_called(&self, name: &str) -> bool {
        let Template::Reference(reference) = self.part else {
            return false;
        };
        let source = reference.source;
        let own = source.name();
        let outside = self.plan.and_then(|plan| plan.name_of(source));
        let outside = outside.unwrap_or(&own);
        let seen = seen(source, outside, reference.path(), self.locals);
        seen.is_some_and(|(seen, rest)| {
            let is_whole = rest.segments.is_empty() && !rest.optional && rest.otherwise.is_none();
            is_whole && seen == name
        })
    }
}
