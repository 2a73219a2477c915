//! Text with a name of the plan in braces, which is probably meant to be `format!`.

use super::{Frames, Names};
use syn::{Ident, LitStr};

/// What `format!` would be called with, if the text names a step, an input or a bound name in braces.
pub(super) fn meant(text: &LitStr, names: &Names, frames: &Frames) -> Option<String> {
    let value = text.value();
    let mut arguments = Vec::new();
    let mut template = String::new();
    let mut rest = value.as_str();
    while let Some((before, inside, after)) = braced(rest) {
        template.push_str(before);
        let path = inside.trim();
        let end = path.find(['.', '[', ':', '?']).unwrap_or(path.len());
        let (root, fields) = path.split_at(end);
        let name = syn::parse_str::<Ident>(root).ok()?;
        if frames.get(&name).is_none() && names.get_in(frames.scope, &name).is_none() {
            return None;
        }
        if fields.is_empty() || fields.starts_with(':') {
            template.push_str(&format!("{{{path}}}"));
        } else {
            template.push_str("{}");
            arguments.push(path.to_owned());
        }
        rest = after;
    }
    if template.is_empty() {
        return None;
    }
    template.push_str(rest);
    let template = format!("{template:?}");
    let arguments: String = arguments.iter().map(|path| format!(", {path}")).collect();
    let call = format!("format!({template}{arguments})");
    // Advice that is not Rust helps nobody.
    syn::parse_str::<syn::Expr>(&call).ok().map(|_| call)
}

/// The text before the first braces, that inside the innermost of them, and that after the last of them.
fn braced(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let rest = rest.trim_start_matches('{');
    let (inside, after) = rest.split_once('}')?;
    Some((before, inside, after.trim_start_matches('}')))
}
