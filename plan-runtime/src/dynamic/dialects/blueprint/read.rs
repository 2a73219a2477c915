//! `{"requestId", "steps": [{"tool", "params", "dependsOn", "parallel", "optional", "retryCount", "timeout"}]}`

use crate::Plan;
use crate::dynamic::dialects::reading::steps::{self, StepHeader};
use crate::dynamic::dialects::reading::{Members, PlanBuilder, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
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

pub(super) fn read(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'_>,
) -> Option<Plan> {
    let (top, list, nodes) = match node.kind() {
        // Planners also write the list of steps alone.
        JsonType::List => (None, node, node.items()),
        _ => {
            let top = builder.members(source, node, "a blueprint")?;
            builder.only(source, &top, "a blueprint", TOP);
            let Some(list) = top.get("steps") else {
                let message = "the plan has no `steps`";
                return builder.error(Note::error(
                    Code::MissingMember,
                    source.place(node.slice()),
                    message,
                ));
            };
            let nodes = builder.items(source, list, "`steps`")?;
            (Some(top), list, nodes)
        }
    };
    let mut name = String::new();
    let mut description = String::new();
    if let Some(top) = &top {
        name = steps::optional_string(builder, source, top, "requestId", "`requestId`");
        description = steps::optional_string(
            builder,
            source,
            top,
            "description",
            "the description of a plan",
        );
    }
    let heads = steps::heads(
        builder,
        source,
        list,
        nodes,
        Some(|index| format!("step{index}")),
    );
    let read = steps::read(builder, source, heads, step);
    let output = top
        .as_ref()
        .and_then(|top| steps::output(builder, source, top));
    let output = output.unwrap_or_else(|| steps::outputs(&read, 0..read.len()));
    Some(steps::plan(builder, name, description, read, output))
}

fn step(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    head: StepHeader<'_>,
) -> Step {
    let (id, members) = head.open(source);
    builder.current = Some((index, id.as_str().into()));
    let Some(members) = members else {
        return steps::step(
            id,
            String::new(),
            None,
            Template::Null,
            Vec::new(),
            Policy::shared(),
        );
    };
    builder.only(source, &members, "a step", STEP);
    let tool = steps::tool(builder, source, index, &members);
    let intent =
        steps::optional_string(builder, source, &members, "intent", "the intent of a step");
    let args = steps::arguments(builder, source, index, &members, "params");
    if let Some(node) = members.given("parallel") {
        // Which steps can run concurrently follows from what they need.
        builder.value::<bool>(source, node, "`parallel`", "`true` or `false`");
    }
    let policy = policy(builder, source, &members).into();
    let reads = args.reads();
    let mut after = depends_on(builder, source, index, &members);
    after.retain(|step| !reads.contains(&From::Step(*step)));
    steps::step(id, intent, tool, args, after, policy)
}

fn depends_on(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
) -> Vec<usize> {
    let Some(node) = members.given("dependsOn") else {
        return Vec::new();
    };
    let (mut after, mut places) = (Vec::new(), Vec::new());
    for item in builder
        .items(source, node, "`dependsOn`")
        .unwrap_or_default()
    {
        builder.count(1, source.place(item.slice()));
        if builder.is_over() {
            break;
        }
        let Some(step) =
            builder.value::<usize>(source, item, "a step to wait for", "the index of a step")
        else {
            continue;
        };
        let place = source.place(item.slice());
        if let Some(step) = builder.indexed(step, place.clone()) {
            places.push((step, place.into()));
            after.push(step);
        }
    }
    builder.spans.steps[index].after = places.into();
    after
}

fn policy(builder: &mut PlanBuilder, source: &Source<'_>, members: &Members<'_>) -> Policy {
    let mut policy = Policy::DEFAULT;
    if let Some(node) = members.given("optional")
        && let Some(true) = builder.value(source, node, "`optional`", "`true` or `false`")
    {
        policy.optional = Optional::Whole;
    }
    if let Some(node) = members.given("retryCount")
        && let Some(retries) = builder.value::<u32>(
            source,
            node,
            "`retryCount`",
            "a number of further attempts: 0, 1, 2, …",
        )
    {
        policy.attempts = retries.saturating_add(1);
    }
    if let Some(node) = members.given("timeout") {
        match builder.value::<u64>(source, node, "`timeout`", "a number of milliseconds") {
            Some(0) => {
                let note = wrong_kind(source, node, "`timeout`", "more than 0 milliseconds");
                builder.note(note.help("leave it out if an attempt has no time limit".to_owned()));
            }
            limit => policy.timeout = limit.map(Duration::from_millis),
        }
    }
    policy
}
