//! Steps and their bodies: the call of a tool, `if` and `for` around it, and blocks.
//!
//! rustc checks a block together with the enclosing step: inside the block, rustc sees the outer values under the
//! author's names. Only the data and the code of the run treat these values as inputs of the block.

use super::binding::{Binds, bind};
use super::builder::{BodyData, Builder, Lowered, TemplateData};
use super::frame::Level;
use super::literal::{self, Owner};
use super::table::{Action, ConstantKey, Table};
use super::types::Tool;
use super::way::{it, path};
use super::{Context, policy, reference, step, types};
use crate::ast::{
    Block, BlockTail, Body, Branch, Condition, Fields, For, List, Literal, Loop, Scalar, Step,
    Value,
};
use crate::docs::text_of;
use crate::json;
use crate::names::{self, Capture, Captured, Local, Names, Reader, Source};
use crate::parse::{self, binds_one, tidy};
use crate::shape::secret;
use plan_graph::notation::{
    AbsenceData, BlockData, BranchData, ConditionData, Ended, Named, ReferenceData, RoleData,
    SegmentData, SourceData, StepData,
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::Lit;

/// Returns the item that checks a step of the plan, and the step as data.
pub(super) fn item(
    step: &Step,
    cx: &Context<'_>,
    table: &mut Table,
) -> (TokenStream, StepData<String>) {
    let mut builder = Builder::new(cx, table);
    let data = lower(step, &mut builder);
    (
        builder.into_item(step::name(cx.names.number(step), cx)),
        data,
    )
}

/// Lowers a step of the plan or of a block.
fn lower(step: &Step, builder: &mut Builder<'_>) -> StepData<String> {
    let cx = builder.cx;
    let scope = builder.level().scope;
    let after = step.after.iter();
    let after: BTreeSet<usize> = after
        .filter_map(|name| match cx.names.own(scope, name) {
            Some(Source::Step(number)) => Some(cx.names.place_of(number)),
            _ => None,
        })
        .collect();
    let reader = names::reader(step, cx.names);
    builder.set_reader(reader);
    builder.is_json = step.ty.as_ref().and_then(|ty| {
        let name = cx.type_of(cx.names.source(step));
        json::is_checked(ty).then(|| json::is_json(&name.to_string()))
    });
    let body = Bodies {
        builder,
        step,
        tools: 0,
    }
    .body(&step.body);
    builder.checks.extend(step::is_no_call(step, cx));
    if let Some(check) = step::is_ever_some(step, cx) {
        builder.bind(check);
    }
    StepData {
        intent: step.intent.clone(),
        after: after.into_iter().collect(),
        role: match reader {
            Reader::Work => None,
            Reader::Undo(undone) => Some(RoleData::Undo(cx.names.place_of(undone))),
            Reader::Always => Some(RoleData::Always),
        },
        body,
        policy: policy::lower(step, builder),
    }
}

/// A step while its body is lowered.
struct Bodies<'b, 'a> {
    builder: &'b mut Builder<'a>,
    step: &'b Step,
    /// The number of tools so far.
    tools: usize,
}

impl<'a> Bodies<'_, 'a> {
    fn body(&mut self, body: &Body) -> BodyData {
        match self.builder.cx.names.body(body) {
            Body::Call(literal) => self.call(literal),
            Body::Compute(value) => {
                let Lowered { check, data } = self.builder.value(value);
                let ty = step::declared(self.step, self.builder.cx);
                let is_whole = matches!(self.step.body, Body::Compute(_));
                self.compute(ty.clone().filter(|_| is_whole));
                self.builder
                    .check_type(types::place_of_step(self.step), ty, check);
                BodyData::Value(data)
            }
            Body::If(branches) => {
                let tools = &self.tools()[self.tools..];
                let ty = types::of_branches(self.step, tools, branches, self.builder.cx.names);
                let branches = branches.iter();
                BodyData::If(branches.map(|it| self.branch(it, ty.as_ref())).collect())
            }
            Body::For(repeat) => self.repeat(repeat),
            Body::Block(block) => self::block(block, None, self.builder),
            Body::Await(at) => self.wait(*at),
            Body::Loop(repeat) => lower_loop(repeat, self.builder),
            Body::Broken(_) => {
                self.compute(None);
                BodyData::Value(TemplateData::NULL)
            }
        }
    }

    /// Adds the action of a value with this type.
    fn compute(&mut self, ty: Option<TokenStream>) {
        let number = self.builder.cx.names.number(self.step);
        let action = ty.map_or(Action::Other, |ty| Action::Compute(number, ty));
        self.builder.table.actions.push(action);
    }

    /// Returns the tools of the step.
    fn tools(&self) -> &'a [Tool<'a>] {
        let cx = self.builder.cx;
        &cx.tools[cx.names.number(self.step)]
    }

    /// Lowers a value from outside, which must have the step's type.
    fn wait(&mut self, at: Span) -> BodyData {
        let Some(written) = &self.step.ty else {
            return BodyData::Value(TemplateData::NULL);
        };
        let ty = step::declared(self.step, self.builder.cx);
        let receive = quote_spanned!(at=> __plan::received::<#ty>);
        let inside = secret::of_value(written, &quote!(#ty), &quote!(__plan));
        let receive = quote!(__plan::Constant::Receive(#receive, #inside));
        let receive = self.builder.constant(receive);
        BodyData::Await(tidy(written), receive)
    }

    fn call(&mut self, literal: &Literal) -> BodyData {
        let tools = self.tools();
        let builder = &mut *self.builder;
        let tool = &tools[self.tools];
        let number = builder.cx.names.number(self.step);
        let action = Action::Call(number, self.tools);
        builder.table.actions.push(action);
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
        builder
            .apart
            .extend(wrong_time(&literal.fields, &tool, builder.cx.names));
        if !lowered.checks.is_empty() {
            let checks = lowered.checks;
            builder
                .apart
                .extend(quote!(const _: () = { #bind #checks };));
        }
        BodyData::Call(constant, lowered.data)
    }

    /// Lowers a branch. A value has the type `ty`, declared at its span.
    fn branch(&mut self, branch: &Branch, ty: Option<&(TokenStream, Span)>) -> BranchData<String> {
        let around = self.builder.frames.len();
        // A pattern that always matches names a value for the other conditions. rustc must not warn about this pattern.
        let allow =
            (branch.conditions.len() > 1).then(|| quote!(#[allow(irrefutable_let_patterns)]));
        let conditions = branch.conditions.iter();
        let conditions = conditions.map(|condition| self.condition(condition, allow.as_ref()));
        let conditions = conditions.collect();
        let body = match (&branch.body, ty) {
            (Body::Compute(value), Some(ty)) => {
                self.compute(Some(ty.0.clone()));
                BodyData::Value(self.builder.value_of(value, ty))
            }
            (Body::Block(block), ty) => self::block(block, ty, self.builder),
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
        match builder.cx.names.condition(condition) {
            Condition::Holds(value) => ConditionData::Holds(builder.holds(value)),
            Condition::Let(pattern, computed, names) => {
                let header = |expr: &TokenStream| quote!(#allow if #expr);
                let kind = if binds_one(pattern) {
                    Binds::One
                } else {
                    Binds::Together
                };
                let value = bind(computed, header, names, kind, builder);
                ConditionData::Let(tidy(pattern), value)
            }
            // Nothing refers to the names that it would bind.
            Condition::Broken(_) => ConditionData::Holds(TemplateData::NULL),
        }
    }

    fn repeat(&mut self, repeat: &For) -> BodyData {
        let builder = &mut *self.builder;
        let written = builder.cx.names.list(&repeat.list);
        let list = match written {
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
        if !matches!(written, List::Broken) {
            self.builder.leave();
        }
        BodyData::For(tidy(&repeat.pat), list, Box::new(body))
    }
}

/// Lowers a block. A value at its end has the type `ty`, declared at its span.
fn block(block: &Block, ty: Option<&(TokenStream, Span)>, builder: &mut Builder<'_>) -> BodyData {
    builder.table.actions.push(Action::Other);
    let mut data = enter(block, None, builder);
    if let (BlockTail::Value(value), Some(ty)) = (&block.tail, ty) {
        data.value = builder.value_of(value, ty);
        builder.inner_roots.clear();
    }
    builder.levels.pop();
    BodyData::Block(data)
}

/// Lowers a loop.
fn lower_loop(repeat: &Loop, builder: &mut Builder<'_>) -> BodyData {
    // The types of a round and of `last` have names.
    let cx = builder.cx;
    let ty = types::type_of_block(&repeat.round, cx.names).unwrap_or_else(|| cx.unknown_type());
    let last = repeat.last.as_ref().map(|name| {
        let place = builder.fresh_at("f", name.span());
        let option = quote!(__plan::root::<::core::option::Option<#ty>>());
        builder.bind_name(&place, &option);
        builder.enter_one(place, name);
        Captured::Local(Local {
            frame: builder.frames.len() - 1,
            part: None,
        })
    });
    let mut captures = cx.names.captures(&repeat.round).iter();
    let has_last = captures.any(|capture| Some(capture.of) == last);
    builder.table.actions.push(Action::Other);
    let round = enter(&repeat.round, last, builder);
    if let Some(level) = builder.levels.last_mut() {
        level.names = cx.names.scope_of_condition(repeat);
    }
    let again = builder.holds(&repeat.again);
    builder.inner_roots.clear();
    builder.levels.pop();
    if last.is_some() {
        builder.leave();
    }
    BodyData::Loop(has_last, round, again)
}

/// Lowers a block, and enters its level. `last` is an input that is null at first.
fn enter(block: &Block, last: Option<Captured>, builder: &mut Builder<'_>) -> BlockData<String> {
    let cx = builder.cx;
    let inputs = cx.names.captures(block).iter().map(|capture| {
        let input = if Some(capture.of) == last {
            TemplateData::NULL
        } else {
            input(capture, builder)
        };
        (text_of(&capture.name), input)
    });
    let inputs = inputs.collect();
    let level = Level::of(block, builder.frames.len(), cx.names);
    builder.levels.push(level);
    let steps = block.steps.iter().map(|step| {
        let is_json = builder.is_json.take();
        builder.inner_roots.clear();
        let data = lower(step, builder);
        builder.inner_roots.clear();
        builder.is_json = is_json;
        (text_of(&step.name), data)
    });
    let steps = Named(steps.collect());
    // The code after the steps sees them as the work does.
    builder.set_reader(Reader::Work);
    let value = block.value().map_or(TemplateData::NULL, |step| {
        let place = builder.place(cx.names.source(step));
        whole(place, None, text_of(&step.name))
    });
    BlockData {
        inputs,
        steps,
        value,
    }
}

/// Returns the value of a block's input.
fn input(capture: &Capture, builder: &Builder<'_>) -> TemplateData {
    let (place, part) = match capture.of {
        Captured::Source(source) => (builder.place(source), None),
        Captured::Local(local) => builder.part_of_local(local),
    };
    whole(place, part, text_of(&capture.name))
}

/// Returns a reference to a whole value, or to a part of a local value.
fn whole(source: SourceData, part: Option<usize>, written: String) -> TemplateData {
    let part = part.map(|part| SegmentData::Index(part, AbsenceData::Error));
    TemplateData::Reference(ReferenceData {
        source,
        written,
        path: Ended(part.into_iter().collect()),
    })
}

/// Returns a constant that does not compile if `time` is no duration and the tool is `Sleep`.
fn wrong_time(fields: &Fields, tool: &TokenStream, names: &Names<'_>) -> Option<TokenStream> {
    let Fields::Named(_, fields, _) = fields else {
        return None;
    };
    let time = fields.iter().find(|field| field.name == "time")?;
    let (at, message) = wrong_duration(names.value(&time.value))?;
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
    // A string with a name in braces has a separate warning.
    (!text.value().contains(['{', '}'])).then(|| (text.span(), error.to_string()))
}
