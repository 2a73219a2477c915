//! Strings with a name of the plan in braces, which were probably meant as `format!`.

use super::{Names, Source};
use crate::ast::{Body, Step, typed};
use crate::docs::is_among;
use crate::mistakes::{WordKind, about};
use crate::parse::owned::last_segment;
use syn::{Ident, LitStr, Type};

/// A description of a value for `{}`.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    /// The number of lists around a `Result`, if the value is one.
    pub(super) lists: Option<usize>,
    /// The form of the value in the `Result`, or of the value itself.
    pub(super) form: Form,
}

/// A form of values that `{}` cannot show.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Form {
    /// The type is unknown.
    #[default]
    Unknown,
    /// An `Option`.
    Absent,
    /// A list, a map or a tuple.
    Many,
}

/// Returns the form of a step or an input.
pub(super) fn form(names: &Names<'_>, source: Source) -> Form {
    match source {
        Source::Input(index) => of_type(&names.inputs[index].ty),
        Source::Step(number) => of_step(names.steps[number]),
    }
}

fn of_step(step: &Step) -> Form {
    match &step.ty {
        _ if step.policy.is_optional() => Form::Absent,
        Some(ty) => of_type(ty),
        None => of_body(&step.body),
    }
}

fn of_body(body: &Body) -> Form {
    match body {
        Body::For(_) => Form::Many,
        body if body.may_be_absent() => Form::Absent,
        Body::If(branches) => typed(branches).map_or(Form::Unknown, of_body),
        _ => Form::Unknown,
    }
}

fn of_type(ty: &Type) -> Form {
    const MANY: &str = "Vec VecDeque LinkedList BTreeSet HashSet BinaryHeap BTreeMap HashMap";
    match ty {
        Type::Array(_) | Type::Slice(_) | Type::Tuple(_) => Form::Many,
        _ => match last_segment(ty) {
            Some(last) if last.ident == "Option" => Form::Absent,
            Some(last) if is_among(&last.ident, MANY) => Form::Many,
            _ => Form::Unknown,
        },
    }
}

/// Returns the call of `format!` that replaces a string with a step, an input or a bound name in braces. `known`
/// returns the description of a name of the plan.
pub(super) fn meant(text: &LitStr, known: &dyn Fn(&Ident) -> Option<Shown>) -> Option<String> {
    let value = text.value();
    let mut arguments = String::new();
    let mut template = String::new();
    let mut rest = value.as_str();
    while let Some((before, inside, after)) = braced(rest) {
        // `${{ … }}` is one bracket. In `${…}`, the sign may mean dollars.
        let is_doubled = rest[before.len()..].starts_with("{{");
        let sign = before.strip_suffix('$').filter(|_| is_doubled);
        template.push_str(sign.unwrap_or(before));
        let (root, fields, shown) = named(inside.trim(), known)?;
        let (placeholder, argument) = placeholder(root, fields, shown);
        template.push_str(&placeholder);
        arguments.extend(argument.map(|argument| format!(", {argument}")));
        rest = after;
    }
    if template.is_empty() {
        return None;
    }
    template.push_str(rest);
    let template = format!("{template:?}");
    let call = format!("format!({template}{arguments})");
    // Advice that is not Rust helps nobody.
    syn::parse_str::<syn::Expr>(&call).ok().map(|_| call)
}

/// Splits a path after its name, and returns the description of the name. In other languages, a path may have words around the name:
/// `steps.hold.outputs.id`.
fn named<'p>(
    path: &'p str,
    known: &dyn Fn(&Ident) -> Option<Shown>,
) -> Option<(&'p str, &'p str, Shown)> {
    let split =
        |path: &'p str| path.split_at(path.find(['.', '[', ':', '?']).unwrap_or(path.len()));
    let shown = |name: &str| known(&syn::parse_str::<Ident>(name).ok()?);
    let (root, fields) = split(path);
    if let Some(shown) = shown(root) {
        return Some((root, fields, shown));
    }
    about(WordKind::Context, root)?;
    let (name, fields) = split(fields.strip_prefix('.')?);
    let (word, rest) = split(fields.strip_prefix('.').unwrap_or_default());
    let fields = about(WordKind::Output, word).map_or(fields, |_| rest);
    Some((name, fields, shown(name)?))
}

/// Returns the placeholder of a value, and its argument if the placeholder does not name the value.
fn placeholder(root: &str, fields: &str, shown: Shown) -> (String, Option<String>) {
    let (place, spec) = match fields.strip_prefix(':') {
        Some(spec) => ("", spec),
        None => (fields, ""),
    };
    let is_debug = spec.ends_with('?');
    // In a call, the author has taken the value apart.
    let is_called = place.contains('(');
    let asked = match shown.lists {
        _ if is_called => None,
        Some(0) => Some(0).filter(|_| !is_debug),
        Some(1) if place.starts_with('[') => place.find(']').map(|end| end + 1),
        None if shown.form == Form::Absent && !place.is_empty() => Some(0),
        _ => None,
    };
    let mut place = place.to_owned();
    if let Some(at) = asked.filter(|at| !place[*at..].starts_with('?')) {
        place.insert(at, '?');
    }
    let is_whole = place.is_empty() || place == "?";
    let needs_debug = match (shown.lists, shown.form) {
        (Some(0), _) if place.is_empty() => true,
        (Some(1..), _) => place.is_empty(),
        (_, Form::Absent) => !is_called,
        (_, Form::Many) => is_whole,
        (_, Form::Unknown) => false,
    };
    let spec = if needs_debug && !is_debug { "?" } else { spec };
    let spec = if spec.is_empty() {
        String::new()
    } else {
        format!(":{spec}")
    };
    if place.is_empty() {
        (format!("{{{root}{spec}}}"), None)
    } else {
        (format!("{{{spec}}}"), Some(format!("{root}{place}")))
    }
}

/// Splits a string at its first braces: the part before, the content of the innermost braces, and the part after.
fn braced(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let rest = rest.trim_start_matches('{');
    let (inside, after) = rest.split_once('}')?;
    Some((before, inside, after.trim_start_matches('}')))
}
