//! What a plan says, with the author's own tokens.

mod policy;

pub(crate) use policy::{Amount, Catch, Given, Optional, Policy};

use crate::docs::text_of;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, Ident, Lit, LitInt, LitStr, Member, Pat, Path, Token, Type, Visibility, token,
};

/// The contents of one `plan!`.
pub(crate) struct Plan {
    /// The path of the runtime crate, if `#![plan(crate = …)]` names it.
    pub(crate) krate: Option<Path>,
    /// `None` in the expression form.
    pub(crate) head: Option<Header>,
    pub(crate) steps: Vec<Step>,
    /// The final expression.
    pub(crate) tail: Option<Tail>,
    /// The names of steps that could not be read.
    pub(crate) broken: Vec<Ident>,
    /// The names that `for` and `if let` bind, those that are a field's name aside, once names are resolved.
    pub(crate) bound: Vec<Ident>,
    /// The names that `for` and `if let` bind and that nothing mentions, once names are resolved; whether each is a field's name, too.
    pub(crate) unused: Vec<(Ident, bool)>,
    /// Texts with names in braces, and the call of `format!` that each is probably meant as, once names are resolved.
    pub(crate) braces: Vec<(Span, String)>,
}

impl Plan {
    /// The names of its inputs and steps.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &Ident> {
        let inputs = self.head.iter().flat_map(|head| &head.inputs);
        let inputs = inputs.map(|input| &input.name);
        inputs.chain(self.steps.iter().map(|step| &step.name))
    }

    /// All that the values of the plan mention, those in blocks included.
    pub(crate) fn mentions(&self) -> impl Iterator<Item = &Mention> {
        let steps = self.all_steps().into_iter().flat_map(|step| {
            let again = match &step.body {
                Body::Loop(repeat) => &repeat.mentions[..],
                _ => &[],
            };
            let mut mentions: Vec<_> = step.mentions.iter().chain(again).collect();
            step.body
                .blocks(&mut |block| mentions.extend(&block.mentions));
            mentions
        });
        steps.chain(self.tail.iter().flat_map(|tail| &tail.mentions))
    }

    /// Its steps and those of all blocks, by their numbers.
    pub(crate) fn all_steps(&self) -> Vec<&Step> {
        let mut all = Vec::with_capacity(self.steps.len());
        steps_in(&self.steps, &mut all);
        all.sort_by_key(|step| step.number);
        all
    }
}

fn steps_in<'s>(steps: &'s [Step], all: &mut Vec<&'s Step>) {
    for step in steps {
        all.push(step);
        step.body.blocks(&mut |block| steps_in(&block.steps, all));
    }
}

/// The part before the braces in the item form.
pub(crate) struct Header {
    /// The items before the plan; reported already.
    pub(crate) items: TokenStream,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) inputs: Vec<Input>,
    /// The names of inputs that could not be read.
    pub(crate) broken: Vec<Ident>,
    /// Whether there may be other inputs, which could not be read.
    pub(crate) unclear_inputs: bool,
    /// Whether the type of the output cannot be read, so that the braces may be a part of it or of a step.
    pub(crate) unclear_body: bool,
    /// Whether no output means that it could not be read, not that it is missing.
    pub(crate) unclear: bool,
    pub(crate) output: Option<Type>,
}

pub(crate) struct Input {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

pub(crate) struct Step {
    pub(crate) intent: String,
    pub(crate) role: Role,
    pub(crate) after: Vec<Ident>,
    pub(crate) policy: Policy,
    pub(crate) name: Ident,
    /// A step with a type is a computed value, or one from outside.
    pub(crate) ty: Option<Type>,
    pub(crate) body: Body,
    /// What its values mention, in order, once names are resolved, and the blocks in it, as far as it is outside of them.
    pub(crate) mentions: Vec<Mention>,
    /// Which step it is of all. The plan's own come first, then those of each block.
    pub(crate) number: usize,
    /// Whether it is the last expression of a block, which has no name.
    pub(crate) is_tail: bool,
}

/// What a step is for.
#[derive(Clone, Default)]
pub(crate) enum Role {
    #[default]
    Work,
    /// `#[undo(paid)]`
    Undo(Ident),
    /// `#[always]`
    Always,
}

impl Step {
    /// Nothing is known of the step any more but its name, and its output if its tool is known.
    pub(crate) fn forget(&mut self) {
        self.body = match std::mem::replace(&mut self.body, Body::Broken(None)) {
            Body::Call(Literal { path, .. }) | Body::Broken(Some(path)) => Body::Broken(Some(path)),
            _ => Body::Broken(None),
        };
        self.policy.fallback = None;
    }

    /// Not even the type of its output is known any more.
    pub(crate) fn forget_type(&mut self) {
        self.ty = None;
        self.body = Body::Broken(None);
        self.forget();
    }
}

/// What a name in a value refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The step of this number.
    Step(usize),
    /// The input at this place.
    Input(usize),
}

/// A use of a step or an input.
#[derive(Clone)]
pub(crate) struct Mention {
    pub(crate) name: Ident,
    pub(crate) source: Source,
    /// Whether all of its Rust value is used: by Rust code, or as it is.
    pub(crate) whole: bool,
}

pub(crate) enum Body {
    /// A call to a tool.
    Call(Literal),
    /// A computed value, whose type is `Step::ty`.
    Compute(Value),
    /// `if … { … } else { … }`
    If(Vec<Branch>),
    /// `for x in list { … }`
    For(Box<For>),
    /// `{ steps tail }`
    Block(Box<Block>),
    /// `loop |last| { … } while condition`
    Loop(Box<Loop>),
    /// `await`, at this place: a value from outside, whose type is `Step::ty`.
    Await(Span),
    /// What could not be read, and was reported; the tool's path if that much is known.
    Broken(Option<Path>),
}

impl Body {
    /// Hands over the blocks that are not in another.
    pub(crate) fn blocks<'b>(&'b self, f: &mut impl FnMut(&'b Block)) {
        match self {
            Self::Block(block) => f(block),
            Self::Loop(repeat) => f(&repeat.round),
            Self::If(branches) => branches.iter().for_each(|branch| branch.body.blocks(f)),
            Self::For(repeat) => repeat.body.blocks(f),
            Self::Call(_) | Self::Compute(_) | Self::Await(_) | Self::Broken(_) => {}
        }
    }
}

/// Steps inside a step, with a value of their own.
pub(crate) struct Block {
    /// The end of its braces.
    pub(crate) end: Span,
    /// The last of them has no name if it is the tail.
    pub(crate) steps: Vec<Step>,
    pub(crate) tail: BlockTail,
    /// The names of steps that could not be read.
    pub(crate) broken: Vec<Ident>,
    /// Which block it is of all, counted from 1, once names are known.
    pub(crate) scope: usize,
    /// The names from outside that it mentions, in order, once names are resolved.
    pub(crate) captures: Vec<Capture>,
    /// The mentions in a value at its end, once names are resolved.
    pub(crate) mentions: Vec<Mention>,
}

/// A block that is repeated.
pub(crate) struct Loop {
    /// `loop`
    pub(crate) keyword: Span,
    /// The name of the value of the round before.
    pub(crate) last: Option<Ident>,
    pub(crate) round: Block,
    /// Whether there is another round.
    pub(crate) again: Value,
    /// Where the names are known that `again` may mention, once names are known.
    pub(crate) scope: usize,
    /// What `again` mentions, once names are resolved.
    pub(crate) mentions: Vec<Mention>,
}

/// The last expression of a block.
pub(crate) enum BlockTail {
    /// There is none: the value is `()`.
    None,
    /// A call, an `if` or a `for`, which is the last step.
    Step,
    /// The name of a step of the block.
    Name(Ident),
    /// A value, whose type is that of the other branches.
    Value(Box<Value>),
    /// What could not be read, and was reported.
    Broken,
}

impl Block {
    /// The step whose output is the block's value.
    pub(crate) fn value(&self) -> Option<&Step> {
        match &self.tail {
            BlockTail::Step => self.steps.last(),
            BlockTail::Name(name) => {
                let name = text_of(name);
                self.steps.iter().find(|step| text_of(&step.name) == name)
            }
            BlockTail::None | BlockTail::Value(_) | BlockTail::Broken => None,
        }
    }
}

/// A name around a block that something in it mentions.
pub(crate) struct Capture {
    pub(crate) name: Ident,
    pub(crate) of: Captured,
}

/// What a block takes from around it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Captured {
    Source(Source),
    Local(Local),
}

/// One way that an `if` can go.
pub(crate) struct Branch {
    /// What `&&` joins; nothing for `else`.
    pub(crate) conditions: Vec<Condition>,
    pub(crate) body: Body,
}

/// Returns the first branch that neither is a value nor ends with one: its type is that of all branches.
pub(crate) fn typed(branches: &[Branch]) -> Option<&Body> {
    let mut typed = branches.iter().filter(|branch| !is_value(branch));
    typed.next().map(|branch| &branch.body)
}

/// Returns `true` if a branch is a value, or ends with one: the other branches have the type.
pub(crate) fn is_value(branch: &Branch) -> bool {
    match &branch.body {
        Body::Compute(_) => true,
        Body::Block(block) => matches!(block.tail, BlockTail::Value(_)),
        _ => false,
    }
}

pub(crate) enum Condition {
    /// `ready`
    Holds(Value),
    /// `let Some(x) = …`, with the names that the pattern binds. The expression is the whole of it, the text that of the value.
    Let(Box<Pat>, Computed, Vec<Ident>),
    /// What could not be read, and was reported, with the names that it would bind.
    Broken(Vec<Ident>),
}

/// `for x in list { … }`
pub(crate) struct For {
    pub(crate) pat: Pat,
    pub(crate) list: List,
    pub(crate) body: Body,
}

pub(crate) enum List {
    /// A reference that is gone through as it is, for a pattern that is a name.
    Reference(Reference, Ident),
    /// An expression, with what the pattern binds of each element.
    Computed(Box<Computed>, Vec<Ident>),
    /// What could not be read, and was reported.
    Broken,
}

pub(crate) struct Tail {
    pub(crate) value: Value,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) tokens: TokenStream,
}

/// The value of an argument, of a part of one, or of the plan.
pub(crate) enum Value {
    Scalar(Scalar),
    None(Ident),
    Some(Ident, token::Paren, Box<Value>),
    List(token::Bracket, Vec<Value>),
    Tuple(token::Paren, Vec<Value>),
    Literal(Literal),
    Json(Span, Json),
    Format(Format),
    Reference(Reference),
    Computed(Computed),
    /// What could not be read, or refers to something unknown; reported already.
    Broken,
}

/// A Rust literal, with its sign.
#[derive(Clone)]
pub(crate) struct Scalar {
    pub(crate) minus: Option<Token![-]>,
    pub(crate) lit: Lit,
}

/// `Type { … }`, `path::Variant { … }`, `path::Variant(…)`.
pub(crate) struct Literal {
    pub(crate) path: Path,
    pub(crate) fields: Fields,
}

pub(crate) enum Fields {
    Named(token::Brace, Vec<Field>, Rest),
    Unnamed(token::Paren, Vec<Value>),
    /// The path alone: a unit struct.
    Unit,
}

/// The end of a literal, after the named fields.
pub(crate) enum Rest {
    Nothing,
    /// The `..` that leaves out the remaining fields.
    Defaults(Token![..]),
    /// There may be other fields, which could not be read; reported already.
    Broken,
}

pub(crate) struct Field {
    pub(crate) name: Ident,
    /// Whether the name is the value, too.
    pub(crate) shorthand: bool,
    pub(crate) value: Value,
}

/// The contents of `json!(…)`.
pub(crate) enum Json {
    Null,
    Value(Box<Value>),
    List(Vec<Json>),
    Object(Vec<(LitStr, Json)>),
}

/// `format!("…", …)` whose placeholders this crate understands.
pub(crate) struct Format {
    pub(crate) template: LitStr,
    pub(crate) parts: Vec<FormatPart>,
    /// What the placeholders show; several may show the same.
    pub(crate) args: Vec<Value>,
}

pub(crate) enum FormatPart {
    Text(String),
    /// The place of the argument, and the text after the colon.
    Placeholder {
        arg: usize,
        spec: String,
    },
}

/// A path from a step or an input: `inbox.data[0].thread_id`.
#[derive(Clone)]
pub(crate) struct Reference {
    pub(crate) root: Ident,
    /// Where the root is bound, if a `for` or an `if let` binds it.
    pub(crate) local: Option<Local>,
    pub(crate) hops: Vec<Hop>,
    /// The span of the last token.
    pub(crate) end: Span,
    pub(crate) outcome: Outcome,
}

/// The failures among the values of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    None,
    /// The reference leads to the `Result` of a step, and not into the `Result`.
    One,
    /// The reference leads to the list of the `Result`s of a step with `#[catch(each)]`.
    Each,
}

impl Reference {
    /// Creates a reference that is a name alone.
    pub(crate) fn new(root: Ident) -> Self {
        Self {
            end: root.span(),
            root,
            local: None,
            hops: Vec::new(),
            outcome: Outcome::None,
        }
    }

    /// The reference as its author wrote it.
    pub(crate) fn written(&self) -> String {
        self.written_to(usize::MAX)
    }

    /// The same up to the part at this place.
    pub(crate) fn written_to(&self, end: usize) -> String {
        let mut written = text_of(&self.root);
        for hop in self.hops.iter().take(end) {
            let part = match hop {
                Hop::Field(_, Member::Named(ident)) => format!(".{}", ident.unraw()),
                Hop::Field(_, Member::Unnamed(index)) => format!(".{}", index.index),
                Hop::Index(_, index) => format!("[{}]", index.base10_digits()),
                Hop::Key(_, key) => format!("[{}]", key.to_token_stream()),
                Hop::Each(_) => "[..]".to_owned(),
                Hop::Optional(_) => "?".to_owned(),
                Hop::Get(_, _, key) => format!(".get({})", key.to_token_stream()),
                Hop::Outcome(method) => format!(".{method}()"),
                Hop::Pointer(_, _, pointer) => format!(".pointer({})", pointer.to_token_stream()),
            };
            written.push_str(&part);
        }
        written
    }
}

#[derive(Clone)]
pub(crate) enum Hop {
    /// `.thread_id`, `.0`
    Field(Token![.], Member),
    /// `[0]`
    Index(token::Bracket, LitInt),
    /// `["key"]`
    Key(token::Bracket, LitStr),
    /// `[..]`
    Each(token::Bracket),
    /// `?`
    Optional(Token![?]),
    /// `.get(0)`, `.get("key")`
    Get(Token![.], Ident, Lit),
    /// `.ok()`, `.err()`
    Outcome(Ident),
    /// `.pointer("/a/0")`
    Pointer(Token![.], Ident, LitStr),
}

/// A name that a `for` or an `if let` binds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Local {
    /// How many of them are around the one that binds it.
    pub(crate) frame: usize,
    /// Its place among the names that are bound together; `None` if it is the whole element.
    pub(crate) part: Option<usize>,
}

/// Any other Rust expression.
#[derive(Clone)]
pub(crate) struct Computed {
    /// As the author wrote it.
    pub(crate) written: TokenStream,
    /// With its uses of steps and inputs dereferenced.
    pub(crate) expr: Expr,
    /// The steps and inputs that it mentions, in order of first mention.
    pub(crate) names: Vec<Ident>,
    /// The fields of theirs that it names.
    pub(crate) fields: Vec<(Ident, Member)>,
    /// The names that a `for` or an `if let` around it binds and that it mentions.
    pub(crate) locals: Vec<(Ident, Local)>,
    /// Whether a `?` in it may fail the step.
    pub(crate) asks: bool,
    /// The same as data, if it has the form of a test.
    pub(crate) test: Option<Box<Test>>,
}

/// A Rust expression that a run may evaluate as data, or what is in one.
#[derive(Clone)]
pub(crate) enum Test {
    /// `a && b`
    All(Vec<Test>),
    /// `a || b`
    Any(Vec<Test>),
    /// `!a`
    Not(Box<Test>),
    /// `a < b`, with the sign.
    Compare(&'static str, Box<[Test; 2]>),
    /// `a.is_some()`, with the name of the method.
    Ask(&'static str, Reference),
    /// What `if let Some(x) = a` takes `x` out of.
    Some(Reference),
    /// What `if let Ok(x) = a` and `if let Err(x) = a` take `x` out of.
    Outcome(Reference),
    Reference(Reference),
    Scalar(Scalar),
    /// A constant, or an enum's variant without fields.
    Constant(Path),
}

impl Test {
    /// Hands over all references in it.
    pub(crate) fn references(&mut self, f: &mut impl FnMut(&mut Reference)) {
        match self {
            Self::All(tests) | Self::Any(tests) => tests.iter_mut().for_each(|it| it.references(f)),
            Self::Not(test) => test.references(f),
            Self::Compare(_, both) => both.iter_mut().for_each(|it| it.references(f)),
            Self::Ask(_, reference)
            | Self::Some(reference)
            | Self::Outcome(reference)
            | Self::Reference(reference) => f(reference),
            Self::Scalar(_) | Self::Constant(_) => {}
        }
    }
}

impl Computed {
    /// An expression whose names are not looked up yet.
    pub(crate) fn new(written: TokenStream, expr: Expr) -> Self {
        Self {
            written,
            expr,
            names: Vec::new(),
            fields: Vec::new(),
            locals: Vec::new(),
            asks: false,
            test: None,
        }
    }
}
