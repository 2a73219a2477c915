//! Pairs of errors in one module. Each has its own message.

use crate::mistakes::case::Case;
use crate::mistakes::{program, rustc, together, verdict};

/// The kind of code that is wrong.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Input,
    Step,
    Item,
}

/// The kinds of errors, with wrong code. A number replaces `$`.
const KINDS: &[(&str, Place, &str)] = &[
    ("syntax", Place::Step, "step s$ «=» ;"),
    ("name", Place::Step, "step s$ = Say { text: «ordr$» };"),
    (
        "name_in_rust",
        Place::Step,
        "step s$: String = «ordr$».clone() + \"a\";",
    ),
    (
        "name_of_rust",
        Place::Step,
        "step s$: u64 = «no_such_function$»(n);",
    ),
    (
        "attribute",
        Place::Step,
        "#[«retri$»(3)] step s$ = Say { text: name };",
    ),
    ("cycle", Place::Step, "step s$ = Say { text: «s$» };"),
    (
        "field",
        Place::Step,
        "step s$ = Say { text: inbox.«subjct$» };",
    ),
    (
        "type",
        Place::Step,
        "step s$ = Say { text: «inbox.total» };",
    ),
    (
        "argument",
        Place::Step,
        "step s$ = Say { text: name, «loud$»: true };",
    ),
    ("tool", Place::Step, "step s$ = «Sayy$» { text: name };"),
    ("input_type", Place::Input, "input$: «Strng$»"),
    ("borrowed_input", Place::Input, "input$: «&str»"),
    (
        "step_type",
        Place::Step,
        "step s$: «Strng$» = name.clone();",
    ),
    (
        "signature",
        Place::Item,
        "#[plan_runtime::tool] pub async fn lamp$(on: «&str») -> plan_runtime::Result<bool> { let _ = on; Ok(true) }",
    ),
    (
        "derived_tool",
        Place::Item,
        "#[derive(serde::Serialize, serde::Deserialize, plan_runtime::Shape, plan_runtime::Tool)] pub struct «Bulb$» { pub on: bool }",
    ),
    (
        "shape",
        Place::Item,
        "#[derive(plan_runtime::Shape)] #[shape(«secrt»)] pub struct Glow$ { pub on: bool }",
    ),
    ("rust", Place::Item, "fn rust$() -> u64 { «missing$»() }"),
];

/// Returns the programs of all pairs.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, first) in KINDS.iter().enumerate() {
        for second in &KINDS[at..] {
            let (name, other) = (first.0, second.0);
            let code = module(&[(first, 1), (second, 2)]);
            cases.push(case(format!("{name}_and_{other}"), code));
            let code = format!("{}\n{}", module(&[(first, 1)]), module(&[(second, 2)]));
            cases.push(case(format!("{name}_beside_{other}"), code));
        }
    }
    cases
}

fn case(name: String, code: String) -> Case {
    Case {
        name: format!("pairs__{name}"),
        place: "file".to_owned(),
        code,
        ..Case::default()
    }
}

/// Returns a plan with these errors, after the wrong items.
fn module(mistakes: &[(&(&str, Place, &str), usize)]) -> String {
    let all = |place: Place, before: &str| -> String {
        let here = mistakes.iter().filter(|((_, at, _), _)| *at == place);
        let code = here.map(|((_, _, code), number)| code.replace('$', &number.to_string()));
        code.map(|code| format!("{before}{code}")).collect()
    };
    let number = mistakes[0].1;
    format!(
        "plan_runtime::plan! {{\n    pub Work{number}(filters: Filters, n: u64, name: String{}) -> u64 {{\n        \
         step inbox = FetchEmails {{ filters }};{}\n        inbox.total + n\n    }}\n}}{}",
        all(Place::Input, ", "),
        all(Place::Step, "\n        "),
        all(Place::Item, "\n"),
    )
}

#[test]
fn two_mistakes_give_two_errors() {
    let Some(rustc) = rustc::pinned("pairs") else {
        return;
    };
    let only = std::env::var("MISTAKES").unwrap_or_default();
    let mut programs = program::all(&cases());
    programs.retain(|program| program.name.contains(&only));
    let said = together(&rustc, &programs);
    let both = programs.iter().zip(&said);
    let wrong: Vec<String> = both
        .filter_map(|(program, messages)| verdict::of(program, messages))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
