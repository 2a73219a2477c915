//! The explanation of a dialect for a model that writes plans in it.

use super::Dialect;
use super::references::{ReferenceTarget, quote};
use super::story::{self, BODIES, Example, POLICIES, SENT, TOOLS};
use crate::plan::{Segment, Selector};

/// The parts of the explanation that differ between dialects.
pub(crate) struct Guide {
    /// The beginning and the end of a document, around its steps.
    pub(crate) frame: [&'static str; 2],
    /// `true` if references name steps by ID.
    pub(crate) by_id: bool,
    /// `true` if the names of tools and the members of objects are in objects of their own.
    pub(crate) wraps: bool,
    /// Further rules.
    pub(crate) notes: &'static [&'static str],
}

impl Dialect {
    /// Returns the explanation of the dialect for a model: Markdown with lines of bounded length, equal at each call.
    pub(in crate::dynamic) fn guide(self) -> String {
        let form = Examples { dialect: self };
        let guide = &self.rules().guide;
        let [open, close] = guide.frame;
        let (first, second) = (story::first(self), SENT.written(self));
        let (mails, from) = (form.told(&[]), form.told(&["0", "from"]));
        let (element, each) = (form.told(&["0"]), form.told(&["*", "id"]));
        let ids = if guide.by_id {
            "Each step has a unique `id` of letters, digits and `_`.\n- "
        } else {
            "Steps are numbered from 0. A step can use only earlier steps.\n- "
        };
        let notes = guide.notes.iter();
        let notes: String = notes.map(|note| format!("- {note}\n")).collect();
        let listed = |examples: &[Example]| -> String {
            let examples = examples.iter();
            let lines = examples.map(|it| format!("- `{}`: {}\n", it.written(self), it.says));
            lines.collect()
        };
        let (bodies, policies) = (listed(&BODIES), listed(&POLICIES));
        let conditions = story::conditions(self).into_iter();
        let conditions: String = conditions.map(|it| format!("- `{it}`\n")).collect();
        format!(
            r#"# How to write a plan

Answer with a plan in JSON, without other text. The examples use the following tools. In your plan, call the tools above instead.

{TOOLS}

{open}
  {first},
  {second}
{close}

- {ids}A step calls one `tool`. Write all arguments without a `?`. Listed arguments with a `?` are optional.
- {mails} is the whole output of the first step. {element} is the first element of this list, {from} is a field of this element, and {each} is a list with the `id` of every element. Use only fields that are listed above.
- Steps run concurrently, unless one step refers to the other.
{notes}
In place of a call, a step can have one of the following forms. Each example follows the first step above. Write calls inside these forms as in a step.

{bodies}
A condition is a reference to `true` or `false`, or an object with one member. `compare` has one of the operators `==`, `!=`, `<`, `<=`, `>`, `>=`. `len` is the length of a list or a string, for a comparison.

{conditions}
A value may be absent if its field has a `?` above or may be `null`, if it is the output of an `if` without a last branch, or if it is the output of a step with `"optional"`. Such a value fits only an argument with a `?`. Anywhere else, such as in a string or as the list of a `for`, use the value inside an `if` with `Some(x)`, or use a value that is always present.

Order, failures and time limits of a step are members beside the call. Use only the names in these examples, and not names such as `retry` or `condition`.

{policies}"#
        )
    }
}

impl Dialect {
    /// Writes the members of a call with this argument.
    pub(in crate::dynamic) fn call_with(self, tool: &str, argument: &str, value: &str) -> String {
        Examples { dialect: self }.call(tool, argument, value)
    }

    /// Writes an object with these members as a value.
    pub(in crate::dynamic) fn object_of(self, members: &str) -> String {
        if self.rules().guide.wraps {
            format!(r#"{{"object": {{{members}}}}}"#)
        } else {
            format!("{{{members}}}")
        }
    }

    /// Writes a reference to the local value with this number and name.
    pub(in crate::dynamic) fn variable(self, number: usize, name: &str) -> String {
        let rules = self.rules();
        let form = (rules.form)(ReferenceTarget::Local(number, name), &[]);
        let form = form.unwrap_or_default();
        if rules.guide.wraps {
            form
        } else {
            quote(&form)
        }
    }

    /// Writes the members of a call with these arguments.
    pub(in crate::dynamic) fn call_of(self, tool: &str, arguments: &str) -> String {
        let rules = self.rules();
        let tool = if rules.guide.wraps {
            format!(r#"{{"name": {}}}"#, quote(tool))
        } else {
            quote(tool)
        };
        format!(r#""tool": {tool}, "{}": {arguments}"#, rules.arguments)
    }
}

struct Examples {
    dialect: Dialect,
}

impl Examples {
    /// Writes a reference to the first step.
    fn reference(&self, path: &[&str]) -> String {
        let path = path.iter().map(|part| match *part {
            "*" => Segment::new(Selector::Each),
            part => Segment::of_token(part.to_owned()),
        });
        let path: Vec<Segment> = path.collect();
        let rules = self.dialect.rules();
        (rules.form)(ReferenceTarget::Step(0, "mails"), &path).unwrap_or_default()
    }

    /// Returns the reference in backquotes.
    fn told(&self, path: &[&str]) -> String {
        format!("`{}`", self.reference(path))
    }

    /// Writes the members of a call with one argument.
    fn call(&self, tool: &str, name: &str, value: &str) -> String {
        let rules = self.dialect.rules();
        let name = quote(name);
        let (tool, object) = if rules.guide.wraps {
            let object = format!(r#"{{"object": {{{name}: {value}}}}}"#);
            (format!(r#"{{"name": {}}}"#, quote(tool)), object)
        } else {
            (quote(tool), format!("{{{name}: {value}}}"))
        };
        format!(r#""tool": {tool}, "{}": {object}"#, rules.arguments)
    }
}
