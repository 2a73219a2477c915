//! The constants of a plan, and the keys by which equal constants and checks are found, so that each occurs once.

use super::View;
use plan_graph::notation::Constant;
use proc_macro2::{Ident, Span, TokenStream};
use std::collections::{HashMap, HashSet};

/// An action of a plan that a run starts by its number, or a block, whose number is before the numbers of its content.
pub(super) enum Action {
    /// The call of a tool: the number of the step, and the index of the tool among the tools of the step.
    Call(usize, usize),
    /// The number of a step, and the type of a value that the step computes.
    Compute(usize, TokenStream),
    /// A block, or a value with an error.
    Other,
}

/// The number of a type. Values with equal numbers have one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TypeId(usize);

/// The origin of a type.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum TypeKey {
    Unknown,
    /// The output of the tool with this path.
    Output(String),
    Step(usize),
    Input(usize),
    /// The type of a step for a reader that does not see the plain output.
    Seen(View, TypeId),
    /// A part of the value that a name is bound to: the binding, and the part.
    Local(String, Option<usize>),
    /// A part of a value of another type.
    Part(TypeId, PartKey),
}

/// The kind of a part of a value. Parts of equal kinds have equal types.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum PartKey {
    Field(String),
    Element,
    Value,
    Elements,
    Present,
    GotElement,
    GotValue,
    GotOther,
    Outcome(String),
    Pointer,
}

/// A constant with several uses.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum ConstantKey {
    Tool(String),
    Shape(TypeId),
    Asked(TypeId),
}

/// A check that rustc makes once.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum CheckKey {
    /// The argument of the tool in a constant.
    Argument(Constant, String),
    Field(TypeId, String, Next),
    /// A field that a computed value names.
    Computed(TypeId, String),
    /// A key beside the fields of a type.
    Beside(TypeId, String),
    Index(TypeId, usize),
    /// A reference that may lead to a flattened field.
    Flattened(TypeId, String),
}

/// The part of a reference after a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Next {
    None,
    Element,
    Other,
}

/// The constants and checks of a plan so far.
#[derive(Default)]
pub(super) struct Table {
    pub(super) constants: Constant,
    pub(super) shared: HashMap<ConstantKey, Constant>,
    types: HashMap<TypeKey, TypeId>,
    checks: HashSet<CheckKey>,
    /// The span of the first check of the fields of each type.
    asked: HashMap<TypeId, Span>,
    /// The items that contain the constants, in order.
    pub(super) items: Vec<Ident>,
    pub(super) actions: Vec<Action>,
    /// The number of names so far.
    pub(super) names: usize,
}

impl Table {
    pub(super) fn type_id(&mut self, key: TypeKey) -> TypeId {
        let next = TypeId(self.types.len());
        *self.types.entry(key).or_insert(next)
    }

    pub(super) fn shared(&self, key: &ConstantKey) -> Option<Constant> {
        self.shared.get(key).copied()
    }

    pub(super) fn is_new_check(&mut self, check: CheckKey) -> bool {
        self.checks.insert(check)
    }

    /// Returns the span at which rustc checks the fields of a type. All checks of a type have the span of the first
    /// check, so that rustc reports each error once.
    pub(super) fn asked_at(&mut self, ty: TypeId, at: Span) -> Span {
        *self.asked.entry(ty).or_insert(at)
    }
}
