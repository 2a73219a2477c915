//! Types of another crate, which has nothing to do with plans: as computed values, and with `#[shape(remote = …)]`.

use crate::support::{Same, done, failed, pointers};
use plan_renamed::issues::{Badge, Color, Issue, Page, Session, User};
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// `node` is private, and left out.
#[derive(Shape)]
#[shape(remote = "Issue")]
#[serde(rename_all = "camelCase")]
struct IssueShape {
    issue_number: u64,
    title: String,
    author: User,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<User>,
    labels: Vec<Badge>,
}

#[derive(Shape)]
#[shape(remote = "plan_renamed::issues::User")]
pub struct UserShape {
    pub login: String,
    pub email: Option<String>,
}

#[derive(Shape)]
#[shape(remote = "Badge")]
struct BadgeShape {
    #[serde(rename = "labelName")]
    name: String,
    color: Color,
}

/// The shape of one instance of a generic type.
#[derive(Shape)]
#[shape(remote = "Page<Issue>")]
struct IssuePageShape {
    items: Vec<Issue>,
    next: Option<u64>,
}

/// Another instance, under another name.
type Sessions = Page<Session>;

#[derive(Shape)]
#[shape(remote = "Sessions")]
struct SessionPageShape {
    items: Vec<Session>,
}

#[derive(Shape)]
#[shape(remote = "Session")]
struct SessionShape {
    user: User,
    #[shape(secret)]
    #[serde(rename = "access_token")]
    token: String,
}

fn user() -> User {
    User {
        login: "sarah".into(),
        email: Some("sarah@example.org".into()),
    }
}

#[tool]
pub async fn get_issue(number: u64) -> Result<Issue> {
    let mut issue = Issue::new(number, "Crash", user());
    issue.assignee = (number > 5).then(user);
    Ok(issue)
}

#[tool]
pub async fn list_issues(page: Option<u64>) -> Result<Page<Issue>> {
    let items = vec![Issue::new(page.unwrap_or(1), "First", user())];
    Ok(Page {
        items,
        next: Some(2),
    })
}

#[tool]
pub async fn note(
    text: String,
    number: u64,
    to: Option<String>,
    all: Vec<String>,
) -> Result<Value> {
    Ok(json!([text, number, to, all]))
}

#[tool]
pub async fn paint(red: u8, whole: Color, label: Badge) -> Result<u8> {
    Ok(red.max(whole.0).max(label.color.2))
}

plan! {
    /// References in every place that takes a value.
    Places(number: u64) -> (Vec<Value>, u8, Vec<String>, String) {
        step issue = GetIssue { number };
        step page = ListIssues { page: 3 };
        step argument = Note { text: issue.title, number: page.items[0].issue_number, to: issue.assignee?.email?, all: [issue.title, issue.author.login] };
        step text = Note { text: format!("{}: {}", issue.labels[0].name, page.items[0].title), number, to: page.items.get(9)?.title, all: [] };
        step condition = if issue.issue_number > 3 && issue.assignee.is_none() && issue.author.login == "sarah" {
            Note { text: "first", number, to: None, all: issue.labels[..].name }
        } else if let Some(user) = &issue.assignee && user.login != "" {
            Note { text: user.login, number, to: user.email, all: [] }
        } else {
            Note { text: "third", number, to: None, all: [] }
        };
        step list = for label in issue.labels { Note { text: label.name, number, to: None, all: [] } };
        step red = Paint { red: issue.labels[0].color.0, whole: issue.labels[0].color, label: Badge { name: issue.title, color: Color(1, 2, issue.labels[0].color.2) } };
        step names: Vec<String> = page.items[..].title;
        step computed: String = issue.title.to_uppercase() + issue.node();
        (vec![argument.clone(), text.clone(), condition.clone(), json!(list)], red, names, computed)
    }
}

#[test]
fn places() {
    let (values, red, names, computed) = done(Places { number: 4 }.run(&()));
    assert_eq!(
        values,
        [
            json!(["Crash", 3, null, ["Crash", "sarah"]]),
            json!(["bug: First", 4, null, []]),
            json!(["first", 4, null, ["bug"]]),
            json!([["bug", 4, null, []]]),
        ]
    );
    assert_eq!(
        (red, names, computed),
        (255, vec!["First".to_owned()], "CRASH".to_owned())
    );
    let (values, ..) = done(Places { number: 7 }.run(&()));
    assert_eq!(
        values[0],
        json!(["Crash", 3, "sarah@example.org", ["Crash", "sarah"]])
    );
    assert_eq!(values[2], json!(["sarah", 7, "sarah@example.org", []]));
}

#[test]
fn references_have_the_names_in_json() {
    let of = |step, name| pointers(Places::PLAN, step, name).concat();
    assert_eq!(of("argument", "number"), "/items/0/issueNumber");
    assert_eq!(of("argument", "to"), "/assignee/email");
    assert_eq!(of("text", "text"), "/labels/0/labelName");
    assert_eq!(of("red", "red"), "/labels/0/color/0");
    assert_eq!(of("red", "whole"), "/labels/0/color");
    let plan = json!(Places::PLAN).to_string();
    assert!(plan.contains("\"compare\""), "a condition is data: {plan}");
}

plan! {
    /// Without a shape, all but a reference into the type works.
    Computed(issue: Bare) -> (String, Vec<String>, Option<Bare>) {
        step title: String = issue.title.clone();
        step texts = for part in issue.parts.iter() { Note { text: part, number: issue.parts.len() as u64, to: Some(title), all: issue.parts.clone() } };
        step one = if issue.title == "Crash" && !issue.parts.is_empty() { Same::<Bare> { value: issue } };
        step said: String = format!("{}: {}", issue.title.clone(), texts.len());
        (said, issue.parts.clone(), one)
    }
}

/// A type like those of another crate.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Bare {
    title: String,
    parts: Vec<String>,
}

#[test]
fn computed_values_need_no_shape() {
    let issue = Bare {
        title: "Crash".into(),
        parts: vec!["a".into()],
    };
    assert_eq!(
        done(
            Computed {
                issue: issue.clone()
            }
            .run(&())
        ),
        ("Crash: 1".into(), vec!["a".into()], Some(issue))
    );
}

/// A type with a name in JSON that its crate has changed.
mod changed {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Debug)]
    pub struct Secret {
        pub name: String,
        #[serde(rename = "key_v2")]
        pub key: String,
    }
}

#[derive(Shape)]
#[shape(remote = "changed::Secret")]
struct SecretShape {
    name: String,
    #[shape(secret)]
    key: String,
}

#[tool]
pub async fn log_in(user: User, secret: changed::Secret) -> Result<Session> {
    Ok(Session {
        token: format!("{} {}", secret.name, secret.key),
        user,
    })
}

#[tool(struct = ListSessions)]
pub async fn sessions() -> Result<Sessions> {
    let items = vec![Session {
        user: user(),
        token: "hunter2".into(),
    }];
    Ok(Page { items, next: None })
}

#[tool]
pub async fn keep() -> Result<changed::Secret> {
    Ok(changed::Secret {
        name: "b".into(),
        key: "hunter3".into(),
    })
}

/// Has one inside.
#[derive(Serialize, Deserialize, Shape)]
pub struct Held {
    pub id: u64,
    pub session: Option<Box<Session>>,
}

#[tool]
pub async fn hold(session: Session) -> Result<Held> {
    Ok(Held {
        id: 1,
        session: Some(Box::new(session)),
    })
}

plan! {
    Secrets(user: User, secret: changed::Secret) -> usize {
        step session = LogIn { user, secret };
        step held = Hold { session };
        step page = ListSessions {};
        step token: String = format!("{} {}", session.token, held.id);
        step length: usize = page.items[0].token.len();
        token.len() + length
    }
}

#[test]
fn secrets() {
    let plan = Secrets {
        user: user(),
        secret: changed::Secret {
            name: "a".into(),
            key: "hunter1".into(),
        },
    };
    let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), "a hunter1 1".len() + "hunter2".len());
    let of = |step: &str| report.step(step).unwrap();
    let json = json!(report).to_string();
    assert!(!json.contains("hunter"), "{json}");
    // Nobody checks the names in JSON that a shape has, so all of the value is secret.
    assert_eq!(
        *of("session").arguments().unwrap(),
        json!({"user": user(), "secret": "(secret)"})
    );
    assert_eq!(*of("session").output().unwrap(), "(secret)");
    assert_eq!(
        *of("held").output().unwrap(),
        json!({"id": 1, "session": "(secret)"})
    );
    assert_eq!(*of("page").output().unwrap(), "(secret)");
    assert_eq!(*of("token").output().unwrap(), "(secret)");
    assert_eq!(*of("length").output().unwrap(), "(secret)");
    // The name that the shape has is not the one in JSON: what refers to it fails, and shows nothing.
    let wrong = plan! { step kept = Keep {}; kept.key };
    let error = failed(wrong.run(&()));
    assert!(
        error.contains("`kept` has no `key`") && !error.contains("hunter"),
        "{error}"
    );
}

/// The tools belong to a crate that has no access to the declarations here.
mod below {
    use super::{json, plan};
    use plan_renamed::sessions::{CloseSession, LeaseSession, ListSessions, OpenSession};

    plan! {
        Leased() -> String {
            step leased = LeaseSession {};
            format!("{} until {}", leased.session.token, leased.end)
        }
    }

    #[test]
    fn a_plan_marks_the_outputs_of_tools_that_know_nothing_of_its_declarations() {
        let plan = plan! {
            step opened = OpenSession {};
            step listed = ListSessions {};
            step leased = LeaseSession {};
            step _text: String = format!("{} {}", opened.user.login, leased.session.token);
            #[optional]
            step _closed = CloseSession { session: opened };
            listed[0].0
        };
        let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
        let (output, report) = smol::block_on(run.with_report());
        assert_eq!(output.unwrap(), "sarah");
        let shown = format!("{report} {report:?} {} {}", report.to_html(), json!(report));
        assert!(!shown.contains("hunter2"), "{shown}");
        let output = |step: &str| report.step(step).unwrap().output().unwrap().clone();
        assert_eq!(output("opened"), "(secret)");
        assert_eq!(output("listed"), json!([["sarah", "(secret)"]]));
        assert_eq!(output("leased"), json!({"session": "(secret)", "end": 7}));
    }

    #[test]
    fn a_plan_that_refers_to_a_declared_field_marks_it_wherever_it_is() {
        let run = Leased {}.run(&()).capture_outputs(true);
        let (output, report) = smol::block_on(run.with_report());
        assert_eq!(output.unwrap(), "hunter2 until 7");
        assert!(!json!(report).to_string().contains("hunter2"));
        let plan = plan! { step inner = Leased {}; inner };
        let run = plan.run(&()).capture_outputs(true);
        let (_, report) = smol::block_on(run.with_report());
        assert_eq!(*report.step("inner").unwrap().output().unwrap(), "(secret)");
        assert!(!json!(report).to_string().contains("hunter2"));
    }
}
