//! Tests: conditions as data.

use super::{Member, PlanReader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::plan::json::names::template;
use crate::plan::{Comparison, Question, Template, Test};
use crate::print::short;
use crate::resolve::describe::counted;
use plan_graph::similar;

/// The members for the kinds of tests. Each test has one.
const KINDS: &[&str] = template::ALL.split_at(4).1.split_at(10).0;

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

/// Reads an object that must be a test, in a position without data.
pub(super) fn test_object(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Template {
    let place = node.place();
    reader.count(1, place.clone());
    let at = reader.place(place.clone(), None);
    let is_read = reader.fits(depth, place);
    let test = is_read.then(|| only_test(reader, node, depth)).flatten();
    let template = test.map(Template::from);
    let template = template.unwrap_or_else(|| reader.broken(at));
    reader.here.spans.templates.close(at);
    template
}

fn only_test(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<Test> {
    let members = reader.members(node, "a condition")?.list;
    let (kinds, others): (Vec<_>, Vec<_>) = members
        .iter()
        .partition(|member| KINDS.contains(&&*member.name));
    if let ([kind], [other, ..]) = (&kinds[..], &others[..]) {
        return reader.error(unknown_beside("condition", kind, other));
    }
    // A length is no condition.
    let all = KINDS[..KINDS.len() - 1].join("`, `");
    let [member] = &members[..] else {
        let message = "a condition object must have exactly one member";
        let help = format!("write one of `{all}`");
        return reader.fail(Code::WrongKind, node.place(), message, help);
    };
    if let Some(name) = KINDS.iter().find(|kind| **kind == member.name) {
        return test(reader, name, member.value, depth);
    }
    let message = format!("`{}` is not a kind of condition", short(&member.name));
    let help = match meant(&member.name).or_else(|| similar(&member.name, KINDS.iter().copied())) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the kinds are `{all}`"),
    };
    reader.fail(Code::UnknownMember, member.key.place(), message, help)
}

/// Reads the test in this member.
pub(crate) fn test(
    reader: &mut PlanReader,
    name: &str,
    value: JsonNode<'_>,
    depth: usize,
) -> Option<Test> {
    if name == template::COMPARE {
        return comparison(reader, value, depth);
    }
    if name == template::ALL_OF || name == template::ANY {
        let all = operands(reader, name, value, depth)?;
        let is_all = name == template::ALL_OF;
        return Some(if is_all {
            Test::All(all)
        } else {
            Test::Any(all)
        });
    }
    let operand = reader.rules.syntax.test(reader, value, depth + 1);
    Some(match Question::named(name) {
        Some(question) => Test::Ask(question, operand),
        None => Test::Not(operand),
    })
}

fn operands(
    reader: &mut PlanReader,
    name: &str,
    value: JsonNode<'_>,
    depth: usize,
) -> Option<Vec<Template>> {
    let items = reader.items(value, &format!("`{name}`"))?;
    if items.len() < 2 {
        let has = if items.is_empty() {
            "has no"
        } else {
            "needs at least two"
        };
        let message = format!("`{name}` {has} conditions");
        let help = format!("write two or more conditions, or a single one without `{name}`");
        return reader.fail(Code::MissingMember, value.place(), message, help);
    }
    let operand =
        |it: &mut PlanReader, item: JsonNode<'_>| Some(it.rules.syntax.test(it, item, depth + 1));
    let operands = reader.each(items, 0, operand);
    (!reader.is_over()).then_some(operands)
}

fn comparison(reader: &mut PlanReader, value: JsonNode<'_>, depth: usize) -> Option<Test> {
    let items = reader.items(value, "`compare`")?;
    let &[left, sign, right] = &items[..] else {
        let message = format!(
            "`compare` has {}, but needs 3",
            counted(items.len(), "part")
        );
        let help = r#"write a value, an operator and a value: `[…, "<", …]`"#;
        return reader.fail(Code::MissingMember, value.place(), message, help);
    };
    let how = how(reader, sign);
    let operands = [left, right].map(|node| reader.rules.syntax.test(reader, node, depth + 1));
    Some(Test::Compare(operands, how?))
}

fn how(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Comparison> {
    let text = reader.text(node, "the operator of `compare`")?.value;
    Comparison::of_sign(&text).or_else(|| {
        let message = format!("`{}` is not a comparison operator", short(&text));
        let help = match &*text {
            "=" | "===" => "did you mean `==`?".to_owned(),
            "<>" | "!==" => "did you mean `!=`?".to_owned(),
            "=>" | "gte" => "did you mean `>=`?".to_owned(),
            "=<" | "lte" => "did you mean `<=`?".to_owned(),
            _ => {
                let operators = Comparison::ALL.map(Comparison::sign).join("`, `");
                format!("the operators are `{operators}`")
            }
        };
        reader.fail(Code::NotAllowed, node.place(), message, help)
    })
}
