//! Tests: conditions as data.

use super::{Member, PlanReader};
use crate::dynamic::finding::Code;
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
fn meant(name: &str) -> Option<&'static str> {
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

/// Returns the kind of a condition or a value, which is the only member of an object. `help` is the help for an unknown
/// member, or for no member or several ones.
pub(crate) fn kind_of<'a>(
    reader: &mut PlanReader,
    node: JsonNode<'a>,
    (what, kinds): (&str, &[&'static str]),
    help: &dyn Fn(Option<&Member<'_>>) -> String,
) -> Option<(&'static str, JsonNode<'a>)> {
    let members = reader.members(node, &format!("a {what}"))?.list;
    let known = |member: &Member<'_>| kinds.iter().find(|kind| **kind == member.name);
    let kind = members.iter().find_map(|it| Some((*known(it)?, it.value)));
    let (known, others): (Vec<_>, Vec<_>) = members.iter().partition(|it| known(it).is_some());
    let (code, place, message, help) = match (&known[..], &others[..]) {
        ([_], []) => return kind,
        ([kind], [other, ..]) => {
            let (kind, name) = (&kind.name, short(&other.name));
            let message = format!("unknown member `{name}` in a {what} of the kind `{kind}`");
            let help = format!("remove `{name}`: `{kind}` is the only member");
            (Code::UnknownMember, other.key.place(), message, help)
        }
        ([], [member]) => {
            let message = format!("`{}` is not a kind of {what}", short(&member.name));
            (
                Code::UnknownMember,
                member.key.place(),
                message,
                help(Some(*member)),
            )
        }
        _ => {
            let message = format!("a {what} object must have exactly one member");
            (Code::WrongKind, node.place(), message, help(None))
        }
    };
    reader.fail(code, place, message, help)
}

/// Returns the help for a misspelled kind.
pub(crate) fn similar_kind(name: &str, kinds: &[&'static str]) -> Option<String> {
    let meant = meant(name).or_else(|| similar(name, kinds.iter().copied()))?;
    Some(format!("did you mean `{meant}`?"))
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
    // A length is no condition.
    let all = KINDS[..KINDS.len() - 1].join("`, `");
    let help = |member: Option<&Member<'_>>| {
        let similar = member.and_then(|it| similar_kind(&it.name, KINDS));
        similar.unwrap_or_else(|| format!("write one of `{all}`"))
    };
    let (name, value) = kind_of(reader, node, ("condition", KINDS), &help)?;
    test(reader, name, value, depth)
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
