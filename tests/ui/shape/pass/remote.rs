//! Shapes of types of another crate.

#![deny(warnings)]

use plan_renamed::issues::{Badge, Color, Issue, Page, User};
use plan_runtime::{Result, Shape, plan, tool};

#[derive(Shape)]
#[shape(remote = "Issue")]
#[serde(rename_all = "camelCase")]
struct IssueShape {
    issue_number: u64,
    labels: Vec<Badge>,
    assignee: Option<User>,
}

#[derive(Shape)]
#[shape(remote = User)]
struct UserShape {
    login: String,
}

/// A type that is its own remote has values, for which `Serialize` and `Deserialize` are written by hand.
#[derive(serde::Serialize, serde::Deserialize, Shape)]
#[serde(remote = "Self")]
#[allow(dead_code)]
pub struct Own {
    pub number: u8,
}

mod shapes {
    //! Private, and used elsewhere.

    use plan_renamed::issues::{Color, Issue};

    #[derive(plan_runtime::Shape)]
    #[shape(remote = "plan_renamed::issues::Badge")]
    struct BadgeShape {
        #[serde(rename = "labelName")]
        name: String,
        color: Color,
    }

    type Issues = plan_renamed::issues::Page<Issue>;

    #[derive(plan_runtime::Shape)]
    #[shape(crate = plan_runtime, remote = "Issues")]
    #[serde(rename_all = "camelCase")]
    struct PageShape {
        items: Vec<Issue>,
    }
}

#[tool]
async fn list(#[shape(secret)] key: String) -> Result<Page<Issue>> {
    drop(key);
    Ok(Page { items: Vec::new(), next: None })
}

plan! {
    /// The shape of `Color` comes from its crate.
    Reds(key: String) -> Vec<u8> {
        step page = List { key };
        step color: Color = page.items[0].labels[0].color;
        step reds: Vec<u8> = if_any(page.items[0].issue_number);
        step _label: Badge = Badge { name: page.items[0].labels[0].name, color: Color(color.0, 0, 0) };
        step _logins: Vec<Option<String>> = page.items[..].assignee?.login;
        reds
    }
}

fn if_any(number: u64) -> Vec<u8> {
    number.to_le_bytes().into()
}

fn main() {
    drop(Reds { key: "a".into() }.run(&()));
}
