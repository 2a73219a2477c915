//! Values that steps pass on as a whole: handed over, and through JSON.

use crate::cases::running::block_on;
use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{Action, Executable, Reference, Source, Step, Template};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use plan_runtime::run::Run;
use serde::{Deserialize, Serialize};

/// A value of three strings.
#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Mail {
    pub from: String,
    pub subject: String,
    pub text: String,
}

impl Mail {
    pub fn new() -> Self {
        Self {
            from: "sarah@example.org".into(),
            subject: "Report".into(),
            text: "The report is attached.".into(),
        }
    }
}

/// A value with a field that JSON does not preserve, so that the value is never handed over.
#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Changing {
    from: String,
    subject: String,
    text: String,
    #[serde(skip)]
    _note: (),
}

/// Returns its argument.
#[tool]
async fn pass(mail: Mail) -> Result<Mail> {
    Ok(mail)
}

/// Returns its argument.
#[tool]
async fn pass_changing(mail: Changing) -> Result<Changing> {
    Ok(mail)
}

/// Makes a value.
#[tool]
async fn make() -> Result<Mail> {
    Ok(Mail::new())
}

/// Makes a value.
#[tool]
async fn make_changing() -> Result<Changing> {
    let Mail {
        from,
        subject,
        text,
    } = Mail::new();
    Ok(Changing {
        from,
        subject,
        text,
        _note: (),
    })
}

/// Returns a plan whose steps each pass on the previous output.
pub fn chain(steps: usize) -> Plan {
    let mut plan = Plan::new("chain");
    for step in 0..steps {
        let args = match step.checked_sub(1) {
            None => Template::object::<String>([]),
            Some(before) => {
                Template::object([("mail", Reference::new(Source::Step(before)).into())])
            }
        };
        let tool = if step == 0 { "make" } else { "pass" };
        plan.steps
            .push(Step::new(format!("s{step}"), Action::call(tool, args)));
    }
    plan.output.value = Reference::new(Source::Step(steps - 1)).into();
    plan
}

/// Runs the chain. Its values are handed over.
pub fn handed(chain: &Executable<'_>) {
    fn start<'x>(step: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
        match step {
            0 => request.call::<Make, ()>(app),
            _ => request.call::<Pass, ()>(app),
        }
    }
    let run = Run::<(), Mail>::new(chain, Ok(Vec::new()), &(), start);
    assert_eq!(block_on(run).unwrap().from, "sarah@example.org");
}

/// Runs the chain. Its values go through JSON.
pub fn through_json(chain: &Executable<'_>) {
    fn start<'x>(step: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
        match step {
            0 => request.call::<MakeChanging, ()>(app),
            _ => request.call::<PassChanging, ()>(app),
        }
    }
    let run = Run::<(), Changing>::new(chain, Ok(Vec::new()), &(), start);
    assert_eq!(block_on(run).unwrap().from, "sarah@example.org");
}

/// Returns bytes.
#[tool]
async fn load(size: usize) -> Result<Vec<u8>> {
    Ok(vec![7; size])
}

/// Returns its argument.
#[tool]
async fn store(file: Vec<u8>) -> Result<Vec<u8>> {
    Ok(file)
}

/// Counts bytes.
#[tool]
async fn count(file: Vec<u8>) -> Result<usize> {
    Ok(file.len())
}

plan! {
    /// Passes bytes on three times.
    Large(size: usize) -> usize {
        step loaded = Load { size };
        step first = Store { file: loaded };
        step second = Store { file: first };
        step length = Count { file: second };
        length
    }
}

/// Passes this number of bytes from tool to tool.
pub fn large(size: usize) {
    assert_eq!(block_on(Large { size }.run(&())).unwrap(), size);
}
