//! Where in the tokens the parts of a plan are. Nothing is refused here: half-typed tokens go to the part that they are in, and the
//! marker that editors put at the cursor does not change the parts.

use crate::parse::tokens::Tokens;
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};

/// The content of `plan!`, in parts whose tokens are not read further.
pub(super) struct Scanned {
    /// `None` in the expression form.
    pub(super) head: Option<Head>,
    pub(super) parts: Vec<Part>,
}

pub(super) struct Head {
    pub(super) name: Option<Ident>,
    pub(super) inputs: Vec<Input>,
    /// The tokens between the inputs and the arrow, where there should be none.
    pub(super) behind_inputs: TokenStream,
    pub(super) output: Option<TokenStream>,
}

/// An input, without its attributes: `name`, and `: Type`.
pub(super) struct Input {
    pub(super) name: Option<Ident>,
    pub(super) ty: TokenStream,
    /// The tokens after the type, if a comma is missing.
    pub(super) after: TokenStream,
}

/// What follows another in the body of a plan.
pub(super) enum Part {
    /// The content of the brackets of `#[…]`.
    Attribute(TokenStream),
    Step(Step),
    /// Not a step: the last expression, or the beginning of something.
    Other(TokenStream),
}

pub(super) struct Step {
    /// `step`, or what was written for it.
    pub(super) keyword: Ident,
    pub(super) name: Ident,
    /// The tokens after the colon, if there is one.
    pub(super) ty: Option<TokenStream>,
    pub(super) value: TokenStream,
}

pub(super) fn scan(tokens: &mut Tokens) -> Scanned {
    let start = tokens.clone();
    match head(tokens) {
        Some((head, body)) => Scanned {
            head: Some(head),
            parts: parts(body),
        },
        None => Scanned {
            head: None,
            parts: parts(start),
        },
    }
}

fn head(tokens: &mut Tokens) -> Option<(Head, Tokens)> {
    tokens.attributes();
    tokens.ungroup();
    let public = tokens.peek_ident(0).is_some_and(|ident| ident == "pub");
    if public {
        tokens.next();
        if tokens.peek_group(0, Delimiter::Parenthesis).is_some() && tokens.peek_ident(1).is_some()
        {
            tokens.next();
        }
    }
    let name = tokens.peek_ident(0).cloned();
    let is_type = |name: &Ident| name.to_string().starts_with(char::is_uppercase);
    if !public && !name.as_ref().is_some_and(is_type) {
        return None;
    }
    if name.is_some() {
        tokens.next();
    }
    let mut inputs = Vec::new();
    if let Some(group) = tokens.peek_group(0, Delimiter::Parenthesis) {
        let group = group.stream();
        inputs = separated(group)
            .into_iter()
            .map(|(one, _)| input(one))
            .collect();
        tokens.next();
    } else if !public && !is_arrow(tokens) {
        return None;
    }
    let behind_inputs = take_until(tokens, |tokens| {
        is_arrow(tokens) || tokens.peek_group(0, Delimiter::Brace).is_some()
    });
    let output = is_arrow(tokens).then(|| {
        tokens.next();
        tokens.next();
        take_until(tokens, |tokens| {
            tokens.peek_group(0, Delimiter::Brace).is_some()
        })
    });
    let body = tokens
        .peek_group(0, Delimiter::Brace)
        .map(Group::stream)
        .unwrap_or_default();
    let head = Head {
        name,
        inputs,
        behind_inputs,
        output,
    };
    Some((head, Tokens::new(body)))
}

fn is_arrow(tokens: &Tokens) -> bool {
    let is = |ahead, char| {
        let punct = tokens.peek_punct(ahead);
        punct.is_some_and(|punct| punct.as_char() == char)
    };
    is(0, '-') && is(1, '>')
}

fn input(tokens: TokenStream) -> Input {
    let mut tokens = Tokens::new(tokens);
    tokens.attributes();
    let name = tokens.peek_ident(0).cloned();
    if name.is_some() {
        tokens.next();
    }
    Input {
        name,
        ty: expression(&mut tokens),
        after: tokens.rest(),
    }
}

fn parts(mut tokens: Tokens) -> Vec<Part> {
    let mut parts = Vec::new();
    while !tokens.is_empty() {
        if let Some(length) = tokens.attribute(0) {
            let group = tokens.peek_group(length - 1, Delimiter::Bracket);
            parts.extend(group.map(|group| Part::Attribute(group.stream())));
            (0..length).for_each(|_| drop(tokens.next()));
        } else if let Some((keyword, name)) = starts_step(&tokens) {
            tokens.next();
            tokens.next();
            parts.push(Part::Step(step(keyword, name, &mut tokens)));
        } else {
            let mut other: TokenStream = tokens.next().into_iter().collect();
            other.extend(take_until(&mut tokens, begins));
            parts.push(Part::Other(other));
        }
    }
    parts
}

/// `step`, or what was written for it, and the name after it.
fn starts_step(tokens: &Tokens) -> Option<(Ident, Ident)> {
    let keyword = tokens.peek_ident(0)?;
    let name = tokens.peek_ident(1)?;
    let is = |ahead: usize, chars: &[char]| {
        let punct = tokens.peek_punct(ahead);
        punct.is_some_and(|punct| chars.contains(&punct.as_char()))
    };
    let assigned = is(2, &['=', ':']) && !is(3, &['=', ':', '>']);
    let is_step = keyword == "step" && name != "as" || assigned;
    is_step.then(|| (keyword.clone(), name.clone()))
}

/// Whether an attribute comes next, or `step name =`, or `step name:`.
fn begins(tokens: &Tokens) -> bool {
    let assigns = || {
        let punct = tokens.peek_punct(2);
        punct.is_some_and(|punct| matches!(punct.as_char(), '=' | ':'))
    };
    tokens.attribute(0).is_some() || starts_step(tokens).is_some() && assigns()
}

fn step(keyword: Ident, name: Ident, tokens: &mut Tokens) -> Step {
    let ends = |tokens: &Tokens| is_punct(tokens, ';') || begins(tokens);
    let ty = tokens.eat_punct(':').then(|| {
        let mut angles = 0_usize;
        let mut arrow = false;
        take_until(tokens, |tokens| {
            let Some(punct) = tokens.peek_punct(0) else {
                arrow = false;
                return ends(tokens);
            };
            match punct.as_char() {
                '<' => angles += 1,
                '>' if !arrow => angles = angles.saturating_sub(1),
                '=' => return angles == 0,
                _ => {}
            }
            arrow = punct.as_char() == '-' && punct.spacing() == Spacing::Joint;
            ends(tokens)
        })
    });
    let mut value = TokenStream::new();
    if tokens.eat_punct('=') {
        let mut closed = false;
        value = take_until(tokens, |tokens| {
            // Only a semicolon is missing after the braces: what follows is another part.
            let goes_on = |ident: &Ident| ident == "else" || ident == "as" || ident == "in";
            let next = tokens.peek_ident(0);
            let begins_another = closed && next.is_some_and(|ident| !goes_on(ident));
            closed = tokens.peek_group(0, Delimiter::Brace).is_some();
            begins_another || ends(tokens)
        });
    }
    tokens.eat_punct(';');
    Step {
        keyword,
        name,
        ty,
        value,
    }
}

fn is_punct(tokens: &Tokens, char: char) -> bool {
    let punct = tokens.peek_punct(0);
    punct.is_some_and(|punct| punct.as_char() == char)
}

/// Takes all up to where the condition holds, which is asked once for each token.
pub(super) fn take_until(
    tokens: &mut Tokens,
    mut ends: impl FnMut(&Tokens) -> bool,
) -> TokenStream {
    let mut taken = TokenStream::new();
    while !tokens.is_empty() && !ends(tokens) {
        taken.extend(tokens.next());
    }
    taken
}

/// The tokens between commas, each with the comma after it. In a type, commas between `<` and `>` do not separate.
pub(super) fn separated(stream: TokenStream) -> Vec<(TokenStream, Option<Punct>)> {
    let mut pieces = Vec::new();
    let mut piece = TokenStream::new();
    let mut angles = 0_usize;
    // In `name: Vec<(u8, u8)>`, a type follows the single colon; `a < b` has no type.
    let mut is_type = false;
    let mut last = None;
    for tree in stream {
        if let TokenTree::Punct(punct) = &tree {
            match punct.as_char() {
                ',' if angles == 0 => {
                    pieces.push((std::mem::take(&mut piece), Some(punct.clone())));
                    (is_type, last) = (false, None);
                    continue;
                }
                '<' if is_type || last == Some(':') => angles += 1,
                '>' if last != Some('-') => angles = angles.saturating_sub(1),
                _ => {}
            }
            (is_type, last) = (false, Some(punct.as_char()));
        } else {
            is_type = matches!(&tree, TokenTree::Ident(ident) if ident.to_string().starts_with(char::is_uppercase));
            last = None;
        }
        piece.extend([tree]);
    }
    if !piece.is_empty() {
        pieces.push((piece, None));
    }
    pieces
}

/// Takes the tokens up to where another expression or type begins, for want of a comma: `a.b c`.
pub(super) fn expression(tokens: &mut Tokens) -> TokenStream {
    let mut complete = false;
    take_until(tokens, |tokens| {
        let next = tokens.peek_ident(0);
        let ends = complete && next.is_some_and(|ident| !is_keyword(ident));
        complete = match tokens.peek(0) {
            Some(TokenTree::Ident(ident)) => !is_keyword(ident),
            Some(TokenTree::Group(_) | TokenTree::Literal(_)) => true,
            Some(TokenTree::Punct(punct)) => punct.as_char() == '?',
            None => false,
        };
        ends
    })
}

/// Whether the name belongs to an expression that goes on.
fn is_keyword(ident: &Ident) -> bool {
    const KEYWORDS: &[&str] = &[
        "as", "async", "await", "break", "const", "continue", "dyn", "else", "for", "if", "in",
        "let", "loop", "match", "move", "mut", "ref", "return", "unsafe", "while",
    ];
    KEYWORDS.iter().any(|keyword| ident == keyword)
}
