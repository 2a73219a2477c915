//! The attributes of a step.

use super::attribute::attributes;
use super::awaited;
use super::path_text;
use super::value;
use crate::ast::{Amount, Body, Catch, Optional, Policy, Role, Value};
use crate::docs;
use crate::mistakes::attribute as meant;
use crate::options;
use crate::report::Report;
use crate::syntax::STEP_ATTRIBUTES as KNOWN;
use plan_graph::similar;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::time::Duration;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, LitBool, LitInt, LitStr, Meta, Token};

/// The attributes and doc comments of a step.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) intent: String,
    pub(super) role: Role,
    pub(super) after: Vec<Ident>,
    pub(super) policy: Policy,
    /// Whether an attribute that cannot be read may change the step's type.
    pub(super) unclear: bool,
    /// Where the time limit of a call is.
    timeout: Option<Span>,
    /// Where the number of attempts is.
    attempts: Option<Span>,
    /// Where `optional` is.
    optional: Option<Span>,
    /// Where `catch` is.
    catch: Option<Span>,
}

/// The waits of a step that says nothing of them: those of `Policy::DEFAULT`.
const BACKOFF: Duration = Duration::from_millis(100);
const MAX: Duration = Duration::from_secs(30);

/// Reads the doc comment and the attributes of a step of this name.
pub(super) fn parse(stream: TokenStream, step: Option<&Ident>, report: &mut Report) -> Attributes {
    let before = report.len();
    let attrs = attributes(stream, report);
    let is_written_wrong = report.len() > before;
    let Some(attrs) = attrs else {
        return Attributes {
            unclear: true,
            ..Attributes::default()
        };
    };
    let mut read = Attributes {
        intent: docs::text(&attrs),
        ..Attributes::default()
    };
    let mut seen: Vec<String> = Vec::new();
    for attr in &attrs {
        let name = path_text(attr.path());
        if name == "doc" {
            continue;
        }
        if name != "after" && seen.contains(&name) {
            report.error(
                attr.path(),
                format!("the step has more than one `#[{name}]`"),
            );
            continue;
        }
        seen.push(name.clone());
        if let Err(error) = one(&name, attr, step, &mut read, report) {
            report.push(error);
            read.unclear |= similar(&name, ["optional", "catch", "collect"]).is_some();
        }
    }
    check_role(&mut read, report);
    check(&read, report);
    if let Catch::Whole(_) = read.policy.catch {
        // It would be of another type than the output.
        read.policy.fallback = None;
    }
    if is_written_wrong {
        report.keep_first(before);
    }
    read
}

fn one(
    name: &str,
    attr: &Attribute,
    step: Option<&Ident>,
    read: &mut Attributes,
    report: &mut Report,
) -> syn::Result<()> {
    let policy = &mut read.policy;
    match name {
        "after" => {
            for name in after(attr)? {
                if read.after.contains(&name) {
                    report.error(&name, format!("the step waits for `{name}` already"));
                } else {
                    read.after.push(name);
                }
            }
        }
        "undo" | "always" if !matches!(read.role, Role::Work) => {
            return Err(syn::Error::new_spanned(
                attr.path(),
                "an undo step does not always run\nhelp: remove `#[undo(…)]` or `#[always]`",
            ));
        }
        "undo" => read.role = Role::Undo(undone(attr, step)?),
        "always" => {
            read.role = Role::Always;
            if !matches!(attr.meta, Meta::Path(_)) {
                return Err(syn::Error::new_spanned(
                    &attr.meta,
                    "`#[always]` takes no arguments\nhelp: write `#[after(…)]` for always steps that it waits for",
                ));
            }
        }
        "retry" => {
            policy.tries = Some(attr.path().span());
            policy.retry = policy.tries;
            read.attempts = retry(attr, policy, report)?;
        }
        "timeout" => {
            policy.tries = Some(attr.path().span());
            match duration_of(attr, "timeout", "10s", report)? {
                Given::Literal(at, timeout) => {
                    policy.timeout = Some(timeout);
                    read.timeout = Some(at);
                }
                Given::Value(value) => policy.amounts.push((Amount::Timeout, *value)),
            }
        }
        "deadline" => {
            policy.tries = Some(attr.path().span());
            match duration_of(attr, "deadline", "1m", report)? {
                Given::Literal(_, deadline) => policy.deadline = Some(deadline),
                Given::Value(value) => policy.amounts.push((Amount::Deadline, *value)),
            }
        }
        "optional" => {
            policy.optional = optional(attr)?;
            read.optional = Some(attr.path().span());
        }
        "catch" => {
            policy.catch = catch(attr)?;
            read.catch = Some(attr.path().span());
        }
        "concurrency" => match concurrency(attr, report)? {
            Given::Literal(at, limit) => policy.concurrency = Some((at, limit)),
            Given::Value(value) => {
                policy.elements = Some(attr.path().span());
                policy.amounts.push((Amount::Concurrency, *value));
            }
        },
        "at_most" => {
            policy.rounds = Some(attr.path().span());
            at_most(attr, policy, report)?;
        }
        "collect" => {
            policy.collect = Some(attr.path().span());
            if !matches!(attr.meta, Meta::Path(_)) {
                return Err(syn::Error::new_spanned(
                    &attr.meta,
                    "`#[collect]` takes no arguments",
                ));
            }
        }
        "fallback" => {
            let tokens = arguments(
                attr,
                "`#[fallback(…)]` takes the value to use as the output if the step fails: `#[fallback(0)]`",
            )?;
            one_fallback(&tokens)?;
            let (before, end) = (report.len(), tokens.span());
            let value = value::all(tokens, end, "`)`", report);
            if !report.keep_first(before) {
                policy.fallback = Some((attr.path().span(), Box::new(value)));
            }
        }
        _ => {
            let (meant, similar) = (meant(name), similar(name, KNOWN));
            match meant.map(|(known, _)| known).or(similar) {
                Some("always") => read.role = Role::Always,
                Some("at_most") => policy.rounds = Some(attr.path().span()),
                _ => {}
            }
            let help = match similar {
                _ if meant.is_some() => meant.map_or_else(String::new, |(_, help)| format!("help: {help}")),
                Some(known) => {
                    let written = with_arguments(known, attr);
                    format!("help: an attribute with a similar name exists: `#[{written}]`")
                }
                None if name == "cfg" => {
                    "help: a plan has the same steps in every build: write `#[cfg(…)]` above one of two `plan!`, or call the tool in an `if`".to_owned()
                }
                None if ["allow", "warn", "deny", "expect", "forbid"].contains(&name) => {
                    format!("help: write `#[{name}(…)]` on the plan, before its name")
                }
                None => {
                    let known = KNOWN.map(|name| format!("`#[{name}]`")).join(", ");
                    format!("help: a step can have a doc comment and {known}")
                }
            };
            return Err(syn::Error::new_spanned(
                attr.path(),
                format!("a step has no attribute `{name}`\n{help}"),
            ));
        }
    }
    Ok(())
}

/// Returns an error if a `#[fallback]` has several values.
fn one_fallback(tokens: &TokenStream) -> syn::Result<()> {
    let values = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
    let Some(values) = values.ok().filter(|values| values.len() > 1) else {
        return Ok(());
    };
    let is_each = matches!(&values[0], Expr::Path(path) if path_text(&path.path) == "each")
        && values.len() == 2;
    let help = if is_each {
        let value = super::tidy(&values[1].to_token_stream());
        format!(
            "for each element of a `for`, write a block in its braces: `{{ #[fallback({value})] step one = Tool {{ … }}; one }}`"
        )
    } else {
        format!(
            "for a tuple, write `#[fallback(({}))]`",
            super::tidy(tokens)
        )
    };
    Err(syn::Error::new_spanned(
        tokens,
        format!(
            "`#[fallback(…)]` takes one value, the output of the whole step if it fails\nhelp: {help}"
        ),
    ))
}

/// Returns the known attribute with the arguments of an unknown attribute.
fn with_arguments(known: &str, attr: &Attribute) -> String {
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => {
            format!("{known}({})", super::tidy(&list.tokens))
        }
        _ if ["optional", "collect", "always", "catch"].contains(&known) => known.to_owned(),
        _ => format!("{known}(…)"),
    }
}

/// Attributes that say nothing of a step that does this.
pub(super) fn check_body(policy: &Policy, role: &Role, body: &Body, report: &mut Report) {
    if let (Body::Compute(_), Role::Undo(undone)) = (body, role) {
        report.error(
            undone,
            "a step with a type is a value, which undoes nothing\nhelp: call a tool: `step name = Tool { … };`",
        );
    }
    match role {
        Role::Work => {}
        Role::Undo(_) => awaited::late(body, "an undo step", report),
        Role::Always => awaited::late(body, "an always step", report),
    }
    if let (Body::Await(_), Some(at)) = (body, policy.retry) {
        report.error_at(
            at,
            "a wait has no attempts\nhelp: limit it with `#[timeout]`",
        );
    }
    check_rounds(policy, body, report);
    if !matches!(body, Body::For(_) | Body::Broken(_)) {
        let optional = match &policy.optional {
            Optional::Each(at) => Some((*at, "optional(each)", "\nhelp: write `#[optional]`")),
            _ => None,
        };
        let limit = policy.concurrency.map(|(at, _)| at).or(policy.elements);
        let limit = limit.map(|at| (at, "concurrency", ""));
        let caught = match policy.catch {
            Catch::Each(at) => Some((at, "catch(each)", "\nhelp: write `#[catch]`")),
            _ => None,
        };
        let is_around_for = is_around_for(body);
        for (at, name, help) in optional.into_iter().chain(caught).chain(limit) {
            let message = match name {
                "catch(each)" => format!("`#[{name}]` needs a `for`"),
                _ => format!("`#[{name}]` is for the elements of a `for`"),
            };
            let written = if name == "concurrency" {
                "concurrency(…)"
            } else {
                name
            };
            let step = format!(
                "\nhelp: put the `for` in a block, as a step with this attribute: `{{ #[{written}] step each = for …; each }}`"
            );
            let help = if is_around_for { &*step } else { help };
            report.error_at(at, format!("{message}{help}"));
        }
    }
    if let (Body::Compute(_), Some(at)) = (body, policy.tries) {
        report.error_at(
            at,
            "a computed step calls no tool, so there is nothing to retry or to wait for",
        );
    }
}

/// Returns `true` for an `if` with a `for` in a branch.
fn is_around_for(body: &Body) -> bool {
    let is_for = |body: &Body| matches!(body, Body::For(_)) || is_around_for(body);
    match body {
        Body::If(branches) => branches.iter().any(|branch| is_for(&branch.body)),
        _ => false,
    }
}

/// A loop has a bound, and nothing else has.
fn check_rounds(policy: &Policy, body: &Body, report: &mut Report) {
    match body {
        Body::Broken(_) => {}
        Body::Loop(repeat) => {
            if policy.rounds.is_none() {
                report.error_at(
                    repeat.keyword,
                    "this loop has no bound\nhelp: add `#[at_most(100)]` to the step",
                );
            }
        }
        body => {
            let (instead, limit) = match body {
                Body::For(_) => (
                    "\nhelp: a `for` gives a `Vec` already",
                    "for the first elements of a list, write `list.iter().take(5)`; for those that run at one time, `#[concurrency(5)]`",
                ),
                Body::Compute(_) | Body::Await(_) => ("", "remove it"),
                _ => ("", "for attempts, write `#[retry(3)]`"),
            };
            let mut amounts = policy.amounts.iter();
            let is_read =
                policy.at_most.is_some() || amounts.any(|(amount, _)| *amount == Amount::AtMost);
            if let Some(at) = policy.rounds.filter(|_| is_read) {
                report.error_at(at, format!("`#[at_most]` needs a `loop`\nhelp: {limit}"));
            }
            if let Some(at) = policy.collect {
                report.error_at(at, format!("`#[collect]` needs a `loop`{instead}"));
            }
        }
    }
}

/// Attributes that say nothing of a step that is not part of the work.
fn check_role(read: &mut Attributes, report: &mut Report) {
    let kind = match &read.role {
        Role::Work => return,
        Role::Undo(_) => "an undo step",
        Role::Always => "an always step",
    };
    let fallback = read.policy.fallback.take().map(|(at, _)| at);
    for (name, at) in [
        ("optional", read.optional.take()),
        ("catch", read.catch.take()),
        ("fallback", fallback),
    ] {
        if let Some(at) = at {
            let message = format!("`#[{name}]` has no effect on {kind}\nhelp: remove it");
            report.error_at(at, message);
        }
    }
    (read.policy.optional, read.policy.catch) = (Optional::No, Catch::No);
    if let (Role::Undo(_), Some(first)) = (&read.role, read.after.first()) {
        report.error(
            first,
            "undo steps run in the reverse order of the steps that they undo\nhelp: write `#[after(…)]` on those",
        );
        read.after.clear();
    }
}

/// Attributes that do not go together.
fn check(read: &Attributes, report: &mut Report) {
    let policy = &read.policy;
    if let (Some(at), Some(timeout), Some(deadline)) =
        (read.timeout, policy.timeout, policy.deadline)
        && timeout > deadline
    {
        report.error_at(
            at,
            "no call can take this long, since the `#[deadline]` of all attempts is shorter",
        );
    }
    if let (Some(at), Some(attempts), Some(deadline), Some(false)) = (
        read.attempts,
        policy.attempts,
        policy.deadline,
        policy.jitter,
    ) && attempts <= 1000
    {
        let (mut wait, max) = (policy.backoff.unwrap_or(BACKOFF), policy.max.unwrap_or(MAX));
        let (mut waits, mut possible) = (Duration::ZERO, 1);
        while possible < attempts && waits.saturating_add(wait.min(max)) < deadline {
            waits = waits.saturating_add(wait.min(max));
            wait = wait.saturating_mul(2);
            possible += 1;
        }
        if possible < attempts {
            let plural = if possible == 1 { "attempt" } else { "attempts" };
            report.error_at(
                at,
                format!("with these waits, the `#[deadline]` leaves time for at most {possible} {plural}"),
            );
        }
    }
    let leaves_none = |name: &str, at: Span, each: &str| {
        let message =
            format!("`#[catch{each}]` leaves no failure for `#[{name}]`\nhelp: remove one of them");
        syn::Error::new(at, message)
    };
    match (policy.catch, &policy.optional, read.optional) {
        (Catch::Whole(_), Optional::Whole, Some(at)) => {
            report.push(leaves_none("optional", at, ""));
        }
        (Catch::Each(_), Optional::Each(at), _) => {
            report.push(leaves_none("optional(each)", *at, "(each)"));
        }
        _ => {}
    }
    if let (Catch::Whole(_), Some((at, _))) = (policy.catch, &policy.fallback) {
        report.push(leaves_none("fallback", *at, ""));
    }
    if let (Some((span, _)), Optional::Whole) = (&policy.fallback, &policy.optional) {
        report.error_at(
            *span,
            "`#[fallback]` gives the step an output if it fails, so `#[optional]` has no effect\nhelp: keep one of the two",
        );
    }
}

/// The tokens in the brackets of an attribute.
fn arguments(attr: &Attribute, usage: &str) -> syn::Result<TokenStream> {
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => Ok(list.tokens.clone()),
        meta => Err(syn::Error::new_spanned(meta, usage)),
    }
}

/// The step that `#[undo(…)]` on the step of this name names.
fn undone(attr: &Attribute, step: Option<&Ident>) -> syn::Result<Ident> {
    const USAGE: &str = "`#[undo(…)]` takes the step that this one undoes: `#[undo(paid)]`";
    let tokens = arguments(attr, USAGE)?;
    if let Ok(name) = syn::parse2::<Ident>(tokens.clone())
        && !docs::text_of(&name).starts_with(char::is_uppercase)
    {
        return Ok(name);
    }
    let is_call = tokens.clone().into_iter().next().is_some_and(|first| {
        matches!(&first, proc_macro2::TokenTree::Ident(name) if name.to_string().starts_with(char::is_uppercase))
    });
    let message = match step {
        Some(step) if is_call => {
            let call = super::tidy(&tokens);
            let is_path = syn::parse2::<syn::Path>(tokens.clone()).is_ok();
            let arguments = if is_path { " { … }" } else { "" };
            format!(
                "what undoes a step is a step of its own\n\
                 help: write `#[undo({step})] step undone = {call}{arguments};`"
            )
        }
        _ => USAGE.to_owned(),
    };
    Err(syn::Error::new_spanned(tokens, message))
}

fn after(attr: &Attribute) -> syn::Result<Vec<Ident>> {
    const USAGE: &str =
        "`#[after(…)]` takes the steps that must end first: `#[after(first, second)]`";
    let tokens = arguments(attr, USAGE)?;
    let names = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens.clone());
    names
        .map(|names| names.into_iter().collect())
        .map_err(|_| syn::Error::new_spanned(tokens, USAGE))
}

/// `#[retry(3)]`, `#[retry(5, backoff = "200ms", max = "10s", jitter = false)]`
/// Says where the number of attempts is, if nothing is wrong with the waits.
fn retry(attr: &Attribute, policy: &mut Policy, report: &mut Report) -> syn::Result<Option<Span>> {
    const USAGE: &str = "`#[retry(…)]` takes the maximum number of attempts: `#[retry(3)]` or `#[retry(5, backoff = \"200ms\", max = \"10s\", jitter = false)]`";
    let tokens = arguments(attr, USAGE)?;
    let mut count = None;
    let before = report.len();
    let parser = |input: ParseStream<'_>| {
        if input.peek(Lit) || input.peek(Token![-]) {
            let (at, attempts) = attempts(input)?;
            count = Some(Given::Literal(at, attempts));
        } else if !input.peek2(Token![=]) || input.peek2(Token![==]) {
            let value = value::value(input, attr.path().span(), report);
            count = Some(Given::Value(Box::new(value)));
        }
        if count.is_some() && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        input.parse::<TokenStream>()
    };
    let rest = parser.parse2(tokens)?;
    if report.keep_first(before) {
        return Ok(None);
    }
    let at_count = match count {
        Some(Given::Literal(at, count)) => {
            policy.attempts = Some(count);
            Some(at)
        }
        Some(Given::Value(value)) => {
            policy.amounts.push((Amount::Attempts, *value));
            None
        }
        None => return Err(syn::Error::new_spanned(&attr.meta, USAGE)),
    };
    let known = &["backoff", "max", "jitter"];
    let mut longest = None;
    let before = report.len();
    let mut values = Report::default();
    let mut given = Vec::new();
    options::read(rest, known, report, |key, input| {
        let is_literal = input.peek(Lit) || input.peek(Token![-]) || input.is_empty();
        match key {
            "backoff" | "max" if !is_literal => {
                let amount = if key == "max" {
                    Amount::Max
                } else {
                    Amount::Backoff
                };
                let value = value::value(input, attr.path().span(), &mut values);
                given.push((amount, value));
            }
            "backoff" => policy.backoff = Some(duration(input)?),
            "max" => {
                longest = Some(input.span());
                policy.max = Some(duration(input)?);
            }
            _ if !input.peek(LitBool) => {
                return Err(input.error("`jitter` is `true` or `false`"));
            }
            _ => policy.jitter = Some(input.parse::<LitBool>()?.value),
        }
        Ok(())
    });
    report.extend(values);
    if report.keep_first(before) {
        return Ok(None);
    }
    let gives_backoff = given.iter().any(|(amount, _)| *amount == Amount::Backoff);
    policy.amounts.extend(given);
    let backoff = policy.backoff.unwrap_or(BACKOFF);
    if let (Some(at), Some(max), false) = (longest, policy.max, gives_backoff)
        && max < backoff
    {
        let default = if policy.backoff.is_none() {
            ", which is 100ms by default"
        } else {
            ""
        };
        report.error_at(
            at,
            format!("the longest wait between attempts is shorter than `backoff`, the first one{default}"),
        );
        return Ok(None);
    }
    Ok(at_count)
}

/// `#[at_most(100)]`, `#[at_most(100, every = "3s")]`
fn at_most(attr: &Attribute, policy: &mut Policy, report: &mut Report) -> syn::Result<()> {
    const USAGE: &str = "`#[at_most(…)]` takes the most rounds of a loop: `#[at_most(100)]` or `#[at_most(100, every = \"3s\")]`";
    const NUMBER: &str = "the most rounds are an integer of at least 1: `#[at_most(100)]`";
    let tokens = arguments(attr, USAGE)?;
    let mut count = None;
    let before = report.len();
    let parser = |input: ParseStream<'_>| {
        if input.peek(LitInt) {
            let number: LitInt = input.parse()?;
            let most = number.base10_parse::<u32>();
            let most = most.map_err(|_| syn::Error::new(number.span(), NUMBER))?;
            count = Some(Given::Literal(number.span(), most));
        } else if input.peek(Lit) || input.peek(Token![-]) {
            let found: TokenStream = input.parse()?;
            return Err(syn::Error::new_spanned(found, NUMBER));
        } else if !input.peek2(Token![=]) || input.peek2(Token![==]) {
            let value = value::value(input, attr.path().span(), report);
            count = Some(Given::Value(Box::new(value)));
        }
        if count.is_some() && !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        input.parse::<TokenStream>()
    };
    let rest = parser.parse2(tokens)?;
    if report.keep_first(before) {
        return Ok(());
    }
    match count {
        Some(Given::Literal(at, 0)) => {
            return Err(syn::Error::new(at, "a loop has at least one round"));
        }
        Some(Given::Literal(_, count)) => policy.at_most = Some(count),
        Some(Given::Value(value)) => policy.amounts.push((Amount::AtMost, *value)),
        None => return Err(syn::Error::new_spanned(&attr.meta, USAGE)),
    }
    let mut values = Report::default();
    options::read(rest, &["every"], report, |_, input| {
        if input.peek(Lit) || input.peek(Token![-]) || input.is_empty() {
            policy.every = Some(duration(input)?);
        } else {
            let value = value::value(input, attr.path().span(), &mut values);
            policy.amounts.push((Amount::Every, value));
        }
        Ok(())
    });
    report.extend(values);
    Ok(())
}

fn attempts(input: ParseStream<'_>) -> syn::Result<(Span, u32)> {
    const NUMBER: &str = "the number of attempts is an integer of at least 2: `#[retry(3)]`";
    if !input.peek(LitInt) {
        let found: TokenStream = input.parse()?;
        return Err(syn::Error::new_spanned(found, NUMBER));
    }
    let number: LitInt = input.parse()?;
    let count: u32 = number
        .base10_parse()
        .map_err(|_| syn::Error::new(number.span(), NUMBER))?;
    if count < 2 {
        return Err(syn::Error::new(
            number.span(),
            "every step has one attempt: write the maximum number of attempts, at least 2, or leave the attribute out",
        ));
    }
    Ok((number.span(), count))
}

fn optional(attr: &Attribute) -> syn::Result<Optional> {
    match &attr.meta {
        Meta::Path(_) => Ok(Optional::Whole),
        Meta::List(list)
            if list
                .parse_args::<Ident>()
                .is_ok_and(|ident| ident == "each") =>
        {
            Ok(Optional::Each(list.path.span()))
        }
        meta => Err(syn::Error::new_spanned(
            meta,
            "`#[optional]` takes no arguments except `each`, which makes each element of a `for` optional",
        )),
    }
}

fn catch(attr: &Attribute) -> syn::Result<Catch> {
    match &attr.meta {
        Meta::Path(path) => Ok(Catch::Whole(path.span())),
        Meta::List(list)
            if list
                .parse_args::<Ident>()
                .is_ok_and(|ident| ident == "each") =>
        {
            Ok(Catch::Each(list.path.span()))
        }
        meta => Err(syn::Error::new_spanned(
            meta,
            "`#[catch]` takes no arguments except `each`, which catches the failure of each element of a `for`",
        )),
    }
}

/// An amount of a policy: a literal with its place, or another value.
enum Given<T> {
    Literal(Span, T),
    Value(Box<Value>),
}

/// Returns `true` for tokens that begin with a literal or a minus.
fn is_literal(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    match first {
        Some(proc_macro2::TokenTree::Literal(_)) => true,
        Some(proc_macro2::TokenTree::Punct(punct)) => punct.as_char() == '-',
        _ => false,
    }
}

fn concurrency(attr: &Attribute, report: &mut Report) -> syn::Result<Given<usize>> {
    const USAGE: &str = "`#[concurrency(…)]` takes the number of elements of a `for` that run concurrently: `#[concurrency(4)]`";
    let tokens = arguments(attr, USAGE)?;
    if !is_literal(&tokens) {
        let end = tokens.span();
        return Ok(Given::Value(Box::new(value::all(
            tokens, end, "`)`", report,
        ))));
    }
    let number: LitInt =
        syn::parse2(tokens).map_err(|_| syn::Error::new_spanned(&attr.meta, USAGE))?;
    match number.base10_parse()? {
        0 => Err(syn::Error::new(
            number.span(),
            "at least one element must run at a time",
        )),
        count => Ok(Given::Literal(attr.path().span(), count)),
    }
}

/// `#[timeout("10s")]`
fn duration_of(
    attr: &Attribute,
    name: &str,
    example: &str,
    report: &mut Report,
) -> syn::Result<Given<Duration>> {
    let usage = format!("`#[{name}(…)]` takes a duration: `#[{name}(\"{example}\")]`");
    let tokens = arguments(attr, &usage)?;
    if !is_literal(&tokens) {
        let end = tokens.span();
        return Ok(Given::Value(Box::new(value::all(
            tokens, end, "`)`", report,
        ))));
    }
    let text: LitStr =
        syn::parse2(tokens.clone()).map_err(|_| syn::Error::new_spanned(tokens, usage))?;
    let duration = duration_in(&text)?;
    if duration.is_zero() {
        return Err(syn::Error::new(text.span(), "no call ends in no time"));
    }
    Ok(Given::Literal(text.span(), duration))
}

/// A duration in a string: `"200ms"`, `"1m 30s"`.
fn duration(input: ParseStream<'_>) -> syn::Result<Duration> {
    if !input.peek(LitStr) {
        return Err(input.error("a duration is a string with a number and a unit: `\"200ms\"`"));
    }
    duration_in(&input.parse()?)
}

/// Reads a text literal as a duration.
pub(crate) fn duration_in(text: &LitStr) -> syn::Result<Duration> {
    humantime::parse_duration(&text.value()).map_err(|error| {
        syn::Error::new(
            text.span(),
            format!("`{}` is not a duration: {error}\nhelp: a duration is a number with a unit: \"200ms\", \"10s\", \"1m 30s\", \"2h\"", text.value()),
        )
    })
}
