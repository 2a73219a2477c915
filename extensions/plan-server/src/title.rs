//! The titles of plans without a name, by which people find runs.

use crate::error::shortened;
use crate::limits;
use plan_runtime::Plan;

/// The name of a checked plan whose document has no name.
pub(crate) const NO_NAME: &str = "plan";

/// Returns the plan JSON of a plan without a name, with its title as its name. Plan JSON without a name of its author contains the name `plan`.
pub(crate) fn titled(plan: &Plan) -> Option<String> {
    let name = title(plan).filter(|_| plan.name == NO_NAME)?;
    let mut plan = plan.clone();
    plan.name = name;
    serde_json::to_string(&plan).ok()
}

/// Returns a title of at most [`limits::TITLE`] characters: the intents of the steps, or the tools of a plan without
/// intents.
pub(crate) fn title(plan: &Plan) -> Option<String> {
    let intents = plan.steps.iter().map(|step| step.intent.trim());
    let intents: Vec<&str> = intents.filter(|intent| !intent.is_empty()).collect();
    let title = if intents.is_empty() {
        let actions = plan.steps.iter().flat_map(|step| step.body.actions());
        let tools = actions.filter_map(|action| Some(&*action.tool.as_ref()?.name));
        let mut tools: Vec<&str> = tools.take(limits::TITLE).collect();
        tools.dedup();
        tools.join(", ")
    } else {
        let words = intents.iter().flat_map(|intent| intent.split_whitespace());
        let words: Vec<&str> = words.take(limits::TITLE).collect();
        words.join(" ")
    };
    (!title.is_empty()).then(|| shortened(&title, limits::TITLE).into_owned())
}
