//! Templates as expressions.

use super::fragment::{self, FragmentError};
use super::layout::{LayoutStyle, Tree};
use super::{SourceWriter, names, shown};
use crate::plan::{
    Absent, Binding, Computed, Entry, Key, Number, Part, Path, Reference, Segment, Selector,
    Source as From, Template, Test, outcome, written,
};
use crate::print::Quoted;
use proc_macro2::Delimiter;
use serde_json::Value;
use std::borrow::Cow;

/// The largest number of parts in a path. The compiler recurses for each part.
const MOST: usize = 128;

/// The requirements of the position that takes a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Takes {
    Anything,
    /// A number that need not be an integer.
    Fraction,
    /// A string listed by a schema. In Rust, the string may be the variant of an enum whose name is unknown.
    Choice,
    /// A condition or a list, which a block follows.
    Block,
    /// An operand before `&&`: one of several conditions, or the value of a `let`.
    Operand,
}

impl SourceWriter<'_> {
    /// Writes a [plain](Template::plain) template as an expression.
    pub(super) fn value(&mut self, path: &str, template: &Template, takes: Takes) -> Tree {
        match template {
            Template::Null => Tree::text("None"),
            Template::Number(number) if is_finite(*number) => {
                Tree::Text(number_text(*number, takes))
            }
            Template::List(items) => {
                let mut written = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    let takes = match takes {
                        Takes::Block | Takes::Operand => Takes::Anything,
                        takes => takes,
                    };
                    written.push(self.value(&path, item, takes));
                }
                Tree::list("", Delimiter::Bracket, LayoutStyle::Commas, written)
            }
            Template::Object(_) => {
                let object = self.json(path, template);
                json(object)
            }
            Template::String(text) if takes == Takes::Choice => {
                Tree::Text(format!("serde_json::from_value(json!({}))?", Quoted(text)))
            }
            other => self.leaf(path, other, takes),
        }
    }

    /// Writes a plain template inside a `json!`.
    pub(super) fn json(&mut self, path: &str, template: &Template) -> Tree {
        match template {
            Template::Null => Tree::text("null"),
            Template::List(items) => {
                let item = |(index, item)| self.json(&format!("{path}[{index}]"), item);
                let items = items.iter().enumerate().map(item).collect();
                Tree::list("", Delimiter::Bracket, LayoutStyle::Between, items)
            }
            Template::Object(entries) => {
                let mut members = Vec::with_capacity(entries.len());
                for Entry { key, value } in entries {
                    let Key::Name(name) = key else {
                        let place = self.at(path);
                        let value = shown(&value.to_string());
                        self.cannot_express(
                            place,
                            format!("the members of `{value}` among its own members"),
                        );
                        continue;
                    };
                    let mut path = path.to_owned();
                    crate::plan::push_key(&mut path, name);
                    let value = self.json(&path, value);
                    members.push(Tree::Row(vec![
                        Tree::Text(format!("{}: ", Quoted(name))),
                        value,
                    ]));
                }
                Tree::list("", Delimiter::Brace, LayoutStyle::Between, members)
            }
            Template::Computed(_) => match self.leaf(path, template, Takes::Anything) {
                // `json!` would interpret the content of the brackets.
                Tree::Text(text) if text.starts_with(['{', '[']) || text == "null" => {
                    Tree::Text(format!("({text})"))
                }
                tree => tree,
            },
            other => self.leaf(path, other, Takes::Anything),
        }
    }

    fn leaf(&mut self, path: &str, template: &Template, takes: Takes) -> Tree {
        let written = match template {
            Template::Bool(value) => Ok(Tree::Text(value.to_string())),
            Template::Number(number) if !is_finite(*number) => {
                Err(format!("the number {template}"))
            }
            Template::Number(number) => Ok(Tree::Text(number_text(*number, takes))),
            Template::String(text) => Ok(Tree::Text(Quoted(text).to_string())),
            Template::Reference(reference) => self.reference(reference).map(Tree::Text),
            Template::Text(parts) => self.text(path, parts),
            Template::Test(test) => self.test(test, takes),
            Template::Computed(computed) => self.computed(path, computed, takes),
            Template::Null | Template::List(_) | Template::Object(_) | Template::Tagged(..) => {
                Ok(Tree::text("None"))
            }
        };
        written.unwrap_or_else(|construct| {
            let place = self.at(path);
            self.cannot_express(place, construct);
            Tree::text("None")
        })
    }

    fn test(&mut self, test: &Test, takes: Takes) -> Result<Tree, String> {
        let text = self.test_text(test)?;
        // `if a && b` is two conditions, and this template is a single one.
        let is_alone = match takes {
            Takes::Block => !matches!(test, Test::All(_)),
            Takes::Operand => test.binding() > Binding::And,
            Takes::Anything | Takes::Fraction | Takes::Choice => true,
        };
        Ok(Tree::Text(if is_alone {
            text
        } else {
            format!("({text})")
        }))
    }

    fn test_text(&mut self, test: &Test) -> Result<String, String> {
        let around = test.binding();
        let mut operands = Vec::with_capacity(test.operands().len());
        for operand in test.operands() {
            let text = match operand {
                Template::Test(inner) => self.test_text(inner)?,
                Template::Bool(value) => value.to_string(),
                Template::Number(number) if is_finite(*number) => {
                    number_text(*number, Takes::Anything)
                }
                Template::String(text) => Quoted(text).to_string(),
                Template::Reference(reference) if is_place(reference) => {
                    self.reference(reference)?
                }
                other => {
                    let other = shown(&other.to_string());
                    return Err(format!("the value `{other}` in a test"));
                }
            };
            operands.push(if operand.is_bracketed_in(around) {
                format!("({text})")
            } else {
                text
            });
        }
        Ok(match (test, &operands[..]) {
            (Test::All(_), operands) => operands.join(" && "),
            (Test::Any(_), operands) => operands.join(" || "),
            (Test::Compare(_, how), [left, right]) => format!("{left} {} {right}", how.sign()),
            (Test::Ask(question, _), [operand]) => format!("{operand}.{}()", question.name()),
            (_, operands) => format!("!{}", operands.concat()),
        })
    }

    fn computed(&mut self, path: &str, computed: &Computed, takes: Takes) -> Result<Tree, String> {
        let before_block = matches!(takes, Takes::Block | Takes::Operand);
        let text = fragment::expression(computed.written(), before_block);
        let mut text = text.map_err(|fragment_error| {
            format!("the computed value `{}`", shown(computed.written())) + said(fragment_error)
        })?;
        if takes == Takes::Operand && !fragment::is_operand(&text) {
            text = format!("({text})");
        }
        let place = self.at(path);
        if self.reads(&place, computed) {
            self.code(place, "the computed value", computed.written());
        }
        Ok(Tree::Text(text))
    }

    /// Checks that each source of a computed value has its own name in this position.
    pub(super) fn reads(&mut self, place: &str, computed: &Computed) -> bool {
        let why = match (
            self.renamed(computed.reads()),
            self.hidden(computed.reads()),
        ) {
            (Some(name), _) => format!("since `{}` has another name in Rust", shown(name)),
            (None, Some(name)) => format!("since a pattern around it binds `{}`", shown(name)),
            (None, None) => return true,
        };
        let written = shown(computed.written());
        self.cannot_express(place, format!("the computed value `{written}`, {why}"));
        false
    }

    /// Returns a source with another name in Rust.
    fn renamed(&self, reads: &[From]) -> Option<&str> {
        let mut names = reads.iter().filter_map(|read| self.named(*read));
        names
            .find(|(given, name)| given != name && names::plain(name) != *given)
            .map(|(given, _)| given)
    }

    /// Returns a source whose name is that of a local value here.
    fn hidden(&self, reads: &[From]) -> Option<&str> {
        let mut names = reads.iter().filter_map(|read| self.named(*read));
        names
            .find(|(_, name)| self.binding(name).is_some())
            .map(|(given, _)| given)
    }

    /// Returns the name of a step or an input in the plan, and its name in Rust.
    fn named(&self, source: From) -> Option<(&str, &str)> {
        match source {
            From::Step(step) => Some((
                self.plan.steps.get(step)?.id.as_ref(),
                self.names.steps.get(step)?,
            )),
            From::Input(input) => Some((
                self.plan.inputs.get(input)?.name.as_ref(),
                self.names.inputs.get(input)?,
            )),
            From::Local(_) => None,
        }
    }

    /// Returns the innermost local value with this name.
    fn binding(&self, name: &str) -> Option<usize> {
        self.locals
            .iter()
            .rposition(|local| local.bound.binds(name))
    }

    fn text(&mut self, path: &str, parts: &[Part]) -> Result<Tree, String> {
        let mut text = String::new();
        let mut arguments = Vec::new();
        for part in parts {
            let (value, spec) = match part {
                Part::Literal(literal) => {
                    for c in literal.chars() {
                        text.extend(std::iter::repeat_n(c, 1 + usize::from("{}".contains(c))));
                    }
                    continue;
                }
                Part::Value { value, spec } => (value, spec),
            };
            let value = match value {
                Template::Reference(reference) => Tree::Text(self.reference(reference)?),
                Template::Computed(_)
                | Template::String(_)
                | Template::Number(_)
                | Template::Bool(_) => self.leaf(path, value, Takes::Anything),
                other => {
                    let other = shown(&other.to_string());
                    return Err(format!("the value `{other}` in a text"));
                }
            };
            if !is_format(spec) {
                return Err(format!("the format `{}`", shown(spec)));
            }
            let colon = if spec.is_empty() { "" } else { ":" };
            match value {
                Tree::Text(name) if names::is_name(&name) => {
                    text.push_str(&format!("{{{name}{colon}{spec}}}"));
                }
                value => {
                    text.push_str(&format!("{{{colon}{spec}}}"));
                    arguments.push(value);
                }
            }
        }
        arguments.insert(0, Tree::Text(Quoted(&text).to_string()));
        let delimiter = Delimiter::Parenthesis;
        Ok(Tree::list(
            "format!",
            delimiter,
            LayoutStyle::Commas,
            arguments,
        ))
    }

    /// Writes a reference for a message, with the current name of its source.
    fn shown_reference(&self, reference: &Reference) -> String {
        let path = reference.path();
        let now = match reference.source {
            From::Local(depth) => self.locals.get(depth).and_then(|it| it.bound.start(path)),
            source => self.plan.name_of(source).map(|name| (name, path)),
        };
        let text = now.map(|(name, path)| match reference.as_written_for(name) {
            Some(text) => text.to_owned(),
            None => written(name, path),
        });
        shown(&text.unwrap_or_else(|| reference.text().into_owned()))
    }

    /// Writes a reference, derived from its source and path.
    pub(super) fn reference(&self, reference: &Reference) -> Result<String, String> {
        let shown = self.shown_reference(reference);
        let nothing = || format!("the reference `{shown}`, which has no target");
        let (name, path) = match reference.source {
            From::Local(depth) => {
                let local = self.locals.get(depth).ok_or_else(nothing)?;
                let found = local.bound.start(reference.path());
                let (name, path) =
                    found.ok_or_else(|| format!("the part `{shown}` of `{}`", local.pattern))?;
                let name = names::keyword(name).ok_or_else(nothing)?;
                if self.binding(&name) != Some(depth) {
                    let what = "whose name another pattern binds again";
                    return Err(format!("the reference `{shown}`, {what}"));
                }
                (Cow::Owned(name), path)
            }
            source => {
                let (_, name) = self.named(source).ok_or_else(nothing)?;
                if self.binding(name).is_some() {
                    let what = "whose name a pattern around it binds";
                    return Err(format!("the reference `{shown}`, {what}"));
                }
                (Cow::Borrowed(name), reference.path())
            }
        };
        way(&name, path, &shown)
    }
}

/// Returns a name and the path after it, in the syntax of `plan!`, if that can express the path. Types determine the
/// effect of an absent value.
fn way(name: &str, path: Path<'_>, shown: &str) -> Result<String, String> {
    let mut text = name.to_owned();
    if path.segments.len() > MOST {
        let count = path.segments.len();
        let what = format!("which has {count} parts, and at most {MOST} are written");
        return Err(format!("the reference `{shown}`, {what}"));
    }
    if path.otherwise.is_some() {
        let what = format!("the default for the reference `{shown}` of the compat profile");
        return Err(what);
    }
    if path.optional {
        text.push('?');
    }
    for segment in path.segments {
        if let Some(outcome) = outcome(segment) {
            text.push_str(outcome);
            if segment.optional {
                text.push('?');
            }
            continue;
        }
        let may_be_missing = match &segment.absent {
            Absent::Default(value) if !is_default_of(&segment.selector, value) => {
                let why = "which the type has to say in Rust";
                return Err(format!("the default of the reference `{shown}`, {why}"));
            }
            Absent::End if !segment.optional => {
                let why = "which is absent if a part of its path is absent";
                return Err(format!("the reference `{shown}`, {why}"));
            }
            Absent::Default(value) => value.is_null(),
            Absent::End => true,
            Absent::Error | Absent::Failure => false,
        };
        match &segment.selector {
            Selector::Key(key) => match names::field(key) {
                Some(field) => text.push_str(&format!(".{field}")),
                None => text.push_str(&format!("[{}]", Quoted(key))),
            },
            Selector::Index(index) if may_be_missing => text.push_str(&format!(".get({index})")),
            Selector::Index(index) => text.push_str(&format!("[{index}]")),
            Selector::Each => text.push_str("[..]"),
        }
        if segment.optional {
            text.push('?');
        }
    }
    Ok(text)
}

/// Returns `true` if the reference has its meaning in Rust code as well, where `a?` fails the step if `a` is absent, and
/// `.get(0)` returns an `Option`.
fn is_place(reference: &Reference) -> bool {
    let is_place = |segment: &Segment| match &segment.selector {
        Selector::Key(_) => outcome(segment).is_none(),
        Selector::Index(_) => matches!(segment.absent, Absent::Error),
        Selector::Each => false,
    };
    !reference.can_end() && reference.path.iter().all(is_place)
}

/// Returns `true` if a Rust type determines the replacement for this missing part: a default for a struct's field, and
/// null for `.get(0)`.
fn is_default_of(selector: &Selector, value: &Value) -> bool {
    match selector {
        Selector::Key(key) => names::field(key).is_some() && is_zero(value),
        Selector::Index(_) => value.is_null(),
        Selector::Each => true,
    }
}

/// Returns `true` for the `Default` value of some Rust type, which such types omit.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Writes `json!` around an object.
pub(super) fn json(object: Tree) -> Tree {
    Tree::list(
        "json!",
        Delimiter::Parenthesis,
        LayoutStyle::Beside,
        vec![object],
    )
}

/// Returns the reason why Rust cannot express a fragment.
pub(super) fn said(fragment_error: FragmentError) -> &'static str {
    match fragment_error {
        FragmentError::Large => ", which is too long or too deep",
        FragmentError::Other => "",
    }
}

/// Returns `true` for a valid format after the colon in `{:>8}`: a fill and a side, a sign, `#`, `0`, a width, a precision, and a
/// kind.
fn is_format(spec: &str) -> bool {
    let is_side = |c: char| matches!(c, '<' | '^' | '>');
    let mut chars = spec.chars();
    let rest = match (chars.next(), chars.next()) {
        (Some('{' | '}'), _) => return false,
        (Some(_), Some(side)) if is_side(side) => chars.as_str(),
        (Some(side), _) if is_side(side) => &spec[1..],
        _ => spec,
    };
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let number = |rest: &str| -> Option<usize> {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        // rustc accepts no larger numbers.
        (digits == 0 || rest[..digits].parse::<u16>().is_ok()).then_some(digits)
    };
    let Some(width) = number(rest) else {
        return false;
    };
    let rest = &rest[width..];
    let rest = match rest.strip_prefix('.') {
        Some(precision) => match number(precision) {
            Some(digits) if digits > 0 => &precision[digits..],
            _ => return false,
        },
        None => rest,
    };
    matches!(
        rest,
        "" | "?" | "x?" | "X?" | "x" | "X" | "o" | "b" | "e" | "E"
    )
}

fn is_finite(number: Number) -> bool {
    !matches!(number, Number::Float(value) if !value.is_finite())
}

fn number_text(number: Number, takes: Takes) -> String {
    let text = match number {
        Number::Unsigned(value) => value.to_string(),
        Number::Signed(value) => value.to_string(),
        Number::Float(value) => return format!("{value:?}"),
    };
    match takes {
        Takes::Fraction => text + ".0",
        Takes::Anything | Takes::Choice | Takes::Block | Takes::Operand => text,
    }
}
