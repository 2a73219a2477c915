//! The creation of a driver from the options of a run.

use super::super::admission::{allowance, may_run};
use super::super::clock::Clock;
use super::super::context::{CallContext, Held};
use super::super::limits::Limits;
use super::super::on_failure::OnFailure;
use super::super::options::Options;
use super::super::shared::SharedRun;
use super::super::watch::{Keeps, Watch};
use super::super::{Cause, trace};
use super::admission::Admission;
use super::convert::{self, Find};
use super::driver::Driver;
use super::failures::Errors;
use super::scene::Scene;
use super::scope_values::{ScopeValues, hushed_inputs, secrecy_of};
use super::stops::Stops;
use super::values::Values;
use crate::machine::{Machine, Reaction, ScopeId};
use crate::plan::{Converted, Executable, number};
use crate::resolve::StoredValue;
use serde_json::Value;
use std::sync::Arc;

impl<'x> Driver<'x> {
    /// Begins a run with these limits, unless the options override them.
    pub(in crate::run) fn begin(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        limits: Limits,
        mut options: Options<'x>,
        find: Option<Find<'_, 'x>>,
    ) -> Result<Self, Cause> {
        let plan = executable.plan;
        let graph = executable.graph.map_err(Cause::Plan)?;
        let around = options.outer.take();
        let secrecy = options.secrecy.take();
        let secrecy = secrecy.or_else(|| secrecy_of(plan, &graph, around.as_ref()));
        let inputs = hushed_inputs(inputs, secrecy.is_some())?;
        let refused = around.as_ref().and_then(|call| call.refuses_inside(None));
        if let Some(why) = refused {
            return Err(Cause::Unfit(vec![why.to_owned()]));
        }
        let allowance = self::allowance(&mut options, limits, around.as_ref());
        let run = around.as_ref().and_then(CallContext::run).cloned();
        let run = run.unwrap_or_else(|| Arc::new(options.share()));
        may_run(
            (plan, &graph),
            secrecy.is_some(),
            (&run, &allowance),
            around.as_ref(),
        )?;
        let is_viewed = run.durable.as_ref().is_some_and(|it| it.is_viewed());
        let admission = Admission::of(&allowance, is_viewed).map(Box::new);
        let converted = convert::tables(plan, &graph, find, admission.is_some());
        let converted = converted.map_err(|error| Cause::Unfit(vec![error.to_string()]))?;
        // Other services see the keys that contain the name, so the name must not depend on secret inputs.
        let known = if secrecy.is_some() { &[] } else { &*inputs };
        let beside = around.as_ref().map(|outer| outer.beside(plan, known));
        if let (Some(durable), Some(call)) = (&run.durable, &around) {
            let prefix = call.key_inside(beside.as_deref());
            durable.enter(&prefix, (plan, &graph), secrecy.is_some());
        }
        let clock = Clock::start(Arc::clone(&run), beside.is_some());
        let plans = around.as_ref().map_or(0, CallContext::depth_inside);
        let inside = around.as_ref().and_then(CallContext::inside);
        let keeps = options.keeps.within(inside.map(|it| it.keeps));
        // A report with outputs, an engine and a journal need the JSON of all values.
        let hands_over = options.hands_over && !keeps.outputs && !run.is_kept();
        let root = ScopeValues {
            handing: hands_over.then(|| graph.handing(plan, None)).flatten(),
            plans,
            secrecy,
            ..ScopeValues::root(plan, graph, hands_over, inputs)
        };
        if let Some(around) = &around {
            around.enter_inside();
        }
        let is_shared = around.is_some() || allowance.is_among_many();
        let mut values = Values::new(Held::new(Arc::clone(&allowance), is_shared));
        let watch = Watch::new(&run, keeps, around.clone(), clock.start);
        values.has_layers = watch.is_some() || run.is_kept();
        values.open(ScopeId::ROOT, root);
        let scene = Scene {
            machine: machine(&converted, &run, keeps),
            values,
            errors: Errors::new(plan, &converted.plans),
            stops: Stops::new(options.stop, &clock),
            clock,
            run,
            allowance,
            around,
            beside,
            output: Value::Null,
            watch,
        };
        let mut driver = Self::new(scene, admission, options.signals);
        driver.calls.scene.enter(plans);
        Ok(driver)
    }
}

/// Returns the machine of a run. The machine reports the ends of scopes if the run has a listener.
fn machine(converted: &Converted, run: &SharedRun, keeps: Keeps) -> Machine {
    let reaction = match run.on_failure {
        OnFailure::Stop => Reaction::Stop,
        OnFailure::Continue => Reaction::Continue,
        OnFailure::Cancel => Reaction::Cancel,
    };
    let bound = number(run.concurrency.min(u32::MAX as usize));
    let machine = Machine::new(&converted.tables, reaction, bound).telling();
    if keeps.report || run.is_observed() || trace::is_on() {
        machine.telling_scopes()
    } else {
        machine
    }
}
