//! The notation of a plan, which `plan!` writes as one string literal, and which the runtime reads when the plan is first used.
//!
//! The notation is a prefix notation. [`Node`] has the forms of numbers, strings and lists. All other nodes are in the
//! table below. Facts that only rustc knows are in a table of constants beside the string, and a [`Constant`] is an
//! index of that table.
//!
//! Strings are `S`: `plan!` writes a `String`, and the runtime reads a `&'static str`.

mod node;
#[cfg(test)]
mod tests;

use node::notation;
pub use node::{Ended, Named, Node, Reader};
use std::time::Duration;

/// An index of the table of constants.
pub type Constant = usize;

notation! {
    /// A plan.
    record PlanData<S> {
        /// The name of the plan.
        name: S,
        /// The documentation of the plan.
        description: S,
        /// The inputs, in order.
        inputs: Vec<InputData<S>>,
        /// The steps and their ids, in order.
        steps: Named<S, StepData<S>>,
        /// The type of the output.
        output_type: S,
        /// The output.
        output: TemplateData<S>,
    }

    /// An input of a plan.
    record InputData<S> {
        /// The name of the input.
        name: S,
        /// The type of the input.
        type_name: S,
        /// The documentation of the input.
        description: S,
    }

    /// A step of a plan or of a block.
    record StepData<S> {
        /// The documentation of the step.
        intent: S,
        /// The steps after which the step starts, by their places.
        after: Vec<usize>,
        /// The role of the step, unless the step is work.
        role: Option<RoleData>,
        /// The body of the step.
        body: BodyData<S>,
        /// The settings that differ from the default.
        policy: Ended<SettingData<S>>,
    }

    /// The role of a step that is not work.
    choice RoleData {
        /// A step that undoes the step at this place.
        "U" Undo(step: usize),
        /// A step that always runs.
        "A" Always,
    }

    /// The body of a step.
    nested BodyData<S> {
        /// A call.
        "T" Call(tool: Constant, arguments: TemplateData<S>),
        /// A value.
        "V" Value(value: TemplateData<S>),
        /// An `if`.
        "I" If(branches: Vec<BranchData<S>>),
        /// A `for`.
        "F" For(pattern: S, list: TemplateData<S>, body: Box<BodyData<S>>),
        /// A block.
        "B" Block(block: BlockData<S>),
        /// A loop. With `last`, the first input of a round is the value of the previous round.
        "L" Loop(last: bool, round: BlockData<S>, again: TemplateData<S>),
        /// A value of this type from outside.
        "W" Await(type_name: S, receive: Constant),
    }

    /// The steps inside a step.
    record BlockData<S> {
        /// The names of the inputs, and their values in the enclosing plan.
        inputs: Vec<(S, TemplateData<S>)>,
        /// The steps and their ids, in order.
        steps: Named<S, StepData<S>>,
        /// The value of the block.
        value: TemplateData<S>,
    }

    /// A branch of an `if`.
    record BranchData<S> {
        /// The conditions of the branch. `else` has none.
        conditions: Vec<ConditionData<S>>,
        /// The body of the branch.
        body: BodyData<S>,
    }

    /// A condition of a branch.
    choice ConditionData<S> {
        /// A `bool`.
        "h" Holds(value: TemplateData<S>),
        /// A `let` with this pattern.
        "b" Let(pattern: S, value: TemplateData<S>),
    }

    /// A setting of a policy.
    choice SettingData<S> {
        /// A literal number.
        "c" Count(amount: Amount, count: usize),
        /// A literal time.
        "t" Time(amount: Amount, time: Duration),
        /// `true` if pauses are random.
        "j" Jitter(is_random: bool),
        /// `#[optional]`
        "w" Optional,
        /// `#[optional(each)]`
        "e" OptionalEach,
        /// `#[catch]`
        "C" Catch,
        /// `#[catch(each)]`
        "E" CatchEach,
        /// The value that replaces a failure.
        "f" Fallback(value: TemplateData<S>),
        /// `#[collect]`
        "k" Collect,
        /// An amount that is a constant of the program, as the author wrote the constant.
        "N" Constant(amount: Amount, written: S, constant: Constant),
        /// An amount that depends on inputs.
        "G" Given(amount: Amount, value: TemplateData<S>),
    }

    /// A number or a time of a policy.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    choice Amount {
        /// The number of attempts.
        "0 " Attempts,
        /// The pause before the second attempt.
        "1 " Backoff,
        /// The longest pause between attempts.
        "2 " Max,
        /// The time limit of an attempt.
        "3 " Timeout,
        /// The time limit of all attempts.
        "4 " Deadline,
        /// The number of elements at a time.
        "5 " Concurrency,
        /// The number of rounds.
        "6 " AtMost,
        /// The time between two starts of a round.
        "7 " Every,
    }

    /// A value that needs no outputs.
    choice ScalarData<S> {
        /// `null`
        "n" Null,
        /// `false`
        "0" False,
        /// `true`
        "1" True,
        /// A number that is not negative.
        "u" Unsigned(number: u64),
        /// The magnitude of a negative number.
        "-" Negative(magnitude: u64),
        /// A float.
        "d" Float(digits: S),
        /// A string.
        "s" String(string: S),
    }

    /// A value in which references may occur.
    nested TemplateData<S> {
        /// A list.
        "l" List(elements: Vec<TemplateData<S>>),
        /// An object with these keys.
        "j" Object(members: Vec<(S, TemplateData<S>)>),
        /// An object with these fields of a type or of a variant.
        "a" Fields(shape: Constant, variant: S, fields: Vec<(S, TemplateData<S>)>),
        /// A nested literal of a type or of a variant.
        "v" Literal(shape: Constant, variant: S, content: Box<TemplateData<S>>),
        /// A reference.
        "r" Reference(reference: ReferenceData<S>),
        /// A `format!`.
        "x" Format(parts: Vec<PartData<S>>),
        /// A Rust expression that reads these sources, as the author wrote the expression.
        "c" Computed(reads: Vec<SourceData>, written: S, code: Constant),
        /// A Rust expression with its form as a test. A run uses the form if the constant permits it, and otherwise the code of the expression.
        "q" Test(answers: Constant, form: FormData<S>, computed: Box<TemplateData<S>>),
        _ Scalar(ScalarData<S>),
    }

    /// The form of a Rust expression.
    nested FormData<S> {
        /// `a && b`
        "&" All(forms: Vec<FormData<S>>),
        /// `a || b`
        "|" Any(forms: Vec<FormData<S>>),
        /// `!a`
        "!" Not(form: Box<FormData<S>>),
        /// A comparison with this operator.
        "=" Compare(operator: S, left: Box<FormData<S>>, right: Box<FormData<S>>),
        /// A call of this method without arguments.
        "?" Ask(method: S, form: Box<FormData<S>>),
        /// A place in an output.
        "r" Place(source: SourceData, written: S, path: Ended<PlacePart<S>>),
        /// A constant of the program.
        "v" Constant,
        _ Scalar(ScalarData<S>),
    }

    /// A part of the path to a place.
    choice PlacePart<S> {
        /// A field by its Rust name.
        "." Field(name: S),
        /// An index.
        "#" Index(index: usize),
        /// A key of a map.
        "k" Key(key: S),
    }

    /// A part of a `format!`.
    choice PartData<S> {
        /// Text.
        "s" Text(text: S),
        /// A placeholder with this format specification.
        "v" Placeholder(spec: S, shown: ShownData<S>),
    }

    /// The value of a placeholder.
    choice ShownData<S> {
        /// A value that this constant formats.
        "-" By(value: TemplateData<S>, show: Constant),
        /// A value that is the formatted text already.
        "=" Text(value: TemplateData<S>),
    }

    /// The source of a value.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    choice SourceData {
        /// A step by its place.
        "s" Step(step: usize),
        /// An input by its place.
        "i" Input(input: usize),
        /// A local value by the number of enclosing local values.
        "l" Local(frame: usize),
    }

    /// A path from a source to a value in it.
    record ReferenceData<S> {
        /// The source.
        source: SourceData,
        /// The reference as the author wrote it.
        written: S,
        /// The path.
        path: Ended<SegmentData<S>>,
    }

    /// A part of the path of a reference.
    choice SegmentData<S> {
        /// A field by its Rust name, of the type in this constant.
        "." Field(shape: Constant, name: S),
        /// An index.
        "#" Index(index: usize, absence: AbsenceData),
        /// A key.
        "k" Key(key: S, absence: AbsenceData),
        /// `[..]`
        "*" Each,
        /// A `?`, whose meaning is in this constant.
        "?" Asked(mark: Constant),
    }

    /// The result of a missing part.
    #[derive(Copy)]
    choice AbsenceData {
        /// An error.
        "!" Error,
        /// `null`
        "?" Null,
        /// `null` for the whole reference.
        "^" Whole,
    }
}

impl<S> TemplateData<S> {
    /// `null`
    pub const NULL: Self = Self::Scalar(ScalarData::Null);
}

impl<'t, S: Node<'t>> PlanData<S> {
    /// Returns the plan in the notation.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Reads a plan whose values are nested in at most `levels` levels. Returns the unread part of the string if the string is not in the notation.
    pub fn of_text(text: &'t str, levels: usize) -> Result<Self, &'t str> {
        let mut reader = Reader { rest: text, levels };
        match Self::read(&mut reader) {
            Some(plan) if reader.rest.is_empty() => Ok(plan),
            _ => Err(reader.rest),
        }
    }
}
