//! The secrets of a type.

use plan_runtime::plan::Secrets;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Clone, Default, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Login {
    user: String,
    #[shape(secret)]
    pass_word: String,
}

type Logins = Vec<Option<Login>>;

#[derive(Serialize, Deserialize, Shape)]
struct Wrapped(Login);

#[derive(Serialize, Deserialize, Shape)]
struct Page<T> {
    items: Vec<T>,
    #[shape(secret)]
    cursor: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Tree {
    name: String,
    login: Option<Login>,
    children: Vec<Tree>,
}

#[derive(Serialize, Deserialize, Shape)]
struct Plain {
    name: String,
    children: Vec<Plain>,
}

#[derive(Serialize, Deserialize, Shape)]
enum Way {
    Login(Login),
    None,
}

#[derive(Serialize, Deserialize, Shape)]
struct All {
    one: Login,
    boxed: Box<Login>,
    aliased: Logins,
    map: HashMap<String, Vec<Login>>,
    wrapped: Wrapped,
    page: Page<u8>,
    plain: Plain,
    way: Way,
    #[serde(rename(deserialize = "in", serialize = "out"))]
    #[shape(secret)]
    place: u8,
    #[serde(flatten)]
    flat: Login,
}

#[tool]
async fn give(all: All) -> Result<Vec<All>> {
    Ok(vec![all])
}

#[tool]
async fn grow(tree: Tree) -> Result<Tree> {
    Ok(tree)
}

plan! {
    Keep(all: All, logins: Logins, #[shape(secret)] key: String, plain: String) {
        step given = Give { all };
        step used = Text { text: format!("{plain} {} {key}", logins.len()) };
    }
}

#[tool]
async fn text(text: String) -> Result<()> {
    drop(text);
    Ok(())
}

fn pointers(secrets: &Secrets) -> Vec<String> {
    secrets.pointers()
}

const IN_ALL: [&str; 9] = [
    "/aliased/*/passWord",
    "/boxed/passWord",
    "/in",
    "/map/*/*/passWord",
    "/one/passWord",
    "/page/cursor",
    "/passWord",
    "/way",
    "/wrapped/passWord",
];

#[test]
fn the_secrets_of_types_are_found_under_the_names_of_serde() {
    let tool = Keep::PLAN.step("given").unwrap().tool().unwrap();
    let arguments: Vec<_> = IN_ALL.iter().map(|it| format!("/all{it}")).collect();
    assert_eq!(pointers(&tool.secret_arguments), arguments);
    let mut output: Vec<_> = IN_ALL
        .iter()
        .map(|it| format!("/*{}", it.replace("/in", "/out")))
        .collect();
    output.sort();
    assert_eq!(pointers(&tool.secret_output), output);
}

#[test]
fn an_input_has_secrets_as_a_whole_or_inside() {
    let inputs = &Keep::PLAN.inputs;
    let secrets: Vec<_> = inputs.iter().map(|it| pointers(&it.secrets)).collect();
    assert_eq!(secrets[0], IN_ALL);
    assert_eq!(secrets[1], ["/*/passWord"]);
    assert_eq!(secrets[2], [""]);
    assert!(secrets[3].is_empty());
}

#[test]
fn a_type_with_secrets_that_contains_itself_is_secret_inside() {
    let plan = plan! {
        step grown = Grow { tree: Tree { name: "a", login: None, children: [] } };
        grown
    };
    let tool = plan.plan().step("grown").unwrap().tool().unwrap();
    assert_eq!(
        pointers(&tool.secret_output),
        ["/children/*", "/login/passWord"]
    );
}

#[test]
fn secrets_are_a_part_of_plan_json() {
    let json = serde_json::to_string(Keep::PLAN).unwrap();
    assert!(json.contains(r#""secrets":["/*/passWord"]"#), "{json}");
    let read: plan_runtime::Plan = serde_json::from_str(&json).unwrap();
    assert_eq!(read, **Keep::PLAN);
    let plain = json.replace(r#""secrets":["/*/passWord"]"#, r#""secrets":[]"#);
    let other: plan_runtime::Plan = serde_json::from_str(&plain).unwrap();
    assert_ne!(other, read);
}

/// A type with the JSON of another type, named after an option with parentheses.
#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(rename_all(serialize = "camelCase"), into = "Login")]
struct Account {
    user: String,
}

impl From<Account> for Login {
    fn from(account: Account) -> Self {
        let pass_word = account.user.to_uppercase();
        Self {
            user: account.user,
            pass_word,
        }
    }
}

#[tool]
async fn open(user: String) -> Result<Account> {
    Ok(Account { user })
}

#[test]
fn secrets_of_a_converted_type_are_found_after_other_options_of_serde() {
    let plan = plan! {
        step account = Open { user: "sarah" };
        account
    };
    let tool = plan.plan().step("account").unwrap().tool().unwrap();
    assert_eq!(pointers(&tool.secret_output), ["/passWord"]);
}
