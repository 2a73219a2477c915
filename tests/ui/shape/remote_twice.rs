//! Two shapes of one type: nobody knows which one a reference means.

#![allow(unused_variables)]

use plan_renamed::issues::User;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Shape)]
#[shape(remote = "User")]
struct First {
    login: String,
}

mod elsewhere {
    #[derive(plan_runtime::Shape)]
    #[shape(remote = "plan_renamed::issues::User")]
    struct Second {
        #[shape(secret)]
        login: String,
    }
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Team {
    lead: User,
}

#[tool]
async fn find_user(login: String) -> Result<User> {
    todo!()
}

plan! {
    Twice(login: String) -> String {
        step user = FindUser { login };
        user.login
    }
}

fn main() {}
