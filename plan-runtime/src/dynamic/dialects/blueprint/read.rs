//! `{"requestId", "steps": [{"tool", "params", "dependsOn", "parallel", "optional", "retryCount", "timeout"}]}`

use crate::Plan;
use crate::dynamic::dialects::reading::steps::{self, Head};
use crate::dynamic::dialects::reading::{Draft, Members, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{Kind, Node, Source};
use crate::plan::{Optional, Policy, Source as From, Step, Template};
use std::time::Duration;

const TOP: &[&str] = &["requestId", "steps", "description", "output", "output_type"];
const STEP: &[&str] = &[
    "tool",
    "params",
    "dependsOn",
    "parallel",
    "optional",
    "retryCount",
    "timeout",
    "id",
    "intent",
    "tool_description",
];

pub(super) fn read(draft: &mut Draft, source: &Source<'_>, node: Node<'_>) -> Option<Plan> {
    let (top, list, nodes) = match node.kind() {
        // Planners also write the list of steps alone.
        Kind::List => (None, node, node.items()),
        _ => {
            let top = draft.members(source, node, "a blueprint")?;
            draft.only(source, &top, "a blueprint", TOP);
            let Some(list) = top.get("steps") else {
                let message = "the plan has no `steps`";
                return draft.error(Note::error(
                    Code::MissingMember,
                    source.place(node.slice()),
                    message,
                ));
            };
            let nodes = draft.items(source, list, "`steps`")?;
            (Some(top), list, nodes)
        }
    };
    let mut name = String::new();
    let mut description = String::new();
    if let Some(top) = &top {
        name = steps::optional_string(draft, source, top, "requestId", "`requestId`");
        description = steps::optional_string(
            draft,
            source,
            top,
            "description",
            "the description of a plan",
        );
    }
    let heads = steps::heads(
        draft,
        source,
        list,
        nodes,
        Some(|index| format!("step{index}")),
    );
    let read = steps::read(draft, source, heads, step);
    let output = top
        .as_ref()
        .and_then(|top| steps::output(draft, source, top));
    let output = output.unwrap_or_else(|| steps::outputs(&read, 0..read.len()));
    Some(steps::plan(draft, name, description, read, output))
}

fn step(draft: &mut Draft, source: &Source<'_>, index: usize, head: Head<'_>) -> Step {
    let (id, members) = head.open(source);
    draft.current = Some((index, id.as_str().into()));
    let Some(members) = members else {
        return steps::step(
            index,
            id,
            String::new(),
            None,
            Template::Null,
            Vec::new(),
            Policy::shared(),
        );
    };
    draft.only(source, &members, "a step", STEP);
    let tool = steps::tool(draft, source, index, &members);
    let intent = steps::optional_string(draft, source, &members, "intent", "the intent of a step");
    let args = steps::arguments(draft, source, index, &members, "params");
    if let Some(node) = members.given("parallel") {
        // Which steps can run concurrently follows from what they need.
        draft.value::<bool>(source, node, "`parallel`", "`true` or `false`");
    }
    let policy = policy(draft, source, &members).into();
    let reads = args.reads();
    let mut after = depends_on(draft, source, index, &members);
    after.retain(|step| !reads.contains(&From::Step(*step)));
    steps::step(index, id, intent, tool, args, after, policy)
}

fn depends_on(
    draft: &mut Draft,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
) -> Vec<usize> {
    let Some(node) = members.given("dependsOn") else {
        return Vec::new();
    };
    let (mut after, mut places) = (Vec::new(), Vec::new());
    for item in draft.items(source, node, "`dependsOn`").unwrap_or_default() {
        draft.count(1, source.place(item.slice()));
        if draft.is_over() {
            break;
        }
        let Some(step) =
            draft.value::<usize>(source, item, "a step to wait for", "the index of a step")
        else {
            continue;
        };
        let place = source.place(item.slice());
        if let Some(step) = draft.indexed(step, place.clone()) {
            places.push((step, place.into()));
            after.push(step);
        }
    }
    draft.spans.steps[index].after = places.into();
    after
}

fn policy(draft: &mut Draft, source: &Source<'_>, members: &Members<'_>) -> Policy {
    let mut policy = Policy::DEFAULT;
    if let Some(node) = members.given("optional")
        && let Some(true) = draft.value(source, node, "`optional`", "`true` or `false`")
    {
        policy.optional = Optional::Whole;
    }
    if let Some(node) = members.given("retryCount")
        && let Some(retries) = draft.value::<u32>(
            source,
            node,
            "`retryCount`",
            "a number of further attempts: 0, 1, 2, …",
        )
    {
        policy.attempts = retries.saturating_add(1);
    }
    if let Some(node) = members.given("timeout") {
        match draft.value::<u64>(source, node, "`timeout`", "a number of milliseconds") {
            Some(0) => {
                let note = wrong_kind(source, node, "`timeout`", "more than 0 milliseconds");
                draft.note(note.help("leave it out if an attempt has no time limit".to_owned()));
            }
            limit => policy.timeout = limit.map(Duration::from_millis),
        }
    }
    policy
}
