//! References into types of another crate, which have no `Shape`.

#![allow(unused_variables)]

use plan_renamed::issues::{Badge, Color, Issue, Page};
use plan_runtime::{Result, plan, tool};

#[tool]
async fn find(number: u64) -> Result<Issue> {
    todo!()
}

#[tool]
async fn list(number: u64) -> Result<Page<Issue>> {
    todo!()
}

#[tool]
async fn say(text: String, to: Option<String>, #[serde(default)] all: Vec<String>) -> Result<String> {
    todo!()
}

#[tool]
async fn paint(label: Badge) -> Result<()> {
    todo!()
}

plan! {
    Argument() {
        step issue = Find { number: 1 };
        step said = Say { text: issue.title, .. };
    }
}

plan! {
    Text() {
        step issue = Find { number: 1 };
        step said = Say { text: format!("{}: {}", issue.title, issue.issue_number), .. };
    }
}

plan! {
    Asked() {
        step issue = Find { number: 1 };
        step said = Say { text: "a", to: issue.assignee?.email, .. };
    }
}

plan! {
    Nested() {
        step page = List { number: 1 };
        step said = Say { text: page.items[0].author.login, .. };
    }
}

plan! {
    InAList() {
        step issue = Find { number: 1 };
        step said = Say { text: "a", all: ["b", issue.title], .. };
    }
}

plan! {
    Every() -> Vec<String> {
        step issue = Find { number: 1 };
        step names: Vec<String> = issue.labels[..].name;
        names
    }
}

plan! {
    For() {
        step issue = Find { number: 1 };
        step said = for label in issue.labels { Say { text: "a", .. } };
    }
}

plan! {
    ForPart(labels: Vec<Badge>) {
        step said = for label in labels { Say { text: label.name, .. } };
    }
}

plan! {
    Branch(issue: Issue) {
        step said = if let Some(user) = &issue.assignee { Say { text: user.login, .. } };
    }
}

plan! {
    Literal(name: String, red: u8) {
        step painted = Paint { label: Badge { name, color: Color(red, 0, 0) } };
    }
}

plan! {
    Output(issue: Issue) -> String {
        issue.title
    }
}

fn main() {}
