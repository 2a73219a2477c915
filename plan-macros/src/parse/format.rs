//! `format!("…", …)`.

use super::value;
use crate::ast::{Format, FormatPart, Reference, Value};
use crate::docs::text_of;
use crate::mistakes::value::no_comma;
use crate::report::Report;
use crate::syntax::argument_name;
use crate::syntax::format_string::{self, FormatPiece};
use crate::syntax::reference::is_source_name;
use proc_macro2::Span;
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Macro, Token};

/// Reads `format!("…", …)`. Returns `None` for a call that rustc must read as a computed value, because its format
/// string is not a literal, an argument is missing or unused, or a width or precision is an argument.
pub(super) fn parse(call: &Macro, report: &mut Report) -> Option<Value> {
    let end = call.delimiter.span().close();
    let mut inner = Report::default();
    let parser = |input: ParseStream<'_>| {
        let template: LitStr = input.parse()?;
        let mut args: Vec<(Option<String>, Value)> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name = argument_name(input)?.map(|(name, _)| text_of(&name));
            args.push((name, value::value(input, end, &mut inner)));
        }
        Ok((template, args))
    };
    if let Some(found) = no_comma(&call.tokens) {
        report.push(found);
        return Some(Value::Broken);
    }
    let (template, mut args) = parser.parse2(call.tokens.clone()).ok()?;
    let explicit = args.len();
    let parts = parts(&template, &mut args)?;
    let is_used = |arg: usize| {
        parts
            .iter()
            .any(|part| matches!(part, FormatPart::Placeholder { arg: used, .. } if *used == arg))
    };
    if !(0..explicit).all(is_used) {
        return None;
    }
    // Only references, expressions and scalars can be formatted.
    let shows = |value: &Value| {
        matches!(
            value,
            Value::Reference(_) | Value::Computed(_) | Value::Scalar(_) | Value::Broken
        )
    };
    if !args.iter().all(|(_, value)| shows(value)) {
        return None;
    }
    report.extend(inner);
    let args = args.into_iter().map(|(_, value)| value).collect();
    Some(Value::Format(Format {
        template,
        parts,
        args,
    }))
}

/// Returns the parts of a format string, and adds its names to the arguments.
fn parts(template: &LitStr, args: &mut Vec<(Option<String>, Value)>) -> Option<Vec<FormatPart>> {
    let text = template.value();
    let positional = args.iter().take_while(|(name, _)| name.is_none()).count();
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut next = 0;
    for piece in format_string::pieces(&text) {
        let inside = match piece {
            FormatPiece::Text(text) => {
                literal.push_str(text);
                continue;
            }
            // The fill character may even be a brace, so only rustc can read this specification.
            FormatPiece::Placeholder(inside) if !inside.contains('{') => inside,
            FormatPiece::Placeholder(_) | FormatPiece::Broken => return None,
        };
        if !literal.is_empty() {
            parts.push(FormatPart::Text(std::mem::take(&mut literal)));
        }
        let (name, spec) = format_string::parts(inside);
        if spec.contains(['$', '*']) {
            return None;
        }
        let arg = match name {
            "" => {
                next += 1;
                (next <= positional).then_some(next - 1)?
            }
            index if index.starts_with(|c: char| c.is_ascii_digit()) => {
                index.parse().ok().filter(|index| *index < positional)?
            }
            name => named(name, args, template.span())?,
        };
        parts.push(FormatPart::Placeholder {
            arg,
            spec: spec.trim_end().to_owned(),
        });
    }
    if !literal.is_empty() || parts.is_empty() {
        parts.push(FormatPart::Text(literal));
    }
    Some(parts)
}

/// Returns the index of the argument with this name: a named argument, or a captured name.
fn named(name: &str, args: &mut Vec<(Option<String>, Value)>, span: Span) -> Option<usize> {
    let mut known = args.iter();
    if let Some(found) = known.position(|(known, _)| known.as_deref() == Some(name)) {
        return Some(found);
    }
    let root = format_string::name(name, span).filter(is_source_name)?;
    let value = Value::Reference(Reference::new(root));
    args.push((Some(name.to_owned()), value));
    Some(args.len() - 1)
}
