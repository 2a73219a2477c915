//! The plan as a `static`.

use crate::support::{Add, Same, done};
use plan_runtime::plan::{Body, Condition, Key, LazyPlan, Source, Template};
use plan_runtime::{Plan, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
pub struct Message {
    pub to: Vec<String>,
    pub body: String,
}

/// Sends a message.
#[tool(name = "mail.send")]
async fn send(message: Message, urgent: bool) -> plan_runtime::Result<u64> {
    Ok(message.body.len() as u64 + u64::from(urgent))
}

plan! {
    /// Greets somebody.
    ///
    /// Politely.
    pub Greet(
        /// Whom.
        name: String,
        times: u8,
    ) -> (u64, i64) {
        /// Send the greeting.
        step sent = Send {
            message: Message { to: [name, "archive"], body: format!("Hello {name}, {:>3} times", times) },
            urgent: times * 2 > 6,
        };
        /// Count on.
        step sum = Add { left: 1, right: sent as i64 };
        #[after(sent)]
        step other = Same::<Option<u8>> { value: times };
        #[after(other, sum)]
        step late = Same::<bool> { value: true };
        (sent, sum)
    }
}

static GREET: &LazyPlan = Greet::PLAN;
const ALSO: &LazyPlan = Greet::PLAN;

#[test]
fn is_one_static() {
    assert!(std::ptr::eq(GREET, ALSO));
    let (one, other): (&'static Plan, &'static Plan) = (GREET, Greet::PLAN);
    assert!(std::ptr::eq(one, other));
}

#[test]
fn is_used_as_a_plan() {
    let plan: &Plan = Greet::PLAN;
    assert_eq!(Greet::PLAN.to_string(), plan.to_string());
    assert_eq!(format!("{:?}", Greet::PLAN), format!("{plan:?}"));
    assert_eq!(
        serde_json::to_value(Greet::PLAN).unwrap(),
        serde_json::to_value(plan).unwrap()
    );
    let mut other: Plan = Greet::PLAN.clone();
    assert!(*Greet::PLAN == other);
    assert!(other == *Greet::PLAN);
    assert!(Greet::PLAN == GREET);
    other.description = "Other.".into();
    assert!(*Greet::PLAN != other);
    assert!(other != *Greet::PLAN);
}

plan! {
    Bind(names: Vec<String>, first: Option<String>) {
        step each = for (place, name) in names.iter().enumerate() { Same::<String> { value: format!("{place}{name}") } };
        step only = if let Some(name) = &first { Same::<String> { value: name } };
    }
}

#[test]
fn what_can_be_rust_is_of_the_program() {
    let plan = Greet::PLAN;
    let Body::Action(sent) = &plan.steps[0].body else {
        panic!("`sent` is a call");
    };
    let Template::Object(arguments) = &sent.args else {
        panic!("arguments are an object");
    };
    assert_eq!(arguments[1].key, Key::Name("urgent".into()));
    let Template::Computed(urgent) = &arguments[1].value else {
        panic!("`times * 2 > 6` is computed");
    };
    let (Body::For(each), Body::If(only)) = (&Bind::PLAN.steps[0].body, &Bind::PLAN.steps[1].body)
    else {
        panic!("one step is a `for`, the other an `if`");
    };
    let Condition::Let { pattern, .. } = &only[0].conditions[0] else {
        panic!("the condition is a `let`");
    };
    for (text, expected) in [
        (&plan.description, "Greets somebody.\n\nPolitely."),
        (&plan.inputs[0].type_name, "String"),
        (&plan.inputs[0].description, "Whom."),
        (&plan.steps[0].intent, "Send the greeting."),
        (&plan.output.type_name, "(u64, i64)"),
        (urgent.written(), "times * 2 > 6"),
        (&each.pattern, "(place, name)"),
        (pattern, "Some(name)"),
    ] {
        assert_eq!(*text, *expected);
        assert!(text.is_of_program(), "{text}");
    }
}

#[test]
fn allocates_nothing_after_its_first_use() {
    assert_eq!(Greet::PLAN.steps.len(), 4);
    let info = allocation_counter::measure(|| {
        let plan = std::hint::black_box(Greet::PLAN);
        let step = plan.step("sent").unwrap();
        assert_eq!((plan.steps.len(), step.after.len()), (4, 0));
        assert!(plan.step("late").is_some() && plan.input("name").is_some());
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn allocates_nothing_inline_until_it_is_used() {
    let mut plan = None;
    let info = allocation_counter::measure(|| {
        plan = Some(
            plan! { step a = Add { left: 1, right: 2 }; step b = Same::<String> { value: format!("{a}") }; b },
        );
    });
    assert_eq!(info.count_total, 0);
    assert_eq!(plan.unwrap().plan().steps.len(), 2);
}

#[test]
fn for_people() {
    let expected = r#"plan greet -> (u64, i64)
  // Greets somebody.
  //
  // Politely.
  input name:  String  // Whom.
  input times: u8

  step sent = mail.send  // Send the greeting.
    message: { to: [name, "archive"], body: format!("Hello {}, {:>3} times", name, times) }
    urgent:  times * 2 > 6
    // starts at once

  step sum = add  // Count on.
    left:  1
    right: sent as i64
    // needs sent

  step other = same
    value: times
    // needs sent
    // after sent

  step late = same
    value: true
    // needs sum, other
    // after sum, other

  output [sent, sum]
"#;
    assert_eq!(Greet::PLAN.to_string(), expected);
}

#[test]
fn plan_json() {
    for plan in [
        Greet::PLAN,
        crate::references::plans()[0],
        crate::references::plans()[1],
        crate::references::plans()[2],
        crate::references::plans()[3],
        crate::literals::plan(),
    ] {
        let json = serde_json::to_string(plan).unwrap();
        let read: Plan = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
        assert_eq!(read, *plan, "{json}");
        is_stable(&read);
    }
}

/// Checks that writing and reading a plan again has no effect.
pub fn is_stable(read: &Plan) {
    let json = serde_json::to_string(read).unwrap();
    let again: Plan = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), json);
    assert_eq!(again.to_string(), read.to_string());
}

#[test]
fn references_are_printed_from_what_they_read() {
    fn unsaid(value: &mut Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::Object(reference)) = members.get_mut("reference") {
                    reference.remove("written");
                }
                members.values_mut().for_each(unsaid);
            }
            Value::Array(items) => items.iter_mut().for_each(unsaid),
            _ => {}
        }
    }
    for plan in crate::references::plans() {
        let mut json = serde_json::to_value(plan).unwrap();
        let read: Plan = serde_json::from_str(&json.to_string()).unwrap();
        unsaid(&mut json);
        let without: Plan = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(read.to_string(), without.to_string());
    }
}

#[test]
fn says_what_it_is() {
    let plan = Greet::PLAN;
    let inputs: Vec<_> = plan
        .inputs
        .iter()
        .map(|i| (&*i.name, &*i.type_name, &*i.description))
        .collect();
    assert_eq!(inputs, [("name", "String", "Whom."), ("times", "u8", "")]);
    assert_eq!(
        (&*plan.description, &*plan.output.type_name),
        ("Greets somebody.\n\nPolitely.", "(u64, i64)")
    );
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|s| {
            (
                &*s.id,
                &*s.intent,
                s.tool().map(|t| (&*t.name, &*t.description)),
                s.needs(),
                &*s.after,
            )
        })
        .collect();
    let same = Some(("same", "Returns its argument."));
    assert_eq!(
        steps,
        [
            (
                "sent",
                "Send the greeting.",
                Some(("mail.send", "Sends a message.")),
                vec![],
                &[][..]
            ),
            (
                "sum",
                "Count on.",
                Some(("add", "Adds two numbers.")),
                vec![0],
                &[]
            ),
            ("other", "", same, vec![0], &[0]),
            ("late", "", same, vec![1, 2], &[1, 2]),
        ]
    );
    let levels: Vec<Vec<&str>> = plan
        .levels()
        .iter()
        .map(|level| level.iter().map(|step| &*step.id).collect())
        .collect();
    assert_eq!(levels, [vec!["sent"], vec!["sum", "other"], vec!["late"]]);
    let blocked: Vec<&str> = plan
        .blocked_by("sum")
        .iter()
        .map(|step| &*step.id)
        .collect();
    assert_eq!(blocked, ["late"]);
    let uses: Vec<_> = plan.steps[0]
        .references()
        .iter()
        .map(|u| (u.place.clone(), u.reference.to_string()))
        .collect();
    assert_eq!(
        uses,
        [
            ("message.to[0]", "name"),
            ("message.body", "name"),
            ("message.body", "times")
        ]
        .map(|(place, written)| (place.to_owned(), written.to_owned()))
    );
    assert_eq!(plan.steps[0].reads(), [Source::Input(0), Source::Input(1)]);
    assert!(matches!(&plan.output.value, Template::List(list) if list.len() == 2));
}

#[test]
fn runs() {
    assert_eq!(
        done(
            Greet {
                name: "Jo".into(),
                times: 4
            }
            .run(&())
        ),
        (20, 21)
    );
}
