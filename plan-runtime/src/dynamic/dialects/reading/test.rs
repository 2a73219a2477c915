//! Tests: conditions as data.

use super::{Member, PlanReader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::plan::json::names::template;
use crate::plan::{Comparison, Question, Template, Test};
use crate::print::short;
use crate::resolve::describe::counted;
#[cfg(feature = "dynamic")]
use plan_graph::similar;

/// The members for the kinds of tests. Each test has one.
#[cfg(feature = "dynamic")]
const KINDS: [&str; 10] = [
    template::ALL_OF,
    template::ANY,
    template::NOT,
    template::COMPARE,
    template::IS_SOME,
    template::IS_NONE,
    template::IS_OK,
    template::IS_ERR,
    template::IS_EMPTY,
    template::LEN,
];

/// Returns the equivalent of a test's name in other languages. By its spelling, `and` would be similar to `any`, which
/// is another test.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "and" | "&&" | "allof" => template::ALL_OF,
        "or" | "||" | "anyof" => template::ANY,
        "!" => template::NOT,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => template::COMPARE,
        "length" => template::LEN,
        name if is_reference(name) => template::REFERENCE,
        _ => return None,
    })
}

/// Returns `true` if other languages have a reference in an object with a member of this name.
pub(crate) fn is_reference(name: &str) -> bool {
    let name = name.trim_start_matches('$');
    name.eq_ignore_ascii_case("ref") || name.eq_ignore_ascii_case("reference")
}

/// Returns the finding for an unknown member of a condition or a template.
pub(crate) fn unknown_beside(what: &str, kind: &Member<'_>, other: &Member<'_>) -> Note {
    let (kind, name) = (&kind.name, short(&other.name));
    let message = format!("unknown member `{name}` in a {what} of the kind `{kind}`");
    let note = Note::error(Code::UnknownMember, other.key.place(), message);
    note.help(format!("remove `{name}`: `{kind}` is the only member"))
}

impl PlanReader<'_> {
    /// Reads an object that must be a test, in a position without data.
    #[cfg(feature = "dynamic")]
    pub(super) fn test_object(&mut self, node: JsonNode<'_>, depth: usize) -> Template {
        let place = node.place();
        self.builder.count(1, place.clone());
        let at = self.builder.place(place.clone(), None);
        let test = if self.builder.fits(depth, place) {
            self.only_test(node, depth)
        } else {
            None
        };
        let template = match test {
            Some(test) => test.into(),
            None => self.builder.broken(at),
        };
        self.builder.spans.templates.close(at);
        template
    }

    #[cfg(feature = "dynamic")]
    fn only_test(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Test> {
        let members = self.builder.members(node, "a condition")?.list;
        let (kinds, others): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|member| KINDS.contains(&&*member.name));
        if let ([kind], [other, ..]) = (&kinds[..], &others[..]) {
            return self.builder.error(unknown_beside("condition", kind, other));
        }
        let [member] = &members[..] else {
            let message = "a condition that is an object has one member";
            let note = Note::error(Code::WrongKind, node.place(), message);
            let help = format!("it is one of `{}`", KINDS.join("`, `"));
            return self.builder.error(note.help(help));
        };
        if let Some(name) = KINDS.iter().find(|kind| **kind == member.name) {
            return self.test(name, member.value, depth);
        }
        let message = format!("`{}` is not a kind of condition", short(&member.name));
        let help = match meant(&member.name).or_else(|| similar(&member.name, KINDS)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the kinds are `{}`", KINDS.join("`, `")),
        };
        let note = Note::error(Code::UnknownMember, member.key.place(), message);
        self.builder.error(note.help(help))
    }

    fn operand(&mut self, node: JsonNode<'_>, depth: usize) -> Template {
        self.syntax.test(self, node, depth + 1)
    }

    /// Reads the test in this member.
    pub(crate) fn test(&mut self, name: &str, value: JsonNode<'_>, depth: usize) -> Option<Test> {
        Some(match name {
            template::ALL_OF => Test::All(self.operands(name, value, depth)?),
            template::ANY => Test::Any(self.operands(name, value, depth)?),
            template::COMPARE => self.comparison(value, depth)?,
            _ => {
                let operand = self.operand(value, depth);
                match Question::named(name) {
                    Some(question) => Test::Ask(question, operand),
                    None => Test::Not(operand),
                }
            }
        })
    }

    fn operands(&mut self, name: &str, value: JsonNode<'_>, depth: usize) -> Option<Vec<Template>> {
        let items = self.builder.items(value, &format!("`{name}`"))?;
        if items.len() < 2 {
            let message = format!("`{name}` joins at least two conditions");
            let note = Note::error(Code::MissingMember, value.place(), message);
            let help = "write a condition that is alone without it".to_owned();
            return self.builder.error(note.help(help));
        }
        let mut operands = Vec::with_capacity(self.builder.room(items.len(), 1));
        for item in items {
            if self.builder.is_over() {
                return None;
            }
            operands.push(self.operand(item, depth));
        }
        Some(operands)
    }

    fn comparison(&mut self, value: JsonNode<'_>, depth: usize) -> Option<Test> {
        let items = self.builder.items(value, "`compare`")?;
        let &[left, sign, right] = &items[..] else {
            let message = format!("`compare` has {}", counted(items.len(), "part"));
            let note = Note::error(Code::MissingMember, value.place(), message);
            let help = r#"write a value, a sign and a value: `[a, "<", b]`"#.to_owned();
            return self.builder.error(note.help(help));
        };
        let how = self.sign(sign);
        let left = self.operand(left, depth);
        let right = self.operand(right, depth);
        Some(Test::Compare([left, right], how?))
    }

    fn sign(&mut self, node: JsonNode<'_>) -> Option<Comparison> {
        let text = self.builder.text(node, "the sign of `compare`")?.value;
        let signs = Comparison::ALL.map(Comparison::sign);
        let found = Comparison::of_sign(&text);
        if found.is_none() {
            let message = format!("`{}` is not a sign of a comparison", short(&text));
            let help = format!("the signs are `{}`", signs.join("`, `"));
            let note = Note::error(Code::NotAllowed, node.place(), message);
            self.builder.error::<()>(note.help(help));
        }
        found
    }
}
