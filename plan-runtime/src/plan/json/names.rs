//! The names of the members of plan JSON, which the writer and the reader share.

use crate::plan::Test;

pub(crate) use crate::plan::policy::names as policy;

macro_rules! objects {
    ($($(#[doc = $doc:literal])+ $object:ident { $($name:ident = $text:literal),+ $(,)? })+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) mod $object {
                $(pub(crate) const $name: &str = $text;)+

                /// All names, in the order of messages.
                pub(crate) const ALL: &[&str] = &[$($name),+];
            }
        )+
    };
}

objects! {
    /// A plan.
    plan {
        NAME = "name",
        DESCRIPTION = "description",
        INPUTS = "inputs",
        STEPS = "steps",
        OUTPUT = "output",
    }

    /// An input of a plan.
    input {
        NAME = "name",
        TYPE = "type",
        DESCRIPTION = "description",
        SECRETS = "secrets",
    }

    /// The output of a plan.
    output {
        TYPE = "type",
        VALUE = "value",
    }

    /// A step, whose body has no object of its own.
    step {
        ID = "id",
        INTENT = "intent",
        TOOL = "tool",
        ARGUMENTS = "arguments",
        VALUE = "value",
        IF = "if",
        FOR = "for",
        BLOCK = "block",
        LOOP = "loop",
        AWAIT = "await",
        UNDO = "undo",
        ALWAYS = "always",
        AFTER = "after",
        POLICY = "policy",
    }

    /// A wait for a value with secrets. A wait for any other value is only its type.
    awaited {
        TYPE = "type",
        SECRETS = "secrets",
    }

    /// The tool of an action.
    tool {
        NAME = "name",
        DESCRIPTION = "description",
        SECRET_ARGUMENTS = "secret_arguments",
        SECRET_OUTPUT = "secret_output",
    }

    /// A branch of an `if`.
    branch {
        CONDITION = "condition",
        PATTERN = "pattern",
        VALUE = "value",
        CONDITIONS = "all",
        THEN = "then",
    }

    /// A `let` among the conditions of a branch.
    binding {
        PATTERN = "pattern",
        VALUE = "value",
    }

    /// A `for`.
    each {
        PATTERN = "pattern",
        LIST = "list",
        BODY = "body",
    }

    /// A block.
    block {
        INPUTS = "inputs",
        STEPS = "steps",
        TAIL = "tail",
        VALUE = "value",
    }

    /// A loop: a block, with the condition of its rounds.
    looped {
        LAST = "last",
        INPUTS = "inputs",
        STEPS = "steps",
        TAIL = "tail",
        VALUE = "value",
        WHILE = "while",
    }

    /// The values of `optional` in a policy.
    optional {
        NO = "no",
        WHOLE = "whole",
        EACH = "each",
    }

    /// The value of `catch` in a policy, unless it is `true`.
    catch {
        EACH = "each",
    }

    /// The members of a template that is a JSON object. Each such object has one.
    template {
        OBJECT = "object",
        MERGE = "merge",
        REFERENCE = "reference",
        TEXT = "text",
        ALL_OF = "all",
        ANY = "any",
        NOT = "not",
        COMPARE = "compare",
        IS_SOME = "is_some",
        IS_NONE = "is_none",
        IS_OK = "is_ok",
        IS_ERR = "is_err",
        IS_EMPTY = "is_empty",
        LEN = "len",
        COMPUTED = "computed",
    }

    /// A value in a string.
    part {
        VALUE = "value",
        SPEC = "spec",
    }

    /// A computed value.
    computed {
        WRITTEN = "written",
        READS = "reads",
    }

    /// The members of a source. Each source has one.
    source {
        STEP = "step",
        INPUT = "input",
        LOCAL = "local",
    }

    /// A reference.
    reference {
        STEP = "step",
        INPUT = "input",
        LOCAL = "local",
        OPTIONAL = "optional",
        POINTER = "pointer",
        PATH = "path",
        ELSE = "else",
        WRITTEN = "written",
    }

    /// A segment of a path that is not a plain token.
    segment {
        TOKEN = "token",
        EACH = "each",
        ABSENT = "absent",
        OPTIONAL = "optional",
    }

    /// The values of `absent` in a segment without a default.
    absent {
        NULL = "null",
        END = "end",
        FAILURE = "failure",
    }

    /// The object that `absent` may be.
    default {
        DEFAULT = "default",
    }

    /// The value of `each` in a segment.
    element {
        ELEMENT = "element",
    }
}

/// The members for bodies. Each step has one.
pub(crate) const BODIES: [&str; 7] = [
    step::TOOL,
    step::VALUE,
    step::IF,
    step::FOR,
    step::BLOCK,
    step::LOOP,
    step::AWAIT,
];

/// The members for bodies without arguments.
pub(crate) const WITHOUT_ARGUMENTS: &[&str] = BODIES.split_at(1).1;

/// The members of a step that only plan JSON has.
pub(crate) const EXTENSIONS: &[&str] = step::ALL.split_at(4).1;

/// Pairs of lists. A member of the first list excludes the members of the second list.
pub(crate) const EXCLUSIVE: [[&[&str]; 2]; 5] = [
    [&BODIES, &BODIES],
    [&[step::ARGUMENTS, "params"], WITHOUT_ARGUMENTS],
    [&[step::ARGUMENTS], &["params"]],
    [
        &[branch::CONDITION, branch::CONDITIONS],
        &[
            branch::CONDITION,
            branch::CONDITIONS,
            branch::PATTERN,
            branch::VALUE,
        ],
    ],
    [&[block::TAIL], &[block::VALUE]],
];

/// A body in another one.
pub(crate) const BODY: &[&str] = &[
    step::TOOL,
    step::ARGUMENTS,
    step::VALUE,
    step::IF,
    step::FOR,
    step::BLOCK,
];

impl Test {
    /// Returns the name of the only member in plan JSON.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::All(_) => template::ALL_OF,
            Self::Any(_) => template::ANY,
            Self::Not(_) => template::NOT,
            Self::Compare(..) => template::COMPARE,
            Self::Ask(question, _) => question.name(),
        }
    }
}
