//! The numbers and times in the attributes of a step.

use super::value;
use crate::ast::{Given, Policy};
use crate::options;
use crate::report::Report;
use plan_graph::{Amount, Argument, StepAttribute};
use proc_macro2::{Span, TokenStream};
use std::ops::RangeInclusive;
use std::time::Duration;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Lit, LitBool, LitInt, LitStr, Meta, Token};

/// Reads the arguments of an attribute that takes amounts: `retry(5, backoff = "200ms")`.
pub(super) fn read(
    attribute: StepAttribute,
    attr: &Attribute,
    policy: &mut Policy,
    report: &mut Report,
) -> syn::Result<()> {
    let [first, named @ ..] = attribute.arguments() else {
        return Ok(());
    };
    let Some(first) = first.amount else {
        return Ok(());
    };
    let tokens = arguments(attribute, attr)?;
    let usage = attribute.usage();
    let mut given = None;
    let before = report.len();
    let parser = |input: ParseStream<'_>| {
        if is_literal(input) {
            given = Some(literal(first, input, &usage)?);
            if named.is_empty() && !input.is_empty() {
                return Err(syn::Error::new_spanned(&tokens, &usage));
            }
        } else if named.is_empty() && is_named(input) {
            let written = input.parse::<TokenStream>()?;
            return Err(syn::Error::new_spanned(written, &usage));
        } else if named.is_empty() {
            let value = value::all(input.parse()?, tokens.span(), "`)`", report);
            given = Some(Given::Value(Box::new(value)));
        } else if !is_named(input) {
            let value = value::value(input, attr.path().span(), report);
            given = Some(Given::Value(Box::new(value)));
        }
        if given.is_some() && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        input.parse::<TokenStream>()
    };
    let rest = parser.parse2(tokens.clone())?;
    if !named.is_empty() && report.drop_cascade(before) {
        return Ok(());
    }
    let given = given.ok_or_else(|| syn::Error::new_spanned(&attr.meta, usage))?;
    policy.amounts.push((first, given));
    options(named, rest, attr.path().span(), policy, report);
    Ok(())
}

/// Returns the tokens in the parentheses of an attribute.
pub(super) fn arguments(known: StepAttribute, attr: &Attribute) -> syn::Result<TokenStream> {
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => Ok(list.tokens.clone()),
        meta => Err(syn::Error::new_spanned(meta, known.usage())),
    }
}

/// Reads the named arguments after the first amount.
fn options(
    named: &[Argument],
    tokens: TokenStream,
    place: Span,
    policy: &mut Policy,
    report: &mut Report,
) {
    let names: Vec<&str> = named.iter().map(|argument| argument.name).collect();
    let (mut values, mut mistakes) = (Vec::new(), Report::default());
    let before = report.len();
    options::read(tokens, &names, report, |key, input| {
        let argument = named.iter().find(|argument| argument.name == key);
        match argument.and_then(|argument| argument.amount) {
            None if !input.peek(LitBool) => {
                return Err(input.error("`jitter` is `true` or `false`"));
            }
            None => policy.jitter = Some(input.parse::<LitBool>()?.value),
            Some(amount) if is_literal(input) || input.is_empty() => {
                policy.amounts.push((amount, literal(amount, input, "")?));
            }
            Some(amount) => {
                let value = value::value(input, place, &mut mistakes);
                values.push((amount, Given::Value(Box::new(value))));
            }
        }
        Ok(())
    });
    report.extend(mistakes);
    if !report.drop_cascade(before) {
        policy.amounts.append(&mut values);
    }
}

/// The highest number of attempts and of rounds.
const MOST: usize = u32::MAX as usize;

/// Returns `true` at `name = value`.
fn is_named(input: ParseStream<'_>) -> bool {
    input.peek2(Token![=]) && !input.peek2(Token![==])
}

fn is_literal(input: ParseStream<'_>) -> bool {
    input.peek(Lit) || input.peek(Token![-])
}

/// Parses an amount that is a literal.
fn literal(amount: Amount, input: ParseStream<'_>, usage: &str) -> syn::Result<Given> {
    match amount {
        Amount::Attempts => {
            let number = "the number of attempts is an integer of at least 2: `#[retry(3)]`";
            let too_few =
                "1 attempt is the default\nhelp: write at least 2, or remove the attribute";
            count(input, number, 2..=MOST, too_few)
        }
        Amount::AtMost => {
            let number = "the most rounds are an integer of at least 1: `#[at_most(100)]`";
            count(input, number, 1..=MOST, "a loop has at least one round")
        }
        Amount::Concurrency => {
            let none = "at least one element must run at a time";
            count(input, usage, 1..=usize::MAX, none)
        }
        Amount::Timeout | Amount::Deadline if !input.peek(LitStr) => {
            let found: TokenStream = input.parse()?;
            Err(syn::Error::new_spanned(found, usage))
        }
        Amount::Timeout | Amount::Deadline => match time(input)? {
            Given::Time(at, Duration::ZERO) => {
                Err(syn::Error::new(at, "a limit of 0 fails every call"))
            }
            given => Ok(given),
        },
        Amount::Backoff | Amount::Max | Amount::Every => time(input),
    }
}

fn count(
    input: ParseStream<'_>,
    number: &str,
    range: RangeInclusive<usize>,
    too_few: &str,
) -> syn::Result<Given> {
    if !input.peek(LitInt) {
        let found: TokenStream = input.parse()?;
        return Err(syn::Error::new_spanned(found, number));
    }
    let literal: LitInt = input.parse()?;
    let at = literal.span();
    let message = match literal.base10_parse() {
        Ok(count) if range.contains(&count) => return Ok(Given::Count(at, count)),
        Ok(count) if count < *range.start() => too_few.to_owned(),
        _ if literal.base10_digits().starts_with('-') => number.to_owned(),
        _ => format!("expected a number of at most {}", range.end()),
    };
    Err(syn::Error::new(at, message))
}

/// Parses a duration in a string: `"200ms"`, `"1m 30s"`.
fn time(input: ParseStream<'_>) -> syn::Result<Given> {
    if !input.peek(LitStr) {
        return Err(input.error("a duration is a string with a number and a unit: `\"200ms\"`"));
    }
    let text: LitStr = input.parse()?;
    Ok(Given::Time(text.span(), duration_in(&text)?))
}

/// Parses a string literal as a duration.
pub(crate) fn duration_in(text: &LitStr) -> syn::Result<Duration> {
    humantime::parse_duration(&text.value()).map_err(|error| {
        let text_value = text.value();
        let message = format!("`{text_value}` is not a duration: {error}\nhelp: a duration is a number with a unit: \"200ms\", \"10s\", \"1m 30s\", \"2h\"");
        syn::Error::new(text.span(), message)
    })
}
