//! `{"requestId", "steps": [{"tool", "params", "dependsOn", "parallel", "optional", "retryCount", "timeout"}]}`

use crate::dynamic::dialects::reading::counts;
use crate::dynamic::dialects::reading::layout::{self, Layout};
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::dialects::reading::{Members, PlanReader, wrong_kind};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::plan;
use crate::plan::{Optional, Policy};
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

pub(super) static LAYOUT: Layout = Layout {
    document: "a blueprint",
    may_be_list: true,
    top: TOP,
    steps: &["steps"],
    no_steps: ("the plan has no `steps`", None),
    name: ("requestId", "`requestId`"),
    inputs: |_, _| {},
    step: STEP,
    body: &layout::body("params"),
    policy: &[
        ("attempts", "retryCount", r#"`"retryCount": 2`"#),
        (
            "timeout",
            "timeout",
            r#"`"timeout": 10000`, in milliseconds"#,
        ),
        ("optional", "optional", r#"`"optional": true`"#),
    ],
    id: Some(|index, around| match around {
        None => format!("step{index}"),
        Some(step) => format!("{step}_{index}"),
    }),
    arguments: listing::arguments,
    after: ("dependsOn", JsonType::Number),
    own_policy: |reader, members, step| step.policy = policy(reader, members).into(),
    outputs: plan::OUTPUT,
    output: |_, _, steps| listing::all_outputs(steps),
};

fn policy(reader: &mut PlanReader, members: &Members<'_>) -> Policy {
    if let Some(node) = members.given("parallel") {
        // The dependencies determine which steps run concurrently.
        reader.value::<bool>(node, "`parallel`", "`true` or `false`");
    }
    let mut policy = Policy::DEFAULT;
    if let Some(node) = members.given("optional")
        && let Some(true) = reader.value(node, "`optional`", "`true` or `false`")
    {
        policy.optional = Optional::Whole;
    }
    if let Some(node) = members.given("retryCount")
        && let Some(retries) = reader.value::<u32>(
            node,
            "`retryCount`",
            "a number of further attempts: 0, 1, 2, …",
        )
    {
        policy.attempts = retries.saturating_add(1);
        counts::attempts_fit(reader, policy.attempts, "retryCount", node.place());
    }
    if let Some(node) = members.given("timeout") {
        const MILLIS: &str = "a number of milliseconds";
        if let Some(time) = duration(node) {
            let help = format!("write the time in milliseconds: `{}`", time.as_millis());
            reader.note(wrong_kind(node, "`timeout`", MILLIS).help(help));
            return policy;
        }
        match reader.value::<u64>(node, "`timeout`", MILLIS) {
            Some(0) => {
                let note = wrong_kind(node, "`timeout`", "more than 0 milliseconds");
                reader.note(note.help("remove `timeout` if an attempt has no time limit"));
            }
            limit => {
                policy.timeout = limit.map(Duration::from_millis);
                if let Some(limit) = policy.timeout {
                    counts::time_fits(reader, limit, "timeout", node.place());
                }
            }
        }
    }
    policy
}

/// Reads a duration with a unit, in the notation of policies.
fn duration(node: JsonNode<'_>) -> Option<Duration> {
    let text = node
        .text()
        .ok()
        .filter(|_| node.kind() == JsonType::String)?;
    humantime::parse_duration(&text.value).ok()
}
