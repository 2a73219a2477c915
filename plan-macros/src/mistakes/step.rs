//! Wrong forms of a step around its work: its name, its `=`, its type and its end.

use crate::report::{Mistake, mistake};
use crate::syntax::pattern::names_in;
use crate::syntax::text::value_text;
use crate::syntax::tokens::{
    Tokens, braces, first, first_word, is_sign, is_word, last, only, parse_start,
};
use crate::syntax::{Evidence, FlowTokens, StepTokens, holds_steps};
use plan_graph::similar;
use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::Pat;

/// The message about a `step` alone.
pub(crate) const USAGE: &str = "expected the name of the step: `step name = Tool { … };`";

/// Returns the error of a `step` alone.
pub(super) fn unfinished(tokens: &TokenStream) -> Option<Mistake> {
    let word = only(tokens).filter(|word| is_word(word, "step"))?;
    Some(Mistake::new(word, USAGE))
}

/// Returns the name of a step with a wrong beginning, and its errors.
pub(crate) fn name(source: &StepTokens, end: Span) -> (Option<Ident>, Vec<Mistake>) {
    let name = source.name.clone();
    let Some(keyword) = &source.keyword else {
        let wrong = name
            .iter()
            .map(|name| mistake!(name, "a step starts with `step`: `step {name} = …;`"));
        return (name.clone(), wrong.collect());
    };
    let word = keyword.to_string();
    let is_name = name.as_ref().is_some_and(|second| second == "step")
        && word != "let"
        && similar(&word, ["step"]).is_none();
    if is_name {
        let message = format!("expected `step`, found `{word}`\nhelp: write `step {word}`");
        return (Some(keyword.clone()), vec![Mistake::new(keyword, message)]);
    }
    let no_name = name.is_none().then_some(USAGE);
    let mistakes = match (&*word, no_name) {
        ("step", Some(usage)) => vec![match first(&source.extra) {
            Some(literal @ TokenTree::Literal(_)) => Mistake::new(literal, usage),
            Some(TokenTree::Group(pattern)) => Mistake::at(
                pattern.span(),
                "a step has one name, by which others refer to the parts of its output: `name.part`",
            ),
            _ => Mistake::new(keyword, usage),
        }],
        ("step", None) => {
            let mutable = source.mutable.iter();
            let message = "a step cannot be mutable: remove the `mut`";
            mutable.map(|word| Mistake::new(word, message)).collect()
        }
        ("let", _) => {
            let message = "a plan consists of steps: write `step` instead of `let`";
            let mistakes = [Mistake::new(keyword, message)].into_iter();
            mistakes
                .chain(no_name.map(|usage| Mistake::at(end, usage)))
                .collect()
        }
        _ => vec![mistake!(keyword, "expected `step`, found `{word}`")],
    };
    (name, mistakes)
}

/// Returns the names of a pattern that replaces the name of a step, or `_`.
pub(crate) fn names_in_place(tokens: TokenStream, end: Span) -> Vec<Ident> {
    let pattern = parse_start(tokens, Pat::parse_single);
    let names = pattern
        .map(|pattern| names_in(&pattern))
        .unwrap_or_default();
    if names.is_empty() {
        return vec![Ident::new("_", end)];
    }
    names
}

/// Returns the error of `==` or `=>` instead of the `=` of a step, and takes its second sign.
pub(crate) fn doubled_equals(equals: Span, value: &mut Tokens) -> Option<Mistake> {
    let rest = value
        .peek_punct(0)
        .filter(|it| matches!(it.as_char(), '>' | '='))?;
    let mut first = Punct::new('=', Spacing::Joint);
    first.set_span(equals);
    let sign = quote!(#first #rest);
    let written = value_text(&sign);
    value.next();
    Some(mistake!(
        sign,
        "a step has `=` before its work or its value\nhelp: write `=` instead of `{written}`"
    ))
}

/// Returns the error of attributes between the `=` of a step and its value.
pub(crate) fn late_attributes(
    attributes: &TokenStream,
    name: &Ident,
    ty: Option<&TokenStream>,
    value: &TokenStream,
) -> Mistake {
    let mut inside = attributes.clone().into_iter();
    let is_doc = inside.any(|tree| match tree {
        TokenTree::Group(group) => first_word(&group.stream()).is_some_and(|name| name == "doc"),
        _ => false,
    });
    let help = if is_doc {
        format!("move this above `step {name}`")
    } else {
        let ty = ty
            .map(|ty| format!(": {}", value_text(ty)))
            .unwrap_or_default();
        let attributes = value_text(attributes);
        let mut value = value_text(value);
        if value.is_empty() {
            "…".clone_into(&mut value);
        }
        format!("write `{attributes} step {name}{ty} = {value};`")
    };
    let message = "the attributes and the doc comment of a step are before `step`";
    mistake!(attributes, "{message}\nhelp: {help}")
}

/// Returns the error of another sign instead of the `;` of a step, or of a missing `;`.
pub(crate) fn end(source: &StepTokens, semicolon: bool, end: Span) -> Option<Mistake> {
    let early = first(&source.extra).filter(|early| is_sign(early, ';'));
    if let Some(instead) = &source.instead {
        Some(mistake!(
            instead,
            "a step ends with `;`, not with `{instead}`"
        ))
    } else if let Some(early) = early {
        let message = "a step has one `;`, at its end: remove this one";
        Some(Mistake::new(early, message))
    } else {
        let message = "expected `;` after this: a step ends with a semicolon";
        (!semicolon).then(|| Mistake::at(end, message))
    }
}

/// Returns the error of work instead of the value of a step with a type.
pub(crate) fn work_with_type(
    value: &TokenStream,
    ty: &TokenStream,
    name: &Ident,
) -> Option<Mistake> {
    let is_steps = |group: &Group| holds_steps(group, Evidence::Keyword);
    let (is_work, kind) = match FlowTokens::new(value.clone()) {
        FlowTokens::Loop(repeat) => (
            repeat.while_token.is_some(),
            "a `loop` with a `while` is work",
        ),
        FlowTokens::Call(_) => return None,
        _ => {
            let mut trees = value.clone().into_iter();
            let has_steps = trees.any(|tree| braces(&tree).is_some_and(is_steps));
            (has_steps, "these braces contain steps")
        }
    };
    is_work.then(|| {
        mistake!(ty, "a step with a type is a value, and {kind}\nhelp: write `step {name} = …;`, without the type")
    })
}

/// Returns the error of a type without a value.
pub(crate) fn no_value(ty: TokenStream, colon: Span, name: &Ident) -> Mistake {
    let last = last(&ty);
    if last.as_ref().and_then(braces).is_some() {
        let message = format!("a tool is called with `=`: `step {name} = Tool {{ … }};`");
        return Mistake::at(colon, message);
    }
    Mistake::at(
        last.map_or(colon, |tree| tree.span()),
        format!("expected `=` and the value after the type: `step {name}: Type = …;`"),
    )
}

/// A name with hyphens, such as `my-room`.
pub(crate) struct HyphenatedName {
    /// The words after the first hyphen.
    pub(crate) parts: Vec<Ident>,
    pub(crate) mistake: Mistake,
}

impl HyphenatedName {
    /// Reads the name that begins with this word, if the tokens after the word are hyphens and words before a `=` or a `:`.
    pub(crate) fn new(first: &Ident, rest: &TokenStream) -> Option<Self> {
        let mut written = quote!(#first);
        let (mut parts, mut name) = (Vec::new(), first.to_string());
        let mut trees = rest.clone().into_iter();
        while let Some(TokenTree::Punct(sign)) = trees.next() {
            if matches!(sign.as_char(), '=' | ':') && !parts.is_empty() {
                let message =
                    format!("a name consists of letters, digits and `_`\nhelp: write `{name}`");
                let mistake = Mistake::new(written, message);
                return Some(Self { parts, mistake });
            }
            let Some(TokenTree::Ident(part)) = trees.next().filter(|_| sign.as_char() == '-')
            else {
                return None;
            };
            name += &format!("_{part}");
            written.extend(quote!(#sign #part));
            parts.push(part);
        }
        None
    }
}
