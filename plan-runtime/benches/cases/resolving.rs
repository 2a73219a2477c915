//! Four references into an output of 2 KB: two strings, a struct, a list.

use plan_runtime::plan::Template;
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use plan_runtime::{Plan, Shape, Tool, plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Person {
    pub name: String,
    pub email: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    pub thread_id: String,
    pub from: Person,
    pub subject: String,
    pub labels: Vec<String>,
    pub body: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Inbox {
    pub total: u64,
    pub data: Vec<Email>,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Inbox)]
pub struct Fetch {}

/// The arguments that are resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape, Tool)]
#[tool(output = ())]
pub struct Reply {
    pub thread: String,
    pub to: Person,
    pub subject: String,
    pub labels: Vec<String>,
}

plan! {
    Answer() -> () {
        step inbox = Fetch {};
        step sent = Reply {
            thread: inbox.data[0].thread_id,
            to: inbox.data[0].from,
            subject: inbox.data[0].subject,
            labels: inbox.data[0].labels,
        };
        sent
    }
}

/// The output that the references lead into.
pub fn inbox() -> Inbox {
    let email = |n: usize| Email {
        thread_id: format!("thread-{n:08}"),
        from: Person {
            name: format!("Grace Hopper {n}"),
            email: format!("grace.{n}@navy.example"),
        },
        subject: format!("The \"final\" numbers, {n}"),
        labels: ["inbox", "numbers", "urgent"].map(String::from).into(),
        body: "Please have a look at the numbers of this quarter. ".repeat(6),
    };
    Inbox {
        total: 4,
        data: (0..4).map(email).collect(),
    }
}

/// The state before the start of a step.
pub struct Ready {
    pub typed: Inbox,
    pub json: Value,
    plan: &'static Plan,
    outputs: [Option<StoredValue>; 2],
}

impl Ready {
    pub fn new() -> Self {
        let typed = inbox();
        let json = serde_json::to_value(&typed).unwrap();
        let length = json.to_string().len();
        assert!((1_800..2_300).contains(&length), "{length}");
        Self {
            outputs: [Some(StoredValue::json(json.clone())), None],
            plan: Answer::PLAN,
            typed,
            json,
        }
    }

    /// Resolves arguments like a run.
    pub fn resolve<T: DeserializeOwned>(&self) -> T {
        resolve(self.template(), &Scope::new(self.plan, &[], &self.outputs)).unwrap()
    }

    fn template(&self) -> &Template {
        &self.plan.steps[1].action().unwrap().args
    }

    /// `Value::pointer`, clones of the `Value`s there, `from_value` of each, and a struct literal.
    pub fn by_pointer(&self) -> Reply {
        Reply {
            thread: read(self.json.pointer("/data/0/threadId").unwrap()),
            to: read(self.json.pointer("/data/0/from").unwrap()),
            subject: read(self.json.pointer("/data/0/subject").unwrap()),
            labels: read(self.json.pointer("/data/0/labels").unwrap()),
        }
    }

    /// Builds the reply with pointers that were parsed before.
    pub fn by_split(&self, split: &Split) -> Reply {
        Reply {
            thread: read(walk(&self.json, &split.thread)),
            to: read(walk(&self.json, &split.to)),
            subject: read(walk(&self.json, &split.subject)),
            labels: read(walk(&self.json, &split.labels)),
        }
    }

    /// Copies the values with `Value::pointer` and hand-written code, which needs the types of all fields.
    pub fn copied_by_pointer(&self) -> Reply {
        let at = |pointer| self.json.pointer(pointer).unwrap();
        Reply {
            thread: text(at("/data/0/threadId")),
            to: person(at("/data/0/from")),
            subject: text(at("/data/0/subject")),
            labels: texts(at("/data/0/labels")),
        }
    }

    /// Builds the reply with pointers that were parsed before.
    pub fn copied_by_split(&self, split: &Split) -> Reply {
        let at = |path: &[Token]| walk(&self.json, path);
        Reply {
            thread: text(at(&split.thread)),
            to: person(at(&split.to)),
            subject: text(at(&split.subject)),
            labels: texts(at(&split.labels)),
        }
    }

    /// No JSON at all.
    pub fn by_fields(&self) -> Reply {
        let email = &self.typed.data[0];
        Reply {
            thread: email.thread_id.clone(),
            to: email.from.clone(),
            subject: email.subject.clone(),
            labels: email.labels.clone(),
        }
    }

    /// The arguments as a `Value`, with `Value::pointer` and clones.
    pub fn value_by_pointer(&self) -> Value {
        let at = |pointer: &str| self.json.pointer(pointer).unwrap().clone();
        json!({
            "thread": at("/data/0/threadId"),
            "to": at("/data/0/from"),
            "subject": at("/data/0/subject"),
            "labels": at("/data/0/labels"),
        })
    }

    /// Builds the reply with pointers that were parsed before.
    pub fn value_by_split(&self, split: &Split) -> Value {
        let at = |path: &[Token]| walk(&self.json, path).clone();
        json!({
            "thread": at(&split.thread),
            "to": at(&split.to),
            "subject": at(&split.subject),
            "labels": at(&split.labels),
        })
    }
}

fn read<T: DeserializeOwned>(json: &Value) -> T {
    serde_json::from_value(json.clone()).unwrap()
}

fn text(json: &Value) -> String {
    json.as_str().unwrap().to_owned()
}

fn person(json: &Value) -> Person {
    Person {
        name: text(&json["name"]),
        email: text(&json["email"]),
    }
}

fn texts(json: &Value) -> Vec<String> {
    json.as_array().unwrap().iter().map(text).collect()
}

pub enum Token {
    Key(&'static str),
    Index(usize),
}

/// The four pointers, taken apart.
pub struct Split {
    thread: [Token; 3],
    to: [Token; 3],
    subject: [Token; 3],
    labels: [Token; 3],
}

impl Split {
    pub fn new() -> Self {
        let of = |key| [Token::Key("data"), Token::Index(0), Token::Key(key)];
        Self {
            thread: of("threadId"),
            to: of("from"),
            subject: of("subject"),
            labels: of("labels"),
        }
    }
}

fn walk<'v>(json: &'v Value, path: &[Token]) -> &'v Value {
    path.iter().fold(json, |json, token| match token {
        Token::Key(key) => json.get(key).unwrap(),
        Token::Index(index) => json.get(index).unwrap(),
    })
}
