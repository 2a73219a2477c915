//! Descriptions that contradict themselves.

use std::fmt;

/// The reason why a description has no tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNodes {
    /// There is no plan with this place in the list of plans.
    NoPlan(usize),
    /// A step of this label names a step of its scope that does not exist, or that is no work and has an undo step.
    NoStep(u32),
    /// Steps of the scope of the step with this label wait for each other.
    Circle(u32),
    /// The step of this label names a step that it cannot wait for: undo steps follow the order of the steps that they undo, and only always steps wait for always steps.
    BadOrder(u32),
    /// The undo step of this label undoes a step that another undo step undoes.
    TwoUndos(u32),
    /// The step of this label has a loop for each element of a list. A block around the loop makes the loop a step of its own.
    ListedLoop(u32),
    /// The step of this label has more lists and branches inside each other than [`BadNodes::DEPTH`].
    TooDeep(u32),
    /// There are more steps, edges or scopes than ids.
    TooMany,
}

impl fmt::Display for BadNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlan(plan) => write!(f, "there is no plan {plan}: add the plan to the list"),
            Self::NoStep(label) => write!(f, "step {label} names a step that does not exist"),
            Self::Circle(label) => {
                write!(
                    f,
                    "step {label} and others of its scope wait for each other"
                )
            }
            Self::BadOrder(label) => write!(
                f,
                "step {label} cannot wait for a step that it names: remove the name"
            ),
            Self::TwoUndos(label) => write!(
                f,
                "step {label} undoes a step that another step undoes: put both in one block"
            ),
            Self::TooDeep(label) => write!(
                f,
                "step {label} has more than {} lists and branches inside each other: put a block around the inner ones",
                Self::DEPTH
            ),
            Self::ListedLoop(label) => {
                write!(
                    f,
                    "step {label} has a loop in a list: put a block around the loop"
                )
            }
            Self::TooMany => write!(f, "the plan has too many steps: split the plan"),
        }
    }
}

impl std::error::Error for BadNodes {}

impl BadNodes {
    /// The most lists and branches of a step inside each other.
    pub const DEPTH: u32 = 64;
}

/// A number as an id.
pub(super) fn number(number: usize) -> Result<u32, BadNodes> {
    match u32::try_from(number) {
        Ok(number) if number < u32::MAX => Ok(number),
        _ => Err(BadNodes::TooMany),
    }
}
