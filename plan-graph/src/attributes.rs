//! The attributes of steps, in one table. The parser of `plan!`, its editor expansion, the messages, the documentation of plans and printed plans
//! read the table.

use crate::notation::Amount;
use std::time::Duration;

/// The default of [`Amount::Backoff`].
pub const BACKOFF: Duration = Duration::from_millis(100);

/// The default of [`Amount::Max`].
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Passes the table of attributes to the macro `$rows`.
///
/// A row consists of the documentation, the name, the variant of [`StepAttribute`], its [`Concern`], its [`Takes`], a description of the
/// arguments for messages, and the named arguments in braces. An argument that is an [`Amount`] names its variant in parentheses.
#[doc(hidden)]
#[macro_export]
macro_rules! step_attributes {
    ($rows:ident) => {
        $rows! {
            /// `#[after(first, second)]`: the step starts after these steps have ended.
            after After Order Names "the steps that must end first: `#[after(first, second)]`" {}
            /// `#[undo(paid)]`: the step undoes `paid` if `paid` completed and the plan fails, is cancelled or exceeds its deadline.
            undo Undo Order Names "the step that this one undoes: `#[undo(paid)]`" {}
            /// `#[always]`: the step runs at the end of every run, after success and failure. It reads the other steps as `Result`s.
            always Always Order Nothing
                "no arguments\nhelp: write `#[after(…)]` for always steps that it waits for" {}
            /// `#[retry(3, backoff = "200ms", max = "10s", jitter = false)]`: the maximum number of attempts, and the waits between them.
            retry Retry Attempts Amounts
                "the maximum number of attempts: `#[retry(3)]` or `#[retry(5, backoff = \"200ms\", max = \"10s\", jitter = false)]`" {
                /// The maximum number of attempts.
                attempts(Attempts),
                /// The first wait, which doubles.
                backoff(Backoff),
                /// The longest wait.
                max(Max),
                /// `jitter = false` removes the random part of each wait.
                jitter,
            }
            /// `#[timeout("10s")]`: the time limit of each attempt.
            timeout Timeout Attempts Amounts "a duration: `#[timeout(\"10s\")]`" {
                /// The longest time of an attempt.
                time(Timeout),
            }
            /// `#[deadline("1m")]`: the time limit of all attempts and waits together.
            deadline Deadline Attempts Amounts "a duration: `#[deadline(\"1m\")]`" {
                /// The longest time of all attempts.
                time(Deadline),
            }
            /// `#[optional]`: a failure of the step does not fail the plan, and the step is an `Option`. `#[optional(each)]` applies to each element of
            /// a `for`.
            optional Optional Failure Each
                "no arguments except `each`, which makes each element of a `for` optional" {
                /// `#[optional(each)]`: an element of a `for` that fails is `None` in the list.
                each,
            }
            /// `#[catch]`: a failure of the step is a value, and the step is a `Result<T, Failure>`. `#[catch(each)]` applies to each element of a `for`.
            catch Catch Failure Each
                "no arguments except `each`, which catches the failure of each element of a `for`" {
                /// `#[catch(each)]`: an element of a `for` that fails is an `Err` in the list.
                each,
            }
            /// `#[fallback(value)]`: the output if the step fails.
            fallback Fallback Failure Value
                "the value to use as the output if the step fails: `#[fallback(0)]`" {}
            /// `#[concurrency(4)]`: the maximum number of concurrent elements of a `for`.
            concurrency Concurrency Elements Amounts
                "the number of elements of a `for` that run concurrently: `#[concurrency(4)]`" {
                /// The maximum number of concurrent elements.
                elements(Concurrency),
            }
            /// `#[at_most(100, every = "3s")]`: the maximum number of rounds of a `loop`, and the time between their starts.
            at_most AtMost Rounds Amounts
                "the most rounds of a loop: `#[at_most(100)]` or `#[at_most(100, every = \"3s\")]`" {
                /// The maximum number of rounds.
                rounds(AtMost),
                /// The least time between the starts of two rounds.
                every(Every),
            }
            /// `#[collect]`: the output of a `loop` is a `Vec` of the values of all rounds.
            collect Collect Rounds Nothing "no arguments" {}
        }
    };
}

/// The part of a step that an attribute affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// The start of the step relative to other steps.
    Order,
    /// The attempts of calls and waits.
    Attempts,
    /// The output after a failure, which only steps of the work have.
    Failure,
    /// The elements of a `for`.
    Elements,
    /// The rounds of a `loop`.
    Rounds,
}

/// The arguments of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No arguments.
    Nothing,
    /// No arguments, or `each`.
    Each,
    /// Names of steps.
    Names,
    /// A value of any type.
    Value,
    /// The first argument without its name, then optional `name = value` pairs.
    Amounts,
}

/// A named argument of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The name in Rust.
    pub name: &'static str,
    /// `None` for a flag.
    pub amount: Option<Amount>,
}

macro_rules! optional_amount {
    () => {
        None
    };
    ($amount:ident) => {
        Some(Amount::$amount)
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $variant:ident $concern:ident $takes:ident $usage:literal {
        $($(#[$argument_doc:meta])* $argument:ident $(($amount:ident))?),* $(,)?
    })*) => {
        /// An attribute of a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StepAttribute {
            $($(#[$doc])* $variant,)*
        }

        impl StepAttribute {
            /// All attributes, in the order of messages.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name in Rust.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)* }
            }

            /// Returns the part of a step that the attribute is about.
            pub const fn concern(self) -> Concern {
                match self { $(Self::$variant => Concern::$concern,)* }
            }

            /// Returns the kind of the arguments.
            pub const fn takes(self) -> Takes {
                match self { $(Self::$variant => Takes::$takes,)* }
            }

            /// Returns the named arguments.
            pub const fn arguments(self) -> &'static [Argument] {
                match self {
                    $(Self::$variant => &[$(Argument {
                        name: stringify!($argument),
                        amount: optional_amount!($($amount)?),
                    }),*],)*
                }
            }

            const fn description(self) -> &'static str {
                match self { $(Self::$variant => $usage,)* }
            }
        }
    };
}

step_attributes!(define);

impl StepAttribute {
    /// Returns the attribute with this name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|attribute| attribute.name() == name)
    }

    /// Returns `true` for an attribute that changes the type of the output.
    pub const fn changes_type(self) -> bool {
        matches!(self, Self::Optional | Self::Catch | Self::Collect)
    }

    /// Returns `true` for an attribute that may be a name alone.
    pub const fn is_complete_alone(self) -> bool {
        matches!(self.takes(), Takes::Nothing | Takes::Each)
    }

    /// Returns the message about wrong arguments.
    pub fn usage(self) -> String {
        let (name, description) = (self.name(), self.description());
        let arguments = if self.is_complete_alone() {
            ""
        } else {
            "(…)"
        };
        format!("`#[{name}{arguments}]` takes {description}")
    }
}

/// Returns the attributes of a policy as source code, without `#[` and `]`.
///
/// `text` returns the source code of an amount, and for `None` the source code of the attribute's other arguments.
///
/// ```
/// use plan_graph::{Amount, StepAttribute, policy_attributes};
///
/// let attributes = policy_attributes(|attribute, amount| match (attribute, amount) {
///     (StepAttribute::Optional, None) => Some("each".to_owned()),
///     (_, Some(Amount::Attempts)) => Some("3".to_owned()),
///     (_, Some(Amount::Max)) => Some("LONGEST".to_owned()),
///     _ => None,
/// });
/// assert_eq!(attributes, ["retry(3, max = LONGEST)", "optional(each)"]);
/// ```
pub fn policy_attributes(
    mut text: impl FnMut(StepAttribute, Option<Amount>) -> Option<String>,
) -> Vec<String> {
    let written = |attribute: StepAttribute| {
        let (name, takes) = (attribute.name(), attribute.takes());
        let arguments = attribute.arguments();
        let mut inside = match arguments.first().filter(|_| takes == Takes::Amounts) {
            Some(first) => text(attribute, first.amount)?,
            None => text(attribute, None)?,
        };
        if takes == Takes::Amounts {
            for Argument { name, amount } in &arguments[1..] {
                let value = text(attribute, *amount);
                inside.extend(value.map(|value| format!(", {name} = {value}")));
            }
        }
        Some(if inside.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({inside})")
        })
    };
    let all = StepAttribute::ALL.iter().copied();
    // The result of a failure comes last.
    let (last, first): (Vec<_>, Vec<_>) = all
        .filter(|attribute| attribute.concern() != Concern::Order)
        .partition(|attribute| attribute.concern() == Concern::Failure);
    first.into_iter().chain(last).filter_map(written).collect()
}
