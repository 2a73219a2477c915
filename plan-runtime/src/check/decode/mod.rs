//! Makes a plan of the text and the constants that `plan!` emits, in the notation that `expand/data.rs` of `plan-macros` describes. What is
//! not in the notation is a bug of this crate, and panics.

mod test;

use super::closed::Answers;
use super::cursor::DeclaredName;
use super::segment;
use crate::Shape;
use crate::plan::depth::DEEPEST_COMPILED;
use crate::plan::{
    Absent, Action, Amount, AsJson, Await, Block, Body, Branch, Catch, Code, Compiled,
    CompiledNames, Computed, Condition, Entry, For, Form, FormatSpec, InnerPlan, Input, Key,
    LazyPlan, LocalValue, Loop, Number, Optional, Output, Part, Plan, Policy, ReceiveFn, Reference,
    Role, RustText, Source, Step, Template, ToolInfo, ToolType, root_name,
};
use crate::shape::Secrets;
use crate::shape::inside::{Inside, Types};
use crate::shape::{FieldPlace, TypeShape, secrets, secrets_inside};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// What a plan says of a tool, before it is decoded.
pub struct StaticTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) output: fn() -> Inside,
    pub(super) plan: Option<&'static LazyPlan>,
    pub(super) hands_over: fn() -> bool,
    pub(super) of: fn() -> ToolType,
}

/// What a `?` in a reference means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum QuestionMark {
    /// Null ends the reference.
    Option,
    /// Null ends the reference, and so does a missing part.
    Json,
    /// The reference goes on in the `Ok` of a `Result`.
    Result,
}

/// What only the compiler knows of a part of a plan.
#[derive(Clone, Copy)]
pub enum Constant {
    /// A tool, its arguments, and what the crate of the plan knows of its types.
    Tool(&'static StaticTool, TypeShape, fn() -> Inside),
    /// A type with fields that a reference or a literal names, and its name if they are declared elsewhere.
    Shape(TypeShape, Option<DeclaredName>),
    /// What a `?` means.
    Asked(QuestionMark),
    /// What is known of the types of a test.
    Test(&'static dyn Answers),
    /// A computed value.
    Compute(&'static dyn Code<Computed>),
    /// What writes a placeholder of `format!`.
    Show(&'static dyn Code<FormatSpec>),
    /// A number of a policy.
    Count(fn() -> usize),
    /// A time of a policy.
    Time(fn() -> Duration),
    /// What checks a value from outside.
    Receive(ReceiveFn),
}

impl Constant {
    /// A tool of which the crate of the plan knows more.
    #[must_use]
    pub const fn seen(self, inside: fn() -> Inside) -> Self {
        match self {
            Self::Tool(tool, arguments, _) => Self::Tool(tool, arguments, inside),
            other => other,
        }
    }
}

/// Makes a plan of its text and the parts of its table of constants.
#[must_use]
pub fn decode(text: &'static str, table: &[&[Constant]]) -> Plan {
    let mut decoder = Decoder {
        rest: text,
        constants: table.concat(),
        tools: HashMap::new(),
        name: String::new(),
        names: Arc::default(),
        locals: Vec::new(),
        depth: 0,
    };
    let plan = decoder.plan();
    assert!(decoder.rest.is_empty(), "{BUG}");
    plan
}

/// The plan, with what its struct says of the inputs.
#[must_use]
pub fn with_secrets<T: Shape>(mut plan: Plan) -> Plan {
    let found = secrets(T::SHAPE, Types::default(), false);
    if let TypeShape::Struct(fields) = T::SHAPE {
        for (input, field) in plan.inputs.iter_mut().zip(fields) {
            if let FieldPlace::Key(name) = field.argument {
                input.secrets = found.at(name);
            }
        }
    }
    plan
}

const BUG: &str =
    "`plan!` has encoded a plan that cannot be decoded: this is a bug of `plan-runtime`";

struct Decoder {
    rest: &'static str,
    constants: Vec<Constant>,
    tools: HashMap<*const StaticTool, Arc<ToolInfo>>,
    /// The name of the plan.
    name: String,
    names: Arc<CompiledNames>,
    /// The local values at this place.
    locals: Vec<LocalValue<'static>>,
    depth: usize,
}

impl Decoder {
    fn bug(&self) -> ! {
        let rest: String = self.rest.chars().take(40).collect();
        panic!("{BUG}, at `{rest}`")
    }

    fn tag(&mut self) -> u8 {
        match self.rest.as_bytes().first() {
            Some(tag) if tag.is_ascii() => {
                self.rest = &self.rest[1..];
                *tag
            }
            _ => self.bug(),
        }
    }

    fn number<N: std::str::FromStr>(&mut self) -> N {
        let number = self.rest.split_once(' ').and_then(|(digits, rest)| {
            let number = digits.parse().ok()?;
            self.rest = rest;
            Some(number)
        });
        number.unwrap_or_else(|| self.bug())
    }

    fn str(&mut self) -> &'static str {
        let length = self.number();
        match self.rest.split_at_checked(length) {
            Some((text, rest)) => {
                self.rest = rest;
                text
            }
            None => self.bug(),
        }
    }

    fn text(&mut self) -> String {
        self.str().into()
    }

    fn rust(&mut self) -> RustText {
        RustText::of_program(self.str())
    }

    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.number();
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(element(self));
        }
        list
    }

    fn constant(&mut self) -> Constant {
        let number: usize = self.number();
        match self.constants.get(number) {
            Some(constant) => *constant,
            None => self.bug(),
        }
    }

    fn shape(&mut self) -> TypeShape {
        match self.constant() {
            Constant::Tool(_, shape, _) | Constant::Shape(shape, _) => shape,
            _ => self.bug(),
        }
    }

    /// What is one level deeper.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        assert!(self.depth <= DEEPEST_COMPILED, "{BUG}");
        let value = inside(self);
        self.depth -= 1;
        value
    }

    fn plan(&mut self) -> Plan {
        let (name, description) = (self.text(), self.rust());
        self.name.clone_from(&name);
        let inputs = self.list(|it| (it.str(), it.str(), it.rust()));
        let names = CompiledNames {
            inputs: inputs.iter().map(|(name, ty, _)| (*name, *ty)).collect(),
            steps: self.list(Self::str),
        };
        self.names = Arc::new(names);
        let inputs = inputs.into_iter().map(|(name, ty, description)| Input {
            name: name.into(),
            type_name: RustText::of_program(ty),
            description,
            secrets: Secrets::default(),
            is_guessed: false,
        });
        let ids = Arc::clone(&self.names);
        Plan {
            name,
            description,
            inputs: inputs.collect(),
            steps: ids.steps.iter().map(|id| self.step(id)).collect(),
            output: Output {
                type_name: self.rust(),
                value: self.template(),
            },
        }
    }

    fn step(&mut self, id: &str) -> Step {
        Step {
            id: id.into(),
            intent: self.rust(),
            after: self.list(Self::number),
            role: self.role(),
            body: self.body(),
            policy: self.policy(),
        }
    }

    /// What a step is for. That it is work goes without saying.
    fn role(&mut self) -> Role {
        match self.rest.as_bytes().first() {
            Some(b'U') => {
                self.tag();
                Role::Undo(self.number())
            }
            Some(b'A') => {
                self.tag();
                Role::Always
            }
            _ => Role::Work,
        }
    }

    fn body(&mut self) -> Body {
        self.deeper(|it| match it.tag() {
            b'T' => match it.constant() {
                Constant::Tool(tool, shape, inside) => {
                    let tool = it.tool(tool, shape, inside);
                    it.action(Some(tool))
                }
                _ => it.bug(),
            },
            b'V' => it.action(None),
            b'I' => Body::If(it.list(|it| {
                let around = it.locals.len();
                let branch = Branch {
                    conditions: it.list(Self::condition),
                    body: it.body(),
                };
                it.locals.truncate(around);
                branch
            })),
            b'F' => {
                let pattern = it.str();
                let list = it.bound(Form::Each(pattern), pattern);
                let body = it.body();
                it.locals.pop();
                Body::For(Box::new(For {
                    pattern: RustText::of_program(pattern),
                    list,
                    body,
                }))
            }
            b'B' => Body::Block(Box::new(it.block(|_| ()).0)),
            b'L' => {
                let last = it.tag() == b'1';
                let (round, again) = it.block(Self::template);
                Body::Loop(Box::new(Loop { round, last, again }))
            }
            b'W' => match (it.str(), it.constant()) {
                (ty, Constant::Receive(receive)) => {
                    let wait = Await::new(RustText::of_program(ty));
                    Body::Await(wait.compiled(ty, receive))
                }
                _ => it.bug(),
            },
            _ => it.bug(),
        })
    }

    /// A block, and what is after it that sees its names. It sees none of the names and the local values around it: what it mentions of them are inputs.
    fn block<T>(&mut self, then: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let inputs = self.list(|it| (it.str(), it.template()));
        let names = CompiledNames {
            inputs: inputs.iter().map(|(name, _)| (*name, "")).collect(),
            steps: self.list(Self::str),
        };
        let names = Arc::new(names);
        let around = std::mem::replace(&mut self.names, Arc::clone(&names));
        let locals = std::mem::take(&mut self.locals);
        let mut plan = Plan::new(self.name.clone());
        plan.inputs = inputs
            .iter()
            .map(|(name, _)| Input::new(*name, ""))
            .collect();
        plan.steps = names.steps.iter().map(|id| self.step(id)).collect();
        plan.output.value = self.template();
        let then = then(self);
        (self.names, self.locals) = (around, locals);
        (Block::new(Template::object(inputs), plan), then)
    }

    fn action(&mut self, tool: Option<Arc<ToolInfo>>) -> Body {
        Body::Action(Action {
            tool,
            args: self.template(),
        })
    }

    /// Steps that call the same tool share what the plan says of it.
    fn tool(
        &mut self,
        tool: &'static StaticTool,
        arguments: TypeShape,
        inside: fn() -> Inside,
    ) -> Arc<ToolInfo> {
        if let Some(info) = self.tools.get(&std::ptr::from_ref(tool)) {
            return Arc::clone(info);
        }
        let known = || {
            let mut types = inside().types;
            for constant in &self.constants {
                if let Constant::Shape(shape, Some(name)) = constant {
                    types.declare(name(), *shape);
                }
            }
            types
        };
        let info = Arc::new(ToolInfo {
            name: tool.name.into(),
            description: tool.description.into(),
            secret_arguments: secrets(arguments, known(), false),
            secret_output: secrets_inside((tool.output)(), known(), true),
            plan: InnerPlan::of(tool.plan),
            as_json: AsJson(!(tool.hands_over)()),
            of: (tool.of)(),
        });
        self.tools.insert(tool, Arc::clone(&info));
        info
    }

    fn condition(&mut self) -> Condition {
        match self.tag() {
            b'h' => Condition::Holds(self.template()),
            b'b' => {
                let pattern = self.str();
                Condition::Let {
                    pattern: RustText::of_program(pattern),
                    value: self.bound(Form::Let(pattern), pattern),
                }
            }
            _ => self.bug(),
        }
    }

    /// A value that a pattern takes apart, which is a local value from here on.
    fn bound(&mut self, form: Form<'static>, pattern: &'static str) -> Template {
        let value = self.template_as(form);
        self.locals.push(value.bound_by(pattern));
        value
    }

    fn policy(&mut self) -> Arc<Policy> {
        if let Some(rest) = self.rest.strip_prefix(';') {
            self.rest = rest;
            return Policy::shared();
        }
        let mut policy = Policy::DEFAULT;
        loop {
            match self.tag() {
                b'a' => policy.attempts = self.number(),
                b'b' => policy.backoff = self.duration(),
                b'm' => policy.max = self.duration(),
                b't' => policy.timeout = Some(self.duration()),
                b'd' => policy.deadline = Some(self.duration()),
                b'j' => policy.jitter = self.tag() == b'1',
                b'w' => policy.optional = Optional::Whole,
                b'e' => policy.optional = Optional::Each,
                b'C' => policy.catch = Catch::Whole,
                b'E' => policy.catch = Catch::Each,
                b'f' => policy.fallback = Some(self.template()),
                b'c' => policy.concurrency = Some(self.number()),
                b'l' => policy.at_most = Some(self.number()),
                b'y' => policy.every = Some(self.duration()),
                b'k' => policy.collect = true,
                b'N' => self.named(&mut policy),
                b'G' => {
                    let amount = self.amount();
                    policy.given.push((amount, self.template()));
                }
                b';' => {
                    if !policy.named.is_empty() {
                        policy.wait_as_long_as_asked();
                    }
                    return policy.into();
                }
                _ => self.bug(),
            }
        }
    }

    /// An amount that is a constant of the program.
    fn named(&mut self, policy: &mut Policy) {
        let amount = self.amount();
        policy.named.push((amount, self.rust()));
        match (amount, self.constant()) {
            (Amount::Attempts, Constant::Count(count)) => {
                policy.attempts = u32::try_from(count()).unwrap_or(u32::MAX);
            }
            (Amount::Concurrency, Constant::Count(count)) => policy.concurrency = Some(count()),
            (Amount::AtMost, Constant::Count(count)) => {
                policy.at_most = Some(u32::try_from(count()).unwrap_or(u32::MAX));
            }
            (Amount::Every, Constant::Time(time)) => policy.every = Some(time()),
            (Amount::Backoff, Constant::Time(time)) => policy.backoff = time(),
            (Amount::Max, Constant::Time(time)) => policy.max = time(),
            (Amount::Timeout, Constant::Time(time)) => policy.timeout = Some(time()),
            (Amount::Deadline, Constant::Time(time)) => policy.deadline = Some(time()),
            _ => self.bug(),
        }
    }

    fn amount(&mut self) -> Amount {
        let place: usize = self.number();
        match Amount::ALL.get(place) {
            Some(amount) => *amount,
            None => self.bug(),
        }
    }

    fn duration(&mut self) -> Duration {
        Duration::new(self.number(), self.number())
    }

    fn template(&mut self) -> Template {
        self.template_as(Form::Value)
    }

    fn template_as(&mut self, form: Form<'static>) -> Template {
        self.deeper(|it| {
            let tag = it.tag();
            it.template_of(tag, form)
        })
    }

    fn template_of(&mut self, tag: u8, form: Form<'static>) -> Template {
        let it = self;
        match tag {
            b'n' => Template::Null,
            b'0' => Template::Bool(false),
            b'1' => Template::Bool(true),
            b'u' => Template::Number(Number::Unsigned(it.number())),
            b'-' => Template::Number(Number::Signed(0_i64.wrapping_sub_unsigned(it.number()))),
            b'd' => match it.str().parse() {
                Ok(float) => Template::Number(Number::Float(float)),
                Err(_) => it.bug(),
            },
            b's' => Template::String(it.text()),
            b'l' => Template::List(it.list(Self::template)),
            b'j' => Template::Object(it.list(|it| Entry {
                key: Key::Name(it.text()),
                value: it.template(),
            })),
            b'a' => {
                let (shape, variant) = (it.shape(), it.str());
                Template::Object(it.list(|it| Entry {
                    key: segment::key(segment::argument(shape, variant, it.str(), true)),
                    value: it.template(),
                }))
            }
            b'v' => {
                let tag = segment::tag(it.shape(), it.str());
                Template::Tagged(tag, Some(Box::new(it.template())))
            }
            b'r' => Template::Reference(it.reference()),
            b'x' => Template::Text(it.list(Self::part)),
            b'q' => {
                let answers = match it.constant() {
                    Constant::Test(answers) => answers.all(),
                    _ => it.bug(),
                };
                let test = it.test(&mut answers.into_iter());
                let computed = it.template_as(form);
                test.unwrap_or(computed)
            }
            b'c' => {
                let (reads, written) = (it.list(Self::source), it.rust());
                let compiled = Compiled {
                    code: match it.constant() {
                        Constant::Compute(compute) => compute,
                        _ => it.bug(),
                    },
                    form,
                    names: Arc::clone(&it.names),
                    locals: it.locals.clone(),
                };
                Template::Computed(Computed::new(written, reads).compiled(compiled))
            }
            _ => it.bug(),
        }
    }

    fn part(&mut self) -> Part {
        match self.tag() {
            b's' => Part::Literal(self.text()),
            b'v' => {
                let spec = self.str();
                match self.tag() {
                    b'=' => Part::value(self.template_as(Form::Formatted(spec)), spec),
                    b'-' => match (self.template(), self.constant()) {
                        (value, Constant::Show(show)) => {
                            Part::value(value, FormatSpec::compiled(spec, show))
                        }
                        _ => self.bug(),
                    },
                    _ => self.bug(),
                }
            }
            _ => self.bug(),
        }
    }

    fn source(&mut self) -> Source {
        let source = match self.tag() {
            b's' => Source::Step,
            b'i' => Source::Input,
            b'l' => Source::Local,
            _ => self.bug(),
        };
        source(self.number())
    }

    fn reference(&mut self) -> Reference {
        let (mut reference, written) = (Reference::new(self.source()), self.str());
        // How long the path was at a flattened field, which adds no part to it; and where the first part after its `?` is.
        let (mut flattened, mut asked_flattened) = (None, Vec::new());
        loop {
            let length = reference.path.len();
            reference = match self.tag() {
                b'.' => {
                    let field = segment::output(self.shape(), self.str());
                    if field.output == FieldPlace::Flattened {
                        flattened = Some(length);
                    }
                    segment::field(reference, field)
                }
                b'#' => reference.index(self.number()).absent(self.absence()),
                b'k' => reference.key(self.str()).absent(self.absence()),
                b'*' => reference.each(),
                b'?' => match self.constant() {
                    Constant::Asked(QuestionMark::Result) => reference.ok(),
                    Constant::Asked(_) if flattened == Some(length) => {
                        asked_flattened.push(length);
                        reference
                    }
                    Constant::Asked(mark) => asked(reference, mark == QuestionMark::Json),
                    _ => self.bug(),
                },
                b';' => {
                    for place in asked_flattened {
                        if let Some(part) = reference.path.get_mut(place)
                            && matches!(part.absent, Absent::Error)
                        {
                            part.absent = Absent::End;
                        }
                    }
                    return reference.said(written, Some(root_name(written)));
                }
                _ => self.bug(),
            };
        }
    }

    fn absence(&mut self) -> Absent {
        match self.tag() {
            b'!' => Absent::Error,
            b'?' => Absent::Default(Box::new(Value::Null)),
            b'^' => Absent::End,
            _ => self.bug(),
        }
    }
}

/// The reference with a `?`. JSON of any kind (`untyped`) has no parts that are always there, as types do.
fn asked(mut reference: Reference, untyped: bool) -> Reference {
    if let Some(last) = reference.path.last_mut()
        && untyped
        && !last.optional
        && match &last.absent {
            Absent::Error => true,
            Absent::Default(default) => default.is_null(),
            Absent::End | Absent::Failure => false,
        }
    {
        last.absent = Absent::End;
    }
    reference.optional()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`, at `rest`")]
    fn an_unknown_letter_is_a_bug() {
        let _ = decode("1 p0 0 0 0 ?rest", &[]);
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn more_than_a_plan_is_a_bug() {
        let _ = decode("1 p0 0 0 0 nn", &[]);
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn a_text_that_is_cut_is_a_bug() {
        let _ = decode("9 p0 0 0 0 n", &[]);
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn nesting_has_a_bound() {
        let _ = decode(format!("1 p0 0 0 0 {}", "l1 ".repeat(600)).leak(), &[]);
    }
}
