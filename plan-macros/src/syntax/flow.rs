//! The work of a step without a type: `if`, `for`, `loop`, a block, or the call of a tool.

use super::tokens::{Tokens, first_word, parse_start};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::ExprPath;
use syn::parse::Parse;

/// The work of a step without a type, cut at its keywords and braces.
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
    pub(crate) in_token: Option<TokenTree>,
    pub(crate) list: TokenStream,
    pub(crate) block: Option<Group>,
}

/// `loop |last| { … } while condition`
pub(crate) struct LoopTokens {
    pub(crate) keyword: Option<TokenTree>,
    /// The span of the first bar, and the tokens between the bars.
    pub(crate) last: Option<(Span, TokenStream)>,
    /// The tokens before the braces, which are wrong.
    pub(crate) extra: TokenStream,
    pub(crate) block: Option<Group>,
    /// `while`, or another token.
    pub(crate) while_token: Option<TokenTree>,
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
                in_token: queue.next(),
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
                while_token: queue.next(),
                condition: queue.rest(),
            })
        } else if let Some(block) = queue.next_braces() {
            Self::Block(block, queue.rest())
        } else {
            Self::Call(tokens)
        }
    }

    /// Cuts the content of braces.
    pub(crate) fn within(block: Option<&Group>) -> Self {
        match block {
            Some(group) if has_steps(group) => Self::Block(group.clone(), TokenStream::new()),
            _ => Self::new(block.map(Group::stream).unwrap_or_default()),
        }
    }
}

impl BranchTokens {
    pub(crate) fn keyword(&self) -> Span {
        let last = self.keywords.last();
        last.map_or_else(Span::call_site, TokenTree::span)
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

/// The evidence that braces hold steps, and not a Rust expression.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Evidence {
    /// The word `step` alone counts, because a `let` may be Rust's.
    Keyword,
    /// `step`, or work after a `=`.
    Work,
    /// Any statement that looks like a step.
    Statement,
}

/// Returns `true` if braces hold steps, by this evidence.
pub(crate) fn holds_steps(group: &Group, evidence: Evidence) -> bool {
    let mut statements = super::block(group.stream()).into_iter();
    statements.any(|statement| {
        let Some(step) = statement.step() else {
            return false;
        };
        let is_assigned = step.equals.is_some();
        let is_keyword = |word: &str| step.keyword.as_ref().is_some_and(|it| it == word);
        match evidence {
            Evidence::Keyword => is_keyword("step"),
            Evidence::Work if step.keyword.is_none() => is_assigned && is_work(&step.value),
            Evidence::Work => is_keyword("step") || is_keyword("let") && is_work(&step.value),
            Evidence::Statement => {
                step.keyword.is_some() || is_assigned || !statement.attrs.is_empty()
            }
        }
    })
}

/// Returns `true` if the braces of an `if`, a `for` or a `loop` hold steps, rather than one call.
pub(crate) fn has_steps(group: &Group) -> bool {
    holds_steps(group, Evidence::Statement)
}

/// Returns `true` if tokens are a call, an `if`, a `match` or a `for`.
pub(crate) fn is_work(tokens: &TokenStream) -> bool {
    let is_flow = |word: proc_macro2::Ident| ["if", "match", "for"].iter().any(|flow| word == flow);
    if first_word(tokens).is_some_and(is_flow) {
        return true;
    }
    let path = parse_start(tokens.clone(), ExprPath::parse);
    let path = path.ok().map(|it| it.path);
    path.is_some_and(|path| {
        let last = path.segments.last();
        last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
    })
}
