//! The messages about unknown names.

use super::{Frames, Names, Source};
use crate::docs::text_of;
use crate::mistakes::step::USAGE;
use crate::mistakes::{WordKind, about};
use plan_graph::{nearest, similar};
use syn::Ident;

impl Names<'_> {
    /// Returns the message about an unknown name, and `true` if one of the plan's names is probably meant.
    pub(crate) fn unknown(&self, name: &Ident, frames: &Frames) -> (String, bool) {
        let text = text_of(name);
        if let Some((_, owner)) = self.inside(&text) {
            let message = format!(
                "`{text}` is known only in the block of `{owner}`\nhelp: end that block with `{text}`"
            );
            return (message, true);
        }
        if text == "step" {
            return (USAGE.to_owned(), true);
        }
        if let Some(help) = about(WordKind::Value, &text) {
            let message = format!("no step or input is named `{text}`\nhelp: {help}");
            return (message, true);
        }
        let known = self.around(frames.scope);
        let known = known.flat_map(|scope| scope.sources.keys());
        let mut known: Vec<&str> = known.map(String::as_str).chain(frames.names()).collect();
        known.sort_unstable();
        let similar = similar(&text, known);
        let repeats = || self.around(frames.scope).any(|scope| scope.repeats);
        let help = match (similar, self.bound.get(&text)) {
            (Some(known), _) => {
                let kind = match self.find_in(frames.scope, known) {
                    _ if frames.names().any(|name| name == known) => "a local variable",
                    Some(Source::Input(_)) => "an input",
                    _ => "a step",
                };
                format!("{kind} with a similar name exists: `{known}`")
            }
            (None, Some(step)) => format!(
                "`{text}` is bound in the step `{step}`, and is in scope only inside its braces"
            ),
            (None, None) if about(WordKind::RoundBefore, &text).is_some() && repeats() => {
                format!("name the value of the round before: `loop |{text}| {{ … }} while …`")
            }
            (None, None) => {
                let help = &self.inputs_help;
                format!("a plan cannot capture local variables; {help}{text}: …)`")
            }
        };
        let message = format!("no step or input is named `{text}`\nhelp: {help}");
        (message, similar.is_some())
    }

    /// Returns the message about a name in `#[after(…)]` that is not the name of a step; `None` if the name may be the name of an unreadable step.
    pub(crate) fn unknown_after(
        &self,
        after: &Ident,
        step: &Ident,
        scope: usize,
        inner_help: impl Fn(&str) -> String,
    ) -> Option<String> {
        let (text, step) = (text_of(after), text_of(step));
        if self.is_broken(scope, after) {
            return None;
        }
        if let Some(Source::Step(_)) = self.get_in(scope, after) {
            let owner = &self.scopes[scope].owner;
            return Some(format!(
                "`{text}` is outside this block, which a step of it cannot wait for alone\nhelp: write `#[after({text})]` on `{owner}`"
            ));
        }
        if let Some((Source::Step(_), owner)) = self.inside(&text) {
            let help = inner_help(owner);
            return Some(format!(
                "`{text}` is known only in the block of `{owner}`\n{help}"
            ));
        }
        if self.lacks_name(scope) {
            return None;
        }
        let known = self.scopes[scope].sources.iter();
        let known =
            known.filter(|(name, source)| matches!(source, Source::Step(_)) && **name != step);
        let mut known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        let help = nearest(&text, known).map_or_else(String::new, |known| {
            format!("\nhelp: a step with a similar name exists: `{known}`")
        });
        Some(format!("no step is named `{text}`{help}"))
    }

    /// Returns the source of this name in any scope, and the step that the scope is of.
    fn inside(&self, name: &str) -> Option<(Source, &str)> {
        let mut scopes = self.scopes.iter();
        scopes.find_map(|scope| Some((*scope.sources.get(name)?, &*scope.owner)))
    }
}
