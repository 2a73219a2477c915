//! Fields that the shape of another crate's type leaves out.

#![allow(unused_variables)]

use plan_renamed::issues::User;
use plan_runtime::{Result, Shape, plan, tool};

#[derive(Shape)]
#[shape(remote = "User")]
struct UserShape {
    login: String,
}

#[tool]
async fn find_user(login: String) -> Result<User> {
    todo!()
}

#[tool]
async fn greet(user: User) -> Result<()> {
    todo!()
}

plan! {
    LeftOut(login: String) -> Option<String> {
        step user = FindUser { login };
        step greeted = Greet { user: User { login: user.login, email: None } };
        user.email
    }
}

fn main() {}
