//! The attributes of a step.

use super::amount::{self, arguments};
use super::attribute::attributes;
use super::{policy_checks, tidy, value};
use crate::ast::{Body, Extent, Role, Step};
use crate::docs;
use crate::mistakes::attribute as meant;
use crate::report::Report;
use plan_graph::{Concern, StepAttribute, similar};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Meta, Path, Token};

/// A step with its doc comment and its attributes alone.
pub(super) struct Attributes {
    pub(super) step: Step,
    /// `true` if an unreadable attribute may change the type of the step.
    pub(super) unclear: bool,
}

/// Reads the doc comment and the attributes of a step of this name.
pub(super) fn parse(stream: TokenStream, step: Option<&Ident>, report: &mut Report) -> Attributes {
    let before = report.len();
    let attrs = attributes(stream, report);
    let is_written_wrong = report.len() > before;
    let mut read = Attributes {
        step: Step::new(Span::call_site(), Body::Broken(None)),
        unclear: attrs.is_none(),
    };
    let Some(attrs) = attrs else { return read };
    read.step.intent = docs::text(&attrs);
    let mut seen: Vec<String> = Vec::new();
    for attr in &attrs {
        let name = tidy(attr.path());
        if name == "doc" {
            continue;
        }
        let known = StepAttribute::named(&name);
        if known != Some(StepAttribute::After) && seen.contains(&name) {
            report.error(
                attr.path(),
                format!("the step has more than one `#[{name}]`"),
            );
            continue;
        }
        let result = match known {
            Some(known) => read.read(known, attr, step, report),
            None => Err(read.unknown(&name, attr)),
        };
        if let Err(error) = result {
            report.push(error);
            read.unclear |= known.is_some_and(StepAttribute::changes_type);
        }
        seen.push(name);
    }
    if report.len() == before {
        policy_checks::waits(&read.step.policy, report);
    }
    policy_checks::role(&mut read.step, report);
    let policy = &mut read.step.policy;
    policy_checks::conflicts(policy, report);
    if policy.catch == Extent::Whole {
        // The fallback would have another type than the output.
        policy.fallback = None;
    }
    if is_written_wrong {
        report.drop_cascade(before);
    }
    read
}

impl Attributes {
    fn read(
        &mut self,
        known: StepAttribute,
        attr: &Attribute,
        step: Option<&Ident>,
        report: &mut Report,
    ) -> syn::Result<()> {
        let Step {
            role,
            after,
            policy,
            ..
        } = &mut self.step;
        let place = attr.path().span();
        // With wrong arguments, the bound of a loop is still a bound.
        let counts_if_wrong = matches!(known.concern(), Concern::Attempts | Concern::Rounds);
        if counts_if_wrong {
            policy.places.push((known, place));
        }
        match known {
            StepAttribute::After => {
                for name in named(attr)? {
                    if after.contains(&name) {
                        report.error(&name, format!("the step waits for `{name}` already"));
                    } else {
                        after.push(name);
                    }
                }
            }
            StepAttribute::Undo | StepAttribute::Always if !matches!(role, Role::Work) => {
                if known == StepAttribute::Undo {
                    // An undo step may refer to the unchanged step, which avoids further errors.
                    *role = undone(attr, step).map_or(Role::Always, Role::Undo);
                }
                return Err(syn::Error::new_spanned(
                    attr.path(),
                    "a step cannot be both an undo step and an always step\nhelp: remove `#[undo(…)]` or `#[always]`",
                ));
            }
            StepAttribute::Undo => *role = Role::Undo(undone(attr, step)?),
            StepAttribute::Always => {
                *role = Role::Always;
                extent(known, attr)?;
            }
            StepAttribute::Collect => {
                extent(known, attr)?;
            }
            StepAttribute::Optional => policy.optional = extent(known, attr)?,
            StepAttribute::Catch => policy.catch = extent(known, attr)?,
            StepAttribute::Fallback => {
                let tokens = arguments(known, attr)?;
                one_fallback(&tokens)?;
                let (before, end) = (report.len(), tokens.span());
                let value = value::all(tokens, end, "`)`", report);
                if !report.drop_cascade(before) {
                    policy.fallback = Some(Box::new(value));
                }
            }
            StepAttribute::Retry
            | StepAttribute::Timeout
            | StepAttribute::Deadline
            | StepAttribute::Concurrency
            | StepAttribute::AtMost => amount::read(known, attr, policy, report)?,
        }
        if !counts_if_wrong {
            policy.places.push((known, place));
        }
        Ok(())
    }

    /// Returns the error for an unknown attribute.
    fn unknown(&mut self, name: &str, attr: &Attribute) -> syn::Error {
        let names = StepAttribute::ALL.iter().map(|known| known.name());
        let similar = similar(name, names).and_then(StepAttribute::named);
        let meant = meant(name);
        let known = meant.as_ref().map_or(similar, |(known, _)| *known);
        self.unclear |= known.is_some_and(StepAttribute::changes_type);
        match known {
            Some(StepAttribute::Always) => self.step.role = Role::Always,
            Some(StepAttribute::AtMost) => {
                let place = (StepAttribute::AtMost, attr.path().span());
                self.step.policy.places.push(place);
            }
            _ => {}
        }
        let help = match (meant, similar) {
            (Some((_, help)), _) => help.to_owned(),
            (None, Some(known)) => {
                let written = with_arguments(known, attr);
                format!("an attribute with a similar name exists: `#[{written}]`")
            }
            (None, None) if name == "cfg" => {
                "a plan has the same steps in every build: write `#[cfg(…)]` above one of two `plan!`, or call the tool in an `if`".to_owned()
            }
            (None, None) if ["allow", "warn", "deny", "expect", "forbid"].contains(&name) => {
                format!("write `#[{name}(…)]` on the plan, before its name")
            }
            (None, None) => {
                let known = StepAttribute::ALL.iter();
                let known: Vec<_> = known.map(|known| format!("`#[{}]`", known.name())).collect();
                format!("a step can have a doc comment and {}", known.join(", "))
            }
        };
        syn::Error::new_spanned(
            attr.path(),
            format!("a step has no attribute `{name}`\nhelp: {help}"),
        )
    }
}

/// Returns an error if a `#[fallback]` has several values.
fn one_fallback(tokens: &TokenStream) -> syn::Result<()> {
    let values = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
    let Some(values) = values.ok().filter(|values| values.len() > 1) else {
        return Ok(());
    };
    let is_each =
        matches!(&values[0], Expr::Path(path) if tidy(&path.path) == "each") && values.len() == 2;
    let help = if is_each {
        let value = tidy(&values[1]);
        format!(
            "for each element of a `for`, write a block in its braces: `{{ #[fallback({value})] step one = Tool {{ … }}; one }}`"
        )
    } else {
        let values = tidy(tokens);
        format!("for a tuple, write `#[fallback(({values}))]`")
    };
    Err(syn::Error::new_spanned(
        tokens,
        format!(
            "`#[fallback(…)]` takes one value, the output of the whole step if it fails\nhelp: {help}"
        ),
    ))
}

/// Returns the known attribute with the arguments of an unknown attribute.
fn with_arguments(known: StepAttribute, attr: &Attribute) -> String {
    let name = known.name();
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => {
            format!("{name}({})", tidy(&list.tokens))
        }
        _ if known.is_complete_alone() => name.to_owned(),
        _ => format!("{name}(…)"),
    }
}

/// Reads an attribute without arguments, or with `each` in parentheses.
fn extent(known: StepAttribute, attr: &Attribute) -> syn::Result<Extent> {
    let takes_each = !known.arguments().is_empty();
    match &attr.meta {
        Meta::Path(_) => Ok(Extent::Whole),
        Meta::List(list)
            if takes_each && list.parse_args::<Ident>().is_ok_and(|word| word == "each") =>
        {
            Ok(Extent::Each)
        }
        meta => Err(syn::Error::new_spanned(meta, known.usage())),
    }
}

/// Returns the step in the `#[undo(…)]` of the step of this name.
fn undone(attr: &Attribute, step: Option<&Ident>) -> syn::Result<Ident> {
    let tokens = arguments(StepAttribute::Undo, attr)?;
    let is_type = |name: &Ident| docs::text_of(name).starts_with(char::is_uppercase);
    if let Ok(name) = syn::parse2::<Ident>(tokens.clone())
        && !is_type(&name)
    {
        return Ok(name);
    }
    let first = tokens.clone().into_iter().next();
    let is_call =
        first.is_some_and(|first| matches!(&first, TokenTree::Ident(name) if is_type(name)));
    let message = match step {
        Some(step) if is_call => {
            let call = tidy(&tokens);
            let is_path = syn::parse2::<Path>(tokens.clone()).is_ok();
            let arguments = if is_path { " { … }" } else { "" };
            format!(
                "an undo step is a separate step\n\
                 help: write `#[undo({step})] step undone = {call}{arguments};`"
            )
        }
        _ => StepAttribute::Undo.usage(),
    };
    Err(syn::Error::new_spanned(tokens, message))
}

/// Returns the steps in an `#[after]`.
fn named(attr: &Attribute) -> syn::Result<Vec<Ident>> {
    let tokens = arguments(StepAttribute::After, attr)?;
    let names = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(tokens.clone());
    names
        .map(|names| names.into_iter().collect())
        .map_err(|_| syn::Error::new_spanned(tokens, StepAttribute::After.usage()))
}
