//! The invariants of a run, which debug builds check after each event.

use super::engine::Core;
use super::event::StepStatus;
use super::ids::{AttemptId, RunId, ScopeId};
use super::parts::{Activity, AttemptPhase, Hot, LinePlace, Owner, Phase};

/// The check visits everything in a run, so a run with more rows is not checked.
const CHECKED_ROWS: usize = 64;

/// Panics if the state contradicts itself.
pub(super) fn check(core: &Core) {
    let state = &core.state;
    assert!(core.todo.is_empty());
    // A run that was dropped keeps its counts.
    if state.scopes[ScopeId::ROOT].phase == Phase::Over
        || state.view().rows().iter().sum::<usize>() > CHECKED_ROWS
    {
        return;
    }
    let (mut calling, mut asked) = (0, 0);
    let mut open = vec![ScopeId::ROOT];
    while let Some(scope) = open.pop() {
        calling += check_scope(core, scope);
        for &run in state.scopes[scope].runs.iter().flatten() {
            check_run(core, run);
            for tried in &state.runs[run].attempts.rows {
                calling += u32::from(matches!(tried.activity, Activity::Call(_)));
                asked += u32::from(matches!(tried.activity, Activity::Asked(_)));
                open.extend(tried.inside().filter(|_| tried.phase != AttemptPhase::Over));
            }
        }
    }
    assert_eq!((state.calling, state.asked), (calling, asked));
}

/// Returns the number of plain calls that run in a scope.
fn check_scope(core: &Core, scope: ScopeId) -> u32 {
    let state = &core.state;
    let it = &state.scopes[scope];
    let steps = state.tables.rows[it.row].steps();
    let hot: Vec<Hot> = steps.map(|step| state.hot[it.slot(step)]).collect();
    let count = |is: &dyn Fn(&Hot) -> bool| hot.iter().filter(|it| is(it)).count() as u32;
    let is_open =
        |hot: &Hot| hot.is_work() && (hot.is_running() || hot.is_ready() && !it.is_stopping);
    let has_time = |hot: &Hot| matches!(hot.status(), StepStatus::Waiting | StepStatus::Running);
    match it.phase {
        Phase::Work => assert_eq!(it.open, count(&is_open)),
        Phase::Always => assert_eq!(it.open, count(&|hot| hot.is_always() && has_time(hot))),
        Phase::Inputs | Phase::Output | Phase::Undo | Phase::Over => {}
    }
    // The search for the first entry goes down from the plan.
    if let Some(Owner { run, attempt }) = it.owner
        && it.phase != Phase::Over
        && !it.line.is_empty()
    {
        let around = &state.runs[run];
        let place = LinePlace {
            step: around.step,
            job: around.attempts[attempt].job,
            attempt,
        };
        assert!(state.scopes[around.scope].line.contains(&place));
    }
    count(&|hot| hot.is_plain() && hot.is_running())
}

fn check_run(core: &Core, run: RunId) {
    let it = &core.state.runs[run];
    let count = |phase: AttemptPhase| {
        it.attempts
            .rows
            .iter()
            .filter(|it| it.phase == phase)
            .count()
    };
    let (runs, undone) = (count(AttemptPhase::Runs), count(AttemptPhase::Undoing));
    assert_eq!(it.running as usize, runs + undone);
    assert_eq!(it.kept.len(), count(AttemptPhase::Kept));
    let ids = (0..it.attempts.rows.len() as u32).map(AttemptId);
    let is_active = |id: &AttemptId| {
        let activity = it.attempts[*id].activity;
        let is_active = matches!(
            activity,
            Activity::Asked(_) | Activity::Call(_) | Activity::Await(_) | Activity::Scope(_)
        );
        is_active && it.attempts.runs(*id)
    };
    assert_eq!(it.active as usize, ids.filter(is_active).count());
}
