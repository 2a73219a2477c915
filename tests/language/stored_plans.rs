//! Plans of every construct, which survive plan JSON.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::{Body, Template};
use plan_runtime::{Error, Failure, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

/// The application: what its tools did.
#[derive(Default)]
pub struct World(Mutex<Vec<String>>);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Hold {
    id: u32,
    total: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub enum State {
    Running,
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Job {
    state: State,
    url: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Issues {
    numbers: Vec<u64>,
    next: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Turn {
    text: String,
    calls: Vec<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Approval {
    granted: bool,
}

impl World {
    fn did(&self, what: &str) -> u64 {
        let mut all = self.0.lock().unwrap();
        all.push(what.to_owned());
        all.iter().filter(|did| *did == what).count() as u64
    }
}

/// Reserves.
#[tool]
pub async fn reserve(world: &World, items: Vec<String>) -> Result<Hold> {
    world.did("reserve");
    Ok(Hold {
        id: 1,
        total: items.len() as u64,
    })
}

/// Releases.
#[tool]
pub async fn release(world: &World, hold: u32) -> Result<()> {
    world.did(&format!("release {hold}"));
    Ok(())
}

/// Ships, if it is possible.
#[tool]
pub async fn ship(world: &World, hold: u32, possible: bool) -> Result<String> {
    world.did("ship");
    if possible {
        Ok(format!("sent {hold}"))
    } else {
        Err(Error::permanent("too heavy"))
    }
}

/// Notifies.
#[tool]
pub async fn notify(world: &World, ok: bool, why: Option<String>) -> Result<()> {
    world.did(&format!("notify {ok} {why:?}"));
    Ok(())
}

/// Fetches.
#[tool]
pub async fn fetch_page(world: &World, url: String) -> Result<String> {
    world.did("fetch");
    match url.strip_prefix("http:") {
        Some(text) => Ok(text.to_owned()),
        None => Err(Error::permanent("no page").with_code("NO_PAGE")),
    }
}

/// Polls a job, which runs for two rounds.
#[tool]
pub async fn poll_job(world: &World, id: String) -> Result<Job> {
    let is_done = world.did("poll") > 2;
    Ok(Job {
        state: if is_done { State::Done } else { State::Running },
        url: is_done.then_some(id),
    })
}

/// Lists issues, on three pages.
#[tool]
pub async fn list_issues(world: &World, cursor: Option<u64>) -> Result<Issues> {
    world.did("list");
    let page = cursor.unwrap_or(0);
    Ok(Issues {
        numbers: vec![page],
        next: (page < 2).then_some(page + 1),
    })
}

/// Asks a model, which calls tools twice.
#[tool]
pub async fn ask_model(world: &World, question: String) -> Result<Turn> {
    let rest = 3 - world.did("ask");
    Ok(Turn {
        text: format!("{question}!"),
        calls: (0..rest).collect(),
    })
}

/// Uses a tool.
#[tool]
pub async fn use_tool(world: &World, call: u64) -> Result<u64> {
    world.did("use");
    Ok(call)
}

plan! {
    Place(items: Vec<String>, possible: bool) -> String {
        step held = Reserve { items };
        #[undo(held)] #[retry(5)]
        step released = Release { hold: held.id };
        step shipped = Ship { hold: held.id, possible };
        #[always]
        step told = Notify { ok: shipped.is_ok(), why: shipped.err()?.message };
        shipped
    }
}

plan! {
    Ingest(urls: Vec<String>, parallel: usize) -> Vec<Result<usize, Failure>> {
        #[concurrency(parallel)] #[catch(each)]
        step pages = for url in urls {
            #[retry(3)]
            step page = FetchPage { url };
            step length: usize = page.len();
            length
        };
        pages
    }
}

plan! {
    Transcode(video: String) -> Option<String> {
        #[at_most(9)] #[retry(3)] #[deadline("10m")]
        step job = loop { PollJob { id: video } } while job.state == State::Running;
        job.url
    }
}

plan! {
    All() -> Vec<Issues> {
        #[at_most(9)] #[collect]
        step pages = loop |last| {
            step page = ListIssues { cursor: last?.next };
            page
        } while page.next.is_some() && page.numbers[0] < 9;
        pages
    }
}

plan! {
    Answer(question: String, rounds: u32) -> String {
        #[at_most(rounds)]
        step answer = loop |last| {
            step reply = AskModel { question };
            #[catch(each)]
            step results = for call in reply.calls { UseTool { call } };
            step went_on: bool = last.is_some() || results.len() > 0;
            step turn: (Turn, bool) = (reply, went_on);
            turn
        } while !answer.0.calls.is_empty() && answer.1;
        answer.0.text
    }
}

plan! {
    Spend(cents: u64, patience: Duration) -> Option<u64> {
        step asked = UseTool { call: cents };
        #[after(asked)] #[timeout(patience)] #[fallback(Approval { granted: false })]
        step approval: Approval = await;
        step paid = if approval.granted && cents < 100 { UseTool { call: cents } };
        #[always] #[retry(5)]
        step told = Notify { ok: !paid.is_err(), why: None };
        paid
    }
}

fn toolbox() -> Toolbox<World> {
    Toolbox::new()
        .with::<Reserve>()
        .with::<Release>()
        .with::<Ship>()
        .with::<Notify>()
        .with::<FetchPage>()
        .with::<PollJob>()
        .with::<ListIssues>()
        .with::<AskModel>()
        .with::<UseTool>()
}

/// Returns the plan read from its JSON, which contains no Rust.
#[track_caller]
fn stored(plan: &Plan) -> Plan {
    let json = serde_json::to_string(plan).unwrap();
    assert!(!json.contains("\"computed\""), "{json}");
    let read = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, plan);
    read
}

/// Returns the output of a plan from JSON, and the calls of its tools.
#[track_caller]
fn ran(plan: &Plan, inputs: Value) -> (std::result::Result<Value, String>, Vec<String>) {
    let world = World::default();
    let output = smol::block_on(toolbox().run(&stored(plan), inputs, &world));
    (
        output.map_err(|error| error.to_string()),
        world.0.into_inner().unwrap(),
    )
}

#[test]
fn undo_and_always_steps() {
    let (output, did) = ran(Place::PLAN, json!({ "items": ["a"], "possible": true }));
    assert_eq!(output.unwrap(), "sent 1");
    assert_eq!(did, ["reserve", "ship", "notify true None"]);
    let (output, did) = ran(Place::PLAN, json!({ "items": ["a"], "possible": false }));
    assert!(output.is_err());
    let told = "notify false Some(\"too heavy\")";
    assert_eq!(did, ["reserve", "ship", "release 1", told]);
}

#[test]
fn elements_that_fail() {
    let urls = json!({ "urls": ["http:abc", "ftp:"], "parallel": 1 });
    let pages = ran(Ingest::PLAN, urls).0.unwrap();
    assert_eq!(pages[0], json!({ "Ok": 3 }));
    assert_eq!(pages[1]["Err"]["code"], "NO_PAGE");
}

#[test]
fn rounds() {
    let (output, did) = ran(Transcode::PLAN, json!({ "video": "v" }));
    assert_eq!((output.unwrap(), did.len()), (json!("v"), 3));
    let (output, did) = ran(All::PLAN, json!({}));
    assert_eq!(output.unwrap()[2]["numbers"], json!([2]));
    assert_eq!(did.len(), 3);
    let (output, did) = ran(Answer::PLAN, json!({ "question": "q", "rounds": 5 }));
    assert_eq!(output.unwrap(), "q!");
    assert_eq!(did, ["ask", "use", "use", "ask", "use", "ask"]);
    let (output, _) = ran(Answer::PLAN, json!({ "question": "q", "rounds": 2 }));
    assert!(output.unwrap_err().contains("after 2 rounds"));
}

#[test]
fn a_wait() {
    let plan = stored(Spend::PLAN);
    let Body::If(branches) = &plan.step("paid").unwrap().body else {
        panic!()
    };
    let conditions = format!("{:?}", branches[0].conditions);
    assert!(conditions.contains("Holds(Test(Compare("), "{conditions}");
    let told = plan.step("told").unwrap().action().unwrap();
    let Template::Object(arguments) = &told.args else {
        panic!()
    };
    assert!(matches!(arguments[0].value, Template::Test(_)));
}
