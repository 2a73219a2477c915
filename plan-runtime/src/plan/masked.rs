//! Plans without the secrets in their arguments.

use super::{Action, BodyPart, Entry, Key, Part, Plan, Step, Tag, Template};
use crate::shape::{MASK, Secrets};

/// Returns the plan with `"(secret)"` in place of each secret argument in the plan itself, or `None` without such arguments.
pub(super) fn without_secrets(plan: &Plan) -> Option<Plan> {
    let has_secrets = |step: &Step| {
        let mut found = false;
        step.body.visit_all(&mut |part| {
            if let BodyPart::Action(Action {
                tool: Some(tool), ..
            }) = part
            {
                found |= !tool.secret_arguments.is_empty();
            }
        });
        found
    };
    if !plan.steps.iter().any(has_secrets) {
        return None;
    }
    let mut plan = plan.clone();
    let steps = plan.steps.iter_mut();
    let hide = &mut |action: &mut Action| {
        if let Some(tool) = &action.tool {
            hide(&mut action.args, &tool.secret_arguments);
        }
    };
    steps.for_each(|step| step.body.each_action_mut(hide));
    Some(plan)
}

fn hide(template: &mut Template, secrets: &Secrets) {
    if secrets.is_empty() {
        return;
    }
    let mask = || Template::String(MASK.into());
    match template {
        Template::Bool(_) | Template::Number(_) | Template::String(_) if secrets.is_whole() => {
            *template = mask();
        }
        Template::List(items) => {
            for (place, item) in items.iter_mut().enumerate() {
                hide(item, &secrets.at(&place.to_string()));
            }
        }
        Template::Object(entries) => {
            for Entry { key, value } in entries {
                match key {
                    Key::Name(name) => hide(value, &secrets.at(name)),
                    Key::Flattened | Key::Inner => hide(value, secrets),
                }
            }
        }
        Template::Tagged(Tag::None, Some(content)) => hide(content, secrets),
        Template::Tagged(_, Some(content)) => hide(content, &secrets.as_one()),
        Template::Text(parts) if secrets.is_whole() => {
            for part in parts {
                if let Part::Literal(text) = part {
                    *text = MASK.into();
                }
            }
        }
        _ => {}
    }
}
