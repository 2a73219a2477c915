//! Steps that undo others, and steps that always run.

use super::PlanBuilder;
use super::cycle::reading;
use crate::Plan;
use crate::dynamic::finding::{Code, Note};
use crate::plan::{RolePlace, Source};
use crate::print::short;

/// Says what is wrong about the roles of steps.
pub(crate) fn check(builder: &mut PlanBuilder, plan: &Plan) {
    for mistake in plan.role_mistakes() {
        let Some(index) = mistake.step else {
            let place = match (mistake.place, builder.spans.output) {
                (RolePlace::Reads(source), Some(at)) => {
                    let output = [&plan.output.value].into_iter();
                    reading(builder, output, at, source)
                }
                _ => None,
            };
            let message = format!("the output {}", mistake.message);
            let note = Note::error(Code::Role, place.unwrap_or(0..0), message);
            builder.note(note.help(mistake.help));
            continue;
        };
        let step = &plan.steps[index];
        let Some(spans) = builder.spans.steps.get(index) else {
            continue;
        };
        let place = match mistake.place {
            RolePlace::Role => spans.role.range(),
            RolePlace::After => match spans.after.first() {
                Some((_, place)) => place.range(),
                None => spans.whole.range(),
            },
            RolePlace::Reads(source) => {
                let mut templates = Vec::new();
                step.templates(&mut |_, template| templates.push(template));
                let found = reading(builder, templates.into_iter(), spans.templates(), source);
                let is_after = |(after, _): &&(usize, _)| Source::Step(*after) == source;
                let after = spans.after.iter().find(is_after);
                let after = after.map(|(_, place)| place.range());
                found.or(after).unwrap_or_else(|| spans.whole.range())
            }
        };
        let message = format!("step `{}` {}", short(&step.id), mistake.message);
        let note = Note::error(Code::Role, place, message).step(&step.id.as_str().into());
        builder.note(note.help(mistake.help));
    }
}
