//! A reader accepts the documents that a schema accepts.

use super::json_schema::JsonSchema;
use super::{DIALECTS, tools};
use crate::writing::is_of_times;
use plan_runtime::dynamic::{Code, Dialect, Finding, Findings, Reader, Severity};

/// Strings that mean something somewhere, or nearly.
const WORDS: &[&str] = &[
    "a",
    "b",
    "c",
    "_",
    "x",
    "mail",
    "$ref:a",
    "$ref:b.c.0",
    "$ref:a[*].id",
    "$ref:x",
    "$ref:\"$ref:a\"",
    "${step[0].data}",
    "${step[1].result[0].id}",
    "${x.data.id}",
    "Re: ${step[0].data}!",
    "(${step[0].data})",
    "((step ${\"${x}\"}",
    "{{a.result}}",
    "{{b.result[0].c}}",
    "{{PLACEHOLDER_x}}",
    "Re: {{a.result.b}}, {{c.result}}",
    "{{\"{{a}}\"}}",
    "Some(x)",
    "Ok(b)",
    "(a, b)",
    "Some((a, b))",
    "type",
    "1s",
    "1m 30s",
    "ref:a",
    "refer",
    "$a",
    "$5.00",
    "US$",
    "{a.result}",
    "{\"a\": 1}",
    "f(steps)",
    "(step[0]",
    "/a/0",
    "",
    " ",
    "漢字",
    "\u{0}",
    "$a.b",
    "{{a}}",
    "${a}",
    "Text.",
];

/// Returns `true` for a finding about the form of a document, instead of the existence of names or the types.
fn is_syntax(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidJson
            | Code::UnknownDialect
            | Code::MixedDialects
            | Code::WrongKind
            | Code::MissingMember
            | Code::UnknownMember
            | Code::InexactNumber
            | Code::NoSteps
            | Code::EmptyName
            | Code::MalformedReference
            | Code::NotAllowed
            | Code::DuplicateMember
    )
}

/// Returns `true` for such a finding that is about a name.
fn is_of_name(dialect: Dialect, finding: &Finding) -> bool {
    let message = &finding.message;
    // In a blueprint, only the name of a value makes a reference.
    (dialect == Dialect::Blueprint
        && finding.code == Code::MalformedReference
        && message.ends_with("is not a reference to a step")
        && !message.starts_with("`${step["))
        // In plan JSON, any string is literal, and one that looks like a reference is only a warning.
        || (dialect == Dialect::PlanJson
            && finding.code == Code::MalformedReference
            && finding.severity == Severity::Warning)
        || (finding.code == Code::NotAllowed && names_twice(message))
        || (finding.code == Code::DuplicateMember && message.ends_with("is listed twice"))
}

/// Returns `true` for a message about a pattern like `(a, a)`.
fn names_twice(message: &str) -> bool {
    let pattern = message.strip_prefix("the pattern `");
    let Some((pattern, _)) = pattern.and_then(|it| it.split_once('`')) else {
        return false;
    };
    let names = pattern.split(['(', ',', ')']).map(str::trim);
    let mut names: Vec<&str> = names.filter(|name| !matches!(*name, "" | "_")).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    names.len() < all
}

fn found(read: Result<plan_runtime::dynamic::Document<'_>, Findings>) -> Findings {
    match read {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

#[test]
fn what_a_schema_accepts_is_read() {
    let tools = tools();
    let cases = crate::common::cases(60, 250);
    for dialect in DIALECTS {
        let schema = JsonSchema::new(dialect.schema(&tools));
        let mut sound = 0_u64;
        for seed in 0..cases {
            let mut random = fastrand::Rng::with_seed(seed);
            let document = schema.make(&mut random, WORDS);
            let text = format!("{document:#}");
            let plain = found(Reader::new().dialect(dialect).read(&text));
            let wrong = plain
                .iter()
                // No schema compares two times.
                .find(|it| is_syntax(it.code) && !is_of_name(dialect, it) && !is_of_times(it));
            if let Some(wrong) = wrong {
                panic!("{dialect}, seed {seed}: {wrong}\n{text}");
            }
            sound += u64::from(!plain.has_errors());
            let checked = found(Reader::new().dialect(dialect).tools(&tools).read(&text));
            let of_call = [
                Code::UnknownTool,
                Code::UnknownArgument,
                Code::MissingArgument,
            ];
            // Only the checker decides on the replacement of a reference to all arguments, and on the form that a reference does
            // not fit.
            let is_of_type = |it: &&Finding| {
                it.message.starts_with("if the reference ends") || it.message.contains("`either`")
            };
            let mut checked = checked.iter().filter(|it| !is_of_type(it));
            if let Some(wrong) = checked.find(|it| of_call.contains(&it.code)) {
                panic!("{dialect}, seed {seed}: {wrong}\n{text}");
            }
        }
        println!("{dialect}: {sound} of {cases} can be run");
        let least = cases / 25;
        assert!(
            sound >= least,
            "{dialect}: {sound} of {cases} have only names that exist"
        );
    }
}
