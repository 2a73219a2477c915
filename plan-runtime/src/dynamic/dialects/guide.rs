//! The explanation of a dialect for a model that writes plans in it.

use super::Dialect;
use super::references::{ReferenceTarget, quote};
use crate::plan::{Segment, Selector};

/// What the explanation of a dialect says that is only true of this one.
pub(crate) struct Guide {
    /// What comes before the steps of a document, and after them.
    pub(crate) frame: [&'static str; 2],
    /// Whether steps have ids, by which they are named.
    pub(crate) by_id: bool,
    /// Whether the names of tools and the members of objects are in objects of their own.
    pub(crate) wraps: bool,
    /// The value of the variable `x`.
    pub(crate) local: &'static str,
    /// The member of a step that waits for the first step.
    pub(crate) after: &'static str,
    /// Further rules.
    pub(crate) notes: &'static [&'static str],
}

impl Dialect {
    /// How to write a plan in it, for a model: Markdown with lines of bounded length.
    pub(in crate::dynamic) fn guide(self) -> String {
        let form = Examples { dialect: self };
        let guide = &self.rules().guide;
        let [open, close] = guide.frame;
        let [first, second] = form.steps();
        let (mail, from) = (form.told(&[]), form.told(&["from"]));
        let (element, each) = (form.told(&["0"]), form.told(&["*", "id"]));
        let ids = if guide.by_id {
            "Each step has an `id` of its own, of letters, digits and `_`.\n- "
        } else {
            "Steps are numbered from 0. A step can use only earlier ones.\n- "
        };
        let notes: String = guide
            .notes
            .iter()
            .map(|note| format!("- {note}\n"))
            .collect();
        let [compared, bound, each_body, block] = form.bodies();
        let [a, b] = [form.value(&["a"]), form.value(&["b"])];
        let after = guide.after;
        format!(
            r#"# How to write a plan

Answer with a plan, as JSON and without other text. In these examples, `find` and `send` are tools; call the tools above.

{open}
  {first},
  {second}
{close}

- {ids}A step calls one `tool` with all arguments that have no `?`, and any of the others that are listed.
- {mail} is the whole output of the first step, {from} a field of it, {element} the first element of a list, and {each} the `id` of every element, as a list. Only fields that are written above exist.
- Steps run concurrently unless one refers to another. A step with `{after}` waits for the first step without using its output.
{notes}
In place of a call, a step can have one of these. The calls in them are written as in a step.

- `{compared}`: the first branch whose condition is true. The last one, without a condition, is for all other cases.
- `{bound}`: a call if a value is there, which is `x` inside.
- `{each_body}`: a call for each element of a list, which is `x` inside. The output is the list of their outputs.
- `{block}`: several steps, here for each element. The value of a block is its `tail`.

A condition is a reference to `true` or `false`, or an object with one member: `{{"compare": [{a}, "<", {b}]}}` with `==`, `!=`, `<`, `<=`, `>` or `>=`; `{{"all": [c, d]}}`, `{{"any": [c, d]}}` or `{{"not": c}}` of conditions; `{{"is_some": {a}}}`, `{{"is_none": {a}}}`, `{{"is_empty": {a}}}`; `{{"len": {a}}}` is a number to compare.

A value may be absent if its field has a `?` above or may be `null`, or if it is the output of an `if` without a last branch or of a step with `"optional"`. It fits only an argument with a `?`. Anywhere else, such as in a text or as the list of a `for`, use it inside an `if` with `Some(x)`, or use a value that is always there.

A step can also have a `policy`:

- `"policy": {{"attempts": 3, "timeout": "10s"}}`: tries again, and limits the time of an attempt.
- `"policy": {{"fallback": {a}}}`: the output if the step fails; any value.
- `"policy": {{"optional": "whole"}}`: if the step fails, its output is absent, and the plan goes on.
"#
        )
    }
}

impl Dialect {
    /// The members of a call whose argument is this value.
    pub(in crate::dynamic) fn call_with(self, tool: &str, argument: &str, value: &str) -> String {
        Examples { dialect: self }.call(tool, argument, value)
    }

    /// The variable of this name, which is the local value of this number.
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
}

struct Examples {
    dialect: Dialect,
}

impl Examples {
    /// A reference to the first step.
    fn reference(&self, path: &[&str]) -> String {
        let path = path.iter().map(|part| match *part {
            "*" => Segment::new(Selector::Each),
            part => Segment::of_token(part.to_owned()),
        });
        let path: Vec<Segment> = path.collect();
        let rules = self.dialect.rules();
        (rules.form)(ReferenceTarget::Step(0, "mail"), &path).unwrap_or_default()
    }

    /// The same between backquotes.
    fn told(&self, path: &[&str]) -> String {
        format!("`{}`", self.reference(path))
    }

    /// The same as a value of JSON.
    fn value(&self, path: &[&str]) -> String {
        let reference = self.reference(path);
        if self.dialect.rules().guide.wraps {
            reference
        } else {
            quote(&reference)
        }
    }

    /// A call with one argument.
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

    fn step(&self, id: &str, does: &str) -> String {
        if self.dialect.rules().guide.by_id {
            format!(r#"{{"id": "{id}", {does}}}"#)
        } else {
            format!("{{{does}}}")
        }
    }

    fn steps(&self) -> [String; 2] {
        let first = self.call("find", "sender", r#""sarah""#);
        let second = self.call("send", "to", &self.value(&["0", "from"]));
        [self.step("mail", &first), self.step("sent", &second)]
    }

    fn bodies(&self) -> [String; 4] {
        let local = self.dialect.rules().guide.local;
        let list = self.value(&[]);
        let plain = self.call("send", "to", r#""me""#);
        let with = self.call("send", "to", local);
        let found = self.call("find", "sender", local);
        let inside = self.step("found", &found);
        let size = self.value(&["size"]);
        let cc = self.value(&["cc"]);
        [
            format!(
                r#""if": [{{"condition": {{"compare": [{size}, ">", 3]}}, "then": {{{plain}}}}}, {{"then": {{{plain}}}}}]"#
            ),
            format!(r#""if": [{{"pattern": "Some(x)", "value": {cc}, "then": {{{with}}}}}]"#),
            format!(r#""for": {{"pattern": "x", "list": {list}, "body": {{{with}}}}}"#),
            format!(
                r#""for": {{"pattern": "x", "list": {list}, "body": {{"block": {{"steps": [{inside}], "tail": {{{with}}}}}}}}}"#
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::Reader;

    /// What is shown is read, and nothing is found.
    #[test]
    fn the_examples_are_plans() {
        for dialect in Dialect::ALL {
            let text = dialect.guide();
            let guide = &dialect.rules().guide;
            let read = |text: &str| {
                let read = Reader::new().read(text);
                let document = read.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
                assert_eq!(document.dialect(), dialect);
                assert!(document.warnings().is_empty(), "{}", document.warnings());
            };
            let [open, close] = guide.frame;
            let start = text.find(&format!("{open}\n")).unwrap();
            let end = text.find(&format!("\n{close}\n")).unwrap();
            let document = &text[start..end + 1 + close.len()];
            read(document);
            let mut examples = 0;
            let first = Examples { dialect }.steps()[0].clone();
            let lines = text.lines().filter_map(|line| line.strip_prefix("- `\""));
            for line in lines {
                examples += 1;
                let (example, _) = line.split_once("`: ").unwrap();
                let does = if example.starts_with("policy") {
                    let call = Examples { dialect }.call("send", "to", r#""me""#);
                    format!("{call}, \"{example}")
                } else {
                    format!("\"{example}")
                };
                let step = Examples { dialect }.step("told", &does);
                read(&format!("{open}{first}, {step}{close}"));
            }
            assert_eq!(examples, 7);
            let step = format!(
                "{}, {}",
                Examples { dialect }.call("t", "a", "1"),
                guide.after
            );
            let step = Examples { dialect }.step("last", &step);
            read(&format!("{open}{first}, {step}{close}"));
        }
    }
}
