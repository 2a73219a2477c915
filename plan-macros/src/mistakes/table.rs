//! The words of other languages and engines, each with the text of a message or the right word in Rust.

use plan_graph::StepAttribute;

/// The position of a word.
#[derive(Clone, Copy)]
pub(crate) enum WordKind {
    /// The name of an attribute.
    Attribute,
    /// The start of a statement.
    Statement,
    /// A statement that is the word alone.
    Alone,
    /// The start of a statement with an operand after the word.
    Operand,
    /// The start of a statement with any token after the word.
    Item,
    /// The start of a statement with braces after the word.
    Braces,
    /// The name of a function or of braces that run calls concurrently.
    Concurrent,
    /// The name of a function that drops the slower calls.
    Race,
    /// The name of a macro in place of the work of a step.
    Macro,
    /// Before braces that are the work of a step.
    Block,
    /// Before braces and further tokens that are the work of a step.
    Continued,
    /// Before braces with steps that are the work of a step.
    Steps,
    /// The start of the work of a step.
    Work,
    /// The start of a branch or a loop that is the work of a step.
    Flow,
    /// The pattern of the last arm of a `match`.
    Arm,
    /// Between the branches of an `if`.
    Else,
    /// An operator of a condition.
    Operator,
    /// Between a value and its default.
    Default,
    /// Between the pattern and the list of a `for`.
    In,
    /// Before the condition of a loop.
    While,
    /// The function of a type that creates a value.
    Constructor,
    /// A value.
    Value,
    /// A name of the value of the round before.
    RoundBefore,
    /// The first part of a path to a value.
    Context,
    /// The part of a path between a step and its fields.
    Output,
}

macro_rules! words {
    ($($place:ident $($word:literal)|+ $(=> $text:literal)?;)*) => {
        /// Returns the text about a word: a message, a part of a message, or the right word. In a message, `{word}` is the word, and `{step}` is the
        /// name of the step.
        pub(crate) fn about(place: WordKind, word: &str) -> Option<&'static str> {
            match (place, word) {
                $((WordKind::$place, $($word)|+) => Some(concat!($($text)?)),)*
                _ => None,
            }
        }
    };
}

words! {
    Attribute "finally" | "ensure" | "defer" | "cleanup" | "on_exit" => "write `#[always]`";
    Attribute "compensate" | "compensation" | "rollback" | "revert" | "reverses" => "write `#[undo(paid)]` on the step that undoes `paid`";
    Attribute "on_error" | "on_failure" | "on_err" | "rescue" | "except" | "recover" => "write `#[catch]` to have the failure as a value, or `#[fallback(value)]` to replace it";
    Attribute "ignore_errors" | "allow_failure" | "continue_on_error" => "write `#[optional]`, and the output is an `Option`";
    Attribute "max" | "limit" | "max_rounds" | "max_iterations" | "rounds" | "times" => "write `#[at_most(100)]` for the rounds of a `loop`, `#[retry(3)]` for attempts, or `#[concurrency(3)]` for elements that run at one time";
    Attribute "parallel" | "max_parallel" | "parallelism" => "write `#[concurrency(3)]` for the elements of a `for`; steps run concurrently anyway";
    Attribute "every" | "interval" | "poll" => "write `#[at_most(100, every = \"3s\")]` for the rounds of a `loop`";
    Attribute "attempts" | "tries" | "repeat" => "write `#[retry(3)]`";
    Attribute "timeout_seconds" | "timeout_minutes" | "timeout_ms" | "time_limit" | "max_time" | "ttl" | "within" => "write `#[timeout(\"10s\")]` for each attempt, or `#[deadline(\"1m\")]` for all";
    Attribute "needs" | "depends_on" | "depends" | "requires" => "write `#[after(name)]`; a step that refers to another waits for it anyway";
    Attribute "default" | "or_else" | "otherwise" => "write `#[fallback(value)]`";
    Attribute "when" | "only_if" | "skip_if" | "condition" => "write `step name = if condition { Tool { … } };`";
    Statement "break" | "continue" => "a plan has no `{word}`: all its steps run, each as soon as it can\nhelp: write `if condition { … }` around what may be left out";
    Operand "throw" | "raise" | "bail" | "fail" => "a plan has no `{word}`: it fails when a step fails\nhelp: write `step name: Type = Err(\"…\")?;`, which fails";
    Operand "yield" | "emit" => "a plan has no `{word}`: it has one output, its last expression\nhelp: an `Observer` of the run sees what each step gives";
    Item "fn" | "struct" | "enum" | "const" | "static" | "use" | "impl" | "mod" | "type" => "a plan has no items: it consists of steps\nhelp: write this `{word}` before `plan!`";
    Alone "async" | "pub" => "a step has no `{word}`\nhelp: remove it";
    Statement "while" | "loop" => "`{word}` is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`";
    Braces "do" => "a loop is a part of a step: `#[at_most(100)] step name = loop { Tool { … } } while condition;`";
    Braces "try" => "a plan has no `try`: a failure ends the run, unless the step says otherwise\nhelp: write `#[catch]` on a step whose failure is a value, and `#[always]` on one that runs in any case";
    Braces "finally" | "defer" => "a plan has no `{word}`\nhelp: write `#[always] step name = Tool { … };`";
    Braces "catch" => "a plan has no `catch`\nhelp: write `#[catch]` on a step, and its failure is a value";
    Concurrent "spawn" | "parallel" | "par" | "concurrent" | "concurrently" | "join" | "try_join" | "join_all" | "all" | "fork" | "go" | "task" => "steps run concurrently, unless one refers to another\nhelp: write each call as a step of its own: `step name = Tool { … };`";
    Race "race" | "select" | "race_ok" | "any" | "select_ok" => "a plan has no `{word}`: a call that has begun is not dropped because another was faster\nhelp: a tool may call others, and give the first answer";
    Macro "plan" => "steps inside a step are a block\nhelp: write the braces alone: `step {step} = { … };`";
    Block "do" => "a loop begins with `loop`\nhelp: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`";
    Continued "try" => "a step has no `try`: the run fails if the step fails\nhelp: write `#[catch] step {step} = Tool { … };`, and the failure is a value";
    Steps "async" | "unsafe" => "a block has no `{word}`\nhelp: write the braces alone: `step {step} = { … };`";
    Steps "try" => "a block has no `try`: the run fails if one of its steps fails\nhelp: write `#[catch] step {step} = { … };`, and the failure is a value";
    Work "match" => "a `match` between calls compares with variants without fields, numbers or truth values, and has at least two arms\nhelp: for other patterns, write `if let … { … } else if … { … } else { … }`\nhelp: to compute a value with `match`, give the step a type: `step {step}: Type = match … { … };`";
    Work "while" => "a step repeats calls with `loop`, whose condition is evaluated after each round\nhelp: write `#[at_most(100)] step {step} = loop { Tool { … } } while condition;`";
    Work "async" | "try" | "unsafe" => "a step has no `{word}`: write the call alone: the run awaits it, and fails if it fails";
    Work "return" => "a step has no `{word}`: write the call without the `return`";
    Flow "switch" | "case" | "when" => "step {step} = match {place} { 0 => Tool { … }, _ => Tool { … } };";
    Flow "foreach" | "forall" | "forEach" | "for_each" => "step {step} = for {between} { {inside} };";
    Flow "unless" => "step {step} = if !({place}) { {inside} };";
    Arm "default" | "otherwise" | "other" | "else" => "the last arm, for all other values, is written `_`\nhelp: write `_ => …`";
    Else "elif" | "elsif" | "elseif" => "else if";
    Operator "and" => "&&";
    Operator "or" => "||";
    Default "or" => "Rust has no `or`\nhelp: write `{before}.unwrap_or({other})`, or `||` between two conditions";
    In "of" => "expected `in`, found `of`";
    While "until" => "a loop goes on while its condition is true\nhelp: write `while !…`";
    Constructor "new" | "default" | "from" | "create" | "call" | "run" | "invoke";
    Value "none" | "null" | "nil" | "undefined" => "write `None`";
    RoundBefore "last" | "previous" | "prev" | "before";
    Context "steps" | "inputs" | "input" | "needs" | "jobs" | "nodes" | "tasks";
    Output "outputs" | "output" | "result";
}

/// Returns the attribute of a step that replaces an attribute of this name, and the way to write it.
pub(crate) fn attribute(name: &str) -> Option<(Option<StepAttribute>, &'static str)> {
    let help = about(WordKind::Attribute, name)?;
    let written = help
        .split_once("#[")
        .and_then(|(_, after)| after.split(['(', ']']).next());
    Some((written.and_then(StepAttribute::named), help))
}
