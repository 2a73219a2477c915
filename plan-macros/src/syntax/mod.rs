//! The parts of `plan!`. The expansions for the compiler and for editors both begin here.
//!
//! This stage reports no error: each part keeps its names and literals in order, even if they are unreadable. `parse` reads the
//! parts and reports errors; `ide` passes them on to an editor unchanged. An editor puts a marker at its cursor, so the
//! start of a part must not depend on the tokens after it.

pub(crate) mod condition;
mod flow;
pub(crate) mod format_string;
mod head;
pub(crate) mod pattern;
pub(crate) mod reference;
mod statement;
pub(crate) mod text;
pub(crate) mod tokens;
pub(crate) mod value;

pub(crate) use flow::{
    BranchTokens, Evidence, FlowTokens, ForTokens, LoopTokens, has_steps, holds_steps, is_work,
};
pub(crate) use head::{HeadTokens, InputTokens};
pub(crate) use reference::{is_keyword, is_source_name};
pub(crate) use statement::{Statement, StatementKind, StepTokens, is_mentioned, keywords};
pub(crate) use tokens::argument_name;

use proc_macro2::TokenStream;
use tokens::Tokens;

/// The content of one `plan!`.
pub(crate) struct PlanTokens {
    /// `#![…]` at the very start.
    pub(crate) inner: Vec<TokenStream>,
    /// `None` in the expression form.
    pub(crate) head: Option<HeadTokens>,
    pub(crate) statements: Vec<Statement>,
}

pub(crate) fn scan(input: TokenStream) -> PlanTokens {
    let mut tokens = Tokens::new(input);
    let mut inner = Vec::new();
    while tokens.is_punct(1, '!') && tokens.attribute(0) == Some(3) {
        inner.push((0..3).filter_map(|_| tokens.next()).collect());
    }
    let start = tokens.clone();
    let (head, body) = match head::head(&mut tokens) {
        Some((head, body)) => (Some(head), body),
        None => (None, start),
    };
    PlanTokens {
        inner,
        head,
        statements: statement::statements(body),
    }
}

/// Returns the steps of a block, and its last expression.
pub(crate) fn block(tokens: TokenStream) -> Vec<Statement> {
    statement::statements(Tokens::new(tokens))
}
