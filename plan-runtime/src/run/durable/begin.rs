//! Claims a run, and compares it with the recorded run.

use super::super::timer::{ThreadTimer, Timer};
use super::Durable;
use super::changes::{self, Shown};
use super::claimed::{ClaimedRun, Released};
use super::clock::LastingClock;
use super::history::History;
use super::record::read_inputs;
use crate::error::Cause;
use crate::journal::spi::{Claimed, End, RunInfo};
use crate::journal::{Journal, JournalError};
use crate::plan::{Executable, Plan};
use crate::print::MessageName;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime};

/// The journal of a run, and the run's id in it.
pub(in crate::run) struct Target {
    pub(in crate::run) journal: Arc<dyn Journal>,
    pub(in crate::run) id: String,
    /// Receives the run after it has started, for the caller.
    pub(in crate::run) begun: Option<Arc<OnceLock<Weak<Durable>>>>,
    /// `true` if the run is only replayed: no call is made.
    pub(in crate::run) is_viewed: bool,
    /// `true` if the run returns a report.
    pub(in crate::run) wants_report: bool,
}

impl Target {
    pub(in crate::run) fn new(journal: Arc<dyn Journal>, id: String) -> Self {
        Self {
            journal,
            id,
            begun: None,
            is_viewed: false,
            wants_report: false,
        }
    }
}

/// The inputs of a durable run.
pub(in crate::run) struct Inputs {
    pub(in crate::run) values: Vec<Value>,
    /// Set if the run has secrets.
    pub(in crate::run) has_secrets: bool,
}

/// Returns an error if a journal would store the secrets of a run in plain text.
async fn keeps_secrets(journal: &dyn Journal, id: &str) -> Result<(), Cause> {
    match journal.look(id).await.map_err(journaled)? {
        Some(run) if run.is_encrypted => Ok(()),
        Some(_) => Err(refused(format!(
            "the plan has secrets, but run `{}` began without a key and is stored in plain text; resume the run with its original plan, or use a new ID",
            MessageName(id)
        ))),
        None if journal.encrypts() => Ok(()),
        None => Err(secrets_in_journal()),
    }
}

/// Creates the error of a run with secrets whose journal does not encrypt them.
pub(in crate::run) fn secrets_in_journal() -> Cause {
    refused(
        "it has secrets, which its journal would keep in plain text; give the journal a key: `Sqlite::open(…)?.encrypted(&key)`".to_owned(),
    )
}

/// A run that was started or resumed.
pub(in crate::run) struct Begun {
    pub(in crate::run) durable: Arc<Durable>,
    pub(in crate::run) inputs: Inputs,
    /// The output as JSON, if the run has succeeded before.
    pub(in crate::run) output: Option<String>,
}

/// Begins a run of a plan with these inputs, or resumes the run.
pub(in crate::run) async fn begin(
    target: Target,
    plan: &Plan,
    inputs: Inputs,
    timer: Arc<dyn Timer>,
) -> Result<Begun, Cause> {
    let Inputs {
        values,
        has_secrets,
    } = &inputs;
    let info = info(plan, values)?;
    let given = inputs_of(plan, values);
    let Target {
        journal,
        id,
        begun,
        is_viewed,
        wants_report,
    } = target;
    let (claim, mut run) = if is_viewed {
        let run = journal.look(&id).await.map_err(journaled)?;
        let unknown = || journaled(JournalError::Unknown { id: id.clone() });
        (None, run.ok_or_else(unknown)?)
    } else {
        if *has_secrets {
            keeps_secrets(&*journal, &id).await?;
        }
        let Claimed { claim, run } = journal.claim(&id).await.map_err(journaled)?;
        (Some(claim), run)
    };
    // The run releases its claim when it is dropped.
    let claimed = ClaimedRun::new(&journal, (&id, claim), &run);
    // If the clock was set back, the age is zero.
    let before = match &run.info {
        None => Duration::ZERO,
        Some(_) => SystemTime::now()
            .duration_since(run.began)
            .unwrap_or_default(),
    };
    let clock = LastingClock::start(timer, run.began, before);
    let mut history = History::default();
    if let Some(known) = &run.info {
        // The caller of a completed run gets its output, without a read of its records.
        let is_done = run.end.as_ref().is_some_and(End::is_done);
        if !is_done || wants_report || known.document != info.document {
            history = History::read(&*journal, &id).await.map_err(journaled)?;
        }
    }
    // A run that was cancelled before makes no call, however late the journal answers.
    let messages = match &run.info {
        Some(_) if run.end.is_none() && !is_viewed => {
            let messages = journal.messages(&claimed.claim, 0).await;
            messages.map_err(journaled)?
        }
        _ => Vec::new(),
    };
    let durable = Durable::new(claimed, clock, history, messages);
    let is_same = match run.info.take() {
        None => false,
        Some(known) => compare(&durable, &known, (plan, &info, &given), *has_secrets)?,
    };
    if !is_same && run.end.is_none() && !is_viewed {
        let described = journal.describe(&durable.claimed.claim, &info).await;
        described.map_err(journaled)?;
    }
    let durable = Arc::new(durable);
    if let Some(begun) = &begun {
        let _ = begun.set(Arc::downgrade(&durable));
    }
    let output = run.end.filter(End::is_done);
    Ok(Begun {
        durable,
        inputs,
        output: output.map(|end| end.body().to_owned()),
    })
}

/// The number of attempts to take a run that another owner has claimed and is about to describe.
const TRIES: u32 = 400;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Returns `true` if a run is recorded already. Returns an error if the recorded run differs.
async fn is_known(
    journal: &dyn Journal,
    (id, info): (&str, &RunInfo),
    inputs: &Map<String, Value>,
) -> Result<bool, Cause> {
    let found = journal.look(id).await.map_err(journaled)?;
    let Some(known) = found.and_then(|run| run.info) else {
        return Ok(false);
    };
    if known.plan != info.plan {
        return Err(other_plan(id, &known));
    }
    if known.inputs != info.inputs {
        let rule = (|_: &str| false, shown(info.has_secrets, [info, &known]));
        compare_inputs(id, &known, inputs, rule)?;
    }
    if known.document != info.document {
        return Err(other_plan(id, &known));
    }
    Ok(true)
}

/// Returns the error of a plan that cannot continue a run.
fn other_plan(id: &str, known: &RunInfo) -> Cause {
    let (id, plan) = (MessageName(id), MessageName(&known.plan));
    refused(format!(
        "run `{id}` already exists with another plan `{plan}`; use a new ID"
    ))
}

/// Records a run without running it. If the run is recorded already, nothing changes.
pub(in crate::run) async fn submit(
    journal: &dyn Journal,
    id: &str,
    info: &RunInfo,
) -> Result<(), Cause> {
    let inputs = read_inputs(&info.inputs).map_err(|error| refused(error.to_string()))?;
    if info.has_secrets {
        keeps_secrets(journal, id).await?;
    }
    let of = (id, info);
    if is_known(journal, of, &inputs).await? {
        return Ok(());
    }
    let mut tries = 0;
    let claim = loop {
        match journal.claim(id).await {
            Ok(claimed) => break claimed.claim,
            // Another process has been quicker, and may not have described the run yet.
            Err(JournalError::Owned { .. }) if is_known(journal, of, &inputs).await? => {
                return Ok(());
            }
            Err(JournalError::Owned { .. }) if tries < TRIES => {
                tries += 1;
                ThreadTimer.sleep(BETWEEN_TRIES).await;
            }
            Err(error) => return Err(journaled(error)),
        }
    };
    let claim = Released(journal, claim);
    if is_known(journal, of, &inputs).await? {
        return Ok(());
    }
    let described = journal.describe(&claim.1, info).await;
    described.map_err(journaled)
}

fn journaled(error: JournalError) -> Cause {
    Cause::Journal(Arc::new(error))
}

/// Creates the description of a run.
pub(in crate::run) fn info(plan: &Plan, inputs: &[Value]) -> Result<RunInfo, Cause> {
    let document = text(plan)?;
    let inputs = text(&inputs_of(plan, inputs))?;
    Ok(RunInfo::new(plan.name.clone(), document, inputs))
}

/// Returns the inputs of a run by their names.
fn inputs_of(plan: &Plan, inputs: &[Value]) -> Map<String, Value> {
    let names = plan.inputs.iter().map(|input| input.name.clone());
    names.zip(inputs.iter().cloned()).collect()
}

fn damaged(id: &str, what: &str, error: &serde_json::Error) -> Cause {
    let named = MessageName(id);
    refused(format!(
        "the {what} of run `{named}` cannot be read from the journal: {error}"
    ))
}

/// Returns the rule for messages about a run: no values if the plan has secrets, or had secrets in at least one of
/// these descriptions.
fn shown<'i>(has_secrets: bool, infos: impl IntoIterator<Item = &'i RunInfo>) -> Shown {
    let mut infos = infos.into_iter();
    let is_secret = has_secrets || infos.any(|info| had_secrets(&info.document));
    if is_secret {
        Shown::Names
    } else {
        Shown::Values
    }
}

/// Returns `true` if the plan in this document has secrets, or may have secrets because the document cannot be read.
pub(super) fn had_secrets(document: &str) -> bool {
    let plan: Result<Plan, _> = serde_json::from_str(document);
    let has_none = |plan: Plan| {
        let graph = Executable::new(&plan).graph;
        graph.is_ok_and(|graph| graph.secrecy.is_none())
    };
    !plan.is_ok_and(has_none)
}

fn compare_inputs(
    id: &str,
    known: &RunInfo,
    inputs: &Map<String, Value>,
    (may_be_absent, shown): (impl Fn(&str) -> bool, Shown),
) -> Result<(), Cause> {
    let old: Map<String, Value> =
        read_inputs(&known.inputs).map_err(|error| damaged(id, "inputs", &error))?;
    match changes::of_inputs(&old, inputs, may_be_absent, shown) {
        None => Ok(()),
        Some(difference) => Err(refused(format!(
            "run `{}` already exists with different inputs ({difference}); use a new ID, or the original inputs",
            MessageName(id)
        ))),
    }
}

/// Returns `true` for an optional input: a run that began without the input continues with `None`.
fn may_be_absent(plan: &Plan, name: &str) -> bool {
    let mut inputs = plan.inputs.iter();
    inputs.any(|input| input.name == name && input.is_option())
}

/// Returns an error if a run cannot continue with a plan that has other inputs than the run was begun with.
pub(crate) fn compare_names(id: &str, known: &RunInfo, plan: &Plan) -> Result<(), Cause> {
    let mut old = read_inputs(&known.inputs).map_err(|error| damaged(id, "inputs", &error))?;
    let names = plan.inputs.iter();
    let inputs = names.map(|input| {
        let value = old.remove(&input.name).unwrap_or_default();
        (input.name.clone(), value)
    });
    let rule = (|name: &str| may_be_absent(plan, name), Shown::Names);
    compare_inputs(id, known, &inputs.collect(), rule)
}

/// Returns `true` if a run was begun with this plan and these inputs. `Err` if the run cannot continue with them.
fn compare(
    durable: &Durable,
    known: &RunInfo,
    (plan, info, inputs): (&Plan, &RunInfo, &Map<String, Value>),
    has_secrets: bool,
) -> Result<bool, Cause> {
    let id = &*durable.claimed.claim.id;
    let is_same = known.document == info.document;
    let shown = shown(has_secrets, (!is_same).then_some(known));
    let rule = (|name: &str| may_be_absent(plan, name), shown);
    compare_inputs(id, known, inputs, rule)?;
    let named = MessageName(id);
    if is_same {
        return Ok(true);
    }
    let read = |document: &str| {
        let read = serde_json::from_str::<Value>(document);
        read.map_err(|error| damaged(id, "plan", &error))
    };
    let (mut old, mut new) = (read(&known.document)?, read(&info.document)?);
    // A plan that was only renamed continues the run. A different plan is an error, since a caller may still wait for the result of the recorded
    // plan.
    if known.plan != info.plan {
        for plan in [&mut old, &mut new] {
            plan.as_object_mut().map(|plan| plan.remove("name"));
        }
        return if old == new {
            Ok(false)
        } else {
            Err(other_plan(id, known))
        };
    }
    let next_key = |from: &str| durable.next_key(from);
    let refusals = changes::of_plans(&old, &new, ("", shown), &next_key);
    if refusals.is_empty() {
        return Ok(false);
    }
    let refusals = refusals.join("; ");
    Err(refused(format!(
        "run `{named}` already exists with another plan: {refusals}; resume the run with its original plan, or use a new ID"
    )))
}

fn refused(why: String) -> Cause {
    Cause::Unfit(vec![why])
}

fn text(value: &impl Serialize) -> Result<String, Cause> {
    serde_json::to_string(value).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::had_secrets;
    use crate::plan::{Input, Plan};

    /// A check that reads a part of a document must not take the document for one without secrets.
    #[test]
    fn a_document_that_cannot_be_read_may_have_secrets() {
        let mut plan = Plan::new("pay");
        plan.inputs = vec![Input::new("card", "String")];
        let open = serde_json::to_string(&plan).unwrap();
        assert!(!had_secrets(&open), "{open}");
        for end in 0..open.len() {
            let cut = &open[..end];
            assert!(!cut.contains("secret") && had_secrets(cut), "{cut}");
        }
        for other in ["null", "[]", "{}"] {
            assert!(had_secrets(other), "{other}");
        }
        let word = "secrets";
        let input = |name: &str| {
            open.replace(
                r#""name":"card""#,
                &format!(r#""name":"card","{name}":[""]"#),
            )
        };
        assert!(had_secrets(&input(word)));
        for (at, letter) in word.char_indices() {
            let escaped = format!("\\u{:04x}", u32::from(letter));
            let secret = input(&[&word[..at], &escaped, &word[at + 1..]].concat());
            let is_read: Plan = serde_json::from_str(&secret).unwrap();
            assert!(
                !is_read.inputs[0].secrets.is_empty() && had_secrets(&secret),
                "{secret}"
            );
        }
    }
}
