//! The body of a step: the call of a tool, and `if` and `for` around it.

use super::binding::{Binds, bind};
use super::builder::{BodyData, Builder, Lowered, TemplateData};
use super::literal::{self, Owner};
use super::table::ConstantKey;
use super::value::{ends, it};
use super::way::path;
use super::{block, reference, step, types};
use crate::ast::{Body, Branch, Condition, Fields, For, List, Literal, Scalar, Step, Value};
use crate::parse::{self, binds_one, pattern_text, tidy};
use crate::shape::secret;
use plan_graph::notation::{BranchData, ConditionData};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Lit, Path};

/// A step while its body is lowered.
pub(super) struct Bodies<'b, 'a> {
    builder: &'b mut Builder<'a>,
    step: &'b Step,
    /// The number of tools so far.
    tools: usize,
}

impl<'b, 'a> Bodies<'b, 'a> {
    /// Lowers the body of a step.
    pub(super) fn lower(step: &'b Step, builder: &'b mut Builder<'a>) -> BodyData {
        let mut bodies = Self {
            builder,
            step,
            tools: 0,
        };
        bodies.body(&step.body)
    }

    fn body(&mut self, body: &Body) -> BodyData {
        match body {
            Body::Call(literal) => self.call(literal),
            Body::Compute(value) => {
                let Lowered { check, data } = self.builder.value(value);
                let ty = step::declared(self.step, self.builder.cx);
                self.builder.check_type(step::place(self.step), ty, check);
                BodyData::Value(data)
            }
            Body::If(branches) => {
                let tools = &self.builder.cx.tools[self.step.number][self.tools..];
                let ty = types::of_branches(self.step, tools, branches);
                let branches = branches.iter();
                BodyData::If(branches.map(|it| self.branch(it, ty.as_ref())).collect())
            }
            Body::For(repeat) => self.repeat(repeat),
            Body::Block(block) => block::lower(block, None, self.builder),
            Body::Await(at) => self.wait(*at),
            Body::Loop(repeat) => block::lower_loop(repeat, self.builder),
            Body::Broken(_) => BodyData::Value(TemplateData::NULL),
        }
    }

    /// Lowers a value from outside, which must have the step's type.
    fn wait(&mut self, at: Span) -> BodyData {
        let Some(written) = &self.step.ty else {
            return BodyData::Value(TemplateData::NULL);
        };
        let ty = step::declared(self.step, self.builder.cx);
        let receive = quote_spanned!(at=> __plan::received::<#ty>);
        let receive = quote!(__plan::Constant::Receive(#receive));
        let receive = self.builder.constant(receive);
        BodyData::Await(tidy(&written.to_token_stream()), receive)
    }

    fn call(&mut self, literal: &Literal) -> BodyData {
        let builder = &mut *self.builder;
        let tool = &builder.cx.tools[self.step.number][self.tools];
        self.tools += 1;
        let (arguments, key) = (&tool.arguments, ConstantKey::Tool(tool.text.clone()));
        let at = arguments.span();
        let tool = match &self.step.body {
            Body::Call(_) => quote_spanned!(at=> <#arguments as __plan::IsTool>::Itself),
            _ => tool.alias.to_token_stream(),
        };
        let constant = builder.shared_constant(key, || {
            let inside = secret::of_tool(&tool, at, &quote!(__plan));
            quote_spanned!(at=> <#tool as __plan::Called>::TOOL.seen(#inside))
        });
        let names = builder.fresh_at("n", at);
        let owner = Owner {
            path: &arguments.to_token_stream(),
            names: &names,
            shape: constant,
            is_call: true,
        };
        let lowered = literal::fields(literal, &owner, builder);
        let bind = quote_spanned!(at=> let #names = __plan::arguments::<#tool>(););
        builder.check(lowered.check);
        if !lowered.names.is_empty() {
            let names = lowered.names;
            builder.evaluate(quote!(#bind #names));
        }
        builder.apart.extend(wrong_time(&literal.fields, &tool));
        if !lowered.checks.is_empty() {
            let checks = lowered.checks;
            builder
                .apart
                .extend(quote!(const _: () = { #bind #checks };));
        }
        BodyData::Call(constant, lowered.data)
    }

    /// Lowers a branch. A value has the type `ty`, which is declared at that place.
    fn branch(&mut self, branch: &Branch, ty: Option<&(TokenStream, Span)>) -> BranchData<String> {
        let around = self.builder.frames.len();
        // Between others, a pattern that always matches names a value, which rustc has no objections to.
        let allow =
            (branch.conditions.len() > 1).then(|| quote!(#[allow(irrefutable_let_patterns)]));
        let conditions = branch.conditions.iter();
        let conditions = conditions.map(|condition| self.condition(condition, allow.as_ref()));
        let conditions = conditions.collect();
        let body = match (&branch.body, ty) {
            (Body::Compute(value), Some(ty)) => BodyData::Value(self.builder.value_of(value, ty)),
            (Body::Block(block), ty) => block::lower(block, ty, self.builder),
            (body, _) => self.body(body),
        };
        while self.builder.frames.len() > around {
            self.builder.leave();
        }
        BranchData { conditions, body }
    }

    fn condition(
        &mut self,
        condition: &Condition,
        allow: Option<&TokenStream>,
    ) -> ConditionData<String> {
        let builder = &mut *self.builder;
        match condition {
            Condition::Holds(value) => ConditionData::Holds(builder.holds(value)),
            Condition::Let(pattern, computed, names) => {
                let header = |expr: &TokenStream| quote!(#allow if #expr);
                let kind = if binds_one(pattern) {
                    Binds::One
                } else {
                    Binds::Together
                };
                let value = bind(computed, header, names, kind, builder);
                ConditionData::Let(pattern_text(pattern), value)
            }
            // Nothing refers to the names that it would bind.
            Condition::Broken(_) => ConditionData::Holds(TemplateData::NULL),
        }
    }

    fn repeat(&mut self, repeat: &For) -> BodyData {
        let builder = &mut *self.builder;
        let list = match &repeat.list {
            List::Reference(reference, name) => {
                let Lowered { check, data } = reference::lower(reference, builder);
                let (start, end) = (reference.root.span(), reference.end);
                let items = path(&["HasItems", "items"], start, end);
                let listed = path(&["Iterated", "listed"], start, end);
                let it = it(check, end);
                let place = builder.fresh_at("f", name.span());
                builder.bind(quote_spanned! {end=>
                    let #place = __plan::element(&|| #items(#listed(#it)));
                });
                builder.enter_one(place, name);
                data
            }
            List::Computed(computed, bound) => {
                let pat = &repeat.pat;
                let header = |expr: &TokenStream| quote!(for #pat in #expr);
                bind(computed, header, bound, Binds::Each, builder)
            }
            // Nothing in the braces refers to the names that it would bind.
            List::Broken => TemplateData::NULL,
        };
        let body = self.body(&repeat.body);
        if !matches!(repeat.list, List::Broken) {
            self.builder.leave();
        }
        BodyData::For(pattern_text(&repeat.pat), list, Box::new(body))
    }
}

/// Returns a constant that does not compile if `time` is no duration and the tool is `Sleep`.
fn wrong_time(fields: &Fields, tool: &TokenStream) -> Option<TokenStream> {
    let Fields::Named(_, fields, _) = fields else {
        return None;
    };
    let time = fields.iter().find(|field| field.name == "time")?;
    let (at, message) = wrong_duration(&time.value)?;
    Some(quote_spanned! {at=>
        const _: () = {
            #[diagnostic::on_unimplemented(message = #message, label = "expected a duration")]
            trait Time {
                const CHECKED: () = ();
            }
            #[diagnostic::do_not_recommend]
            impl Time for __plan::Waits<false> {}
            <__plan::Waits<{ <#tool as __plan::Tool>::WAITS }> as Time>::CHECKED
        };
    })
}

/// Finds a literal that is no duration.
fn wrong_duration(value: &Value) -> Option<(Span, String)> {
    let Value::Scalar(Scalar {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        return None;
    };
    let error = parse::duration_in(text).err()?;
    // A text with a name in braces has its own warning.
    (!text.value().contains(['{', '}'])).then(|| (text.span(), error.to_string()))
}

/// A tool that a step calls.
pub(super) struct Tool<'p> {
    pub(super) path: &'p Path,
    /// The path as text.
    pub(super) text: String,
    /// The name of the type of the tool.
    pub(super) alias: Ident,
    /// The name of the type of the arguments as a literal, which the author's path is written for once: rustc has other words
    /// for a path that leads nowhere in a literal than in a type.
    pub(super) arguments: Ident,
}

impl<'p> Tool<'p> {
    /// Returns the tools of a step in order, without the tools of steps in its blocks.
    pub(super) fn all_of(step: &'p Step) -> Vec<Self> {
        let mut tools = Vec::new();
        Self::add(&step.body, step.number, &mut tools);
        tools
    }

    fn add(body: &'p Body, step: usize, tools: &mut Vec<Self>) {
        match body {
            Body::Call(Literal { path, .. }) => {
                let (index, at) = (tools.len(), ends(path).0);
                tools.push(Self {
                    path,
                    text: parse::path_text(path),
                    alias: Ident::new(&format!("__PlanTool{step}_{index}"), at),
                    arguments: Ident::new(&format!("__PlanArguments{step}_{index}"), at),
                });
            }
            Body::If(branches) => branches
                .iter()
                .for_each(|branch| Self::add(&branch.body, step, tools)),
            Body::For(repeat) => Self::add(&repeat.body, step, tools),
            Body::Compute(_)
            | Body::Await(_)
            | Body::Block(_)
            | Body::Loop(_)
            | Body::Broken(_) => {}
        }
    }
}
