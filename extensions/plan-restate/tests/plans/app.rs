//! The tools and plans of the tests.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::{Action, Input, Output, Reference, Source, Step, Template};
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Plan, Result, Shape, Sleep, plan, tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The service that the tools call: a folder with a file for each effect, which all workers share.
pub(crate) struct App {
    folder: Option<PathBuf>,
}

/// An effect: the tool, and the key of the call that had the effect, without the id of the run.
pub(crate) type Effect = (String, String);

impl App {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let effects = folder.iter().map(|folder| folder.join("effects"));
        effects.for_each(|effects| fs::create_dir_all(effects).unwrap());
        Self { folder }
    }

    /// An application that keeps nothing.
    pub(crate) fn silent() -> Self {
        Self::new(None)
    }

    /// Has the effect of a call, unless a call with this key has had the effect. Returns the output of the call that had it.
    fn effect<T>(&self, tool: &str, context: &CallContext, argument: impl Serialize, output: T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(folder) = &self.folder else {
            return output;
        };
        let key = context.idempotency_key();
        let asked = json!({"tool": tool, "key": key, "argument": argument});
        let path = folder.join("calls");
        let calls = fs::File::options().create(true).append(true).open(path);
        let mut calls = calls.unwrap();
        calls.write_all(format!("{key}\n").as_bytes()).unwrap();
        // The file of an effect is complete when it gets its name, and only one call gets the name.
        let new = folder.join(format!("new-{}-{}", std::process::id(), count()));
        let line = json!({"asked": asked, "output": output}).to_string();
        fs::write(&new, line).unwrap();
        let name = key.replace('%', "%25").replace('/', "%2F");
        let file = folder.join("effects").join(name);
        let had = fs::hard_link(&new, &file);
        fs::remove_file(new).unwrap();
        match had {
            Ok(()) => output,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let mut effect = read(&file);
                assert_eq!(effect["asked"], asked, "a key is that of one call");
                serde_json::from_value(effect["output"].take()).unwrap()
            }
            Err(error) => panic!("{}: {error}", file.display()),
        }
    }

    /// Returns the keys of all calls, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let folder = self.folder.iter();
        let calls = folder.map(|folder| fs::read_to_string(folder.join("calls")).unwrap());
        let calls: String = calls.collect();
        calls.lines().map(str::to_owned).collect()
    }

    /// Returns the effects of a run, in the order of their tools and keys.
    pub(crate) fn effects(&self, run: &str) -> Vec<Effect> {
        let folder = self.folder.iter();
        let files = folder.flat_map(|folder| fs::read_dir(folder.join("effects")).unwrap());
        let effects = files.filter_map(|file| {
            let effect = read(&file.unwrap().path());
            let text = |name: &str| effect["asked"][name].as_str().unwrap().to_owned();
            let key = text("key");
            let (of, place) = key.split_once('/').unwrap();
            (of == run).then(|| (text("tool"), place.to_owned()))
        });
        let mut effects: Vec<Effect> = effects.collect();
        effects.sort_unstable();
        effects
    }
}

fn read(file: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub(crate) struct Out {
    pub(crate) n: u64,
    pub(crate) key: String,
}

/// Adds one, and takes some time for it.
#[tool]
pub(crate) async fn work(app: &App, #[context] context: CallContext, n: u64) -> Result<Out> {
    tokio::time::sleep(Duration::from_millis(2 + n % 17)).await;
    let key = context.idempotency_key();
    // The keys differ in the ID of the run.
    let (_, key) = key.split_once('/').unwrap_or_default();
    let key = key.to_owned();
    Ok(app.effect("work", &context, n, Out { n: n + 1, key }))
}

/// Adds numbers.
#[tool]
pub(crate) async fn sum(
    app: &App,
    #[context] context: CallContext,
    numbers: Vec<u64>,
) -> Result<u64> {
    let sum = numbers.iter().sum::<u64>() % 1009;
    Ok(app.effect("sum", &context, numbers, sum))
}

/// Undoes work.
#[tool]
pub(crate) async fn back(app: &App, #[context] context: CallContext, n: u64) -> Result<()> {
    assert!(n > 0);
    app.effect("back", &context, n, ());
    Ok(())
}

/// Fails until this attempt.
#[tool]
pub(crate) async fn flaky(#[context] context: CallContext, attempts: u32) -> Result<u32> {
    if context.attempt() < attempts {
        let error = Error::msg(format!("attempt {}", context.attempt()));
        return Err(error.with_code("BUSY"));
    }
    Ok(context.attempt())
}

/// Does not end.
#[tool]
pub(crate) async fn hang() -> Result<u64> {
    std::future::pending().await
}

/// Falls over.
#[tool]
pub(crate) async fn fall(text: String) -> Result<u64> {
    panic!("{text}")
}

/// Returns a list in a list, with this depth.
#[tool]
pub(crate) async fn nest(depth: usize) -> Result<serde_json::Value> {
    let empty = serde_json::json!([]);
    Ok((1..depth).fold(empty, |inner, _| serde_json::json!([inner])))
}

/// Returns a string with this number of bytes.
#[tool]
pub(crate) async fn fill(bytes: usize) -> Result<String> {
    Ok("x".repeat(bytes))
}

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Another number each time, in each process.
fn count() -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed) + u64::from(std::process::id()) * 1000
}

plan! {
    pub(crate) Inner(from: u64) -> Vec<u64> {
        step first = Work { n: from };
        step each = for k in [1u64, 2, 3] { Work { n: k + first.n } };
        step last = Work { n: each[2].n };
        [first.n, each[0].n, last.n]
    }
}

plan! {
    /// Use each construct of a plan. Rust code decides differently in each attempt, and the output stays equal.
    pub(crate) Big(from: u64) -> serde_json::Value {
        step stamp: u64 = count();
        step a = Work { n: stamp };
        step b = Work { n: count() };
        step same: bool = a.n == stamp + 1 && b.n > 0;
        step chosen = if count() % 2 == 0 { Work { n: 1 } } else { Work { n: 2 } };
        step some = for n in (0..count() % 5).collect::<Vec<_>>() { Work { n } };
        step all = for n in (0..500u64).collect::<Vec<_>>() { if n % 5 == 0 { Work { n: n + from } } };
        step inners = for n in [10u64, 20] { Inner { from: n } };
        #[retry(5, backoff = "20ms", jitter = false)]
        step flaky = Flaky { attempts: 3 };
        #[optional]
        #[retry(2, backoff = "1ms")]
        step never = Flaky { attempts: 99 };
        #[optional]
        #[timeout("100ms")]
        step hung = Hang {};
        #[catch]
        step fell = Fall { text: "it fell over" };
        #[at_most(9)]
        step rounds = loop |before| {
            step seen = Work { n: before.unwrap_or(0) };
            step next: u64 = seen.n;
            next
        } while next < 3;
        step reply: u64 = await;
        step pause = Sleep { time: "50ms" };
        #[after(pause, reply)]
        step last = Work { n: reply };
        step sums: u64 = all.iter().flatten().map(|it| it.n).sum();
        json!({
            "same": same && (1..=3).contains(&chosen.n) && some.len() < 5,
            "sums": sums, "inners": inners, "flaky": flaky, "never": never, "hung": hung,
            "fell": fell.is_err(), "rounds": rounds, "reply": reply, "last": last
        })
    }
}

plan! {
    /// Fails in the end, and is undone.
    pub(crate) Saga(from: u64) -> u64 {
        step a = Work { n: from };
        #[undo(a)]
        step ua = Back { n: a.n };
        step trips = for n in [1u64, 2, 3, 4] {
            step b = Work { n };
            #[undo(b)]
            step ub = Back { n: b.n };
            b
        };
        #[after(trips)]
        #[retry(2, backoff = "30ms")]
        step c = Flaky { attempts: 9 };
        #[always]
        step told = Work { n: from };
        trips.len() as u64 + c as u64
    }
}

plan! {
    /// Wait for a cancellation or an answer.
    pub(crate) Waits(n: u64) -> Vec<u64> {
        step held = Work { n };
        #[undo(held)]
        step released = Back { n: held.n };
        step each = for k in [1u64, 2] {
            step reply: u64 = await;
            step sum: u64 = reply + k;
            sum
        };
        #[after(held)]
        step name: String = await;
        each.iter().copied().chain([name.len() as u64]).collect()
    }
}

plan! {
    pub(crate) Chain(n: u64) -> u64 {
        step a = Work { n };
        step b = Work { n: a.n };
        step c = Work { n: b.n };
        c.n
    }
}

plan! {
    /// Make a large value.
    pub(crate) Large(bytes: usize) -> usize {
        step text = Fill { bytes };
        text.len()
    }
}

/// Returns its argument.
#[tool]
pub(crate) async fn echo(value: serde_json::Value) -> Result<serde_json::Value> {
    Ok(value)
}

plan! {
    /// Waits for a time.
    pub(crate) Napping(time: String) -> u64 {
        step first = Work { n: 0 };
        #[after(first)]
        step nap = Sleep { time };
        #[after(nap)]
        step last = Work { n: first.n };
        last.n
    }
}

plan! {
    /// Make a large value in Rust code.
    pub(crate) Bulky(quotes: usize) -> usize {
        step held = Work { n: 1 };
        #[undo(held)]
        step released = Back { n: held.n };
        #[after(held)]
        step text: String = "\"".repeat(quotes);
        text.len()
    }
}

plan! {
    /// Make many values that are large together.
    pub(crate) Heap(sizes: Vec<usize>) -> usize {
        step texts = for bytes in sizes { Fill { bytes } };
        step name: String = await;
        texts.iter().map(String::len).sum::<usize>() + name.len()
    }
}

plan! {
    pub(crate) Nested(depth: usize) -> serde_json::Value {
        step lists = Nest { depth };
        lists
    }
}

pub(crate) fn toolbox() -> Toolbox<App> {
    Toolbox::new()
        .with::<Work>()
        .with::<Sum>()
        .with::<Back>()
        .with::<Flaky>()
        .with::<Hang>()
        .with::<Fall>()
        .with::<Fill>()
        .with::<Inner>()
        .with::<Big>()
        .with::<Saga>()
        .with::<Waits>()
        .with::<Chain>()
        .with::<Large>()
        .with::<Heap>()
        .with::<Echo>()
        .with::<Napping>()
        .with::<Bulky>()
        .with::<Nest>()
        .with::<Nested>()
}

/// The toolbox of another version: the plan `Waits` is another one there.
pub(crate) fn other_toolbox() -> Toolbox<App> {
    mod_other::toolbox()
}

mod mod_other {
    use super::{App, Back, Work};
    use plan_runtime::dynamic::Toolbox;
    use plan_runtime::plan;

    plan! {
        pub(crate) Waits(n: u64) -> Vec<u64> {
            step held = Work { n: n + 1 };
            #[undo(held)]
            step released = Back { n: held.n };
            step name: String = await;
            [held.n, name.len() as u64]
        }
    }

    pub(crate) fn toolbox() -> Toolbox<App> {
        Toolbox::new().with::<Work>().with::<Back>().with::<Waits>()
    }
}

/// A plan of this many steps, this many beside each other: each adds what two of those before it gave.
pub(crate) fn dag(steps: usize, width: usize) -> Plan {
    let mut plan = Plan::new("dag");
    plan.inputs = vec![Input::new("from", "u64")];
    let number = |place: usize| -> Template {
        let tool_gives_number = place >= width;
        let reference = Reference::new(Source::Step(place));
        if tool_gives_number {
            reference.into()
        } else {
            reference.key("n").into()
        }
    };
    for place in 0..steps {
        let action = if place < width {
            let from: Template = Reference::new(Source::Input(0)).into();
            Action::call("work", Template::object([("n", from)]))
        } else {
            let layer = place / width * width - width;
            let beside = [place - width, layer + (place + 1) % width];
            let numbers: Vec<Template> = beside.into_iter().map(number).collect();
            Action::call(
                "sum",
                Template::object([("numbers", Template::from(numbers))]),
            )
        };
        plan.steps.push(Step::new(format!("s{place}"), action));
    }
    let last: Vec<Template> = (steps - width..steps).map(number).collect();
    plan.output = Output::new(Template::from(last));
    plan
}
