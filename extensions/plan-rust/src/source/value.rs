//! Templates as expressions.

use super::fragment::{self, FragmentError};
use super::layout::{LayoutStyle, Tree};
use super::model::{Binding, push_key};
use super::reference::is_place;
use super::{SourceWriter, names, shown};
use plan_graph::Quoted;
use plan_runtime::plan::{Computed, Key, Number, Part, Source as From, Template, Test};
use proc_macro2::Delimiter;

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
                for entry in entries {
                    let value = &entry.value;
                    let Key::Name(name) = &entry.key else {
                        let place = self.at(path);
                        let value = shown(&value.to_string());
                        self.cannot_express(
                            place,
                            format!("the members of `{value}` among its own members"),
                        );
                        continue;
                    };
                    let mut path = path.to_owned();
                    push_key(&mut path, name);
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
            other => Err(format!("the value `{}`", shown(&other.to_string()))),
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
            Takes::Operand => Binding::of(test) > Binding::And,
            Takes::Anything | Takes::Fraction | Takes::Choice => true,
        };
        Ok(Tree::Text(if is_alone {
            text
        } else {
            format!("({text})")
        }))
    }

    fn test_text(&mut self, test: &Test) -> Result<String, String> {
        let around = Binding::of(test);
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
            operands.push(if around.brackets(operand) {
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
