//! A whole plan in the form of generated code: a `static`, inputs as fields, tools of two applications.

use super::support::Driven;
use plan_runtime::check::{Constant, Request, Started, called, decode};
use plan_runtime::plan::{Action, Input, Output, Reference, Source, Step, Template};
use plan_runtime::resolve::{Compute, ResolveError, Scope, StoredValue};
use plan_runtime::run::Run;
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::sync::LazyLock;

#[derive(Serialize, Deserialize)]
struct FetchEmails {
    sender: String,
}

#[derive(Serialize, Deserialize)]
struct Inbox {
    data: Vec<Email>,
}

#[derive(Serialize, Deserialize)]
struct Email {
    subject: String,
}

#[derive(Serialize, Deserialize)]
struct ReplyEmail {
    subject: String,
    body: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Receipt {
    sent: String,
}

impl Shape for FetchEmails {
    const SHAPE: TypeShape = TypeShape::Opaque;
}
impl Tool for FetchEmails {
    type Output = Inbox;
    const NAME: &'static str = "fetch_emails";
}
impl Shape for ReplyEmail {
    const SHAPE: TypeShape = TypeShape::Opaque;
}
impl Tool for ReplyEmail {
    type Output = Receipt;
    const NAME: &'static str = "reply_email";
}

struct Mail {
    subjects: Vec<&'static str>,
}

impl Call<Mail> for FetchEmails {
    async fn call(self, mail: &Mail) -> Result<Inbox> {
        let email = |subject: &&str| Email {
            subject: format!("{subject} from {}", self.sender),
        };
        Ok(Inbox {
            data: mail.subjects.iter().map(email).collect(),
        })
    }
}

impl Call<Mail> for ReplyEmail {
    async fn call(self, _: &Mail) -> Result<Receipt> {
        Ok(Receipt {
            sent: format!("{}: {}", self.subject, self.body),
        })
    }
}

struct Locked;

impl Call<Locked> for FetchEmails {
    async fn call(self, _: &Locked) -> Result<Inbox> {
        Err(Error::msg("mailbox is locked"))
    }
}

impl Call<Locked> for ReplyEmail {
    async fn call(self, _: &Locked) -> Result<Receipt> {
        unreachable!()
    }
}

#[derive(Serialize, Deserialize)]
struct ReplyToLatest {
    sender: String,
    reply: String,
}

struct Subject;

impl Compute for Subject {
    fn compute(&self, scope: &Scope<'_>) -> std::result::Result<Value, ResolveError> {
        let inbox = scope.value_of::<Inbox>(Source::Step(0))?;
        Ok(Value::from(inbox.data[0].subject.to_uppercase()))
    }
}

impl ReplyToLatest {
    fn run<A>(self, app: &A) -> Run<'_, A, Receipt>
    where
        A: ?Sized + Sync,
        FetchEmails: Call<A>,
        ReplyEmail: Call<A>,
    {
        fn start<'x, A>(step: usize, request: Request<'_>, app: &'x A) -> Started<'x>
        where
            A: ?Sized + Sync,
            FetchEmails: Call<A>,
            ReplyEmail: Call<A>,
        {
            match step {
                0 => request.call::<FetchEmails, A>(app),
                1 => request.compute::<String>(None),
                2 => request.call::<ReplyEmail, A>(app),
                _ => request.unknown(),
            }
        }
        let inputs = || {
            Ok(vec![
                StoredValue::of(&self.sender)?,
                StoredValue::of(&self.reply)?,
            ])
        };
        Run::new(&*PLAN, inputs(), app, start::<A>)
    }
}

impl Shape for ReplyToLatest {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for ReplyToLatest {
    type Output = Receipt;
    const NAME: &'static str = "reply_to_latest";
}

impl<A> Call<A> for ReplyToLatest
where
    A: ?Sized + Sync,
    FetchEmails: Call<A>,
    ReplyEmail: Call<A>,
{
    fn call(self, app: &A) -> impl Future<Output = Result<Receipt>> + Send {
        called::<Self, _>(self.run(app))
    }
}

fn reference(source: Source, written: &str) -> Template {
    Reference::new(source).written(written).into()
}

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let inbox = Template::object([("sender", reference(Source::Input(0), "sender"))]);
    let inbox = Action::call(FetchEmails::NAME, inbox);
    let constants = [Constant::Compute(&Subject)];
    let compiled = "1 p0 0 1 5 inbox0 0 Vn;0 c1 s0 36 inbox.data[0].subject.to_uppercase()0 ";
    let subject = decode(compiled, &[&constants]).output.value;
    let sent = Template::object([
        ("subject", reference(Source::Step(1), "subject")),
        ("body", reference(Source::Input(1), "reply")),
    ]);
    let sent = Action::call(ReplyEmail::NAME, sent);
    let output = Reference::new(Source::Step(2))
        .key("sent")
        .written("sent.sent");

    let mut plan = Plan::new("reply_to_latest");
    plan.inputs = vec![
        Input::new("sender", "String"),
        Input::new("reply", "String"),
    ];
    plan.steps = vec![
        Step::new("inbox", inbox),
        Step::new("subject", Action::value(subject)),
        Step::new("sent", sent),
    ];
    plan.output = Output::new(Template::object([("sent", output.into())]));
    plan.output.type_name = "Receipt".into();
    plan
});

fn reply() -> ReplyToLatest {
    ReplyToLatest {
        sender: "sarah".into(),
        reply: "On it.".into(),
    }
}

#[test]
fn it_runs() {
    let mail = Mail {
        subjects: vec!["Lunch", "Older"],
    };
    let receipt = Driven::new(reply().run(&mail)).ended().unwrap();
    let sent = "LUNCH FROM SARAH: On it.".into();
    assert_eq!(receipt, Receipt { sent });
    Driven::new(reply().call(&mail)).ended().unwrap();
}

#[test]
fn its_error_says_what_happened() {
    let error = Driven::new(reply().run(&Locked)).ended().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `reply_to_latest` failed: step `inbox` (fetch_emails): mailbox is locked \
         (this blocked `subject` and `sent`)"
    );

    let empty = Mail { subjects: vec![] };
    let error = Driven::new(reply().run(&empty)).ended().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `reply_to_latest` failed: step `subject`: panicked: index out of bounds: \
         the len is 0 but the index is 0 (this blocked `sent`)"
    );
}
