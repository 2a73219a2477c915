//! The expression form of `plan!`, and the code that it shares with the item form.

use super::builder::{Builder, Lowered, TemplateData};
use super::table::{Action, Table};
use super::unordered::Warnings;
use super::{Context, flow, lints, start, step};
use crate::ast::{Header, Input};
use crate::docs::{self, text_of};
use crate::json;
use crate::names::Source;
use crate::parse::tidy;
use crate::shape::secret;
use heck::ToSnakeCase;
use plan_graph::notation::{InputData, Named, PlanData};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// Returns the code of both forms: types, steps, the plan, and warnings. Returns the actions of the plan as well. `output_type` is the type as its author wrote it, and `output`
/// returns the item that checks the output, with the output as data.
pub(super) fn shared(
    cx: &Context<'_>,
    output_type: String,
    output: impl FnOnce(Builder<'_>) -> (TokenStream, TemplateData),
) -> (TokenStream, Vec<Action>) {
    let plan = cx.plan;
    let inputs = &cx.names.inputs;
    let input_types = inputs.iter().enumerate().map(|(index, input)| {
        let name = cx.type_of(Source::Input(index));
        let (items, ty) = json::checked_alias(&input.ty, &name);
        quote!(#items type #name = #ty;)
    });
    let step_types = cx
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| step::types(index, step, cx));
    let mut table = Table::default();
    let steps = plan.steps.iter().map(|step| {
        let (item, data) = flow::item(step, cx, &mut table);
        (item, (text_of(&step.name), data))
    });
    let (steps, steps_data): (TokenStream, Vec<_>) = steps.unzip();
    let (output, output_data) = output(Builder::new(cx, &mut table));
    let (name, description) = match &plan.head {
        Some(head) => (text_of(&head.name).to_snake_case(), docs::text(&head.attrs)),
        None => ("plan".to_owned(), String::new()),
    };
    let data = PlanData {
        name,
        description,
        inputs: inputs.iter().copied().map(input_data).collect(),
        steps: Named(steps_data),
        output_type,
        output: output_data,
    };
    let unused = lints::unused(cx);
    let first = start::first_type(cx);
    let (text, tables) = (data.to_text(), table.items);
    let decoded = quote!(__plan::decode(#text, &[#(#tables),*]));
    let may_be_secret =
        |input: &&Input| secret::is_marked(&input.attrs) || secret::may_be_inside(&input.ty);
    let decoded = match &plan.head {
        Some(Header { name, .. }) if inputs.iter().any(may_be_secret) => {
            quote!(__plan::with_secrets::<#name>(#decoded))
        }
        _ => decoded,
    };
    let code = quote! {
        #(#input_types)*
        #(#step_types)*
        #first
        #steps
        #output
        static __PLAN: __plan::LazyPlan = __plan::LazyPlan::new(|| #decoded);
        #unused
    };
    (code, table.actions)
}

fn input_data(input: &Input) -> InputData<String> {
    InputData {
        name: text_of(&input.name),
        type_name: tidy(&input.ty),
        description: docs::text(&input.attrs),
    }
}

/// Returns the name of the item that checks the output.
pub(super) fn output_name() -> Ident {
    Ident::new("check_of_output", Span::mixed_site())
}

/// Expands the expression form, a value that can be run.
pub(super) fn inline(cx: &Context<'_>) -> TokenStream {
    // The output's type is not written, so the chain of references is expanded twice: among the checks, and for its type.
    let (mut value, mut outside) = (TokenStream::new(), TokenStream::new());
    let (shared, actions) = shared(cx, String::new(), |mut builder| {
        let lowered = match &cx.plan.tail {
            Some(tail) => builder.inferred(&tail.value),
            None => Lowered::new(quote!(()), TemplateData::NULL),
        };
        value = lowered.check.into_token_stream();
        let (bindings, types) = (builder.bindings(), &builder.types);
        outside = quote!(#bindings #types);
        builder.bind(quote!(let _ = || #value;));
        (builder.into_item(output_name()), lowered.data)
    });
    let steps = start::steps(&quote!(ThisUnnamedPlan), &TokenStream::new(), &actions, cx);
    let name = Ident::new("ThisUnnamedPlan", Span::call_site());
    let Warnings { constants, uses } = Warnings::new(cx, &name);
    let unordered = (!uses.is_empty()).then(|| quote!(impl #name { #constants } #uses));
    quote! {
        struct ThisUnnamedPlan;
        #shared
        #unordered
        #steps
        #outside
        __plan::Inline::<_, ThisUnnamedPlan>::new(&__PLAN, __plan::witness(&|| #value))
    }
}
