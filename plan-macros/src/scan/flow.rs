//! `if … { … } else { … }` and `for … in … { … }` around the call of a tool.

use super::tokens::Tokens;
use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// What a step without a type does, cut at its keywords and braces.
pub(crate) enum FlowTokens {
    /// The branches, and the tokens after the last one, where there should be none.
    If(Vec<BranchTokens>, TokenStream),
    For(ForTokens),
    Loop(LoopTokens),
    /// `{ … }`, and the tokens after it, where there should be none.
    Block(Group, TokenStream),
    Call(TokenStream),
}

pub(crate) struct BranchTokens {
    /// `if`, `else if` or `else`.
    pub(crate) keywords: Vec<TokenTree>,
    /// `None` after `else`.
    pub(crate) condition: Option<TokenStream>,
    pub(crate) block: Option<Group>,
}

pub(crate) struct ForTokens {
    pub(crate) keyword: Option<TokenTree>,
    pub(crate) pattern: TokenStream,
    /// `in`
    pub(crate) within: Option<TokenTree>,
    pub(crate) list: TokenStream,
    pub(crate) block: Option<Group>,
}

/// `loop |last| { … } while condition`
pub(crate) struct LoopTokens {
    pub(crate) keyword: Option<TokenTree>,
    /// Where the first bar is, and what is between them, if there are any.
    pub(crate) last: Option<(Span, TokenStream)>,
    /// What is before the braces, where there should be nothing.
    pub(crate) extra: TokenStream,
    pub(crate) block: Option<Group>,
    /// `while`, or what is in its place.
    pub(crate) until: Option<TokenTree>,
    pub(crate) condition: TokenStream,
}

impl FlowTokens {
    pub(crate) fn new(tokens: TokenStream) -> Self {
        let mut queue = Tokens::new(tokens.clone());
        if queue.is_ident(0, "if") {
            let branches = branches(&mut queue);
            Self::If(branches, queue.rest())
        } else if queue.is_ident(0, "for") {
            Self::For(ForTokens {
                keyword: queue.next(),
                pattern: queue.take_until(|tokens| tokens.is_ident(0, "in")),
                within: queue.next(),
                list: queue.take_until(|tokens| tokens.is_braces(0) && tokens.peek(1).is_none()),
                block: queue.next_braces(),
            })
        } else if queue.is_ident(0, "loop") {
            let keyword = queue.next();
            let last = queue.eat_punct('|').then(|| {
                let bar = queue.last();
                let last = queue.take_until(|tokens| tokens.is_punct(0, '|'));
                queue.next();
                (bar, last)
            });
            Self::Loop(LoopTokens {
                keyword,
                last,
                extra: queue.take_until(|tokens| tokens.is_braces(0)),
                block: queue.next_braces(),
                until: queue.next(),
                condition: queue.rest(),
            })
        } else if let Some(block) = queue.next_braces() {
            Self::Block(block, queue.rest())
        } else {
            Self::Call(tokens)
        }
    }

    /// What the braces contain.
    pub(crate) fn within(block: Option<&Group>) -> Self {
        match block {
            Some(group) if has_steps(group) => Self::Block(group.clone(), TokenStream::new()),
            _ => Self::new(block.map(Group::stream).unwrap_or_default()),
        }
    }
}

fn branches(tokens: &mut Tokens) -> Vec<BranchTokens> {
    let mut branches = Vec::new();
    let mut is_else = false;
    while !is_else && !tokens.is_empty() {
        let mut keywords: Vec<TokenTree> = tokens.next().into_iter().collect();
        if !branches.is_empty() {
            is_else = !tokens.is_ident(0, "if");
            keywords.extend((!is_else).then(|| tokens.next()).flatten());
        }
        let ends = |tokens: &Tokens| {
            tokens.is_braces(0) && (tokens.peek(1).is_none() || tokens.is_ident(1, "else"))
        };
        branches.push(BranchTokens {
            keywords,
            condition: (!is_else).then(|| tokens.take_until(ends)),
            block: tokens.next_braces(),
        });
    }
    branches
}

/// Whether the braces of an `if` or a `for` contain steps, rather than one call.
pub(crate) fn has_steps(group: &Group) -> bool {
    let mut statements = super::block(group.stream()).into_iter();
    statements.any(|statement| {
        let step = statement.step();
        step.is_some_and(|step| {
            let is_begun = step.keyword.is_some() || step.equals.is_some();
            is_begun || !statement.attrs.is_empty()
        })
    })
}
