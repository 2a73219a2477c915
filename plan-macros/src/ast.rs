//! The syntax tree of a plan, with the author's tokens.

mod policy;

pub(crate) use policy::{Amount, Extent, Given, Policy};

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
}

/// The part before the braces in the item form.
pub(crate) struct Header {
    /// The items before the plan; reported already.
    pub(crate) items: TokenStream,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) inputs: Inputs,
    /// `true` if the output type is unreadable, so that the braces may belong to the type or to a step.
    pub(crate) unclear_body: bool,
    /// `true` if the head has an arrow or an error, so that a missing output type is no further error.
    pub(crate) may_have_output: bool,
    pub(crate) output: Option<Type>,
}

#[derive(Default)]
pub(crate) struct Inputs {
    pub(crate) read: Vec<Input>,
    /// The names of inputs that could not be read.
    pub(crate) broken: Vec<Ident>,
    /// `true` if some inputs could not be parsed, so that unknown names may be inputs.
    pub(crate) unclear: bool,
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
    /// `true` for the last expression of a block, which has no name.
    pub(crate) is_tail: bool,
}

/// The role of a step.
#[derive(Clone, Default)]
pub(crate) enum Role {
    #[default]
    Work,
    /// `#[undo(paid)]`
    Undo(Ident),
    /// `#[always]`
    Always,
}

impl Role {
    /// Returns the name of the step that an undo step rolls back.
    pub(crate) fn undone(&self) -> Option<&Ident> {
        match self {
            Self::Undo(undone) => Some(undone),
            Self::Work | Self::Always => None,
        }
    }
}

impl Step {
    /// Creates a step without a name and attributes.
    pub(crate) fn new(at: Span, body: Body) -> Self {
        Self {
            intent: String::new(),
            role: Role::Work,
            after: Vec::new(),
            policy: Policy::default(),
            name: Ident::new("_", at),
            ty: None,
            body,
            is_tail: false,
        }
    }

    /// Discards the step's content except its name and, for a known tool, its output.
    pub(crate) fn forget(&mut self) {
        self.body = match std::mem::replace(&mut self.body, Body::Broken(None)) {
            Body::Call(Literal { path, .. }) | Body::Broken(Some(path)) => Body::Broken(Some(path)),
            _ => Body::Broken(None),
        };
        self.policy.fallback = None;
    }

    /// Discards the output type as well.
    pub(crate) fn forget_type(&mut self) {
        self.ty = None;
        self.body = Body::Broken(None);
        self.forget();
    }
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
    /// `await` at this span: a value from outside the run with the type `Step::ty`.
    Await(Span),
    /// A body that was unreadable and is already reported, with the tool's path if known.
    Broken(Option<Path>),
}

impl Body {
    /// Returns `true` if the output is an `Option` because no branch may be taken. If the output is an `Option` for another reason as well, the
    /// output has only one `Option`, because one null stands for both reasons.
    pub(crate) fn may_be_absent(&self) -> bool {
        match self {
            Self::If(branches) => {
                let last = branches.last();
                !last.is_some_and(|last| last.conditions.is_empty())
                    || typed(branches).is_some_and(Self::may_be_absent)
            }
            Self::Block(block) => {
                let value = block.value();
                value.is_some_and(|step| step.policy.is_optional() || step.body.may_be_absent())
            }
            _ => false,
        }
    }

    /// Returns `true` if the output, or an element of the output, is an `Option` because no branch may be taken.
    pub(crate) fn has_absent(&self) -> bool {
        match self {
            Self::For(repeat) => repeat.body.has_absent(),
            body => body.may_be_absent(),
        }
    }

    /// Calls `f` with this body, and with the bodies of its branches and elements. The steps of blocks are not among them.
    pub(crate) fn each<'b>(&'b self, f: &mut impl FnMut(&'b Self)) {
        f(self);
        match self {
            Self::If(branches) => branches.iter().for_each(|branch| branch.body.each(f)),
            Self::For(repeat) => repeat.body.each(f),
            _ => {}
        }
    }

    /// Returns `true` if `is` returns `true` for this body, or for a body of its branches or elements.
    pub(crate) fn any(&self, is: impl Fn(&Self) -> bool) -> bool {
        let mut found = false;
        self.each(&mut |body| found |= is(body));
        found
    }

    /// Calls `f` with each block that is not inside another block.
    pub(crate) fn blocks<'b>(&'b self, f: &mut impl FnMut(&'b Block)) {
        self.each(&mut |body| match body {
            Self::Block(block) => f(block),
            Self::Loop(repeat) => f(&repeat.round),
            _ => {}
        });
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
}

/// A block that is repeated.
pub(crate) struct Loop {
    /// `loop`
    pub(crate) keyword: Span,
    /// The name of the value of the round before.
    pub(crate) last: Option<Ident>,
    pub(crate) round: Block,
    /// The condition for another round.
    pub(crate) again: Value,
}

/// The last expression of a block.
pub(crate) enum BlockTail {
    /// There is none: the value is `()`.
    None,
    /// A call, an `if` or a `for`, which is the last step.
    Step,
    /// The name of a step of the block.
    Name(Ident),
    /// A value with the type of the other branches.
    Value(Box<Value>),
    /// A tail that was unreadable and is already reported.
    Broken,
}

impl Block {
    /// Returns the step whose output is the block's value.
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

/// A branch of an `if`.
pub(crate) struct Branch {
    /// The operands of `&&`; empty for `else`.
    pub(crate) conditions: Vec<Condition>,
    pub(crate) body: Body,
}

/// Returns the first branch without a value as its result. The type of that branch is the type of all branches.
pub(crate) fn typed(branches: &[Branch]) -> Option<&Body> {
    let mut typed = branches.iter().filter(|branch| !is_value(branch));
    typed.next().map(|branch| &branch.body)
}

/// Returns `true` if a branch is a value or ends with a value. The other branches then determine the type.
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
    /// `let Some(x) = …`, with the names that the pattern binds. The expression contains the whole condition, its
    /// source only the value.
    Let(Box<Pat>, Computed, Vec<Ident>),
    /// A condition that was unreadable and is already reported, with the names it would bind.
    Broken(Vec<Ident>),
}

/// `for x in list { … }`
pub(crate) struct For {
    pub(crate) pat: Pat,
    pub(crate) list: List,
    pub(crate) body: Body,
}

pub(crate) enum List {
    /// A reference to a list, for a pattern that is a single name.
    Reference(Reference, Ident),
    /// An expression, with the names that the pattern binds for each element.
    Computed(Box<Computed>, Vec<Ident>),
    /// A list that was unreadable and is already reported.
    Broken,
}

pub(crate) struct Tail {
    pub(crate) value: Value,
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
    /// A value that was unreadable or refers to an unknown name, and is already reported.
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
    /// `true` for the shorthand `name` of `name: name`.
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
    /// The values of the placeholders. Several placeholders may show one value.
    pub(crate) args: Vec<Value>,
}

pub(crate) enum FormatPart {
    Text(String),
    /// The index of the argument, and the format specification after the colon.
    Placeholder {
        arg: usize,
        spec: String,
    },
}

/// A path from a step or an input: `inbox.data[0].thread_id`.
#[derive(Clone)]
pub(crate) struct Reference {
    pub(crate) root: Ident,
    pub(crate) hops: Vec<Hop>,
    /// The span of the last token.
    pub(crate) end: Span,
}

impl Reference {
    /// Creates a reference that is a name alone.
    pub(crate) fn new(root: Ident) -> Self {
        Self {
            end: root.span(),
            root,
            hops: Vec::new(),
        }
    }

    /// Returns the reference as written.
    pub(crate) fn written(&self) -> String {
        self.written_to(usize::MAX)
    }

    /// Returns the reference as written, up to the part at this index.
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

/// Any other Rust expression.
#[derive(Clone)]
pub(crate) struct Computed {
    /// As the author wrote it.
    pub(crate) written: TokenStream,
    pub(crate) expr: Expr,
    /// The expression as data, if it has the form of a test.
    pub(crate) test: Option<Box<Test>>,
}

/// A Rust expression that a run may evaluate as data, or a part of such an expression.
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
    /// `a` in `if let Some(x) = a`.
    Some(Reference),
    /// `a` in `if let Ok(x) = a` or `if let Err(x) = a`.
    Outcome(Reference),
    Reference(Reference),
    Scalar(Scalar),
    /// A constant, or an enum's variant without fields.
    Constant(Path),
}

impl Test {
    /// Hands over all references in it.
    pub(crate) fn references<'t>(&'t self, f: &mut impl FnMut(&'t Reference)) {
        match self {
            Self::All(tests) | Self::Any(tests) => tests.iter().for_each(|it| it.references(f)),
            Self::Not(test) => test.references(f),
            Self::Compare(_, both) => both.iter().for_each(|it| it.references(f)),
            Self::Ask(_, reference)
            | Self::Some(reference)
            | Self::Outcome(reference)
            | Self::Reference(reference) => f(reference),
            Self::Scalar(_) | Self::Constant(_) => {}
        }
    }
}

impl Computed {
    /// Returns an expression that is no test.
    pub(crate) fn new(written: TokenStream, expr: Expr) -> Self {
        Self {
            written,
            expr,
            test: None,
        }
    }
}
