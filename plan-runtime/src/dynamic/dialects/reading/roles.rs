//! Steps that undo others, and steps that always run.

use super::PlanReader;
use super::cycle::{inside, path, reading, reading_in};
use crate::Plan;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::spans::Spans;
use crate::plan::{Origin, RolePlace, Source, role_mistakes};
use crate::print::short;
use std::sync::Arc;

/// Reports the errors about roles, including those of steps in blocks.
pub(crate) fn check(reader: &mut PlanReader, plan: &Plan) {
    let (spans, origin) = (&reader.here.spans, reader.origin);
    check_in(spans, &mut reader.notes, plan, "", origin);
}

fn check_in(all: &Spans, notes: &mut Notes, plan: &Plan, around: &str, origin: Origin) {
    all.each_block(plan, &mut |step, block, spans| {
        let around = inside(around, &step.id);
        check_in(spans, notes, &block.plan, &around, origin);
    });
    for mistake in role_mistakes(plan, origin) {
        let mut add = |what: &str, place, step: Option<Arc<str>>| {
            let message = format!("{what} {}", mistake.message);
            let note = Note::error(Code::Role, place, message).help(&*mistake.help);
            notes.push(match &step {
                Some(step) => note.step(step),
                None => note,
            });
        };
        let Some(index) = mistake.step else {
            let place = match (mistake.place, all.output) {
                (RolePlace::Reads(source), Some(at)) => {
                    reading(all, [&plan.output.value].into_iter(), at, source)
                }
                _ => None,
            };
            let place = place.unwrap_or(0..0);
            match around.strip_suffix('.') {
                None => add("the output", place, None),
                Some(step) => add("the value of the block", place, Some(step.into())),
            }
            continue;
        };
        let step = &plan.steps[index];
        let Some(spans) = all.steps.get(index) else {
            continue;
        };
        let place = match mistake.place {
            RolePlace::Role => spans.role.range(),
            RolePlace::After(step) => {
                let after = spans.after.iter().find(|(after, _)| *after == step);
                after.map_or(spans.whole, |(_, place)| *place).range()
            }
            RolePlace::Reads(source) => {
                let found = reading_in(all, plan, index, source);
                let is_after = |(after, _): &&(usize, _)| Source::Step(*after) == source;
                let after = spans.after.iter().find(is_after);
                let after = after.map(|(_, place)| place.range());
                found.or(after).unwrap_or_else(|| spans.whole.range())
            }
        };
        let what = format!("step `{}`", short(&step.id));
        add(&what, place, Some(path(around, &step.id)));
    }
}
