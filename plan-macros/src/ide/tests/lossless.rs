//! Tests that `syntax` keeps all names and literals of a truncated plan in order.

use super::marker::{Cursor, PLAN};
use crate::syntax::value::{self, FieldKind, FieldTokens, Piece, ValueKind, ValueTokens};
use crate::syntax::{HeadTokens, InputTokens, PlanTokens, StatementKind, StepTokens, scan};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::str::FromStr;

/// Returns the names and literals.
fn leaves(tokens: impl ToTokens) -> Vec<String> {
    let trees = tokens.into_token_stream().into_iter();
    let leaves = trees.flat_map(|tree| match tree {
        TokenTree::Group(group) => leaves(group.stream()),
        TokenTree::Punct(_) => Vec::new(),
        leaf => vec![leaf.to_string()],
    });
    leaves.collect()
}

fn of_plan(plan: &PlanTokens) -> TokenStream {
    let inner = &plan.inner;
    let head = plan.head.as_ref().map(of_head);
    let after = plan.head.as_ref().map(|head| &head.after);
    let statements = plan.statements.iter().map(|statement| {
        let attrs = &statement.attrs;
        let kept = match &statement.kind {
            StatementKind::Other(tokens) => of_value(tokens),
            StatementKind::Step(step) => of_step(step),
        };
        quote!(#attrs #kept)
    });
    quote!(#(#inner)* #head #(#statements)* #after)
}

fn of_head(head: &HeadTokens) -> TokenStream {
    let HeadTokens {
        attrs,
        vis,
        keywords,
        name,
        generics,
        inputs,
        extra,
        output,
        ..
    } = head;
    let name = name.as_ref().ok();
    let inputs = inputs.iter().flatten().map(|input| {
        let InputTokens {
            before,
            name,
            ty,
            extra,
            ..
        } = input;
        quote!(#before #name #ty #extra)
    });
    let output = output.as_ref().map(|(_, ty)| ty);
    quote!(#attrs #vis #(#keywords)* #name #generics #(#inputs)* #extra #output)
}

fn of_step(step: &StepTokens) -> TokenStream {
    let StepTokens {
        keyword,
        mutable,
        name,
        ty,
        value,
        extra,
        ..
    } = step;
    let ty = ty.as_ref().map(|(_, ty)| ty);
    let value = of_value(value);
    quote!(#keyword #mutable #name #ty #value #extra)
}

fn of_value(tokens: &TokenStream) -> TokenStream {
    let (value, rest) = value::value(tokens.clone());
    let value = of_parts(&value);
    quote!(#value #rest)
}

fn of_parts(value: &ValueTokens) -> TokenStream {
    let extra = &value.extra;
    let kept = match &value.kind {
        ValueKind::List(_, pieces) | ValueKind::Tuple(_, pieces) => of_pieces(pieces),
        ValueKind::Paren(_, inner) => of_parts(inner),
        ValueKind::Struct(path, _, fields) => {
            let fields = fields.iter().map(of_field);
            quote!(#path #(#fields)*)
        }
        ValueKind::Variant(path, _, pieces, tokens) => {
            let pieces = of_pieces(pieces);
            assert_eq!(leaves(quote!(#path #pieces)), leaves(tokens));
            tokens.clone()
        }
        ValueKind::Macro(call) => call.to_token_stream(),
        ValueKind::Expr(expr, tokens) => {
            assert_eq!(leaves(expr), leaves(tokens));
            tokens.clone()
        }
        ValueKind::Reference(_, tokens) | ValueKind::Broken(tokens, _) => tokens.clone(),
    };
    quote!(#kept #extra)
}

fn of_pieces(pieces: &[Piece]) -> TokenStream {
    pieces.iter().map(|(value, _)| of_parts(value)).collect()
}

fn of_field(field: &FieldTokens) -> TokenStream {
    match &field.kind {
        FieldKind::Value(name, _, value) => {
            let value = of_parts(value);
            quote!(#name #value)
        }
        FieldKind::Name(name) => name.to_token_stream(),
        FieldKind::Rest(_, tokens) | FieldKind::Broken(tokens) => tokens.clone(),
    }
}

fn keeps_all(plan: TokenStream) {
    let kept = leaves(of_plan(&scan(plan.clone())));
    assert_eq!(kept, leaves(&plan), "{plan}");
}

#[test]
fn a_plan_that_is_cut_off() {
    let plan = TokenStream::from_str(PLAN).expect("tokens");
    for marker in [false, true] {
        for rest in [false, true] {
            for place in 0.. {
                let mut cursor = Cursor::new(place, rest);
                let cut = cursor.walk(plan.clone(), marker);
                if !cursor.found {
                    break;
                }
                keeps_all(cut);
            }
        }
    }
}

#[test]
fn a_plan_with_mistakes() {
    for plan in [
        "#![plan(crate = a::b)] pub fn Name<T>(mut a: A B, #[c] pub d: E f: G, , &self) h -> I { j } k",
        "Name(a: A); b",
        "pub -> A { b }",
        "step mut a = B { c } d; let mut e: F = g h, i",
        "a: B = c; d = E {} f; step; step = g; step \"h\" = i; step j k; step l: M; #[n] o",
        "step a = B { c: D { e } f g: h, i j, .., k: l, 5, } m n",
        "step a = B { c: [d e, , f. , g], h: (i j), k: l(m, n o), p: Q(r s, t.), u: Vec::<V, W>::x. , y: z }",
        "step a = B { c: json!({ \"d\": e f }) g, h: format!(\"{}\" i), j: vec![k l] }",
        "step a = if b. { C { d } e } else; step f = for g h { I { j } } k; l",
    ] {
        keeps_all(TokenStream::from_str(plan).expect("tokens"));
    }
}
