//! Counters and durations in the format of Prometheus.

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// The profile under which a plan is read: `strict` or `compatible`.
pub(crate) type Reading = &'static str;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfFinding {
    pub(crate) reading: Reading,
    pub(crate) severity: &'static str,
    pub(crate) code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfReference {
    pub(crate) reading: Reading,
    /// `before` the run, when the plan was read, or `during` the run.
    pub(crate) found: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfRun {
    pub(crate) state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfCall {
    pub(crate) tool: String,
    pub(crate) outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfTool {
    pub(crate) tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(crate) struct OfRequest {
    pub(crate) status: u16,
}

pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: Family<OfRequest, Counter>,
    pub(crate) findings: Family<OfFinding, Counter>,
    pub(crate) references: Family<OfReference, Counter>,
    pub(crate) started: Counter,
    pub(crate) ended: Family<OfRun, Counter>,
    pub(crate) run_time: Histogram,
    pub(crate) calls: Family<OfCall, Counter>,
    pub(crate) call_time: Family<OfTool, Histogram>,
    pub(crate) subscribers: Gauge,
    pub(crate) questions: Gauge,
    pub(crate) states: Counter,
    pub(crate) connections: Gauge,
}

fn call_time() -> Histogram {
    Histogram::new([0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0])
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let run_time = Histogram::new([0.01, 0.05, 0.2, 1.0, 5.0, 30.0, 300.0, 3_600.0, 86_400.0]);
        let mut all = Self {
            registry: Registry::with_prefix("plan"),
            requests: Family::default(),
            findings: Family::default(),
            references: Family::default(),
            started: Counter::default(),
            ended: Family::default(),
            run_time,
            calls: Family::default(),
            call_time: Family::new_with_constructor(call_time as fn() -> Histogram),
            subscribers: Gauge::default(),
            questions: Gauge::default(),
            states: Counter::default(),
            connections: Gauge::default(),
        };
        let it = &mut all.registry;
        it.register(
            "requests",
            "Answers to requests, by their status",
            all.requests.clone(),
        );
        it.register(
            "findings",
            "Findings about plans before their runs",
            all.findings.clone(),
        );
        it.register(
            "reference_errors",
            "Errors about references to missing values. The labels are the profile, and `before` or `during` the run",
            all.references.clone(),
        );
        it.register(
            "runs_started",
            "Runs that were submitted",
            all.started.clone(),
        );
        it.register(
            "runs_ended",
            "Runs that ended, as done, failed or cancelled",
            all.ended.clone(),
        );
        it.register_with_unit(
            "run",
            "Durations of runs, with their waits",
            Unit::Seconds,
            all.run_time.clone(),
        );
        it.register(
            "calls",
            "Attempts of calls to tools, by their outcome",
            all.calls.clone(),
        );
        it.register_with_unit(
            "call",
            "Durations of attempts",
            Unit::Seconds,
            all.call_time.clone(),
        );
        it.register(
            "subscribers",
            "Clients that watch a run",
            all.subscribers.clone(),
        );
        it.register(
            "questions",
            "Calls that wait for an approval",
            all.questions.clone(),
        );
        it.register(
            "states",
            "States of runs that the server encoded for watching clients",
            all.states.clone(),
        );
        it.register("connections", "Open connections", all.connections.clone());
        all
    }

    /// Encodes all metrics in the format of Prometheus.
    pub(crate) fn encode(&self) -> String {
        let mut text = String::new();
        // Nothing that is written to a `String` fails.
        let _ = text::encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Metrics, OfCall};
    use plan_graph::Line;

    #[test]
    fn a_label_forges_no_line() {
        let metrics = Metrics::new();
        let name = "mail\"} 7\nplan_calls_total{tool=\"\\\u{202e}";
        let (tool, outcome) = (Line(name).to_string(), "failed");
        metrics.calls.get_or_create(&OfCall { tool, outcome }).inc();
        let text = metrics.encode();
        let line = text
            .lines()
            .find(|line| line.starts_with("plan_calls_total{"));
        let escaped = r#"mail\"} 7\\nplan_calls_total{tool=\"\\\\u{202e}"#;
        let expected = format!("plan_calls_total{{tool=\"{escaped}\",outcome=\"failed\"}} 1");
        assert_eq!(line, Some(&*expected));
    }
}
