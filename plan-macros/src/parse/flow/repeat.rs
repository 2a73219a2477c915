//! `loop |last| { … } while condition`

use super::super::value;
use super::WorkReader;
use crate::ast::{Body, Loop, Value};
use crate::mistakes::{self as wrong, flow as mistakes};
use crate::report::Mistake;
use crate::syntax::LoopTokens;
use crate::syntax::reference::is_source_name;
use crate::syntax::tokens::{end_of, only};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

impl WorkReader<'_> {
    pub(super) fn repeat(&mut self, source: LoopTokens) -> Result<Body, Mistake> {
        let keyword = source.keyword.as_ref();
        let keyword = keyword.map_or_else(Span::call_site, TokenTree::span);
        let before_round = mistakes::before_round(&source);
        let last = source.last.map(|(bar, tokens)| last(bar, tokens));
        let last = last.transpose()?;
        let no_round = || Mistake::at(keyword, mistakes::LOOP);
        let group = match before_round {
            Some(mistake) => return Err(mistake),
            None => source.block.ok_or_else(no_round)?,
        };
        if let Some(word) = wrong::early_end(&group, wrong::in_loop) {
            return Err(word);
        }
        let before = self.report.len();
        let again = self.again(source.while_token, source.condition, &group)?;
        if self.report.drop_cascade(before) {
            return Ok(Body::Broken(None));
        }
        Ok(Body::Loop(Box::new(Loop {
            keyword,
            last,
            round: self.round(&group),
            again,
        })))
    }

    /// Reads the `while` and the condition after the braces.
    fn again(
        &mut self,
        keyword: Option<TokenTree>,
        condition: TokenStream,
        round: &Group,
    ) -> Result<Value, Mistake> {
        if let Some(mistake) = mistakes::no_while(keyword.as_ref(), round) {
            return Err(mistake);
        }
        let Some(end) = end_of(&condition) else {
            let at = keyword.map_or(round.span_close(), |keyword| keyword.span());
            return Err(Mistake::at(at, "expected a condition after `while`"));
        };
        match mistakes::condition_of_loop(&condition) {
            Some(mistake) => Err(mistake),
            None => Ok(value::all(condition, end, "`;`", self.report)),
        }
    }
}

/// Reads the name of the previous round's value.
fn last(bar: Span, tokens: TokenStream) -> Result<Ident, Mistake> {
    match only(&tokens) {
        Some(TokenTree::Ident(name)) if is_source_name(&name) => {
            wrong::keyword(&name, "value").map_or(Ok(name), Err)
        }
        _ => Err(mistakes::between_bars(bar, tokens)),
    }
}
