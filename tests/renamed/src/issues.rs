//! Types of a crate that knows nothing of plans, for the plans of other crates.

use serde::{Deserialize, Serialize};

/// An issue.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// Its number.
    pub issue_number: u64,
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub author: User,
    /// Who is to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<User>,
    /// Its labels.
    pub labels: Vec<Badge>,
    /// What its crate alone reads.
    #[serde(rename = "node_id", default)]
    node: String,
}

/// A user.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub login: String,
    /// Its address.
    pub email: Option<String>,
}

/// A label.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// Its name.
    #[serde(rename = "labelName")]
    pub name: String,
    /// Its color.
    pub color: Color,
}

/// A color.
#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

/// A page of a list.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// Its elements.
    pub items: Vec<T>,
    /// The next one.
    pub next: Option<u64>,
}

/// A session.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its user.
    pub user: User,
    /// Its secret.
    #[serde(rename = "access_token")]
    pub token: String,
}

impl Issue {
    /// An issue of this number.
    #[must_use]
    pub fn new(issue_number: u64, title: &str, author: User) -> Self {
        Self {
            issue_number,
            title: title.to_owned(),
            author,
            assignee: None,
            labels: vec![Badge {
                name: "bug".to_owned(),
                color: Color(255, 0, 0),
            }],
            node: String::new(),
        }
    }

    /// What its crate alone reads.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }
}
