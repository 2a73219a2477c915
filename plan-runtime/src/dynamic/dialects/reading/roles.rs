//! Steps that undo others, and steps that always run.

use super::PlanReader;
use super::cycle::{inside, path, reading};
use crate::Plan;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::spans::Spans;
use crate::plan::{Origin, RolePlace, Source, role_mistakes};
use crate::print::short;

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
        let Some(index) = mistake.step else {
            let place = match (mistake.place, all.output) {
                (RolePlace::Reads(source), Some(at)) => {
                    let output = [&plan.output.value].into_iter();
                    reading(all, output, at, source)
                }
                _ => None,
            };
            let (what, step) = match around.strip_suffix('.') {
                None => ("the output", None),
                Some(step) => ("the value of the block", Some(step.into())),
            };
            let message = format!("{what} {}", mistake.message);
            let mut note = Note::error(Code::Role, place.unwrap_or(0..0), message);
            if let Some(step) = &step {
                note = note.step(step);
            }
            notes.push(note.help(mistake.help));
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
                let mut templates = Vec::new();
                step.templates(&mut |_, template| templates.push(template));
                let found = reading(all, templates.into_iter(), spans.templates(), source);
                let is_after = |(after, _): &&(usize, _)| Source::Step(*after) == source;
                let after = spans.after.iter().find(is_after);
                let after = after.map(|(_, place)| place.range());
                found.or(after).unwrap_or_else(|| spans.whole.range())
            }
        };
        let message = format!("step `{}` {}", short(&step.id), mistake.message);
        let note = Note::error(Code::Role, place, message).step(&path(around, &step.id));
        notes.push(note.help(mistake.help));
    }
}
